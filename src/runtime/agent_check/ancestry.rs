//! Decides by a process table whether a process was started by a person at a terminal.

use super::processes::{Process, ProcessTable, TableOrigin, Terminal};
use super::programs::{agent, is_terminal, marker};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Why a process is not taken for one that a person started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The sign of an agent.
    Agent(String),
    /// The process has no controlling terminal.
    NoTerminal,
    /// The process is not in the foreground of its terminal.
    Background,
    /// The master side of the terminal is held by a process that is no known terminal.
    Holder {
        /// Its process id.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// Neither the process that holds the terminal nor an ancestor is a known terminal.
    Orphan,
    /// The process itself is not in the table.
    Unreadable,
    /// The process is in a user namespace other than the initial one, which can hide agents and terminals.
    Nested,
    /// The process table is not the kernel's.
    Forged,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Agent(sign) => write!(f, "this was started by an agent ({sign})"),
            Refusal::NoTerminal => f.write_str("there is no terminal"),
            Refusal::Background => f.write_str("this does not run in the foreground of its terminal"),
            Refusal::Holder { pid, name } => {
                let plain = |c: char| if c.is_control() { '?' } else { c };
                let name: String = name.chars().map(plain).collect();
                write!(f, "this terminal belongs to process {pid}, `{name}`, which is not known as a terminal")
            }
            Refusal::Orphan => f.write_str("this was left behind by the process that started it"),
            Refusal::Unreadable => f.write_str("the process table cannot be read"),
            Refusal::Nested => {
                f.write_str("this runs in a nested user namespace, which can hide the processes of the machine")
            }
            Refusal::Forged => f.write_str("`/proc` does not show the processes of the machine"),
        }
    }
}

impl Refusal {
    /// What a person does instead.
    pub fn help(&self) -> &'static str {
        match self {
            Refusal::Agent(_) => "run it in a terminal of your own, outside of the agent's session",
            Refusal::NoTerminal => "run it in a terminal of your own; `--yes` does not replace the terminal",
            Refusal::Background => "run it in a terminal of your own, without `&`",
            Refusal::Holder { .. } | Refusal::Orphan => {
                "run it in a terminal of your own: a terminal emulator, ssh, tmux or screen"
            }
            Refusal::Unreadable => "run it where `/proc` or `/bin/ps` can be read",
            Refusal::Nested | Refusal::Forged => {
                "run it on the host, in a terminal of your own, outside of rootless containers and sandboxes"
            }
        }
    }
}

/// Whether process `pid` was started by a person at a terminal.
///
/// It has to be in the foreground of a controlling terminal. No agent may be above it, above the process that holds the
/// master side of the terminal, or running in the same terminal. Every holder has to be a known terminal, or itself be at a
/// terminal of a person, as `script` and `sudo` are. Where no holder can be seen (it belongs to another user, the terminal
/// is a console, or the system does not tell), a known terminal or login has to be among the ancestors.
pub fn check_person(table: &ProcessTable, pid: u32) -> Result<(), Refusal> {
    // An agent that is seen in spite of all is the better reason.
    if let Some(refusal) = agent_above(table, pid) {
        return Err(refusal);
    }
    match table.origin {
        TableOrigin::InitialNamespace => {}
        TableOrigin::NestedNamespace => return Err(Refusal::Nested),
        TableOrigin::Forged => return Err(Refusal::Forged),
    }
    at_terminal(table, pid, &mut BTreeMap::new())
}

/// The sign of an agent in the environment of `pid`, in its ancestors, or in what holds its terminal.
pub fn agent_above(table: &ProcessTable, pid: u32) -> Option<Refusal> {
    let process = table.get(pid)?;
    if let Some(name) = marker(process) {
        return Some(Refusal::Agent(format!("`{name}` is set")));
    }
    if let Some(sign) = ancestors(table, process).skip(1).find_map(sign) {
        return Some(Refusal::Agent(format!("{sign} started this one")));
    }
    let terminal = process.terminal?;
    for holder in table.holders(terminal) {
        if let Some(sign) = ancestors(table, holder).find_map(sign) {
            return Some(Refusal::Agent(format!("{sign} made this terminal")));
        }
    }
    // An orphan has no agent above it, and shares the terminal with the agent that left it. One that is stopped (Ctrl-Z)
    // is not at work.
    let beside = |other: &&Process| other.pid != pid && other.terminal == Some(terminal) && !other.is_stopped;
    let (pid, name) = table.iter().filter(beside).find_map(|other| Some((other.pid, agent(other)?)))?;
    Some(Refusal::Agent(format!("process {pid}, `{name}`, runs in this terminal")))
}

/// Whether a process that was asked about before is at the terminal of a person.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// Not known yet: terminals that hold each other lead back to it.
    Pending,
    Accepted,
}

fn at_terminal(table: &ProcessTable, pid: u32, asked: &mut BTreeMap<u32, Asked>) -> Result<(), Refusal> {
    let process = table.get(pid).ok_or(Refusal::Unreadable)?;
    if let Some(refusal) = agent_above(table, pid) {
        return Err(refusal);
    }
    let Some(terminal) = process.terminal else { return Err(Refusal::NoTerminal) };
    if process.foreground != Some(process.group) {
        return Err(Refusal::Background);
    }
    asked.insert(pid, Asked::Pending);
    let mut holders = table.holders(terminal).peekable();
    if holders.peek().is_none() && !has_terminal_above(table, process, terminal) {
        return Err(Refusal::Orphan);
    }
    // Other pty file systems use the same numbers, and the system does not tell which is whose: so every holder has to be
    // a terminal, or one that the agent made would pass by the number of another.
    for holder in holders {
        let accepted = match asked.get(&holder.pid) {
            Some(before) => *before == Asked::Accepted,
            None => is_terminal(holder, table.get(holder.parent)) || at_terminal(table, holder.pid, asked).is_ok(),
        };
        if !accepted {
            return Err(Refusal::Holder { pid: holder.pid, name: holder.name.clone() });
        }
    }
    asked.insert(pid, Asked::Accepted);
    Ok(())
}

/// Whether the terminal of a process comes from a login or a terminal above it, where nothing is seen to hold it.
fn has_terminal_above(table: &ProcessTable, process: &Process, terminal: Terminal) -> bool {
    let mut top = process;
    for above in ancestors(table, process).skip(1) {
        if is_terminal(above, table.get(above.parent)) {
            return true;
        }
        top = above;
    }
    // `docker exec -it`: the terminal and the parent are both outside of what is seen. `hidepid` hides `sshd`.
    let from_outside = top.parent == 0 && top.terminal == Some(terminal);
    from_outside || table.hides_others && top.parent > 1 && table.get(top.parent).is_none()
}

/// A process and the processes above it, nearest first. A loop ends it.
fn ancestors<'a>(table: &'a ProcessTable, process: &'a Process) -> impl Iterator<Item = &'a Process> {
    let mut seen = BTreeSet::new();
    std::iter::successors(Some(process), |below| table.get(below.parent))
        .take_while(move |process| seen.insert(process.pid))
}

/// What shows that a process is an agent or was started by one.
fn sign(process: &Process) -> Option<String> {
    let pid = process.pid;
    if let Some(name) = marker(process) {
        return Some(format!("process {pid}, which has `{name}` set,"));
    }
    agent(process).map(|name| format!("process {pid}, `{name}`,"))
}

#[cfg(test)]
#[path = "../../../tests/unit/runtime/agent_check/ancestry.rs"]
mod tests;
