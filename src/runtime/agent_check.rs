//! Restricts commands that loosen the guard to people, so that the guarded agents cannot run them.
//!
//! The check is a hurdle and not a boundary, because the agent runs as the same user. `SECURITY.md` lists what still passes.

mod processes;
mod programs;
mod ancestry;

use ancestry::{Refusal, agent_above, check_person};
use anyhow::bail;
use processes::collect;
use std::io::IsTerminal;

/// Refuses a command unless a person at a terminal runs it and has confirmed it: with stdin from the terminal, or with
/// `--yes`, which does not replace the terminal.
pub fn require_confirmed_person(what: &str, yes: bool) -> anyhow::Result<()> {
    require_person(what)?;
    if !yes && !std::io::stdin().is_terminal() {
        bail!(
            "{what} loosens the guard, and stdin is not a terminal\n  help: if you mean it, run it again with `--yes`"
        );
    }
    Ok(())
}

/// Refuses a command unless a person at a terminal runs it.
pub fn require_person(what: &str) -> anyhow::Result<()> {
    check_person(&collect(), std::process::id()).or_else(|refusal| refuse(what, &refusal))
}

/// Refuses a command below an agent. Needs no terminal, so it does not suffice for a command that loosens the guard.
pub fn refuse_agent(what: &str) -> anyhow::Result<()> {
    agent_above(&collect(), std::process::id()).map_or(Ok(()), |refusal| refuse(what, &refusal))
}

fn refuse(what: &str, refusal: &Refusal) -> anyhow::Result<()> {
    bail!("{what} is for people: {refusal}\n  help: {}", refusal.help())
}
