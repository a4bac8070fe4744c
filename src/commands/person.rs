//! `rune person`: tells a script whether a person at a terminal has started it.

use crate::runtime::agent_check;
use crate::runtime::environment::Environment;
use crate::runtime::exit_code::DONE;
use crate::runtime::options::Dirs;
use crate::runtime::receipts;
use clap::Args;
use rune::receipt::Loosening;

/// Tells who has started this: exit 0 for a person at a terminal, 1 for anybody else
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune person 'replacing the guard' && make install")]
pub struct PersonArgs {
    /// What is about to be done, in words
    #[arg(default_value = "what follows")]
    what: String,
}

/// Succeeds for a person at a terminal. A yes leaves a receipt, because the caller may loosen the guard by it.
pub fn run(args: &PersonArgs) -> anyhow::Result<u8> {
    agent_check::require_person(&args.what)?;
    receipts::record_loosening(&Environment::read(&Dirs::default()), Loosening::Person)?;
    Ok(DONE)
}
