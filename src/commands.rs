//! The command line: one file or folder for each command, with its arguments beside it.
//!
//! A new command is a module here, a variant of [`Command`] and an arm of [`run`].

/// Formats a line and prints it with [`say`].
macro_rules! say {
    ($($line:tt)*) => { $crate::commands::say(&format!($($line)*)) };
}

mod allow;
mod doctor;
mod explain;
mod help;
mod hook_help;
mod hooks;
mod log;
mod mcp;
mod pause;
mod person;
mod policy;
mod quarantine;
mod receipts;
mod reference;
mod replay;
mod report;
mod rules;
mod statusline;
mod style;

use crate::runtime::exit_code::{DONE, FAILED, REFUSED};
use crate::runtime::options::Options;
use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand};
use rune::encoding::escape::is_hidden;
use serde::Serialize;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

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
#[command(after_help = "Examples:\n  rune hooks install --preset strict\n  rune quarantine status --since 7d\n\n\
Exit 0: done. Exit 1: failed, or the answer is no. Exit 2: the command line is wrong, or the answer is not known.\n\
`rune hook` exits with 0 after an answer, and with 2 to block a call without one.\n\
Colours are for terminals; NO_COLOR=1 switches them off.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Hook(hook_help::HookArgs),
    /// Shows and clears the record of untrusted content
    #[command(subcommand, arg_required_else_help = true, after_help = "Example:\n  rune quarantine status --since 7d")]
    Quarantine(quarantine::Quarantine),
    Explain(explain::ExplainArgs),
    Log(log::RecentArgs),
    Replay(replay::ReplayArgs),
    Report(report::ReportArgs),
    Allow(allow::AllowArgs),
    Pause(pause::PauseArgs),
    Resume(pause::ResumeArgs),
    Statusline(statusline::StatuslineArgs),
    /// Registers the guard in a client's settings, removes it, or shows its state
    #[command(subcommand, arg_required_else_help = true, after_help = "Example:\n  rune hooks install --preset strict")]
    Hooks(hooks::Hooks),
    /// Checks that the guard is on and works, and says what to do if it does not
    #[command(after_help = "Examples:\n  rune doctor\n  rune doctor --json | jq -r '.findings[].id'\n\n\
It ends by running the registered commands on sample events, without log or state.\n\
Exit 0: all is well. Exit 1: there are findings. Exit 2: cannot tell.")]
    Doctor(hooks::InspectArgs),
    /// Inspects, approves and blocks the tools of MCP servers
    #[command(subcommand, arg_required_else_help = true, after_help = "Example:\n  rune mcp probe")]
    Mcp(mcp::Mcp),
    /// Checks the rules in force, lists them, or runs their examples
    #[command(
        subcommand,
        arg_required_else_help = true,
        after_help = "Example:\n  rune rules test ~/.config/rune/rules/bash.team.rules"
    )]
    Rules(rules::Rules),
    /// Writes the default policy files, or updates them
    #[command(subcommand, arg_required_else_help = true, after_help = "Example:\n  rune policy update --dry-run")]
    Policy(policy::Policy),
    /// Lists, shows, exports and verifies the signed receipts of MCP calls
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

/// Returns the definition of the command line, for help, completions and man pages.
pub fn build_cli() -> clap::Command {
    Cli::command()
}

/// Parses `verbs` and `words` as one command line, runs the command and returns its exit code.
pub fn run(verbs: &[OsString], words: Vec<OsString>) -> u8 {
    let line = [OsString::from("rune")].into_iter().chain(verbs.iter().cloned()).chain(words);
    let parsed = match Cli::try_parse_from(line) {
        Ok(parsed) => parsed,
        Err(error) => {
            error.print().ok();
            return u8::try_from(error.exit_code()).unwrap_or(REFUSED);
        }
    };
    // For these commands exit code 1 means "no", so an error is 2.
    let is_query = matches!(
        parsed.command,
        Command::Doctor(_) | Command::Hooks(hooks::Hooks::Status(_)) | Command::Receipts(receipts::Receipts::Verify(_))
    );
    let done = |()| DONE;
    let outcome = match parsed.command {
        Command::Quarantine(command) => quarantine::run(&command),
        Command::Explain(args) => explain::run(&args).map(done),
        Command::Log(args) => log::run(&args).map(done),
        Command::Replay(args) => replay::run(&args).map(done),
        Command::Report(args) => report::run(&args).map(done),
        Command::Allow(args) => allow::run(&args).map(done),
        Command::Pause(args) => pause::run(&args).map(done),
        Command::Resume(_) => pause::resume().map(done),
        Command::Statusline(args) => {
            statusline::run(&args);
            Ok(DONE)
        }
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
        // `main` dispatches the hook itself; only its help is printed by clap.
        Command::Hook(_) => Ok(DONE),
    };
    match outcome {
        Ok(exit) => exit,
        // The reader of a pipe such as `| head` has ended.
        Err(error)
            if error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) =>
        {
            DONE
        }
        Err(error) => {
            writeln!(std::io::stderr().lock(), "rune: {error:#}").ok();
            if is_query { REFUSED } else { FAILED }
        }
    }
}

fn current_dir() -> anyhow::Result<PathBuf> {
    std::env::current_dir().context("cannot determine the current directory")
}

fn current_program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("cannot determine the path of this program")
}

/// The path of this program as text.
fn program() -> anyhow::Result<String> {
    path_text(&current_program()?)
}

fn path_text(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().with_context(|| format!("{}: the path is not valid UTF-8", path.display()))?;
    Ok(text.to_owned())
}

/// Prints a line without control characters: it may name files of a project.
fn say(line: &str) -> anyhow::Result<()> {
    let plain = |c: char| if c.is_control() && !matches!(c, '\n' | '\r' | '\t') { '?' } else { c };
    let line: String = line.chars().map(plain).collect();
    Ok(writeln!(std::io::stdout().lock(), "{line}")?)
}

/// Returns a value as JSON in which characters are escaped that cannot be seen, of which terminals obey some.
fn to_json(value: &impl Serialize) -> anyhow::Result<String> {
    let mut text = String::new();
    for c in serde_json::to_string(value)?.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(text, "\\u{unit:04x}")?;
            }
        } else {
            text.push(c);
        }
    }
    Ok(text)
}

/// Prints a prompt, and reads a line from stdin.
fn ask(prompt: &str) -> anyhow::Result<String> {
    let mut stdout = std::io::stdout();
    stdout.write_all(prompt.as_bytes())?;
    stdout.flush()?;
    let mut typed = String::new();
    std::io::stdin().read_line(&mut typed)?;
    Ok(typed)
}

/// Asks a question, and returns whether the answer is yes. Without a terminal as stdin nobody is asked.
fn confirm(question: &str, yes: bool) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    let answer = ask(&format!("{question} [y/N] "))?.trim().to_ascii_lowercase();
    Ok(matches!(answer.as_str(), "y" | "yes"))
}

/// Returns the options of a hook that is called with this preset and policy directory.
fn hook_options(preset: Option<&str>, config_dir: Option<&Path>) -> Options {
    let preset = preset.map(|preset| [OsString::from("--preset"), preset.into()]);
    let dir = config_dir.map(|dir| [OsString::from("--config-dir"), dir.into()]);
    Options::parse(&preset.into_iter().chain(dir).flatten().collect::<Vec<_>>())
}

#[cfg(test)]
#[path = "../tests/unit/commands.rs"]
mod tests;
