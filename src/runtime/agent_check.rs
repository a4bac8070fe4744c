//! Verbs that loosen the guard are for people, not for the agents that it guards.
//!
//! The check is a hurdle and not a boundary: everything here runs as the same user. `SECURITY.md` lists what still passes.

mod processes;
mod programs;
mod ancestry;

use ancestry::{agent_above, check_person};
use anyhow::bail;
use processes::collect;
use std::io::IsTerminal;

/// Refuses a loosening verb to everybody but a person at a terminal. Where stdin is not the terminal, `--yes` is needed
/// too; it never stands in for the terminal.
pub fn require_confirmed_person(what: &str, yes: bool) -> anyhow::Result<()> {
    require_person(what)?;
    if !yes && !std::io::stdin().is_terminal() {
        bail!(
            "{what} loosens the guard, and stdin is not a terminal\n  help: if you mean it, run it again with `--yes`"
        );
    }
    Ok(())
}

/// Refuses a verb to everybody but a person at a terminal.
pub fn require_person(what: &str) -> anyhow::Result<()> {
    match check_person(&collect(), std::process::id()) {
        Ok(()) => Ok(()),
        Err(refusal) => bail!("{what} is for people: {refusal}\n  help: {}", refusal.help()),
    }
}

/// Refuses a verb to an agent. It needs no terminal, so it is not enough for a verb that loosens the guard.
pub fn refuse_agent(what: &str) -> anyhow::Result<()> {
    match agent_above(&collect(), std::process::id()) {
        None => Ok(()),
        Some(refusal) => bail!("{what} is for people: {refusal}\n  help: {}", refusal.help()),
    }
}
