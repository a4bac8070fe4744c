//! What a call costs as a whole process, as ratios to `/bin/true` in one interleaved run.
//!
//! `cargo bench --bench hook [-- --short] [-- PROGRAM…]`: further programs are run on the same events.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench measures the world and prints"
)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

struct Subject {
    name: String,
    program: String,
    words: Vec<String>,
    input: Vec<u8>,
    times: Vec<Duration>,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let rounds = if words.iter().any(|word| word == "--short") { 5 } else { 300 };
    let home = tempfile::tempdir().unwrap();
    let mut subjects = vec![subject("/bin/true", "/bin/true", &[], Vec::new())];
    let rune = env!("CARGO_BIN_EXE_rune").to_owned();
    let programs = [rune].into_iter().chain(words.into_iter().filter(|word| !word.starts_with("--")));
    for program in programs {
        let short = program.rsplit('/').next().unwrap_or_default().to_owned();
        for (name, phase, input) in events() {
            subjects.push(subject(&format!("{short}: {name}"), &program, &["hook", phase], input));
        }
    }
    for _ in 0..rounds {
        for subject in &mut subjects {
            subject.run(home.path());
        }
    }
    let floor = subjects.first().map(|subject| (subject.quantile(0), subject.quantile(50))).unwrap();
    println!("{:<44} {:>10} {:>10} {:>7} {:>7}", "", "min us", "median us", "min x", "med x");
    for subject in &subjects {
        let (least, median) = (subject.quantile(0), subject.quantile(50));
        println!(
            "{:<44} {least:>10.0} {median:>10.0} {:>7.2} {:>7.2}",
            subject.name,
            least / floor.0,
            median / floor.1
        );
    }
}

fn subject(name: &str, program: &str, words: &[&str], input: Vec<u8>) -> Subject {
    let words = words.iter().map(ToString::to_string).collect();
    Subject { name: name.to_owned(), program: program.to_owned(), words, input, times: Vec::new() }
}

/// The events of the budget table that can be judged today.
fn events() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let result = |bytes: usize| {
        let mut event = String::from(
            r#"{"session_id":"s","cwd":"/p","hook_event_name":"PostToolUse","tool_name":"WebFetch","tool_input":{"url":"https://e.example/"},"tool_response":{"result":""#,
        );
        event.extend(std::iter::repeat_n('x', bytes));
        write!(event, r#""}}}}"#).unwrap();
        event.into_bytes()
    };
    let status = r#"{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git status"}}"#;
    vec![
        ("before, git status", "pre", status.as_bytes().to_vec()),
        ("after, 1 KB result, notice", "post", result(1 << 10)),
        ("after, 1 MB result, notice", "post", result(1 << 20)),
    ]
}

impl Subject {
    fn run(&mut self, home: &std::path::Path) {
        let started = Instant::now();
        let mut child = Command::new(&self.program)
            .args(&self.words)
            .env_clear()
            .env("HOME", home)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // A program that does not read its input may be gone already.
        child.stdin.take().unwrap().write_all(&self.input).ok();
        child.wait().unwrap();
        self.times.push(started.elapsed());
    }

    /// Microseconds at a percentage of the sorted times.
    fn quantile(&self, percent: usize) -> f64 {
        let mut times = self.times.clone();
        times.sort();
        times.get(times.len() * percent / 100).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    }
}
