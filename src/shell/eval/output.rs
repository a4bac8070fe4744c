//! Prediction of the output of a command from its arguments.

use super::super::parse::ansi;
use super::super::state::ShellState;
use super::super::{Arg, Command, Input, canonical, tool_roots};
use super::{Evaluator, files, filters};
use crate::path::AbsPath;
use crate::path::Place;
use crate::programs::code::{WordList, lists};
use crate::programs::roles;
use crate::programs::{self, Use, WordUse};
use crate::verdict::limits::Meter;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Stands for the unknown path of a file that `mktemp` creates.
pub const MKTEMP_PATH: &str = "/tmp/.made-by-mktemp";

/// Stands for `%%` in a format of `printf`.
const PERCENT: &str = "\u{1}";

/// Programs whose output can be predicted.
static PREDICTABLE: WordList = WordList::new(&[
    "basename", "command", "date", "dirname", "echo", "expr", "git", "mktemp", "printf", "pwd", "readlink", "realpath",
    "type", "which",
]);

impl Evaluator<'_> {
    /// Returns the output of a command if its arguments, its input and the files that it reads determine it.
    pub(super) fn predict(&mut self, args: &[Arg], command: &Command) -> Option<String> {
        let (program, rest) = args.split_first()?;
        let name = canonical::program_name(&program.text);
        if !filters::is_filter(name) {
            let execution = self.executions.last()?;
            return predict_output(args, command, &execution.state);
        }
        if !rest.iter().all(|arg| arg.is_known() && !arg.glob) {
            return None;
        }
        let words: Vec<&str> = rest.iter().map(|arg| arg.text.as_str()).collect();
        let line = programs::parse(self.reading.catalogue.find(name)?, &words);
        let is_file = |used: &&WordUse| matches!(used.takes, Some(Use::Read | Use::Match));
        let mut input = String::new();
        let mut files: BTreeSet<usize> = BTreeSet::new();
        for used in line.uses.iter().filter(is_file) {
            files.insert(used.word);
            let word = rest.get(used.word)?.behind(words.get(used.word)?.get(..used.start)?)?;
            let text = if matches!(word.text.as_str(), "-" | "/dev/stdin") {
                known_input(command)?
            } else {
                self.text_of(&word, command)?
            };
            self.meter.affords(input.len() + text.len()).then_some(())?;
            input.push_str(&text);
        }
        if files.is_empty() && !words.iter().any(|word| word.starts_with("BEGIN")) {
            input = known_input(command)?.to_string();
        }
        let options: Vec<&str> =
            words.iter().enumerate().filter(|(at, _)| !files.contains(at)).map(|(_, word)| *word).collect();
        filters::apply(name, &options, &input, &self.meter)
    }

    /// Returns the text of a file that the line has written.
    pub(super) fn text_of(&mut self, file: &Arg, command: &Command) -> Option<Rc<String>> {
        self.update_files();
        self.files.text(&files::resolve(file, command)?)
    }
}

/// Returns the standard input of a command, if it is known.
fn known_input(command: &Command) -> Option<Rc<String>> {
    match &command.input {
        Input::Text(text) => Some(Rc::new(text.to_string())),
        Input::Inherited | Input::Pipe | Input::Unknown => None,
    }
}

