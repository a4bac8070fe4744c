//! The `rune` binary: input and output around the pure library.
#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "the binary does the input and output of the pure library")]

mod commands;
mod runtime;

use runtime::exit_code::REFUSED;
use runtime::{hook, stdout};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    // The runtime's own exit code for a panic is 101, which clients take for "go on".
    ExitCode::from(std::panic::catch_unwind(run).unwrap_or(REFUSED))
}

/// Runs the command that the process was started for, and returns its exit code.
///
/// `hook` is dispatched before clap is touched: parsing the command line with clap costs more than judging a call.
fn run() -> u8 {
    let started = Instant::now();
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let words: Vec<OsString> = words.collect();
    let help = words.iter().any(|word| word == "--help" || word == "-h");
    match (Path::new(&name).file_name().and_then(|name| name.to_str()), words.as_slice()) {
        (Some("security-hook"), rest) if !help => answer(rest, started),
        (_, [verb, rest @ ..]) if verb == "hook" && !help => answer(rest, started),
        (Some("security-hook"), _) => commands::run(&["hook".into()], words),
        (Some("quarantine"), _) => commands::run(&["quarantine".into()], words),
        _ => commands::run(&[], words),
    }
}

/// Runs the hook, unless its answer could not be read: the exit code then blocks the call.
fn answer(words: &[OsString], started: Instant) -> u8 {
    if stdout::was_closed() {
        writeln!(std::io::stderr(), "rune: standard output is closed").ok();
        return REFUSED;
    }
    hook::run(words, started)
}
