//! Recognises agents and terminals by the names of programs and environment variables.

use super::processes::Process;
use rune::client::{self, Client};
use rune::decide::validators::is_agent_program;
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

/// If the file cannot be parsed, no terminal is known and every check refuses; a test parses it.
static PEOPLE: LazyLock<People> =
    LazyLock::new(|| toml::from_str(include_str!("../../../rules/people.toml")).unwrap_or_default());

/// Option of the process that holds the terminals of VS Code and its forks on a remote machine.
const PTY_HOST: &str = "--type=ptyHost";

/// The script of that process, below the directory of the editor's own `node`.
const PTY_HOST_SCRIPT: &str = "/out/bootstrap-fork";

/// Main class of JetBrains IDEs that run in their own `java`.
const JETBRAINS: &str = "com.intellij.idea.Main";

/// Directories that only root can write, so that the names of scripts in them can be trusted.
const SYSTEM_DIRS: [&str; 4] = ["/usr/", "/opt/", "/nix/store/", "/snap/"];

/// Bytes of a process name that Linux keeps.
const MAX_NAME_BYTES: usize = 15;

/// The first variable in the environment of a process that an agent sets.
pub fn marker(process: &Process) -> Option<&'static str> {
    PEOPLE.markers.iter().map(String::as_str).find(|marker| process.variables.iter().any(|name| name == marker))
}

/// The agent that a process is, by its name or by the script that it interprets.
pub fn agent(process: &Process) -> Option<String> {
    if let Some(name) = names(process).find(|name| is_agent_program(name)) {
        return Some(name.to_owned());
    }
    let is_program_of = |client: &&dyn Client| {
        let part = client.locations().program_path;
        part.is_some_and(|part| process.argv.first().is_some_and(|program| program.contains(part)))
    };
    if let Some(client) = client::ALL.iter().copied().find(is_program_of) {
        return Some(client.name().to_owned());
    }
    let (_, package) = script(process)?.rsplit_once("node_modules/")?;
    let is_in = |name: &&String| package.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('/'));
    PEOPLE.packages.iter().find(is_in).cloned()
}

/// Whether a process is a known terminal, multiplexer or login; `parent` is its parent process.
///
/// The executable counts where it is known, because a process can choose its name and its command line.
pub fn is_terminal(process: &Process, parent: Option<&Process>) -> bool {
    let exe = process.exe.as_deref();
    // The executable of another user's process, or of a privileged one (`screen` is setgid on Debian), is not readable.
    // A process that hides its executable although it could be read is no terminal.
    let name = exe.map_or_else(|| title_program(&process.name), program_name);
    if !process.hides_exe && is_terminal_name(name) || exe.is_some_and(|exe| runs_terminal(exe, &process.argv)) {
        return true;
    }
    // In WSL, all login processes run the same executable, `/init`.
    let name = if name == "init" { title_program(&process.name) } else { name };
    let is_login = PEOPLE.logins.iter().any(|login| login == name) || name.starts_with("Relay(");
    is_login && (process.uid == 0 || parent.is_some_and(|parent| parent.uid == 0))
}

/// Whether an interpreter runs a terminal. The script counts only if it belongs to the system or the editor.
fn runs_terminal(exe: &str, argv: &[String]) -> bool {
    let words = || argv.iter().skip(1).map(String::as_str);
    let (folder, name) = exe.rsplit_once('/').unwrap_or_default();
    match without_version(name) {
        "node" => {
            let is_own = |script: &str| script.strip_prefix(folder).is_some_and(|rest| rest.ends_with(PTY_HOST_SCRIPT));
            words().next().is_some_and(is_own) && words().any(|word| word == PTY_HOST)
        }
        "java" => folder.ends_with("/jbr/bin") && words().any(|word| word == JETBRAINS),
        "python" => {
            let is_flag =
                |word: &&str| word.strip_prefix('-').is_some_and(|rest| rest.trim_matches(PYTHON_FLAGS).is_empty());
            let script = words().find(|word| !is_flag(word)).unwrap_or_default();
            let is_of_system =
                |path: &str| SYSTEM_DIRS.iter().any(|folder| path.starts_with(folder)) && !path.contains("/../");
            is_of_system(exe) && is_of_system(script) && is_terminal_name(file_name(script))
        }
        _ => false,
    }
}

/// Options of Python without a value, as in `#!/usr/bin/python3 -sP`.
const PYTHON_FLAGS: [char; 6] = ['B', 'E', 'I', 'P', 's', 'u'];

/// The name of an executable; `kitty` for `.kitty-wrapped`, as on NixOS.
fn program_name(exe: &str) -> &str {
    let name = file_name(exe);
    name.strip_prefix('.').and_then(|name| name.strip_suffix("-wrapped")).unwrap_or(name)
}

fn is_terminal_name(name: &str) -> bool {
    let is_truncated = |known: &str| known.len() > MAX_NAME_BYTES && known.get(..MAX_NAME_BYTES) == Some(name);
    PEOPLE.terminals.iter().any(|known| known == name || is_truncated(known))
        || PEOPLE.terminal_prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()))
}

/// The program in a process title such as `sshd: dev@pts/3` or `tmux: server`.
fn title_program(text: &str) -> &str {
    file_name(text.split(": ").next().unwrap_or_default())
}

/// The names of a process: its own, that of the program in `argv[0]`, and that of the script that it interprets.
fn names(process: &Process) -> impl Iterator<Item = &str> {
    let program = process.argv.first().map(|program| title_program(program));
    [Some(title_program(&process.name)), program, script(process).map(file_name)].into_iter().flatten()
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

/// `python` for `python3.12`.
fn without_version(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default().trim_start_matches('-')
}

#[cfg(test)]
#[path = "../../../tests/unit/runtime/agent_check/programs.rs"]
mod tests;