/// Returns the output of a command if its arguments determine it.
fn predict_output(args: &[Arg], command: &Command, state: &ShellState) -> Option<String> {
    let (program, rest) = args.split_first()?;
    let name = canonical::program_name(&program.text);
    // The directories of tools are printed by commands with few words.
    if !lists(&PREDICTABLE, name) && (rest.len() > 3 || !tool_roots::prints(name)) {
        return None;
    }
    // Environment variables can change the output.
    if !args.iter().all(|arg| arg.is_known() && !arg.glob) || !command.env.is_empty() {
        return None;
    }
    let rest: Vec<&str> = rest.iter().map(|arg| arg.text.as_str()).collect();
    let rest = rest.as_slice();
    if !lists(&PREDICTABLE, name) {
        let words: Vec<&str> = std::iter::once(name).chain(rest.iter().copied()).collect();
        return tool_roots::printed(&words, state);
    }
    match name {
        "echo" => echo(rest),
        "printf" => printf(rest, &state.meter),
        // The name stands for the path of the program.
        "which" | "type" | "command" => match rest {
            [name] if program.text == "which" => locate_program(name, state),
            ["-v" | "-P" | "-p", name] => locate_program(name, state),
            _ => None,
        },
        "realpath" => resolve_path(rest.strip_prefix(&["-m"]).unwrap_or(rest), state),
        "readlink" => resolve_path(rest.strip_prefix(&["-f"]).or_else(|| rest.strip_prefix(&["-m"]))?, state),
        "dirname" => match rest {
            [path] if !path.starts_with('-') => Some(dirname(path).to_owned()),
            _ => None,
        },
        "basename" => match rest {
            [path] if !path.starts_with('-') => Some(basename(path).to_owned()),
            [path, suffix] if !path.starts_with('-') => {
                let name = basename(path);
                Some(name.strip_suffix(suffix).filter(|rest| !rest.is_empty()).unwrap_or(name).to_owned())
            }
            _ => None,
        },
        // A format without a directive is printed as it is.
        "date" => match rest {
            [format] => format.strip_prefix('+').filter(|text| !text.contains('%')).map(str::to_owned),
            _ => None,
        },
        "expr" => expr(rest),
        "pwd" if rest.is_empty() => certain_cwd(state).map(str::to_owned),
        "mktemp" if state.value("TMPDIR").is_none() => mktemp(rest),
        "git" if rest.first() == Some(&"rev-parse") => {
            let (project, cwd) = (state.project.as_deref()?, certain_cwd(state)?);
            let is_configured = state.variables.keys().any(|name| name.starts_with("GIT_"));
            let inside = cwd == project || cwd.strip_prefix(project).is_some_and(|rest| rest.starts_with('/'));
            let below = match rest.get(1..)? {
                ["--show-toplevel"] => String::new(),
                ["--git-dir" | "--absolute-git-dir" | "--git-common-dir"] => "/.git".to_owned(),
                ["--git-path", path] => format!("/.git/{path}"),
                _ => return None,
            };
            (inside && !is_configured).then(|| format!("{project}{below}"))
        }
        _ => None,
    }
}

/// Returns what `which` prints. The path of `rune` matters because it is protected.
fn locate_program(name: &str, state: &ShellState) -> Option<String> {
    match name {
        "rune" => Some(format!("{}/.local/bin/rune", state.home.as_deref()?)),
        name if lists(&roles::SHELLS_EVERYWHERE, name) => Some(format!("/usr/bin/{name}")),
        _ => None,
    }
}

/// Returns the working directory if there is only one possibility, apart from failures of `cd`.
fn certain_cwd(state: &ShellState) -> Option<&str> {
    state.cwd.as_deref().filter(|_| state.other_cwds.iter().all(|other| other.after_failed_cd))
}

/// Returns the output of `echo`.
pub(super) fn echo(args: &[&str]) -> Option<String> {
    let is_flag = |arg: &&&str| {
        arg.strip_prefix('-').is_some_and(|letters| !letters.is_empty() && letters.chars().all(|c| "neE".contains(c)))
    };
    let flags = args.iter().take_while(is_flag).count();
    let has = |letter: char| args.iter().take(flags).any(|arg| arg.contains(letter));
    let text = args.get(flags..).unwrap_or_default().join(" ");
    let text = if has('e') { unescape(&text)? } else { text };
    Some(if has('n') { text } else { text + "\n" })
}

/// Decodes the escapes of `printf` and `echo -e`, which are those of `$'…'`.
fn unescape(text: &str) -> Option<String> {
    if !text.contains('\\') {
        return Some(text.to_owned());
    }
    // A NUL separates names for `xargs -0`, which `Names` reads.
    let is_digit = |rest: &str| rest.bytes().next().is_some_and(|byte| (b'1'..b'8').contains(&byte));
    if text.split("\\0").skip(1).any(|rest| !is_digit(rest)) || text.contains("\\x0") {
        return None;
    }
    let quotes_escaped = text.replace('\'', "\\'");
    Some(ansi::decode(&quotes_escaped).0)
}

