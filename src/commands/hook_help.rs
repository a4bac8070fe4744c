//! The help of `rune hook`. The hook itself reads its options by hand (`options.rs`).

use super::hooks::client_dir_help;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Answers one hook event: reads it from stdin, writes the client's answer to stdout
#[derive(Debug, Args)]
#[command(
    after_help = "Example, as a hook command in settings.json:\n  /home/you/.local/bin/rune hook pre --preset strict\n\n\
The answer's form follows the event; `pre` and `post` decide only where the event cannot be read.\n\
Exit 0: the answer is on stdout, nothing means no opinion. Exit 2: blocked, the reason is on stderr."
)]
pub struct HookArgs {
    /// When the client calls: before a tool call or after it
    phase: Option<PhaseArg>,
    /// Accepted for `security-hook pre bash`, not needed
    tool: Option<ToolArg>,
    /// Who calls
    #[arg(long, value_name = "NAME", default_value = rune::client::DEFAULT.name())]
    client: String,
    /// gentle, strict, off, or a file of your own in presets/ [default: what the policy says, else gentle]
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// The policy's directory, absolute [default: $XDG_CONFIG_HOME/rune]
    #[arg(long, value_name = "DIR")]
    config_dir: Option<PathBuf>,
    /// The directory of session files, absolute [default: $XDG_STATE_HOME/rune]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// The directory of kept data, absolute [default: $XDG_DATA_HOME/rune]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    #[arg(long, value_name = "DIR", help = client_dir_help("The client's directory, absolute"))]
    client_dir: Option<PathBuf>,
    /// The settings file that this call is registered in; a change that removes it there is refused
    #[arg(long, value_name = "FILE")]
    registered_in: Option<PathBuf>,
    /// Judge and answer, but write no log and no session file
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
