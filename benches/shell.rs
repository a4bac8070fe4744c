//! The cost of parsing ordinary and hostile shell text, in milliseconds and in instructions per byte.
//!
//! `cargo bench --bench shell [-- --short]`. Instructions are counted if `valgrind` is installed.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench measures the environment and prints"
)]

mod common;

use common::{Subject, before};
use rune::path::Place;
use rune::programs::Catalogue;
use rune::shell;
use std::time::Instant;

const SIZE: usize = 64 << 10;

fn main() {
    let short = std::env::args().any(|word| word == "--short");
    let rounds = if short { 1 } else { 20 };
    let place = Place { cwd: "/home/u/proj".to_owned(), home: Some("/home/u".to_owned()), project: None };
    let floor = if short { None } else { instructions("true") };
    println!("{:<30} {:>8} {:>9} {:>9} {:>9}", "", "bytes", "min ms", "commands", "instr/B");
    for (name, line) in lines() {
        let times = (0..rounds).map(|_| {
            let started = Instant::now();
            let reading = shell::read(&line, &place, &Catalogue::shipped());
            (started.elapsed().as_secs_f64() * 1e3, reading.commands.len())
        });
        let (least, commands) = times.fold((f64::MAX, 0), |(least, _), (time, commands)| (least.min(time), commands));
        let count = floor.and_then(|floor| Some(instructions(&line)?.saturating_sub(floor) / line.len() as u64));
        let count = count.map_or("-".to_owned(), |count| count.to_string());
        println!("{name:<30} {:>8} {least:>9.3} {commands:>9} {count:>9}", line.len());
    }
}

fn lines() -> Vec<(&'static str, String)> {
    let many = |unit: &str| unit.repeat(SIZE / unit.len());
    let heredocs: String = (0..3_000).map(|at| format!("cat <<E{at}\nx\nE{at}\n")).collect();
    vec![
        ("git status", "git status".to_owned()),
        (
            "a commit with a heredoc",
            "git add -A && git commit -m \"$(cat <<'EOF'\nfix: a thing\n\nWith a body.\nEOF\n)\"".to_owned(),
        ),
        ("a 2 KB script", "for f in src/*.rs; do grep -n 'x' \"$f\" | sed 's/a/b/' >> out.txt; done\n".repeat(28)),
        ("nested $(", many("$(")),
        ("nested ((", many("((")),
        ("nested {", many("{ ")),
        ("nested \"$(", many("\"$(")),
        ("nested ${", many("${x:-")),
        ("quotes", many("'a'\"b\"")),
        ("backquotes", many("`")),
        ("3,000 heredocs", heredocs),
        ("separators", many("a; ")),
        ("pipes", many("a | ")),
        ("assignments", many("a=$b ")),
        ("braces", many("{a,b} ")),
        ("a long word", many("x")),
        ("rm behind 20,000 separators", format!("{}rm -rf /", "true; ".repeat(20_000))),
    ]
}

/// The instructions of one hook call on the line.
fn instructions(line: &str) -> Option<u64> {
    let home = tempfile::tempdir().unwrap();
    let subject = Subject {
        name: String::new(),
        program: env!("CARGO_BIN_EXE_rune").into(),
        words: vec!["hook".to_owned()],
        input: before(line),
        home: home.path().to_owned(),
    };
    subject.instructions()
}
