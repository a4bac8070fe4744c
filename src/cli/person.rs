//! Who is asking: verbs that loosen the guard are for people, not for the agents that it guards.

use anyhow::bail;
use rune::client::AGENTS;
use std::io::IsTerminal;
use std::path::Path;

/// Variables that agents set for the commands that they run; the name alone counts.
const MARKERS: [&str; 22] = [
    "AI_AGENT",
    "AUGMENT_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLINE_ACTIVE",
    "CODEX_CI",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "CONTINUE_PROJECT_DIR",
    "COPILOT_CLI",
    "CURSOR_AGENT",
    "CURSOR_PROJECT_DIR",
    "FACTORY_PROJECT_DIR",
    "GEMINI_CLI",
    "GEMINI_SESSION_ID",
    "GOOSE_TERMINAL",
    "GROK_WORKSPACE_ROOT",
    "OPENCODE",
    "QWEN_CODE",
    "QWEN_PROJECT_DIR",
];

/// Ancestors that are looked at; nobody nests deeper.
const MOST: usize = 64;

/// Refuses a loosening verb to an agent, and without a terminal to whoever has not said `--yes`.
pub fn may_loosen(what: &str, yes: bool) -> anyhow::Result<()> {
    refuse_agent(what)?;
    if !yes && !std::io::stdin().is_terminal() {
        bail!("{what} loosens the guard, and there is no terminal\n  help: if you mean it, run it again with `--yes`");
    }
    Ok(())
}

/// Refuses a verb to an agent.
pub fn refuse_agent(what: &str) -> anyhow::Result<()> {
    if let Some(sign) = agent() {
        bail!(
            "{what} is for people, and this was started by an agent ({sign})\n  help: run it in a terminal of your own, outside of the agent's session"
        );
    }
    Ok(())
}

/// What tells that an agent has started us.
fn agent() -> Option<String> {
    let marked = |(name, _): (std::ffi::OsString, _)| marker(&name.to_string_lossy());
    if let Some(name) = std::env::vars_os().find_map(marked) {
        return Some(format!("`{name}` is set"));
    }
    let mut pid = std::process::id();
    for _ in 0..MOST {
        let process = Process::look(pid)?;
        if process.parent == 0 {
            return None;
        }
        pid = process.parent;
        let above = Process::look(pid)?;
        if let Some(name) = above.variables.iter().find_map(|name| marker(name)) {
            return Some(format!("`{name}` is set for process {pid}, which started this one"));
        }
        if AGENTS.contains(&above.name.as_str()) {
            return Some(format!("process {pid}, `{}`, started this one", above.name));
        }
    }
    None
}

fn marker(name: &str) -> Option<&'static str> {
    MARKERS.into_iter().find(|marker| *marker == name)
}

/// A running process, as far as it lets itself be seen.
struct Process {
    parent: u32,
    name: String,
    /// The names of the variables that it was started with.
    variables: Vec<String>,
}

impl Process {
    fn look(pid: u32) -> Option<Process> {
        if Path::new("/proc/self/stat").exists() { Process::in_proc(pid) } else { Process::by_ps(pid) }
    }

    fn in_proc(pid: u32) -> Option<Process> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // `12 (a name) S 11 …`: the name may hold brackets and blanks.
        let (head, rest) = stat.rsplit_once(')')?;
        let name = head.split_once('(')?.1.to_owned();
        let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
        // Another user's process does not tell its environment.
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let names = environ.split(|byte| *byte == 0).filter_map(|pair| pair.split(|byte| *byte == b'=').next());
        let variables = names.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        Some(Process { parent, name, variables })
    }

    /// Where there is no `/proc`, as on macOS: `ps` prints the environment behind the command.
    fn by_ps(pid: u32) -> Option<Process> {
        let ask = |words: &[&str]| {
            let output =
                std::process::Command::new("/bin/ps").args(words).args(["-p", &pid.to_string()]).output().ok()?;
            Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let line = ask(&["-o", "ppid=,comm="])?;
        let (parent, name) = line.split_once(char::is_whitespace)?;
        let all = ask(&["eww", "-o", "command="]).unwrap_or_default();
        let variables = all.split_whitespace().filter_map(|word| Some(word.split_once('=')?.0.to_owned())).collect();
        let name = name.trim().rsplit('/').next().unwrap_or_default().to_owned();
        Some(Process { parent: parent.parse().ok()?, name, variables })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_look_see_the_same_process() {
        let pid = std::process::id();
        let (one, other) = (Process::in_proc(pid).unwrap(), Process::by_ps(pid).unwrap());
        assert_eq!(one.parent, other.parent);
        assert!(
            one.variables.iter().all(|name| name.is_empty() || other.variables.contains(name)),
            "{:?}",
            other.variables
        );
    }
}
