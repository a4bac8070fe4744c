//! The `rune` binary: input and output around the pure library.
#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "the binary does the input and output of the pure library")]

mod commands;
mod runtime;

use runtime::exit_code::REFUSED;
use runtime::stderr::warn;
use runtime::{bare, hook, stdout};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    // Rust's exit code for a panic is 101, on which clients let the call run.
    ExitCode::from(std::panic::catch_unwind(run).unwrap_or(REFUSED))
}

/// Runs the command on the command line and returns its exit code.
///
/// `hook` is dispatched before clap runs: parsing the command line with clap takes longer than judging a call.
fn run() -> u8 {
    let started = Instant::now();
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let words: Vec<OsString> = words.collect();
    let help = words.iter().any(|word| word == "--help" || word == "-h");
    match (Path::new(&name).file_name().and_then(|name| name.to_str()), words.as_slice()) {
        (Some("security-hook"), rest) if !help => run_hook(rest, started),
        (_, [verb, rest @ ..]) if verb == "hook" && !help => run_hook(rest, started),
        (Some("security-hook"), _) => commands::run(&["hook".into()], words),
        (Some("quarantine"), _) => commands::run(&["quarantine".into()], words),
        // Copilot runs the hooks of `.claude/settings.json` without their arguments.
        (_, []) if is_started_by_copilot() => run_hook(&[], started),
        (_, []) => bare::answer_event().unwrap_or_else(|| commands::run(&[], words)),
        _ => commands::run(&[], words),
    }
}

/// Whether Copilot runs the program as a hook.
fn is_started_by_copilot() -> bool {
    std::env::var_os("COPILOT_CLI").is_some() && !std::io::stdin().is_terminal()
}

/// Runs the hook. If standard output is closed, no answer can be read, and the exit code blocks the call.
fn run_hook(words: &[OsString], started: Instant) -> u8 {
    if stdout::was_closed() {
        warn("standard output is closed");
        return REFUSED;
    }
    hook::run(words, started)
}
