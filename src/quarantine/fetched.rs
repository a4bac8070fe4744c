//! Shell commands whose output is untrusted: fetched, or read from uploads and spilled results.

use super::surface::is_upload;
use crate::encoding::label::Label;
use crate::event::{Event, ShellText};
use crate::path::{AbsPath, Place};
use crate::quarantined::{ContentSource, Quarantined};
use crate::shell::Command;

/// Programs that print what a server sends.
const FETCHERS: [&str; 10] = ["curl", "wget", "http", "https", "xh", "aria2c", "lynx", "w3m", "links", "elinks"];

/// Programs that search directories.
const SEARCHERS: [&str; 7] = ["ack", "ag", "egrep", "fgrep", "find", "grep", "rg"];

/// The label of the output of a command line, if any of it is untrusted.
pub(super) fn source(command: &Quarantined<String>, event: &Event<'_>) -> Option<Label> {
    let ShellText { reading, effects, .. } = event.shell()?;
    // A command line that was not fully parsed may have fetched anything.
    if reading.exceeded.or(effects.exceeded).is_some() {
        return Some(Label::of("shell", ""));
    }
    let fetched = reading.commands.iter().find_map(fetched);
    fetched.or_else(|| {
        let searches = reading.commands.iter().any(|command| SEARCHERS.contains(&command.program.as_str()));
        effects.reads().iter().find_map(|path| {
            let resolved = AbsPath::resolve(path, &Place::default());
            let searches_uploads = searches && resolved.components().last().is_some_and(|name| name == "uploads");
            let kind = if is_upload(&resolved) || searches_uploads { "upload" } else { "spill" };
            let is_untrusted = kind == "upload" || (event.is_spilled)(&resolved, event.header.session.as_str());
            is_untrusted.then(|| Label::file(kind, &command.derive(path.clone(), ContentSource::ModelOutput)))
        })
    })
}

/// The label of a fetching command. It has no host, because the arguments may contain passwords.
fn fetched(command: &Command) -> Option<Label> {
    // These options only print about the program itself.
    let has = |word: &str| command.args.iter().any(|arg| arg.text == word);
    if has("--help") || has("--version") || has("-V") {
        return None;
    }
    match command.program.as_str() {
        forge @ ("gh" | "glab") => prints_user_content(command).then(|| Label::of("shell", forge)),
        program => FETCHERS.iter().find(|name| **name == program).map(|name| Label::of("shell", name)),
    }
}

/// Whether a `gh` or `glab` command prints text of other people: `gh issue view`, `gh pr list`, `gh api`, `gh search`.
fn prints_user_content(command: &Command) -> bool {
    let mut valued = false;
    let mut operands = command.args.iter().map(|arg| arg.text.as_str()).filter(|word| {
        let value = std::mem::replace(&mut valued, matches!(*word, "-R" | "--repo" | "--hostname"));
        !value && !word.starts_with('-')
    });
    match (operands.next(), operands.next()) {
        (Some("api" | "search"), _) => true,
        (Some("issue" | "pr" | "mr" | "gist" | "release" | "discussion"), Some(verb)) => {
            matches!(verb, "view" | "list" | "diff" | "status")
        }
        (Some(_), Some("view")) => true,
        _ => false,
    }
}
