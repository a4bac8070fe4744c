//! `rune quarantine clear`: removes the taint of a session.

use crate::commands::hooks::say;
use crate::runtime::environment::Environment;
use crate::runtime::options::Dirs;
use crate::runtime::{agent_check, receipts, session};
use clap::Args;
use rune::encoding::label::Label;
use rune::receipt::Loosening;

/// Removes the taint of a session; for people only
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune quarantine clear --session 977a3550-4d8b-4ce0-8865-a064dffdc873")]
pub struct ClearArgs {
    /// Session id, as in `rune quarantine status` and the log
    #[arg(long, value_name = "ID")]
    pub session: String,
    /// Go on even if stdin is not a terminal; the process still needs a terminal
    #[arg(long)]
    pub yes: bool,
}

pub fn run(args: &ClearArgs) -> anyhow::Result<()> {
    agent_check::require_confirmed_person("`rune quarantine clear`", args.yes)?;
    let environment = Environment::read(&Dirs::default());
    let session = Label::new(&args.session);
    if !session::read_taint(&environment, &session).is_ok_and(|seen| seen.is_empty()) {
        receipts::record_loosening(&environment, Loosening::QuarantineClear)?;
    }
    let cleared = session::clear_taint(&environment, &session).map_err(anyhow::Error::msg)?;
    if cleared.is_empty() {
        say("this session was not tainted")
    } else {
        say(&format!("cleared: {}", cleared.summary()))
    }
}
