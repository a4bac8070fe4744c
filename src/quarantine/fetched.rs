//! Shell commands whose output was written elsewhere: fetched, or read from where strangers write.

use super::spill::is_spilled;
use super::surface::is_upload;
use crate::encoding::label::Label;
use crate::event::{Event, ShellText};
use crate::path::AbsPath;
use crate::path::Place;
use crate::quarantined::{ContentSource, Quarantined};
use crate::shell::Command;

/// Programs that print what a server sent.
const FETCHERS: [&str; 10] = ["curl", "wget", "http", "https", "xh", "aria2c", "lynx", "w3m", "links", "elinks"];

/// Programs that look through directories.
const SEARCHERS: [&str; 7] = ["ack", "ag", "egrep", "fgrep", "find", "grep", "rg"];

/// The label of what the command line printed, if any of it came from strangers.
pub(super) fn source(command: &Quarantined<String>, event: &Event<'_>) -> Option<Label> {
    let ShellText { reading, effects, .. } = event.shell()?;
    // What was not read to its end may have fetched anything.
    if reading.exceeded.or(effects.exceeded).is_some() {
        return Some(Label::of("shell", ""));
    }
    let fetched = reading.commands.iter().find_map(fetched);
    fetched.or_else(|| {
        let searches = reading.commands.iter().any(|command| SEARCHERS.contains(&command.program.as_str()));
        effects.reads().iter().find_map(|path| {
            let found = AbsPath::resolve(path, &Place::default());
            let whole = searches && found.components().last().is_some_and(|name| name == "uploads");
            let kind = if is_upload(&found) || whole { "upload" } else { "spill" };
            let strange = kind == "upload" || is_spilled(&found, event.header.session.as_str());
            strange.then(|| Label::file(kind, &command.derive(path.clone(), ContentSource::ModelOutput)))
        })
    })
}

/// No host in the label: which of the words is the address, and which a password, is for the program to know.
fn fetched(command: &Command) -> Option<Label> {
    // Asking a program about itself fetches nothing.
    let asks = |word: &str| command.args.iter().any(|arg| arg.text == word);
    if asks("--help") || asks("--version") || asks("-V") {
        return None;
    }
    match command.program.as_str() {
        forge @ ("gh" | "glab") => shows_the_words_of_others(command).then(|| Label::of("shell", forge)),
        program => FETCHERS.iter().find(|name| **name == program).map(|name| Label::of("shell", name)),
    }
}

/// `gh issue view`, `gh pr list`, `gh api`, `gh search` and their like.
fn shows_the_words_of_others(command: &Command) -> bool {
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
