//! Values of options that the catalogue calls a text, a list, an address or a file that is only loaded.
//!
//! Many programs print what they load: as an error (`tar -T ~/.netrc`), as an include (`gcc -I ~/.aws -include
//! credentials -E`) or as a part of a text (`curl -w @~/.netrc`). A secret in such a value counts as read, unless the
//! option says that the program authenticates with it, or the file belongs to the program.

use super::super::super::Arg;
use super::super::words;
use super::{Finder, Target};
use crate::path::protected::{self, Class, WorstUse};
use crate::path::{AbsPath, Extent};
use crate::programs::{Use, WordUse};
use crate::shell::{Access, Act};

impl Finder<'_> {
    /// Looks for secrets in the value of an option, or in an address, whose use the catalogue calls harmless.
    pub(super) fn trusted(&mut self, value: &Arg, used: &WordUse, option: &str) {
        let option = used.option.unwrap_or(option);
        match used.takes {
            Some(Use::To | Use::From) if value.text.contains("file:") => self.parts(value, option),
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
        let mut start = 0;
        for part in value.text.split_inclusive(['=', ':', ',', '@', '\'', '"', ' ']) {
            let name = value.text.get(..start).unwrap_or_default();
            start += part.len();
            let text = part.trim_end_matches(['=', ':', ',', '@', '\'', '"', ' ']).trim_start_matches("//");
            let known = value.known.is_none_or(|known| known >= start);
            if name.is_empty() || !known {
                continue;
            }
            // `IdentityFile=~/.ssh/id_x`
            let setting = name.trim_end_matches(['=', ':', ',', '@', '\'', '"', ' ']);
            let setting = setting.rsplit([',', ':', ' ']).next().unwrap_or_default();
            let arg = Arg { glob: value.glob, ..Arg::literal(text) };
            if !self.is_for_login(option) {
                self.secret(&arg, option, setting);
            }
            // `BindReadOnlyPaths=~/.aws:/k`
            if setting.to_ascii_lowercase().contains("bind") {
                self.place(&arg);
            }
        }
    }

    /// Counts a file with secrets as read, unless the program logs in with it by `name`, an option or a setting.
    fn secret(&mut self, arg: &Arg, option: &str, name: &str) {
        let text = arg.text.trim_start_matches(['@', '<', '+']);
        let text = text.strip_prefix("file://").or_else(|| text.strip_prefix("file:")).unwrap_or(text);
        // A pattern in a text is one for names.
        if text.is_empty() || text.contains(['*', '?', '[', '{', '$']) {
            return;
        }
        let text = match (text.strip_prefix("~/"), &self.zones.home) {
            (Some(rest), Some(home)) => format!("{home}/{rest}"),
            _ => text.to_owned(),
        };
        let target = Target::of(&Arg { text: text.into(), ..arg.clone() }, self.command.cwd.as_deref());
        let Some(path) = target.path.clone() else { return };
        let home = self.zones.home.as_ref();
        let is_secret = protected::classes(&path, Extent::Exact, home)
            .any(|class| class.worst() == WorstUse::Read && class != Class::ToolSettings);
        // Variables and settings do not stand in files with keys, which the program would print as errors.
        let logs_in =
            self.is_for_login(name) && (!is_settings(name, &path) || !Class::Keys.contains(&path, Extent::Exact, home));
        if is_secret && !logs_in && !self.is_own(&path) && !self.command.is_contained(&path) && !names_output(option) {
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

fn names_output(option: &str) -> bool {
    super::names_output(option)
}
