//! Values of options that the catalogue calls a text, a list, an address or a file that is only loaded.
//!
//! Many programs print what they load: as an error (`tar -T ~/.netrc`), as an include (`gcc -I ~/.aws -include
//! credentials -E`) or as a part of a text (`curl -w @~/.netrc`). A secret in such a value counts as read, unless the
//! option says that the program authenticates with it, or the file belongs to the program.

use super::super::super::Arg;
use super::super::words;
use super::{Finder, Target, names_output};
use crate::path::protected::{self, Class, WorstUse};
use crate::path::{AbsPath, Extent};
use crate::programs::{Use, WordUse};
use crate::shell::{Access, Act};

/// Characters that separate the parts of a value.
const SEPARATORS: [char; 7] = ['=', ':', ',', '@', '\'', '"', ' '];

impl Finder<'_> {
    /// Looks for secrets in the value of an option, or in an address, whose use the catalogue calls harmless.
    pub(super) fn trusted(&mut self, value: &Arg, used: &WordUse, option: &str) {
        let option = used.option.unwrap_or(option);
        match used.takes {
            Some(Use::To | Use::From) if value.text.contains("file:") || value.text.contains(['{', '[']) => {
                self.addresses(&value.text, option);
                self.parts(value, option);
            }
            Some(Use::Load) if used.by_option => {
                self.secret(value, option, option);
                self.parts(value, option);
                if !self.is_for_login(option) {
                    self.place(value);
                }
            }
            Some(Use::List | Use::Unknown) if used.by_option && names_place(option) => self.place(value),
            Some(Use::Text | Use::List | Use::Unknown) if used.by_option && !is_message(option) => {
                if value.text.starts_with(['/', '~']) {
                    self.secret(value, option, option);
                }
                self.parts(value, option);
            }
            _ => {}
        }
    }

    /// Looks at the parts of a value that may be paths: behind `@`, and behind `=`, `:` and `,`.
    fn parts(&mut self, value: &Arg, option: &str) {
        let option_logs_in = self.is_for_login(option);
        let mut start = 0;
        // `IdentityFile=~/.ssh/id_x`: the setting before a part, and where the next one begins.
        let (mut setting, mut setting_binds) = (0..0, false);
        let mut next_setting = 0;
        for part in value.text.split_inclusive(SEPARATORS) {
            let text = part.trim_end_matches(SEPARATORS);
            let is_known = value.known.is_none_or(|known| known >= start + part.len());
            if start > 0 && is_known {
                let arg = Arg { glob: value.glob, ..Arg::literal(text.trim_start_matches("//")) };
                if !option_logs_in {
                    self.secret(&arg, option, value.text.get(setting.clone()).unwrap_or_default());
                }
                // `BindReadOnlyPaths=~/.aws:/k`
                if setting_binds {
                    self.place(&arg);
                }
            }
            if !text.is_empty() {
                setting_binds &= setting.start == next_setting;
                setting_binds |= text.to_ascii_lowercase().contains("bind");
                setting = next_setting..start + text.len();
            }
            start += part.len();
            if part.ends_with([',', ':', ' ']) {
                next_setting = start;
            }
        }
    }

    /// Counts a file with secrets as read, unless the program logs in with it by `name`, an option or a setting.
    fn secret(&mut self, arg: &Arg, option: &str, name: &str) {
        let text = arg.text.trim_start_matches(['@', '<', '+']);
        let text = text.strip_prefix("file://").or_else(|| text.strip_prefix("file:")).unwrap_or(text);
        // A quoted pattern is one for names. Behind `ls -d`, it may be an operand.
        let is_pattern = text.contains(['*', '?', '[', '{']) && (!arg.glob || self.only_looks());
        let hides_start = arg.known.is_some() && !arg.prefix().starts_with(['/', '~']);
        if text.is_empty() || is_pattern || hides_start || arg.known.is_none() && text.contains('$') {
            return;
        }
        let home = self.zones.home.as_ref();
        let text = match (text.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => format!("{home}/{rest}"),
            _ => text.to_owned(),
        };
        // The unknown end stays as long as it was.
        let known = arg.known.map(|known| (text.len() + known).saturating_sub(arg.text.len()));
        let target = Target::of(&Arg { text: text.into(), known, glob: arg.glob }, self.command.cwd.as_deref());
        let Some(path) = target.path.clone() else { return };
        let mut classes = protected::classes(&path, Extent::Exact, home);
        let is_secret = classes.any(|class| class.worst() == WorstUse::Read && class != Class::ToolSettings);
        if !is_secret || self.is_own(&path) || self.command.is_contained(&path) || names_output(option) {
            return;
        }
        // The name of a setting may be as long as the word.
        if !self.affords(name.len()) {
            return;
        }
        // Variables and settings do not stand in files with keys, which the program would print in its error message.
        let logs_in =
            self.is_for_login(name) && (!is_settings(name, &path) || !Class::Keys.contains(&path, Extent::Exact, home));
        if !logs_in {
            self.read(target, false);
        }
    }

    /// Counts a directory of secrets that is searched for files to load as read.
    fn place(&mut self, arg: &Arg) {
        let target = Target::of(arg, self.command.cwd.as_deref());
        let Some(path) = target.path.clone().filter(|_| !target.open) else { return };
        let home = self.zones.home.as_ref();
        let is_outside = path != self.zones.project && !self.zones.project.is_below(&path);
        let is_home = home == Some(&path) && path != self.zones.project;
        let holds_keys = is_home || is_outside && Class::Keys.contains_at_home(&path, Extent::Tree, home);
        if holds_keys && !self.is_own(&path) && !self.command.is_contained(&path) {
            self.read(target, true);
        }
    }

    fn read(&mut self, target: Target, deep: bool) {
        if self.explanation(&target).is_none() {
            self.add(Access { act: Act::Read, target, deep, astray: false, row: self.row });
        }
    }

    /// Whether an option says that the program logs in with the file, or gives it to the programs that it starts.
    fn is_for_login(&self, option: &str) -> bool {
        let name = option.trim_matches(['-', '=', ':']).to_ascii_lowercase();
        let with_program = format!("{} {}", self.command.program, option.trim_end_matches(['=', ':']));
        name.len() > 1 && words::LOGIN_PARTS.iter().any(|part| name.contains(part))
            || words::LOGIN_OPTIONS.contains(&with_program.as_str())
    }

    /// Whether a file is one of the program itself: `rclone --config ~/.config/rclone/rclone.conf`.
    fn is_own(&self, path: &AbsPath) -> bool {
        let program = self.command.program.as_str();
        path.components().iter().any(|name| {
            let rest = name.trim_start_matches('.').strip_prefix(program);
            rest.is_some_and(|rest| rest.is_empty() || rest == "rc" || rest.starts_with('.'))
        })
    }
}

/// Whether an option is for a file with variables or settings, and the name of the file does not say that it is one.
fn is_settings(option: &str, path: &AbsPath) -> bool {
    let option = option.to_ascii_lowercase();
    let name = path.components().last().map_or("", |name| name.as_str());
    words::LOGIN_SETTINGS.iter().any(|part| option.contains(part))
        && !words::LOGIN_FILES.iter().any(|part| name.contains(part))
}

/// Whether the value of an option is a message or a pattern: `git commit -m '~/.netrc'`.
fn is_message(option: &str) -> bool {
    let name = option.trim_end_matches(['=', ':']);
    words::MESSAGE_OPTIONS.contains(&name)
        || name.starts_with("--") && words::MESSAGE_PARTS.iter().any(|part| name.contains(part))
}

/// Whether an option names a directory in which files to load are looked for: `-I`, `-isystem`, `--include-dir`.
fn names_place(option: &str) -> bool {
    let name = option.trim_matches(['-', '=', ':']).to_ascii_lowercase();
    matches!(option, "-I" | "-L" | "-B" | "-P")
        || ["include", "isystem", "iquote", "idirafter", "-path", "library-path", "load-path", "search-dir"]
            .iter()
            .any(|part| name.contains(part) && !name.contains("from"))
}
