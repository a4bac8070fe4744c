//! The help of `rune hook`. `runtime/options.rs` parses the options of the hook itself, without clap.

use super::hooks::client_dir_help;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Answers one hook event: reads it from stdin, writes the client's answer to stdout
#[derive(Debug, Args)]
#[command(
    after_help = "Example, as a hook command in settings.json:\n  /home/you/.local/bin/rune hook pre --preset strict\n\n\
The event determines the form of the answer; `pre` and `post` matter only if the event cannot be read.\n\
Exit 0: the answer is on stdout; no output means no objection. Exit 2: the call is blocked, the reason is on stderr."
)]
pub struct HookArgs {
    /// Whether the client calls before or after a tool call
    phase: Option<PhaseArg>,
    /// Ignored; accepted for command lines such as `security-hook pre bash`
    tool: Option<ToolArg>,
    /// Client that calls
    #[arg(long, value_name = "NAME", default_value = rune::client::DEFAULT.name())]
    client: String,
    /// gentle, strict, off, or the name of a file in presets/ [default: preset of the policy, else gentle]
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Policy directory, an absolute path [default: $XDG_CONFIG_HOME/rune]
    #[arg(long, value_name = "DIR")]
    config_dir: Option<PathBuf>,
    /// Directory of session files, an absolute path [default: $XDG_STATE_HOME/rune]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// Data directory, an absolute path [default: $XDG_DATA_HOME/rune]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    #[arg(long, value_name = "DIR", help = client_dir_help("Client directory, an absolute path"))]
    client_dir: Option<PathBuf>,
    /// Settings file that registers this hook; changes that remove the entry are denied
    #[arg(long, value_name = "FILE")]
    registered_in: Option<PathBuf>,
    /// Decide and answer, but write no log and no session file
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Debug, ValueEnum)]
enum PhaseArg {
    Pre,
    Post,
}

#[derive(Clone, Debug, ValueEnum)]
enum ToolArg {
    Bash,
    Edit,
    Mcp,
    Check,
}
