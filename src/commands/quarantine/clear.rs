//! `rune quarantine clear`: a person says that what a session has taken in does not count any more.

use crate::runtime::environment::Environment;
use crate::runtime::options::Dirs;
use crate::runtime::{agent_check, receipts, session};
use anyhow::{Context, anyhow};
use clap::Args;
use rune::encoding::label::Label;
use rune::receipt::Loosening;
use std::io::Write;

/// Forgets what a session has taken in from strangers; for people only
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune quarantine clear --session 977a3550-4d8b-4ce0-8865-a064dffdc873")]
pub struct ClearArgs {
    /// The session, as `rune quarantine status` and the log name it
    #[arg(long, value_name = "ID")]
    pub session: String,
    /// Do it where stdin is not a terminal; a terminal is needed all the same
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
    let cleared = session::clear_taint(&environment, &session).map_err(|what| anyhow!(what))?;
    let told = if cleared.is_empty() {
        "this session had read nothing from strangers".to_owned()
    } else {
        format!("forgotten: {}", cleared.summary())
    };
    writeln!(std::io::stdout().lock(), "{told}").context("cannot print")
}
