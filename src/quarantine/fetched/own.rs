//! Whether a command brings what strangers wrote, by the catalogue, and not only what the project's own remotes and the
//! operator's own hosts hold.

use super::{REFS_FETCHED, REFS_PROPOSALS, REFS_REMOTES};
use crate::encoding::address::Address;
use crate::policy::Config;
use crate::programs::{CommandLine, Use};
use crate::shell::{Arg, Command};

/// Whether the output of a command, or what it downloads, was written by strangers. `adds_remote`: the same line adds a
/// remote to the repository.
pub(super) fn brings(command: &Command, adds_remote: bool, config: &Config) -> bool {
    let Some(line) = command.parsed.as_deref().filter(|line| !line.only_helps) else { return false };
    if command.program == "git" {
        return names_proposal(command) || line.brings() && !is_from_own_remote(command, line, adds_remote, config);
    }
    line.brings() && !is_from_own_host(command, line, config)
}

/// Whether a command gives a repository another remote, or an address another meaning.
pub(super) fn adds_remote(command: &Command) -> bool {
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).filter(|word| *word != "-v").collect();
    command.program == "git"
        && words.windows(2).any(|pair| match pair {
            ["remote", verb] => matches!(*verb, "add" | "set-url"),
            // `-c url.https://x/.insteadOf=https://own/`
            [_, setting] => setting.starts_with("remote.") || setting.starts_with("url."),
            _ => false,
        })
}

impl Config {
    /// Whether what a server sends is the operator's own.
    pub(in crate::quarantine) fn owns_host(&self, address: &str) -> bool {
        let host = Address::parse(address).host;
        !host.is_empty()
            && self.own_hosts.iter().any(|own| match own.strip_prefix("*.") {
                Some(domain) => host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')),
                None => *own == host,
            })
    }
}

fn is_own(address: &Arg, config: &Config) -> bool {
    address.is_known() && config.owns_host(&address.text)
}

/// Whether all servers that a command names are the operator's own, and it names one.
fn is_from_own_host(command: &Command, line: &CommandLine, config: &Config) -> bool {
    let servers = line.uses.iter().filter(|used| matches!(used.takes, Some(Use::To | Use::From)));
    let mut named: Vec<Arg> = servers.filter_map(|used| command.value(used)).collect();
    if named.is_empty() {
        named = command.destinations();
    }
    // A file may name further servers, or a proxy.
    let is_complete = !command.is_rerouted() && command.values(&["-K", "--config"]).is_empty();
    !config.own_hosts.is_empty()
        && is_complete
        && !named.is_empty()
        && named.iter().all(|server| is_own(server, config))
}

/// Whether git takes something only from remotes of the project, or from a directory of this machine.
fn is_from_own_remote(command: &Command, line: &CommandLine, adds_remote: bool, config: &Config) -> bool {
    let is_of_option = |word: usize| line.uses_of(word).iter().any(|used| used.by_option);
    let words = command.args.iter().enumerate().filter(|(at, arg)| !arg.text.starts_with('-') && !is_of_option(*at));
    let words: Vec<(usize, &Arg)> = words.collect();
    let has_flag = |flag: &str| command.args.iter().any(|arg| arg.text == flag);
    let operands = match words.as_slice() {
        [(_, group), (_, verb), ..]
            if matches!(group.text.as_str(), "remote" | "submodule") && verb.text == "update" =>
        {
            return !adds_remote && !has_flag("--remote");
        }
        [(_, group), _, operands @ ..] if matches!(group.text.as_str(), "lfs" | "annex") => operands,
        [_, operands @ ..] => operands,
        [] => &[],
    };
    let is_clone = words.first().is_some_and(|(_, verb)| verb.text == "clone");
    let is_listed = |arg: &Arg| REFS_REMOTES.contains(&arg.text.as_str());
    // The value of an option that the catalogue does not list may stand before the repository.
    let is_doubtful = |word: usize| line.uses_of(word).iter().any(|used| used.doubtful);
    let repository = operands.iter().find(|(at, arg)| !is_doubtful(*at) || is_listed(arg) || is_address(arg));
    match repository.map(|(_, repository)| *repository) {
        None => !is_clone && !adds_remote,
        Some(repository) if is_address(repository) => is_own(repository, config) && !adds_remote,
        Some(repository) => {
            let is_directory = repository.is_known() && repository.text.starts_with(['/', '.', '~']);
            is_directory || is_listed(repository) && !adds_remote
        }
    }
}

/// Whether a word is a URL, or a host with a path: `git@example.com:x/y`.
fn is_address(arg: &Arg) -> bool {
    let host = arg.text.split_once(':').map_or("", |(host, _)| host);
    arg.text.contains("://") || !host.is_empty() && !host.contains('/') && (host.contains(['@', '.']))
}

/// Whether a word names what was fetched last, or a proposal: `FETCH_HEAD:a`, `pull/5/head`, `origin/pr/5`.
fn names_proposal(command: &Command) -> bool {
    let is_proposal = |word: &str| {
        let parts: Vec<&str> = word.split(['/', ':', '+', '.', '^', '~', '=']).collect();
        let is_numbered = |pair: &[&str]| match pair {
            [kind, number] => REFS_PROPOSALS.contains(kind) && number.starts_with(|c: char| c.is_ascii_digit()),
            _ => false,
        };
        parts.windows(2).any(is_numbered) || parts.iter().any(|part| REFS_FETCHED.contains(part))
    };
    command.args.iter().any(|arg| !arg.text.contains(char::is_whitespace) && is_proposal(&arg.text))
}
