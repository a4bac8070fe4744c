//! Commands that may show variables which hold what another command prints: `export X=$(cat .env); git commit -m "$X"`.

use super::sending::is_database;
use crate::decide::context::Context;
use crate::event::Action;
use crate::programs::code::lists;
use crate::programs::{CommandLine, Use, roles};
use crate::shell::{Command, Input};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Whether the text of a command has one of these variables, and the command is neither a test nor a client that logs in
/// with it.
pub(super) fn shows_variable(names: &BTreeSet<&str>, context: &Context<'_>) -> bool {
    let Action::Shell { command: Some(text), .. } = &context.event.action else { return false };
    let text = text.inspect("which variables it names");
    let commands = context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
    // The text of a here-document stands behind its command.
    let names_in = |command: &Command| {
        let here_text = command.here_text.as_deref().unwrap_or_default();
        words(here_text).any(|(_, word)| names.contains(word) && prints_by_name(command, word))
    };
    if commands.iter().any(names_in) {
        return true;
    }
    let mut rest: Vec<&Command> = commands.iter().collect();
    rest.sort_by_key(|command| (Reverse(command.span.start), command.span.end));
    // The commands around a name, the innermost last.
    let mut open: Vec<&Command> = Vec::new();
    words(text).filter(|(_, word)| names.contains(word)).any(|(at, word)| {
        while let Some(command) = rest.pop_if(|command| command.span.start <= at) {
            while open.pop_if(|outer| outer.span.end <= command.span.start).is_some() {}
            open.push(command);
        }
        while open.pop_if(|command| command.span.end <= at).is_some() {}
        let innermost = open.last().map(|command| command.span.clone());
        let mut around = open.iter().rev().take_while(|command| Some(&command.span) == innermost.as_ref());
        let before = text.get(..at).unwrap_or_default();
        match before.trim_end_matches(['{', '!']).strip_suffix('$') {
            // Without a command, it is tested or becomes another variable.
            Some(before) if open.is_empty() => assigned_name(before).is_some(),
            Some(before) => {
                let is_set_for = |command: &Command| {
                    assigned_name(before).is_some_and(|name| command.env.iter().any(|(set, _)| set == name))
                };
                !around.any(|command| is_client(command) || is_set_for(command))
            }
            None => around.any(|command| prints_by_name(command, word)),
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

/// Whether a command prints variables that it names without a `$`: `printenv X`, `node -e 'console.log(process.env.X)'`.
fn prints_by_name(command: &Command, name: &str) -> bool {
    let line = command.parsed.as_deref();
    let takes_code = || line.is_some_and(|line| line.uses.iter().any(|used| used.takes == Some(Use::Code)));
    // Code in standard input.
    let is_fed = matches!(command.input, Input::Text(_)) || command.here_text.is_some();
    let is_fed_code = || is_fed && line.and_then(CommandLine::language).is_some();
    let filters_environment = || command.args.iter().any(|arg| arg.text.to_ascii_lowercase().contains("env"));
    match command.program.as_str() {
        "printenv" | "gprintenv" | "declare" | "typeset" => command.args.iter().any(|arg| arg.text == name),
        "sed" | "gsed" => false,
        "jq" | "jaq" | "gojq" => filters_environment(),
        _ => (takes_code() || is_fed_code()) && !is_database(command),
    }
}
