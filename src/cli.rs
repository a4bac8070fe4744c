//! The shell: everything that touches files, clocks, the environment and the standard streams.
#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "the shell is where input and output live")]

mod abort;
mod args;
mod clear;
mod doctor;
mod explain;
mod file;
mod hook;
mod hook_help;
mod hooks;
mod input;
mod load;
mod log;
mod mcp;
mod notice;
mod options;
mod person;
mod policy;
mod proof;
mod receipt;
mod reference;
mod rules;
mod session;
mod stage;
mod status;
mod stdout;
mod watchdog;
mod world;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

/// How a process ends that has done what it was asked for.
const DONE: u8 = 0;

/// How it ends when it could not.
const FAILED: u8 = 1;

/// How it ends when it would not, or was asked in a way that it does not understand; to a client, this is a no.
pub const REFUSED: u8 = 2;

/// Runs the command that the process was started for, and returns its exit code.
///
/// `hook` is dispatched before clap is touched: parsing the command line properly costs more than judging a call.
pub fn main() -> u8 {
    let started = std::time::Instant::now();
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let words: Vec<OsString> = words.collect();
    let help = words.iter().any(|word| word == "--help" || word == "-h");
    match (Path::new(&name).file_name().and_then(|name| name.to_str()), words.as_slice()) {
        (Some("security-hook"), rest) if !help => answer(rest, started),
        (_, [verb, rest @ ..]) if verb == "hook" && !help => answer(rest, started),
        (Some("security-hook"), _) => args::run(&["hook".into()], words),
        (Some("quarantine"), _) => args::run(&["quarantine".into()], words),
        _ => args::run(&[], words),
    }
}

/// Runs the hook, unless its answer could not be read: the exit code then blocks the call.
fn answer(words: &[OsString], started: std::time::Instant) -> u8 {
    if stdout::was_closed() {
        writeln!(std::io::stderr(), "rune: standard output is closed").ok();
        return REFUSED;
    }
    hook::run(words, started)
}
