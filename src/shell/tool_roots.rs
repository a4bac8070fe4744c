//! Directories in which tools are installed by custom, from `rules/tool_roots.toml`: what `$JAVA_HOME` and
//! `$(brew --prefix)` stand for.

use super::state::{ShellState, Value};

// `VARIABLES_VALUES` and `OUTPUTS_VALUES`, as `NAME = PATH`.
include!(concat!(env!("OUT_DIR"), "/tool_roots.rs"));

/// The variables of the line that name such a directory, with its path. A variable is left out if the line uses it with an
/// operator, whose result depends on whether it is set.
pub(super) fn variables(line: &str, state: &ShellState) -> Vec<(String, Value)> {
    let mut names: Vec<(&str, bool)> = Vec::new();
    for (at, _) in line.match_indices('$') {
        let rest = line.get(at + 1..).unwrap_or_default();
        let (is_braced, rest) = rest.strip_prefix('{').map_or((false, rest), |rest| (true, rest));
        let longest = rest.len().min(LONGEST_NAME);
        let bytes = rest.as_bytes().get(..longest).unwrap_or_default();
        let end = bytes.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_')).unwrap_or(longest);
        let (name, behind) = rest.split_at_checked(end).unwrap_or_default();
        if name.starts_with(|c: char| c.is_ascii_uppercase()) {
            names.push((name, !is_braced || behind.starts_with('}')));
        }
    }
    if names.is_empty() {
        return Vec::new();
    }
    let rows = VARIABLES_VALUES.iter().filter_map(|row| row.split_once(" = "));
    rows.filter(|(known, _)| {
        let mut uses = names.iter().filter(|(name, _)| name == known).peekable();
        uses.peek().is_some() && uses.all(|(_, is_plain)| *is_plain)
    })
    .filter_map(|(name, path)| Some((name.to_owned(), Value::Known(resolved(path, state, Relative::Kept)?))))
    .collect()
}

/// The longest name of a variable that is looked at.
const LONGEST_NAME: usize = 24;

/// Whether a program may print such a directory.
pub(super) fn prints(program: &str) -> bool {
    OUTPUTS_VALUES.iter().any(|row| row.bytes().next() == program.bytes().next() && row.starts_with(program))
}

/// What a command prints, if it prints such a directory.
pub(super) fn printed(words: &[&str], state: &ShellState) -> Option<String> {
    let fits = |form: &str| {
        let mut form = form.split(' ');
        words.iter().all(|word| {
            form.next().is_some_and(|part| part == *word || part == "*" && !word.starts_with('-') && is_plain(word))
        }) && form.next().is_none()
    };
    let first = words.first()?;
    let mut rows = OUTPUTS_VALUES.iter().filter(|row| row.starts_with(first)).filter_map(|row| row.split_once(" = "));
    let (_, path) = rows.find(|(form, _)| fits(form))?;
    resolved(path, state, Relative::Below)
}

fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"@-_.".contains(&byte))
}

/// How a relative path is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relative {
    /// The name of a program.
    Kept,
    /// Below the working directory.
    Below,
}

fn resolved(path: &str, state: &ShellState, relative: Relative) -> Option<String> {
    let cwd = || state.cwd.as_deref().filter(|_| state.other_cwds.iter().all(|other| other.after_failed_cd));
    match path.strip_prefix("~/") {
        Some(rest) => Some(format!("{}/{rest}", state.home.as_deref()?)),
        None if path.starts_with('.') || relative == Relative::Below && !path.starts_with('/') => {
            Some(format!("{}/{path}", cwd()?))
        }
        None => Some(path.to_owned()),
    }
}
