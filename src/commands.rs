//! The commands that people and scripts run: one file or folder for each verb, with its arguments beside it.
//!
//! A new command is a module here, a variant of [`Command`] and an arm of [`run`].

mod doctor;
mod explain;
mod help;
mod hook_help;
mod hooks;
mod mcp;
mod person;
mod policy;
mod quarantine;
mod receipts;
mod reference;
mod rules;

use crate::runtime::exit_code::{DONE, FAILED, REFUSED};
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write;

#[derive(Debug, Parser)]
#[command(
    name = "rune",
    version,
    max_term_width = 80,
    about = "A guard for coding agents",
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
#[command(after_help = "Examples:\n  rune hooks install --preset strict\n  rune quarantine status --since 7d")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Hook(hook_help::HookArgs),
    /// What was marked as untrusted
    #[command(subcommand, arg_required_else_help = true, after_help = "Example:\n  rune quarantine status --since 7d")]
    Quarantine(quarantine::Quarantine),
    Explain(explain::ExplainArgs),
    /// The hooks in a client's settings: register ours, remove them, see what is there
    #[command(subcommand, arg_required_else_help = true, after_help = "Example:\n  rune hooks install --preset strict")]
    Hooks(hooks::Hooks),
    Doctor(doctor::DoctorArgs),
    /// The tools of MCP servers: what they serve
    #[command(subcommand, arg_required_else_help = true, after_help = "Example:\n  rune mcp probe")]
    Mcp(mcp::Mcp),
    /// The rules in force: check them, list them, run their examples
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_help = "Example:\n  rune rules test ~/.config/rune/rules/bash.team.rules"
    )]
    Rules(rules::Rules),
    /// The files of the policy: write the defaults, bring newer ones in
    #[command(subcommand, arg_required_else_help = true, after_help = "Example:\n  rune policy update --dry-run")]
    Policy(policy::Policy),
    /// What was decided about MCP calls, signed: list it, show it, pack it, verify it
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_help = "Example:\n  rune receipts verify --key audit.pub audit-november"
    )]
    Receipts(receipts::Receipts),
    Person(person::PersonArgs),
    Completions(reference::CompletionsArgs),
    Man(reference::ManArgs),
    Help(help::HelpArgs),
}

/// What the help, the completions and the man pages are made from.
pub fn build_cli() -> clap::Command {
    Cli::command()
}

/// Parses `verbs` and `words` and runs what they name.
pub fn run(verbs: &[OsString], words: Vec<OsString>) -> u8 {
    let line = [OsString::from("rune")].into_iter().chain(verbs.iter().cloned()).chain(words);
    let parsed = match Cli::try_parse_from(line) {
        Ok(parsed) => parsed,
        Err(error) => {
            error.print().ok();
            return u8::try_from(error.exit_code()).unwrap_or(REFUSED);
        }
    };
    // Those who ask how things stand tell a "no" from a "cannot tell".
    let asked = matches!(
        parsed.command,
        Command::Doctor(_) | Command::Hooks(hooks::Hooks::Status(_)) | Command::Receipts(receipts::Receipts::Verify(_))
    );
    let done = |()| DONE;
    let outcome = match parsed.command {
        Command::Quarantine(command) => quarantine::run(&command),
        Command::Explain(args) => explain::run(&args).map(done),
        Command::Hooks(command) => hooks::run(&command),
        Command::Doctor(args) => doctor::run(&args),
        Command::Mcp(command) => mcp::run(&command),
        Command::Rules(command) => rules::run(&command),
        Command::Policy(command) => policy::run(&command).map(done),
        Command::Receipts(command) => receipts::run(&command),
        Command::Person(args) => person::run(&args),
        Command::Completions(args) => reference::completions(&args).map(done),
        Command::Man(args) => reference::man(&args).map(done),
        Command::Help(args) => help::run(&args).map(done),
        // Only its help comes this way.
        Command::Hook(_) => Ok(DONE),
    };
    match outcome {
        Ok(exit) => exit,
        // Whoever stops reading has what they wanted.
        Err(error)
            if error
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe) =>
        {
            DONE
        }
        Err(error) => {
            writeln!(std::io::stderr().lock(), "rune: {error:#}").ok();
            if asked { REFUSED } else { FAILED }
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/commands.rs"]
mod tests;
