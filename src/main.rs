//! The `rune` binary: input and output around the pure library.
#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    // The runtime's own exit code for a panic is 101, which clients take for "go on".
    ExitCode::from(std::panic::catch_unwind(cli::main).unwrap_or(cli::REFUSED))
}
