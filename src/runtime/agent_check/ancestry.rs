//! Decides from a process table whether a person at a terminal has started a process.

use super::processes::{Process, ProcessTable, TableOrigin, Terminal};
use super::programs::{agent, is_terminal, marker};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Why a process does not count as started by a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// An agent has started it; the text says how it was recognised.
    Agent(String),
    /// The process has no controlling terminal.
    NoTerminal,
    /// The process is not in the foreground of its terminal.
    Background,
    /// A process that is not a known terminal holds the master side of the terminal.
    Holder { pid: u32, name: String },
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
    /// What a person can do instead.
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

/// Checks that a person at a terminal has started process `pid`.
///
/// It has to be in the foreground of a controlling terminal. No agent may be an ancestor of it or of the process that holds
/// the master side of the terminal, or run in the same terminal. Every holder has to be a known terminal, or itself be at a
/// person's terminal, as `script` and `sudo` are. If no holder is visible (it belongs to another user, the terminal is a
/// console, or the system has no such information), a known terminal or login has to be among the ancestors.
pub fn check_person(table: &ProcessTable, pid: u32) -> Result<(), Refusal> {
    // Checked first, because a visible agent is the more helpful reason.
    if let Some(refusal) = agent_above(table, pid) {
        return Err(refusal);
    }
    match table.origin {
        TableOrigin::InitialNamespace => {}
        TableOrigin::NestedNamespace => return Err(Refusal::Nested),
        TableOrigin::Forged => return Err(Refusal::Forged),
    }
    check_terminal(table, pid, &mut BTreeMap::new())
}

/// Finds an agent by the environment of `pid`, among its ancestors, or among the holders of its terminal.
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
    // An orphan has lost the agent among its ancestors, but shares the terminal with it. A stopped agent (Ctrl-Z) does not
    // count.
    let beside = |other: &&Process| other.pid != pid && other.terminal == Some(terminal) && !other.is_stopped;
    let (pid, name) = table.iter().filter(beside).find_map(|other| Some((other.pid, agent(other)?)))?;
    Some(Refusal::Agent(format!("process {pid}, `{name}`, runs in this terminal")))
}

/// Whether a process is at a person's terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckState {
    /// The check is not finished. Terminals that hold each other lead back to the same process.
    Pending,
    Accepted,
}

fn check_terminal(table: &ProcessTable, pid: u32, checked: &mut BTreeMap<u32, CheckState>) -> Result<(), Refusal> {
    let process = table.get(pid).ok_or(Refusal::Unreadable)?;
    if let Some(refusal) = agent_above(table, pid) {
        return Err(refusal);
    }
    let Some(terminal) = process.terminal else { return Err(Refusal::NoTerminal) };
    if process.foreground != Some(process.group) {
        return Err(Refusal::Background);
    }
    checked.insert(pid, CheckState::Pending);
    let mut holders = table.holders(terminal).peekable();
    if holders.peek().is_none() && !has_terminal_above(table, process, terminal) {
        return Err(Refusal::Orphan);
    }
    // Several devpts instances use the same numbers, and they cannot be told apart. So every holder has to be a terminal:
    // otherwise a terminal of the agent would pass by the number of another one.
    for holder in holders {
        let accepted = match checked.get(&holder.pid) {
            Some(state) => *state == CheckState::Accepted,
            None => is_terminal(holder, table.get(holder.parent)) || check_terminal(table, holder.pid, checked).is_ok(),
        };
        if !accepted {
            return Err(Refusal::Holder { pid: holder.pid, name: holder.name.clone() });
        }
    }
    checked.insert(pid, CheckState::Accepted);
    Ok(())
}

/// Whether a login or a terminal is among the ancestors of a process whose terminal has no visible holder.
fn has_terminal_above(table: &ProcessTable, process: &Process, terminal: Terminal) -> bool {
    let mut top = process;
    for above in ancestors(table, process).skip(1) {
        if is_terminal(above, table.get(above.parent)) {
            return true;
        }
        top = above;
    }
    // In `docker exec -it`, the terminal and the parent are both outside of the pid namespace. `hidepid` hides `sshd`.
    let from_outside = top.parent == 0 && top.terminal == Some(terminal);
    from_outside || table.hides_others && top.parent > 1 && table.get(top.parent).is_none()
}

/// A process and its ancestors, nearest first. Stops at a loop.
fn ancestors<'a>(table: &'a ProcessTable, process: &'a Process) -> impl Iterator<Item = &'a Process> {
    let mut seen = BTreeSet::new();
    std::iter::successors(Some(process), |below| table.get(below.parent))
        .take_while(move |process| seen.insert(process.pid))
}

/// Describes how a process is recognised as an agent or as started by one.
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