/// Returns the output of `printf`, if the format has no directives other than `%s`, `%b` and `%c`.
pub(super) fn printf(args: &[&str], meter: &Meter) -> Option<String> {
    let (format, values) = match args {
        ["--", format, values @ ..] => (format, values),
        [format, values @ ..] if !format.starts_with('-') => (format, values),
        _ => return None,
    };
    // `%%` is a percent sign.
    let format = unescape(format)?.replace("%%", PERCENT);
    let parts: Vec<&str> = format.split('%').collect();
    let (first, directives) = parts.split_first()?;
    if directives.is_empty() {
        return Some(format.replace(PERCENT, "%")).filter(|_| values.is_empty());
    }
    // The format is repeated until all values are used.
    let rounds = values.len().div_ceil(directives.len()).max(1);
    let length = values.iter().map(|value| value.len()).sum::<usize>();
    if !meter.affords(format.len().saturating_mul(rounds).saturating_add(length)) {
        return None;
    }
    let mut values = values.iter();
    let mut text = String::new();
    for _ in 0..rounds {
        text.push_str(first);
        for directive in directives {
            let value = values.next().copied().unwrap_or_default();
            let mut chars = directive.chars();
            match chars.next()? {
                's' => text.push_str(value),
                'b' => text.push_str(&unescape(&octal_escapes(value))?),
                'c' => text.extend(value.chars().next()),
                _ => return None,
            }
            text.push_str(chars.as_str());
        }
    }
    Some(text.replace(PERCENT, "%"))
}

/// Converts `\0nnn`, which `%b` takes besides `\nnn`.
fn octal_escapes(value: &str) -> String {
    let mut parts = value.split("\\0");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let is_octal = part.len() >= 3 && part.bytes().take(3).all(|byte| byte.is_ascii_digit() && byte < b'8');
        // Two digits may belong to an escape of three that begins with 0.
        text + if is_octal { "\\" } else { "\\0" } + part
    })
}

/// Returns the output of `expr substr` and of `expr text : 'start\(.*\)'`.
fn expr(args: &[&str]) -> Option<String> {
    match args {
        ["substr", text, start, length] => {
            let (start, length) = (start.parse::<usize>().ok()?.checked_sub(1)?, length.parse::<usize>().ok()?);
            Some(text.chars().skip(start).take(length).collect())
        }
        [text, ":", pattern] => {
            let start = pattern.strip_suffix("\\(.*\\)")?;
            let plain = start.chars().all(|c| c.is_alphanumeric() || "/_-".contains(c));
            if plain { text.strip_prefix(start).map(str::to_owned) } else { None }
        }
        _ => None,
    }
}

/// Resolves the only operand against the working directory.
fn resolve_path(args: &[&str], state: &ShellState) -> Option<String> {
    let [path] = args else { return None };
    let place = Place { cwd: certain_cwd(state)?.to_owned(), ..Place::default() };
    (!path.starts_with('-') && !path.is_empty()).then(|| AbsPath::resolve(path, &place).to_string())
}

fn dirname(path: &str) -> &str {
    let name = path.trim_end_matches('/');
    match name.rsplit_once('/') {
        _ if name.is_empty() && !path.is_empty() => "/",
        None => ".",
        Some((directory, _)) => match directory.trim_end_matches('/') {
            "" => "/",
            directory => directory,
        },
    }
}

fn basename(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" if !path.is_empty() => "/",
        name => name.rsplit('/').next().unwrap_or(name),
    }
}

/// Returns the output of `mktemp` if it creates a file in the temporary directory.
fn mktemp(args: &[&str]) -> Option<String> {
    let is_template = |name: &str| name.contains("XXX") && !name.contains("..") && !name.starts_with('-');
    let mut in_temp = false;
    let mut template = None;
    for arg in args {
        match *arg {
            "-d" | "-q" | "--directory" | "--quiet" => {}
            "-t" | "-dt" | "-td" | "--tmpdir" => in_temp = true,
            name if template.is_none() && is_template(name) => template = Some(name),
            _ => return None,
        }
    }
    let made = match template {
        None => true,
        Some(name) => name.starts_with("/tmp/") || (in_temp && !name.starts_with('/')),
    };
    made.then(|| MKTEMP_PATH.to_owned())
}
