//! The `rune` binary: a shell of input and output around the pure library.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
