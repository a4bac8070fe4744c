//! How the instructions of a hook process grow with the size of the call, for every shape of the growth test.
//!
//! `cargo bench --bench growth [-- --short]`. `valgrind` counts the instructions.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    dead_code,
    reason = "a bench measures the environment and prints"
)]

mod common;
#[path = "../tests/it/growth/shapes.rs"]
mod shapes;

use common::{Subject, installed};
use serde_json::Value;
use shapes::SHAPES;
use std::path::{Path, PathBuf};

/// The factor by which instructions may grow if the size doubles.
const MAX_FACTOR: f64 = 2.2;

fn main() {
    let short = std::env::args().any(|word| word == "--short");
    let folder = tempfile::tempdir().unwrap();
    let rune = if short { PathBuf::from(env!("CARGO_BIN_EXE_rune")) } else { installed(folder.path()) };
    println!("{:42} {:>8} {:>14} {:>14} {:>7}", "", "KB", "instructions", "twice the size", "factor");
    for shape in SHAPES.iter().take(if short { 2 } else { SHAPES.len() }) {
        let [small, large] = [shape.size, 2 * shape.size].map(|size| (shape.event)(size));
        let kilobytes = small.to_string().len() >> 10;
        let counted = [small, large].map(|event| subject(&rune, folder.path(), &event).instructions());
        let [Some(one), Some(two)] = counted else {
            println!("{:42} not counted: valgrind is missing", shape.name);
            continue;
        };
        let factor = two as f64 / one as f64;
        let mark = if factor > MAX_FACTOR { " over 2.2" } else { "" };
        println!("{:42} {kilobytes:>8} {one:>14} {two:>14} {factor:>7.2}{mark}", shape.name);
    }
}

fn subject(rune: &Path, home: &Path, event: &Value) -> Subject {
    let phase = if event["hook_event_name"] == "PostToolUse" { "post" } else { "pre" };
    Subject {
        name: String::new(),
        program: rune.to_owned(),
        words: ["hook", phase, "--preset", "strict"].map(str::to_owned).to_vec(),
        input: event.to_string().into_bytes(),
        home: home.to_owned(),
    }
}
