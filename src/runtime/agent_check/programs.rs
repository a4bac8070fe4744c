//! Names of programs and variables that tell an agent from a terminal.

use super::processes::Process;
use rune::client::{self, Client};
use rune::decide::validators::AGENTS;
use serde::Deserialize;
use std::sync::LazyLock;

/// The names, from `rules/people.toml`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct People {
    markers: Vec<String>,
    packages: Vec<String>,
    interpreters: Vec<String>,
    logins: Vec<String>,
    terminals: Vec<String>,
    terminal_prefixes: Vec<String>,
}

/// A file that cannot be read names no terminal, so nobody is taken for a person; a test reads it.
static PEOPLE: LazyLock<People> =
    LazyLock::new(|| toml::from_str(include_str!("../../../rules/people.toml")).unwrap_or_default());

/// The process that holds the terminals of VS Code, and of the editors made from it, on a machine to which they connect.
const PTY_HOST: &str = "--type=ptyHost";

/// The script of that process, below the directory of the `node` that comes with the editor.
const PTY_HOST_SCRIPT: &str = "/out/bootstrap-fork";

/// Main class of the IDEs of JetBrains where they run as the `java` that comes with them.
const JETBRAINS: &str = "com.intellij.idea.Main";

/// Directories of the system, in which scripts are what their names say.
const SYSTEM: [&str; 4] = ["/usr/", "/opt/", "/nix/store/", "/snap/"];

/// Linux keeps this many bytes of a process's name.
const NAME_BYTES: usize = 15;

/// The first variable of a process that an agent sets.
pub fn marker(process: &Process) -> Option<&'static str> {
    PEOPLE.markers.iter().map(String::as_str).find(|marker| process.variables.iter().any(|name| name == marker))
}

/// The agent that a process is, by its name or by the script that it interprets.
pub fn agent(process: &Process) -> Option<String> {
    if let Some(name) = names(process).find(|name| AGENTS.contains(name)) {
        return Some(name.to_owned());
    }
    let is_program_of = |client: &&dyn Client| {
        let part = client.locations().program_path;
        part.is_some_and(|part| process.argv.first().is_some_and(|program| program.contains(part)))
    };
    if let Some(client) = client::ALL.into_iter().find(is_program_of) {
        return Some(client.name().to_owned());
    }
    let (_, package) = script(process)?.rsplit_once("node_modules/")?;
    let is_in = |name: &&String| package.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('/'));
    PEOPLE.packages.iter().find(is_in).cloned()
}

/// Whether a process is known to hold the terminals that people sit at; `parent` is the process above it.
///
/// What a process runs counts, not what it calls itself: everybody may choose the words of a command line.
pub fn is_terminal(process: &Process, parent: Option<&Process>) -> bool {
    let exe = process.exe.as_deref();
    // Of a process of another user, or one with more rights (`screen` is setgid on Debian), only the name is told.
    // One that could tell and does not is no terminal.
    let name = exe.map_or_else(|| plain(&process.name), program_name);
    if !process.hides_exe && is_terminal_name(name) || exe.is_some_and(|exe| runs_terminal(exe, &process.argv)) {
        return true;
    }
    // All processes of WSL that let people in are one program, `/init`.
    let name = if name == "init" { plain(&process.name) } else { name };
    let is_login = PEOPLE.logins.iter().any(|login| login == name) || name.starts_with("Relay(");
    is_login && (process.uid == 0 || parent.is_some_and(|parent| parent.uid == 0))
}

/// Whether an interpreter runs a terminal. Its command line counts only for scripts that the system or the editor has
/// installed.
fn runs_terminal(exe: &str, argv: &[String]) -> bool {
    let words = || argv.iter().skip(1).map(String::as_str);
    let (folder, name) = exe.rsplit_once('/').unwrap_or_default();
    match without_version(name) {
        "node" => {
            let own = |script: &str| script.strip_prefix(folder).is_some_and(|rest| rest.ends_with(PTY_HOST_SCRIPT));
            words().next().is_some_and(own) && words().any(|word| word == PTY_HOST)
        }
        "java" => folder.ends_with("/jbr/bin") && words().any(|word| word == JETBRAINS),
        "python" => {
            // Options that take no code.
            let is_harmless =
                |word: &&str| word.strip_prefix('-').is_some_and(|rest| rest.trim_matches(HARMLESS).is_empty());
            let script = words().find(|word| !is_harmless(word)).unwrap_or_default();
            let is_of_system =
                |path: &str| SYSTEM.iter().any(|folder| path.starts_with(folder)) && !path.contains("/../");
            is_of_system(exe) && is_of_system(script) && is_terminal_name(file_name(script))
        }
        _ => false,
    }
}

/// The options of Python that a first line of a script has, as in `#!/usr/bin/python3 -sP`.
const HARMLESS: [char; 6] = ['B', 'E', 'I', 'P', 's', 'u'];

/// The name of an executable, also where a package wraps it (`.kitty-wrapped` on NixOS).
fn program_name(exe: &str) -> &str {
    let name = file_name(exe);
    name.strip_prefix('.').and_then(|name| name.strip_suffix("-wrapped")).unwrap_or(name)
}

fn is_terminal_name(name: &str) -> bool {
    let is_cut = |known: &str| known.len() > NAME_BYTES && known.get(..NAME_BYTES) == Some(name);
    PEOPLE.terminals.iter().any(|known| known == name || is_cut(known))
        || PEOPLE.terminal_prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()))
}

/// `sshd: dev@pts/3` and `tmux: server` say more behind the colon.
fn plain(text: &str) -> &str {
    file_name(text.split(": ").next().unwrap_or_default())
}

/// What a process may be called: its name, the program that it was started as, and the script that it interprets.
fn names(process: &Process) -> impl Iterator<Item = &str> {
    let program = process.argv.first().map(|program| plain(program));
    [Some(plain(&process.name)), program, script(process).map(file_name)].into_iter().flatten()
}

/// The script that an interpreter runs: its first operand.
fn script(process: &Process) -> Option<&str> {
    let (program, rest) = process.argv.split_first()?;
    let name = without_version(file_name(program));
    if !PEOPLE.interpreters.iter().any(|interpreter| interpreter == name) {
        return None;
    }
    rest.iter().map(String::as_str).find(|word| !word.starts_with('-') && *word != "run")
}

/// `python3.12` is Python.
fn without_version(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default().trim_start_matches('-')
}

#[cfg(test)]
#[path = "../../../tests/unit/runtime/agent_check/programs.rs"]
mod tests;
