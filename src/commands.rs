//! The command line of every command but the hook.

pub mod doctor;
pub mod explain;
pub mod hook_help;
pub mod hooks;
pub mod mcp;
pub mod policy;
pub mod quarantine;
pub mod receipts;
pub mod reference;
pub mod rules;

use crate::commands::hook_help::HookArgs;
use crate::commands::quarantine::{clear, notice, status};
use crate::runtime::agent_check;
use crate::runtime::exit_code::{DONE, FAILED, REFUSED};
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, Parser)]
#[command(
    name = "rune",
    version,
    max_term_width = 80,
    about = "A guard for coding agents",
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_help = "Examples:\n  rune hooks install --preset strict\n  rune quarantine status --since 7d")]
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
    Explain(ExplainArgs),
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
    Rules(Rules),
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
    Person(PersonArgs),
    Completions(reference::CompletionsArgs),
    Man(reference::ManArgs),
}

#[derive(Debug, Subcommand)]
enum Rules {
    /// Says what is wrong with the policy and its rules, with file, line and column
    #[command(after_help = "Example:\n  rune rules check")]
    Check(RulesArgs),
    /// Lists the rules in the order in which they are asked
    #[command(after_help = "Example:\n  rune rules list --preset gentle")]
    List(RulesArgs),
    /// Runs the examples of the rules: every `hits` is answered by its rule, every `misses` by nobody
    #[command(after_help = "Example:\n  rune rules test ~/.config/rune/rules/bash.team.rules")]
    Test(RulesArgs),
}

#[derive(Debug, Args)]
pub struct RulesArgs {
    /// One file instead of those in force
    pub file: Option<PathBuf>,
    /// The preset to answer by [default: strict]
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// The directory of the policy [default: $XDG_CONFIG_HOME/rune or ~/.config/rune]
    #[arg(long, value_name = "DIR")]
    pub config_dir: Option<PathBuf>,
    /// JSON lines instead of a table, for `list`
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
enum Quarantine {
    Status(StatusArgs),
    Notice(NoticeArgs),
    Clear(ClearArgs),
}

/// Shows what a call would do and what we would answer; writes nothing, runs nothing
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune explain -- 'cd /tmp && sudo rm -rf \"$DIR\"/cache'\n  rune explain --preset strict --post event.json"
)]
pub struct ExplainArgs {
    /// The tool that would be called
    #[arg(long, value_name = "NAME", default_value = "Bash")]
    pub tool: String,
    /// JSON instead of a tree
    #[arg(long)]
    pub json: bool,
    /// The preset to answer by
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// The directory that the call would be made in
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// The project that the call would be part of
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// What would be done to the result in an event after a call, as the client sends it; `-` for stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["line", "tool", "cwd", "project"])]
    pub post: Option<PathBuf>,
    /// The command line; several words are joined with blanks
    #[arg(required_unless_present = "post", last = true, value_name = "LINE")]
    pub line: Vec<String>,
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

/// Tells who has started this: exit 0 for a person at a terminal, 1 for anybody else
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune person 'replacing the guard' && make install")]
pub struct PersonArgs {
    /// What is about to be done, in words
    #[arg(default_value = "what follows")]
    what: String,
}

#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// The client's directory, which holds telemetry.jsonl [default: $CLAUDE_CONFIG_DIR or ~/.claude]
    #[arg(long, value_name = "DIR")]
    pub client_dir: Option<PathBuf>,
}

/// What the help, the completions and the man pages are made from.
pub fn definition() -> clap::Command {
    Rune::command()
}

/// Parses `verbs` and `words` and runs what they name.
pub fn run(verbs: &[OsString], words: Vec<OsString>) -> u8 {
    let line = [OsString::from("rune")].into_iter().chain(verbs.iter().cloned()).chain(words);
    let parsed = match Rune::try_parse_from(line) {
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
        Command::Quarantine(Quarantine::Status(args)) => status::run(&args).map(done),
        Command::Quarantine(Quarantine::Notice(args)) => notice::run(&args).map(done),
        Command::Quarantine(Quarantine::Clear(args)) => clear::run(&args).map(done),
        Command::Explain(args) => explain::run(&args).map(done),
        Command::Hooks(command) => hooks::run(&command),
        Command::Doctor(args) => doctor::run(&args),
        Command::Mcp(command) => mcp::run(&command),
        Command::Rules(Rules::Check(args)) => rules::check(&args).map(done),
        Command::Rules(Rules::List(args)) => rules::list(&args).map(done),
        Command::Rules(Rules::Test(args)) => rules::test(&args).map(done),
        Command::Policy(command) => policy::run(&command).map(done),
        Command::Receipts(command) => receipts::run(&command),
        Command::Person(args) => agent_check::run(&args.what).map(done),
        Command::Completions(args) => reference::completions(&args).map(done),
        Command::Man(args) => reference::man(&args).map(done),
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
mod tests {
    use super::*;

    #[test]
    fn the_help_of_every_verb_has_an_example_of_it() {
        let mut verbs = vec![(vec!["rune".to_owned()], definition())];
        let mut seen = 0;
        while let Some((path, verb)) = verbs.pop() {
            seen += 1;
            let path_text = path.join(" ");
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Example") && help.contains(&path_text), "{path_text}: {help}");
            for below in verb.get_subcommands() {
                let path = path.iter().cloned().chain([below.get_name().to_owned()]).collect();
                verbs.push((path, below.clone()));
            }
        }
        assert!(seen > 15, "{seen}");
        definition().debug_assert();
    }
}
