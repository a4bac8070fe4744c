//! Destinations of commands and pages that the user typed: hosts, repositories, mail addresses. A tainted write to them is
//! the user's own wish.

use super::context::Context;
use super::subject::{Subject, SubjectKind};
use super::validators::is_rerouted;
use crate::encoding::address::Address;
use crate::event::destinations::is_shaped;
use crate::event::memory::Memory;
use crate::programs::Use;
use crate::shell::{Arg, Command};

/// Options that name a repository.
const REPOSITORY_OPTIONS: [&str; 2] = ["-R", "--repo"];

/// Programs whose operands may be repositories, and the variables that choose another repository or server for them.
const FORGE_PROGRAMS: [&str; 3] = ["gh", "glab", "hub"];
const FORGE_VARIABLES: [&str; 7] =
    ["GH_HOST", "GH_REPO", "GITHUB_HOST", "GITLAB_API_HOST", "GITLAB_HOST", "GITLAB_REPO", "GITLAB_URI"];

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
            let is_typed = |arg: &Arg| arg.is_known() && has_typed_addresses(&arg.text, &facts.memory);
            let is_led_elsewhere = is_rerouted(command, context) || chooses_forge(command);
            let mut all = destinations.certain.iter().chain(&destinations.mentioned);
            !is_led_elsewhere && !destinations.certain.is_empty() && all.all(is_typed)
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

/// Whether a variable chooses the repository or the server of a forge's program.
fn chooses_forge(command: &Command) -> bool {
    FORGE_PROGRAMS.contains(&command.program.as_str())
        && command.env.iter().any(|(name, _)| FORGE_VARIABLES.contains(&name.as_str()))
}

/// Everywhere that a command may send something to.
struct Destinations {
    /// Words that may be nothing else.
    certain: Vec<Arg>,
    /// Addresses in texts. The command may send to them, but it may also send the text to somewhere that it does not name.
    mentioned: Vec<Arg>,
}

/// Finds the destinations of a command. A word that is not known counts, unless the catalogue says that the option that
/// takes it means something else.
fn destinations(command: &Command) -> Destinations {
    let is_forge = FORGE_PROGRAMS.contains(&command.program.as_str());
    let uses = command.parsed.iter().flat_map(|line| line.uses.iter());
    let named = uses.filter_map(|used| {
        let value = command.value(used)?;
        let is_named = match used.takes {
            Some(Use::To | Use::From) => true,
            _ if used.option.is_some_and(|option| REPOSITORY_OPTIONS.contains(&option)) => true,
            takes if !value.is_known() => !used.by_option || matches!(takes, None | Some(Use::Unknown)),
            // `gh issue transfer 5 owner/name`
            _ => is_forge && !used.by_option && value.text.contains('/'),
        };
        is_named.then_some(value)
    });
    let unread = command.args.iter().filter(|arg| command.parsed.is_none() && !arg.is_known()).cloned();
    let shaped = command.args.iter().enumerate().filter_map(|(at, arg)| match attached(arg) {
        Some(value) => Some((at, value)),
        None => (is_destination(&arg.text) || arg.text.contains("://")).then(|| (at, arg.clone())),
    });
    let is_text = |(at, value): &(usize, Arg)| {
        let uses = command.parsed.as_deref().map(|line| line.uses_of(*at)).unwrap_or_default();
        value.text.contains(char::is_whitespace)
            || uses.iter().any(|used| used.by_option && used.takes == Some(Use::Text))
    };
    let (mentioned, words): (Vec<_>, Vec<_>) = shaped.partition(is_text);
    let values = |found: Vec<(usize, Arg)>| found.into_iter().map(|(_, value)| value);
    Destinations { certain: named.chain(unread).chain(values(words)).collect(), mentioned: values(mentioned).collect() }
}

/// The destination behind the name of an option in the same word: `--to=me@example.com`, `-cme@example.com`.
fn attached(arg: &Arg) -> Option<Arg> {
    let text = arg.text.as_str();
    let name = match text.strip_prefix("--") {
        Some(_) => text.get(..=text.find('=')?)?,
        None => text.get(..1 + text.strip_prefix('-')?.chars().next()?.len_utf8())?,
    };
    arg.behind(name).filter(|value| is_destination(value.text.trim_start_matches('=')))
}

/// Whether a word is a URL, a host with a path (`git@example.com:x/y`), or has the shape of a host or a mail address.
fn is_destination(word: &str) -> bool {
    let is_remote_path = word
        .split_once(':')
        .is_some_and(|(host, path)| !host.contains(['/', '=', '-']) && host.contains(['@', '.']) && !path.is_empty());
    !word.starts_with('-') && (word.contains("://") || is_remote_path || is_shaped(word))
}

/// Whether the user typed all addresses of a word, which may be a list or a text with addresses in it.
fn has_typed_addresses(text: &str, memory: &Memory) -> bool {
    let is_separator = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    if memory.has_typed(text) {
        return true;
    }
    let mut addresses = text.split(is_separator).filter(|piece| is_destination(piece)).peekable();
    if addresses.peek().is_none() {
        return !text.contains(is_separator) && has_typed_address(text, memory);
    }
    addresses.all(|address| has_typed_address(address, memory))
}

/// Whether the user typed an address: the whole one, its host or, where anybody can have a place on the host, its host and
/// repository. On a forge, `owner/name` suffices.
fn has_typed_address(text: &str, memory: &Memory) -> bool {
    let whole = text.split(['?', '#']).next().unwrap_or_default();
    if memory.has_typed(whole.trim_end_matches(".git")) {
        return true;
    }
    let address = Address::parse(whole);
    if !address.is_shared() {
        return address.host.contains('.') && memory.has_typed(&address.host);
    }
    // Of `git@example.com:x/y`, `x` is read as a port.
    let path = format!("{}/{}", if address.scheme.is_empty() { address.port } else { "" }, address.location);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    // The server may read such a path as another one.
    if parts.iter().any(|part| matches!(*part, "." | "..") || part.contains(['%', '\\'])) {
        return false;
    }
    let [owner, name, ..] = parts.as_slice() else { return false };
    let repository = format!("{owner}/{}", name.trim_end_matches(".git"));
    memory.has_typed(&format!("{}/{repository}", address.host)) || address.is_forge() && memory.has_typed(&repository)
}
