//! Commands that may show variables which hold what another command prints: `export X=$(cat .env); git commit -m "$X"`.

use super::sending::is_database;
use crate::decide::context::Context;
use crate::event::Action;
use crate::programs::code::lists;
use crate::programs::{CommandLine, Use, roles};
use crate::shell::{Command, Input};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Whether the text of a command has one of these variables, and the command is neither a test nor a client that logs in
/// with it.
pub(super) fn shows_variable(names: &BTreeSet<&str>, context: &Context<'_>) -> bool {
    let Action::Shell { command: Some(text), .. } = &context.event.action else { return false };
    let text = text.inspect("which variables it names");
    let commands = context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
    if commands.iter().any(|command| prints_by_name(command, names)) || feeds_code(commands, names) {
        return true;
    }
    // What a command runs may have the same span.
    let span = |command: &Command| (command.span.start, command.span.end);
    let spans = |is: fn(&Command) -> bool| -> BTreeSet<(usize, usize)> {
        commands.iter().filter(|command| is(command)).map(span).collect()
    };
    let (clients, codes) = (spans(is_client), spans(takes_code));
    let mut set: BTreeMap<(usize, usize), BTreeSet<&str>> = BTreeMap::new();
    for command in commands {
        set.entry(span(command)).or_default().extend(command.env.iter().map(|(name, _)| name.as_str()));
    }
    let mut rest: Vec<(usize, usize)> = commands.iter().map(span).collect();
    rest.sort_unstable_by_key(|(start, end)| (Reverse(*start), *end));
    // The spans around a name, the innermost last.
    let mut open: Vec<(usize, usize)> = Vec::new();
    words(text).filter(|(_, word)| names.contains(word)).any(|(at, _)| {
        while let Some(next) = rest.pop_if(|(start, _)| *start <= at) {
            while open.pop_if(|(_, end)| *end <= next.0).is_some() {}
            open.push(next);
        }
        while open.pop_if(|(_, end)| *end <= at).is_some() {}
        let before = text.get(..at).unwrap_or_default();
        match (before.trim_end_matches(['{', '!']).strip_suffix('$'), open.last()) {
            // Without a command, it is tested or becomes another variable.
            (Some(before), None) => assigned_name(before).is_some(),
            (Some(before), Some(span)) => {
                let is_set =
                    || assigned_name(before).zip(set.get(span)).is_some_and(|(name, names)| names.contains(name));
                !clients.contains(span) && !is_set()
            }
            (None, span) => span.is_some_and(|span| codes.contains(span)),
        }
    })
}

/// The words of letters, digits and underscores in a text, with their positions.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(move |word| {
        let at = next;
        // What separates two words is one character.
        next = at + word.len();
        next += text.get(next..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        (at, word)
    })
}

/// The variable that is assigned what follows a text: `A=1 B="`.
fn assigned_name(before: &str) -> Option<&str> {
    let assignment = before.trim_end_matches(['"', '\'']).strip_suffix('=')?;
    let name = assignment.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
    (!name.is_empty()).then_some(name)
}

/// Whether a command only tests a value, or logs in with it.
fn is_client(command: &Command) -> bool {
    let has = |is: fn(&str) -> bool| command.args.iter().any(|arg| is(&arg.text));
    matches!(command.program.as_str(), "[" | "[[" | "test")
        || is_database(command)
        || has(|word| word == "login")
        || lists(&roles::NETWORK_FETCHERS, &command.program)
            && has(|word| word.to_ascii_lowercase().starts_with("authorization:"))
}

/// Whether a command prints variables that it is given the names of: `printenv X`.
fn prints_by_name(command: &Command, names: &BTreeSet<&str>) -> bool {
    matches!(command.program.as_str(), "printenv" | "gprintenv" | "declare" | "typeset")
        && command.args.iter().any(|arg| names.contains(arg.text.as_str()))
}

/// Whether the words of a command have code that can read variables: `node -e 'console.log(process.env.X)'`.
fn takes_code(command: &Command) -> bool {
    let uses = || command.parsed.iter().flat_map(|line| line.uses.iter());
    match command.program.as_str() {
        "sed" | "gsed" => false,
        "jq" | "jaq" | "gojq" => command.args.iter().any(|arg| arg.text.to_ascii_lowercase().contains("env")),
        _ => uses().any(|used| used.takes == Some(Use::Code)) && !is_database(command),
    }
}

/// Whether an interpreter reads code that names a variable from a here-document.
fn feeds_code(commands: &[Command], names: &BTreeSet<&str>) -> bool {
    let is_interpreter = |command: &&Command| {
        let language = command.parsed.as_deref().and_then(CommandLine::language);
        language.is_some() && !is_database(command) && !matches!(command.program.as_str(), "jq" | "jaq" | "gojq")
    };
    // Commands of a group have the same text.
    let mut seen = BTreeSet::new();
    let fed = commands.iter().filter(is_interpreter);
    let mut fed = fed.filter_map(|command| match &command.input {
        Input::Text(text) => seen.insert(Rc::as_ptr(text).cast::<u8>()).then_some(&**text),
        Input::Inherited | Input::Pipe | Input::Unknown => command.here_text.as_deref(),
    });
    fed.any(|text| words(text).any(|(_, word)| names.contains(word)))
}
