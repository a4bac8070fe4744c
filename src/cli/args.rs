//! The command line of every command but the hook.

use super::hook_help::HookArgs;
use super::{notice, status};
use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Parser)]
#[command(
    name = "rune",
    version,
    max_term_width = 80,
    about = "A guard for coding agents",
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_help = "Example:\n  rune quarantine status --since 7d")]
struct Rune {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Hook(HookArgs),
    /// What was marked as untrusted
    #[command(subcommand, arg_required_else_help = true, after_help = "Example:\n  rune quarantine status --since 7d")]
    Quarantine(Quarantine),
}

#[derive(Debug, Subcommand)]
enum Quarantine {
    Status(StatusArgs),
    Notice(NoticeArgs),
}

/// Sums up the telemetry log
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune quarantine status --since 7d\n  rune quarantine status --json | jq '.escalations'"
)]
pub struct StatusArgs {
    /// Only what happened since then: 30m, 12h, 7d, 2w, or a date such as 2026-11-01
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Only one session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Rows a list [default: 10 in tables, all in JSON]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// JSON instead of tables
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Prints the notice for content that came by a way without hooks, and logs it
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune quarantine notice --source ticket:ZD-4711")]
pub struct NoticeArgs {
    /// Where the content came from, such as mail:support
    #[arg(long, value_name = "LABEL")]
    pub source: String,
    #[command(flatten)]
    pub place: PlaceArgs,
}

#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// The client's directory, which holds telemetry.jsonl [default: $CLAUDE_CONFIG_DIR or ~/.claude]
    #[arg(long, value_name = "DIR")]
    pub client_dir: Option<PathBuf>,
}

/// Parses `verbs` and `words` and runs what they name.
pub fn run(verbs: &[OsString], words: Vec<OsString>) -> ExitCode {
    let line = [OsString::from("rune")].into_iter().chain(verbs.iter().cloned()).chain(words);
    let parsed = match Rune::try_parse_from(line) {
        Ok(parsed) => parsed,
        Err(error) => {
            error.print().ok();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let outcome = match parsed.command {
        Command::Quarantine(Quarantine::Status(args)) => status::run(&args),
        Command::Quarantine(Quarantine::Notice(args)) => notice::run(&args),
        // Only its help comes this way.
        Command::Hook(_) => Ok(()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            writeln!(std::io::stderr().lock(), "rune: {error:#}").ok();
            ExitCode::FAILURE
        }
    }
}
