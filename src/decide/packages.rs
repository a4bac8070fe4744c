//! Packages that commands download by their names.

use crate::encoding::address::is_remote_code;
use crate::event::Event;
use crate::programs::{Tail, Use, WordUse};
use crate::shell::{Arg, Command};
use std::collections::BTreeSet;

/// Options of programs that install, whose value is a package too.
const PACKAGE_OPTIONS: [&str; 4] = ["--from", "--package", "--with", "-p"];

/// The packages that the commands of a call download by their names, without versions, in lower case and with `-` for `_`.
pub fn named_packages(event: &Event<'_>) -> Vec<String> {
    let commands = event.shell().map(|shell| shell.reading.commands.as_slice()).unwrap_or_default();
    let mut names: Vec<String> = commands.iter().flat_map(packages).flatten().collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The packages that a command downloads by their names; `None` for a name that is not known.
pub(super) fn packages(command: &Command) -> Vec<Option<String>> {
    let Some(line) = command.parsed.as_deref().filter(|line| !line.only_helps) else { return Vec::new() };
    let runs_package = line.tail == Some(Tail::Package);
    if !line.installs() {
        return Vec::new();
    }
    let is_package = |used: &&WordUse| match used.option {
        Some(option) => PACKAGE_OPTIONS.contains(&option) && used.takes == Some(Use::Text),
        None => !used.by_option && !runs_package && !matches!(used.takes, Some(Use::From | Use::To)),
    };
    let words = line.uses.iter().filter(is_package).filter_map(|used| command.value(used));
    let program = line.command.filter(|_| runs_package).and_then(|at| command.args.get(at)).cloned();
    words
        .chain(program)
        .filter(|word| !is_local(word))
        .map(|word| word.is_known().then(|| plain_name(&word.text)))
        .collect()
}

/// Whether a word is a file or an address, about which other rules are.
fn is_local(word: &Arg) -> bool {
    let text = word.text.as_str();
    let is_archive = [".whl", ".tgz", ".tar.gz", ".zip", ".gem", ".crate", ".rb", ".deb"];
    text.is_empty()
        || text.starts_with(['.', '/', '~', '-'])
        || text.starts_with("file:")
        || text.contains("://")
        || is_remote_code(text)
        || is_archive.iter().any(|ending| text.ends_with(ending))
}

/// The name in `name@1.0`, `name[extra]>=2`, `alias@npm:name@1`, in lower case, with `-` for `_`.
fn plain_name(word: &str) -> String {
    let name = ["npm:", "jsr:"].iter().find_map(|registry| Some(word.split_once(registry)?.1)).unwrap_or(word);
    let is_version = |(at, c): &(usize, char)| *at > 0 && "@=<>~^![]; :".contains(*c);
    let end = name.char_indices().find(is_version).map_or(name.len(), |(at, _)| at);
    normalized(name.get(..end).unwrap_or_default())
}

fn normalized(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// The words in the text of a manifest that may name a package, in lower case and with `-` for `_`.
pub fn manifest_words(manifest: &str) -> impl Iterator<Item = String> {
    let words = manifest.split(|c: char| !c.is_ascii_alphanumeric() && !"@/_.-".contains(c));
    words.map(|word| normalized(word.trim_end_matches(['.', '-']))).filter(|word| !word.is_empty())
}

/// Whether the words of manifests name a package, or the module that a package of Go belongs to.
pub fn is_named(package: &str, words: &BTreeSet<String>) -> bool {
    // `example.com/owner/module/package`: the first part is a host.
    let is_of_host = package.split('/').next().is_some_and(|host| host.contains('.'));
    let mut modules = package.match_indices('/').skip(1).filter_map(|(at, _)| package.get(..at));
    words.contains(package) || is_of_host && modules.any(|module| words.contains(module))
}
