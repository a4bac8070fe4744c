//! Where a command runs that a runner has moved elsewhere.

use super::super::{Arg, Command};
use super::quoted;
use crate::shell::effects::Target;

/// The directory that a word names for a command, where that is known.
pub(super) fn moved(directory: Option<Arg>, command: &Command) -> Option<Option<String>> {
    let target = Target::of(&directory?, command.cwd.as_deref());
    Some(target.path.filter(|_| !target.open).map(|path| path.to_string()))
}

/// The same word from the root, where that is known.
pub(super) fn rooted(word: &Arg, command: &Command) -> Arg {
    let Some(cwd) = command.cwd.as_deref().filter(|_| !word.prefix().starts_with('/')) else { return word.clone() };
    if !word.is_known() && word.prefix().is_empty() {
        return word.clone();
    }
    let base = format!("{}/", cwd.trim_end_matches('/'));
    Arg {
        text: format!("{base}{}", word.text).into(),
        known: word.known.map(|known| known + base.len()),
        glob: word.glob,
    }
}

/// Shell text that runs in another directory.
pub(super) fn text_in(directory: Option<&Arg>, text: String) -> String {
    match directory {
        Some(directory) if directory.is_known() => format!("cd {} && {text}", quoted(&directory.text)),
        Some(directory) => format!("cd \"{}\" && {text}", directory.text),
        None => text,
    }
}
