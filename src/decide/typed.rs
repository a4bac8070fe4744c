//! Destinations of commands and pages that the user typed: hosts, repositories, mail addresses. A tainted write to them is
//! the user's own wish.

use super::context::Context;
use super::subject::{Subject, SubjectKind};
use crate::encoding::address::Address;
use crate::event::destinations::is_shaped;
use crate::event::memory::Memory;
use crate::programs::Use;
use crate::shell::{Arg, Command, reroutes};

/// Options that name a repository.
const REPOSITORY_OPTIONS: [&str; 2] = ["-R", "--repo"];

/// Whether the subject sends something, and the user typed everywhere that it sends it to. Never in a hot session.
pub(super) fn is_typed(subject: &Subject<'_>, context: &Context<'_>) -> bool {
    let facts = &context.event.facts;
    if facts.taint.is_hot() {
        return false;
    }
    match &subject.kind {
        SubjectKind::Page(url) => facts.memory.has_typed(url),
        SubjectKind::Command(command, _) => {
            let destinations = destinations(command);
            let is_typed = |arg: &Arg| arg.is_known() && has_typed_address(&arg.text, &facts.memory);
            let is_rerouted = command.is_rerouted() || context.effects().is_some_and(|effects| reroutes(&effects.env));
            !is_rerouted && !destinations.is_empty() && destinations.iter().all(is_typed)
        }
        SubjectKind::Pipeline(_)
        | SubjectKind::Line
        | SubjectKind::CommandAccess(_)
        | SubjectKind::ToolAccess(_)
        | SubjectKind::Query(_)
        | SubjectKind::McpTool
        | SubjectKind::Agent
        | SubjectKind::Passage(_) => false,
    }
}

/// Everywhere that a command may send something to. A word that is not known counts, unless it is the value of an option.
fn destinations(command: &Command) -> Vec<Arg> {
    let uses = command.parsed.iter().flat_map(|line| line.uses.iter());
    let named = uses.filter_map(|used| {
        let value = command.value(used)?;
        let is_named = match used.takes {
            Some(Use::To | Use::From) => true,
            _ if used.option.is_some_and(|option| REPOSITORY_OPTIONS.contains(&option)) => true,
            _ => !used.by_option && !value.is_known(),
        };
        is_named.then_some(value)
    });
    let shaped = command.args.iter().filter(|arg| is_destination(&arg.text)).cloned();
    named.chain(shaped).collect()
}

/// Whether a word is a URL, a host with a path (`git@example.com:x/y`), or has the shape of a host or a mail address.
fn is_destination(word: &str) -> bool {
    let is_remote_path = word
        .split_once(':')
        .is_some_and(|(host, path)| !host.contains(['/', '=', '-']) && host.contains(['@', '.']) && !path.is_empty());
    word.contains("://") || is_remote_path || !word.starts_with('-') && is_shaped(word)
}

/// Whether the user typed an address: the whole one, its host, or on a forge the repository.
fn has_typed_address(text: &str, memory: &Memory) -> bool {
    let whole = text.split(['?', '#']).next().unwrap_or_default();
    if memory.has_typed(whole.trim_end_matches(".git")) {
        return true;
    }
    let address = Address::parse(whole);
    // Of `git@example.com:x/y`, `x` is read as a port.
    let path = format!("{}/{}", if address.scheme.is_empty() { address.port } else { "" }, address.location);
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    if address.is_shared() {
        let repository = parts.next().zip(parts.next()).map(|(owner, name)| format!("{owner}/{name}"));
        return repository.is_some_and(|repository| memory.has_typed(repository.trim_end_matches(".git")));
    }
    address.host.contains('.') && memory.has_typed(&address.host)
}
