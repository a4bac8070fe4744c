//! Shell commands whose output was written elsewhere: fetched, or read from an uploads directory.

use super::surface::is_upload;
use crate::event::Event;
use crate::label::Label;
use crate::path::AbsPath;
use crate::quarantined::{ContentSource, Quarantined};
use crate::shell::{self, Command};

/// Programs that print what a server sent.
const FETCHERS: [&str; 10] = ["curl", "wget", "http", "https", "xh", "aria2c", "lynx", "w3m", "links", "elinks"];

/// Programs that print the files they are given.
const READERS: [&str; 24] = [
    "awk", "base64", "bat", "batcat", "cat", "column", "cut", "diff", "fold", "head", "hexdump", "jq", "less", "more",
    "nl", "od", "sed", "sort", "strings", "tac", "tail", "uniq", "xxd", "yq",
];

/// Programs whose first operand is a pattern and whose other operands may be directories.
const SEARCHERS: [&str; 7] = ["ack", "ag", "egrep", "fgrep", "grep", "rg", "zgrep"];

/// The label of what the command line printed, if any of it came from strangers.
pub(super) fn source(command: &Quarantined<String>, event: &Event<'_>) -> Option<Label> {
    let line = command.inspect("was its output fetched");
    shell::commands(line).iter().find_map(|found| of_command(found, command, event))
}

fn of_command(found: &Command, line: &Quarantined<String>, event: &Event<'_>) -> Option<Label> {
    let program = found.program();
    let named = |names: &[&'static str]| names.iter().find(|name| **name == program).copied();
    if let Some(fetcher) = named(&FETCHERS) {
        let url = found
            .operands()
            .find(|word| word.contains("://"))
            .or_else(|| found.operands().find(|word| word.contains('.')));
        return Some(match url {
            Some(url) => {
                let url = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
                Label::host(fetcher, &line.derive(url, ContentSource::ModelOutput))
            }
            None => Label::of(fetcher, ""),
        });
    }
    if let Some(forge) = named(&["gh", "glab"]) {
        return shows_the_words_of_others(found).then(|| Label::of(forge, found.operands().next().unwrap_or_default()));
    }
    let skipped = usize::from(named(&SEARCHERS).is_some());
    let searcher = skipped > 0;
    if !searcher && named(&READERS).is_none() {
        return None;
    }
    found.operands().skip(skipped).find_map(|word| {
        let path = AbsPath::resolve(word, &event.place);
        let below = is_upload(&path)
            || ((searcher || word.ends_with('/')) && path.components().last().is_some_and(|name| name == "uploads"));
        below.then(|| Label::file("upload", &line.derive(word.to_owned(), ContentSource::ModelOutput)))
    })
}

/// `gh issue view`, `gh pr list`, `gh api`, `gh search` and their like.
fn shows_the_words_of_others(command: &Command) -> bool {
    let mut operands = command.operands();
    match (operands.next(), operands.next()) {
        (Some("api" | "search"), _) => true,
        (Some("issue" | "pr" | "mr" | "gist" | "release" | "discussion"), Some(verb)) => {
            matches!(verb, "view" | "list" | "diff" | "status")
        }
        (Some(_), Some("view")) => true,
        _ => false,
    }
}
