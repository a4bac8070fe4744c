//! Unit tests of `src/runtime/stage.rs`.

use super::Stage;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The variable with the faults that a child process injects, separated by commas: `<stage> <panic|hang|…>`.
const FAULT: &str = "RUNE_TEST_FAULT";

pub fn enter(stage: Stage) {
    let faults = std::env::var(FAULT).unwrap_or_default();
    for fault in faults.split(',') {
        let Some((name, kind)) = fault.split_once(' ') else { continue };
        match kind {
            _ if name != format!("{stage:?}") => {}
            "panic" => panic!("injected"),
            "abort" => std::process::abort(),
            "stack" => drop(overflow(0)),
            "memory" => drop(std::hint::black_box(vec![1_u8; 1 << 40])),
            "hang" => super::super::watchdog::park_forever(),
            _ => {}
        }
    }
}

/// Overflows the stack.
fn overflow(depth: usize) -> usize {
    let room = std::hint::black_box([depth; 512]);
    if depth == usize::MAX { depth } else { overflow(depth + 1) + room.len() }
}

/// Runs the hook in this process, as the binary does, if the parent has set [`FAULT`].
#[test]
#[expect(clippy::exit, reason = "the parent checks the exit code")]
fn child() {
    if std::env::var_os(FAULT).is_some() {
        let words = std::env::var("RUNE_TEST_WORDS").unwrap();
        let words: Vec<_> = words.split(' ').map(Into::into).collect();
        std::process::exit(super::super::hook::run(&words, Instant::now()).into());
    }
}

/// What the client receives: the decision or `notice`, and the exit code.
fn receive(event: &str, preset: &str, fault: &str) -> (String, Option<i32>) {
    let home = tempfile::tempdir().unwrap();
    let phase = if event.contains("post") { "post" } else { "pre" };
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child.args(["--exact", "runtime::stage::tests::child", "--nocapture", "--quiet"]);
    child.env_clear().env("HOME", home.path()).env(FAULT, fault);
    child.env("RUNE_TEST_WORDS", format!("{phase} --preset {preset}"));
    let event = std::fs::File::open(format!("tests/fixtures/claude/{event}.json")).unwrap();
    let output = child.stdin(event).stderr(Stdio::null()).output().unwrap();
    // The test harness prints lines before the answer.
    let stdout = String::from_utf8_lossy(&output.stdout);
    let answer = stdout.lines().find_map(|line| line.get(line.find("{\"")?..)).unwrap_or_default();
    let answer: serde_json::Value = serde_json::from_str(answer).unwrap_or_default();
    let specific = &answer["hookSpecificOutput"];
    let decision = specific["permissionDecision"].as_str();
    let notice = specific["additionalContext"].as_str().map(|_| "notice");
    (decision.or(notice).unwrap_or("nothing").to_owned(), output.status.code())
}

/// The stages of the main thread.
const STAGES: [Stage; 10] = [
    Stage::Input,
    Stage::Parse,
    Stage::Policy,
    Stage::Facts,
    Stage::Decide,
    Stage::Record,
    Stage::Answer,
    Stage::Write,
    Stage::Log,
    Stage::Receipts,
];

#[test]
#[expect(clippy::print_stdout, reason = "the table is for people who run the test")]
fn a_fault_in_any_stage_denies_before_a_call_and_passes_after_one() {
    let mut rows = Vec::new();
    for stage in STAGES {
        for fault in ["panic", "hang", "abort", "stack", "memory"] {
            for event in ["pretooluse-bash", "posttooluse-webfetch"] {
                rows.push((event, format!("{stage:?} {fault}")));
            }
        }
    }
    // A hang, followed by a fault of the watchdog.
    for fault in ["panic", "hang"] {
        for event in ["pretooluse-bash", "posttooluse-webfetch"] {
            rows.push((event, format!("Decide hang,Watchdog {fault}")));
        }
    }
    // Children that hang use no CPU time, so all of them run at once.
    let table: Vec<(String, String, Option<i32>, f32)> = std::thread::scope(|scope| {
        let run = |(event, fault): &(&'static str, String)| {
            let (event, fault) = (*event, fault.clone());
            scope.spawn(move || {
                let started = Instant::now();
                let (received, exit) = receive(event, "strict", &fault);
                (format!("{event}: {fault}"), received, exit, started.elapsed().as_secs_f32())
            })
        };
        let running: Vec<_> = rows.iter().map(run).collect();
        running.into_iter().map(|row| row.join().unwrap()).collect()
    });
    let mut wrong = Vec::new();
    for (row, received, exit, seconds) in &table {
        println!("{row:60} {received:8} {exit:?} {seconds:.1} s");
        // After the answer is written, a fault does not change it. The call is harmless, so the answer is empty.
        let answered = ["Log", "Receipts"].iter().any(|stage| row.contains(stage));
        let aborts = ["abort", "stack", "memory"].iter().any(|fault| row.ends_with(fault));
        let right = match (row.starts_with("pre"), answered) {
            // An abort after the answer still blocks.
            (true, true) => *exit == Some(if aborts { 2 } else { 0 }),
            (true, false) => received == "deny" && *exit == Some(0) || *exit == Some(2),
            (false, _) => *exit == Some(0),
        };
        if !right {
            wrong.push(format!("{row}: {received} {exit:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn without_a_fault_the_call_passes_and_the_result_is_marked() {
    assert_eq!(receive("pretooluse-bash", "strict", "none"), ("nothing".to_owned(), Some(0)));
    assert_eq!(receive("posttooluse-webfetch", "gentle", "none"), ("notice".to_owned(), Some(0)));
}
