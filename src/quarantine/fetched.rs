//! Shell commands whose output was written elsewhere: fetched, or read from an uploads directory.

use super::spill::is_spilled;
use super::surface::is_upload;
use crate::event::Event;
use crate::label::Label;
use crate::path::AbsPath;
use crate::quarantined::{ContentSource, Quarantined};
use crate::shell::{self, Command};

/// Programs that print what a server sent.
const FETCHERS: [&str; 10] = ["curl", "wget", "http", "https", "xh", "aria2c", "lynx", "w3m", "links", "elinks"];

/// A program that prints the files it is given.
struct Reader {
    names: &'static [&'static str],
    /// Operands that are a pattern or a program, before the files come.
    skipped: usize,
    /// Short options whose value is the next word.
    valued: &'static str,
    /// Takes directories too.
    recursive: bool,
}

const READERS: [Reader; 5] = [
    Reader {
        names: &["ack", "ag", "egrep", "fgrep", "grep", "rg", "zgrep"],
        skipped: 1,
        valued: "ABCDEMTdefgjmrt",
        recursive: true,
    },
    Reader { names: &["sed"], skipped: 1, valued: "efl", recursive: false },
    Reader { names: &["awk", "gawk", "mawk"], skipped: 1, valued: "Ffv", recursive: false },
    Reader { names: &["jq", "yq"], skipped: 1, valued: "fL", recursive: false },
    Reader {
        names: &[
            "base64", "bat", "batcat", "cat", "column", "cut", "diff", "fold", "head", "hexdump", "less", "more", "nl",
            "od", "sort", "strings", "tac", "tail", "uniq", "xxd",
        ],
        skipped: 0,
        valued: "bcdfklnostw",
        recursive: false,
    },
];

/// The label of what the command line printed, if any of it came from strangers.
pub(super) fn source(command: &Quarantined<String>, event: &Event<'_>) -> Option<Label> {
    let line = command.inspect("was its output fetched");
    shell::commands(line).iter().find_map(|found| of_command(found, command, event))
}

fn of_command(found: &Command, line: &Quarantined<String>, event: &Event<'_>) -> Option<Label> {
    let program = found.program();
    // Asking a program about itself fetches nothing.
    if found.has_any(&["--help", "--version", "-V"]) {
        return None;
    }
    let named = |names: &[&'static str]| names.iter().find(|name| **name == program).copied();
    // No host in the label: which of the words is the address, and which a password, is for the program to know.
    if let Some(fetcher) = named(&FETCHERS) {
        return Some(Label::of("shell", fetcher));
    }
    if let Some(forge) = named(&["gh", "glab"]) {
        return shows_the_words_of_others(found).then(|| Label::of("shell", forge));
    }
    let reader = READERS.iter().find(|reader| named(reader.names).is_some())?;
    if program == "sed" && found.has_any(&["-i", "--in-place"]) {
        return None;
    }
    found.operands(reader.valued).skip(reader.skipped).find_map(|word| {
        let path = AbsPath::resolve(word, &event.place);
        let whole = reader.recursive || word.ends_with('/');
        let below = is_upload(&path) || (whole && path.components().last().is_some_and(|name| name == "uploads"));
        let kind = if below { "upload" } else { "spill" };
        let found = below || is_spilled(&path, event.header.session.as_str());
        found.then(|| Label::file(kind, &line.derive(word.to_owned(), ContentSource::ModelOutput)))
    })
}

/// `gh issue view`, `gh pr list`, `gh api`, `gh search` and their like.
fn shows_the_words_of_others(command: &Command) -> bool {
    let mut operands = command.operands("R");
    match (operands.next(), operands.next()) {
        (Some("api" | "search"), _) => true,
        (Some("issue" | "pr" | "mr" | "gist" | "release" | "discussion"), Some(verb)) => {
            matches!(verb, "view" | "list" | "diff" | "status")
        }
        (Some(_), Some("view")) => true,
        _ => false,
    }
}
