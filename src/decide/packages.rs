//! Packages that commands download by their names.

use crate::encoding::address::is_remote_code;
use crate::event::Event;
use crate::programs::{Tail, Use, WordUse};
use crate::shell::{Arg, Command};
use std::collections::BTreeSet;
use std::ops::Bound;

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
        .filter(|word| !is_local(word, &command.program))
        .map(|word| word.is_known().then(|| plain_name(&word.text)))
        .collect()
}

/// Endings by which `pip` and `npm` recognise a file without looking for it. Registries allow names that end like archives,
/// so to other programs such a word is the name of a package.
const PYTHON_ARCHIVES: [&str; 4] = [".whl", ".zip", ".tar.gz", ".tgz"];
const NODE_ARCHIVES: [&str; 2] = [".tgz", ".tar.gz"];

/// Whether a word is a file or an address, which other rules judge.
fn is_local(word: &Arg, program: &str) -> bool {
    let text = word.text.as_str();
    let archives: &[&str] = match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "pip" | "pipx" | "python" | "uv" | "uvx" => &PYTHON_ARCHIVES,
        "bun" | "npm" | "npx" | "pnpm" | "yarn" => &NODE_ARCHIVES,
        _ => &[],
    };
    text.is_empty()
        || text.starts_with(['.', '/', '~', '-'])
        || text.starts_with("file:")
        || text.contains("://")
        || is_remote_code(text)
        || archives.iter().any(|ending| text.ends_with(ending))
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
    words.contains(package) || is_of_host && names_module(package, words)
}

/// Whether a word is the beginning of a path, of two parts or more.
///
/// Of all words, the last one that is not behind the path shares the most parts with it. If it is no beginning itself,
/// those that are have no more parts than the two share, so that a path with many parts is not looked up once for each.
fn names_module(path: &str, words: &BTreeSet<String>) -> bool {
    let mut rest = path;
    while rest.contains('/') {
        let up_to_rest = (Bound::Unbounded, Bound::Included(rest));
        let Some(word) = words.range::<str, _>(up_to_rest).next_back() else { return false };
        let shared = word.bytes().zip(rest.bytes()).take_while(|(one, other)| one == other).count();
        let is_beginning = shared == word.len() && (shared == path.len() || path.as_bytes().get(shared) == Some(&b'/'));
        if is_beginning {
            return word.contains('/');
        }
        let head = rest.as_bytes().iter().take(shared + 1).rposition(|byte| *byte == b'/');
        let Some(end) = head else { return false };
        rest = path.get(..end).unwrap_or_default();
    }
    false
}

#[cfg(test)]
#[path = "../../tests/unit/decide/packages.rs"]
mod tests;
