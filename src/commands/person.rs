//! `rune person`: whether a person at a terminal runs a script.

use crate::runtime::agent_check;
use crate::runtime::environment::Environment;
use crate::runtime::exit_code::DONE;
use crate::runtime::options::Dirs;
use crate::runtime::receipts;
use clap::Args;
use rune::receipt::Loosening;

/// Checks whether a person at a terminal runs this: exit 0 if so, 1 if not
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune person 'replacing the guard' && make install")]
pub struct PersonArgs {
    /// What the caller is about to do, for the error message
    #[arg(default_value = "what follows")]
    what: String,
}

/// Succeeds for a person at a terminal. Success leaves a receipt, because the caller may go on to loosen the guard.
pub fn run(args: &PersonArgs) -> anyhow::Result<u8> {
    agent_check::require_person(&args.what)?;
    receipts::record_loosening(&Environment::read(&Dirs::default()), Loosening::Person)?;
    Ok(DONE)
}
