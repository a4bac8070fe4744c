//! What a change is about: the machine of a container, or whatever a command changes that is run elsewhere.

use super::super::Command;
use crate::encoding::address::Address;
use crate::programs::code::lists;
use crate::programs::entry::Scope;
use crate::programs::{self, CommandLine, Does, Use, WordUse, roles};

/// The longest chain of programs that run each other which is followed.
const MAX_DEPTH: usize = 4;

impl Command {
    /// Whether it runs in a container, so that its program is one of the image.
    pub fn runs_in_container(&self) -> bool {
        self.via.iter().any(|runner| lists(&roles::CONTAINERS_ENGINES, runner))
    }

    /// The effect of a change, given where it takes place.
    pub(super) fn narrowed(&self, line: &CommandLine, named: Option<Does>) -> Option<Does> {
        let named = named.max(line.elsewhere.filter(|_| self.env.iter().any(is_elsewhere)));
        if named != Some(Does::Change) {
            return named;
        }
        match line.scope() {
            Scope::Machine if self.runs_in_container() => Some(Does::Work),
            Scope::Command if self.runs_look(line) => Some(Does::Look),
            Scope::Machine | Scope::Command | Scope::Shared => named,
        }
    }

    /// Whether the command that it runs only looks.
    fn runs_look(&self, line: &CommandLine) -> bool {
        let words: Vec<&str> = self.args.iter().map(|arg| arg.text.as_str()).collect();
        let start = line.command.unwrap_or(words.len());
        !self.is_dynamic() && words.get(start..).is_some_and(|words| looks(words, MAX_DEPTH))
    }
}

/// Whether a variable may name another server or configuration than the options do: `PGHOST`, `KUBECONFIG`.
fn is_elsewhere((name, value): &(String, Option<String>)) -> bool {
    let names_server =
        ["HOST", "SERVER", "SERVERS", "URL", "URI", "ADDR", "ADDRESS", "ENDPOINT", "CONFIG", "CONTEXT", "SERVICE"];
    let is_near = value.as_deref().is_some_and(|value| Address::parse(value).is_nearby());
    names_server.iter().any(|end| name.ends_with(end)) && !is_near
}

/// Whether a command prints something and does nothing else.
fn looks(words: &[&str], depth: usize) -> bool {
    let (Some((name, args)), Some(depth)) = (words.split_first(), depth.checked_sub(1)) else { return false };
    let name = name.rsplit('/').next().unwrap_or(name);
    if let (true, ["-c" | "-lc" | "-ec", text]) = (lists(&roles::SHELLS_COMMON, name), args) {
        return is_plain(text)
            && text
                .split([';', '|', '&'])
                .map(str::trim)
                .filter(|part| !part.is_empty())
                .all(|part| looks(&part.split_whitespace().collect::<Vec<_>>(), depth));
    }
    let Some(entry) = programs::embedded(name).filter(|_| !lists(&roles::SHELLS_VARIABLES, name)) else { return false };
    // `python -V`
    if matches!(args, ["-V" | "--version" | "-version"]) {
        return true;
    }
    let line = programs::parse(entry, args);
    let only_reads = |used: &WordUse| {
        matches!(used.takes, Some(Use::Text | Use::List | Use::Match | Use::Load | Use::Read))
            || used.takes.is_none() && !used.by_option
    };
    line.does == Some(Does::Look) && !line.reveals() && line.command.is_none() && line.uses.iter().all(only_reads)
}

/// Whether a text for a shell consists of words, lists and pipelines only.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || " _-./:=,+%@;|&".contains(c))
}
