//! Faults of the machine: little memory, large input, slow or closed streams, killed processes, a wrong clock.

use crate::support::sandbox::{Output, Sandbox, after, before, finish};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const STRICT: [&str; 4] = ["hook", "pre", "--preset", "strict"];

fn harmless() -> String {
    before("Bash", json!({"command": "git status"}))
}

fn destructive() -> String {
    before("Bash", json!({"command": "rm -rf /"}))
}

/// Runs the hook from a shell that has run `limit` before.
fn run_limited(home: &Sandbox, limit: &str, words: &[&str], input: &str) -> Output {
    let script = format!("{limit} && exec \"$0\" \"$@\"");
    let words = [&["-c", &script, env!("CARGO_BIN_EXE_rune")], words].concat();
    finish(home.command_at(Path::new("/bin/sh"), &words).spawn().unwrap(), input.as_bytes())
}

#[test]
fn with_little_memory_the_answer_is_the_same() {
    let home = Sandbox::new();
    // A debug build of the program alone takes 40 MB.
    let limit = "ulimit -v 98304";
    assert_eq!(run_limited(&home, limit, &STRICT, &harmless()).decision(), "");
    assert_eq!(run_limited(&home, limit, &STRICT, &destructive()).decision(), "deny");
    let long = before("Bash", json!({"command": format!("{}rm -rf /", "true; ".repeat(20_000))}));
    assert_eq!(run_limited(&home, limit, &STRICT, &long).decision(), "deny");
    let large = before("Bash", json!({"command": "x".repeat(10 << 20)}));
    assert_eq!(run_limited(&home, limit, &STRICT, &large).decision(), "deny");
    let page = after("WebFetch", json!({"url": "https://e.example/"}), json!("x".repeat(10 << 20)));
    assert!(!run_limited(&home, limit, &["hook", "post"], &page).stdout.is_empty());
    assert_eq!(home.log().len(), 5);
}

#[test]
fn a_hundred_megabytes_are_read_and_answered() {
    let home = Sandbox::new();
    let text = "x".repeat(100 << 20);
    let command = before("Bash", json!({"command": text}));
    assert_eq!(home.run(&STRICT, command).decision(), "deny");
    let page = after("WebFetch", json!({"url": "https://e.example/"}), json!(text));
    assert!(!home.run(&["hook", "post"], page).stdout.is_empty());
    assert_eq!(home.log().len(), 2);
}

#[test]
fn a_slow_writer_does_not_extend_the_deadline() {
    let home = Sandbox::new();
    let mut child = home.command(&STRICT).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // One byte for each half second without an answer: the event would take a minute.
    for byte in destructive().bytes() {
        stdin.write_all(&[byte]).unwrap();
        let stdout = child.stdout.as_ref().unwrap();
        let timeout = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };
        if poll(&mut [PollFd::new(stdout, PollFlags::IN)], Some(&timeout)).unwrap() > 0 {
            break;
        }
    }
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("\"deny\""));
    assert_eq!(home.log()[0]["rule"], "rune/timeout");
}

#[test]
fn a_closed_stdout_blocks_the_call_and_the_decision_is_logged() {
    let home = Sandbox::new();
    for _ in 0..20 {
        let mut child = home.command(&STRICT).spawn().unwrap();
        drop(child.stdout.take());
        child.stdin.take().unwrap().write_all(destructive().as_bytes()).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(2), "exit code 2 blocks the call");
    }
    assert_eq!(home.log().len(), 20);
}

#[test]
fn closed_streams_are_not_replaced_by_files_that_the_hook_opens() {
    let home = Sandbox::new();
    let event = home.write("event.json", &destructive());
    let closed = |streams: &str| {
        let script = format!("exec \"$0\" \"$@\" <'{}' {streams}", event.display());
        let words = [&["-c", &script, env!("CARGO_BIN_EXE_rune")], STRICT.as_slice()].concat();
        finish(home.command_at(Path::new("/bin/sh"), &words).spawn().unwrap(), b"")
    };
    assert_eq!(closed("2>&-").decision(), "deny");
    assert_eq!(closed("<&-").decision(), "deny", "without an event");
    assert_eq!(closed("<&- 2>&-").decision(), "deny");
    assert_eq!(home.log().len(), 3);
    // The answer cannot be written, and the log must not get descriptor 1.
    for streams in [">&-", "<&- >&-", "<&- >&- 2>&-"] {
        assert_eq!(closed(streams).exit, 2, "{streams}");
    }
    assert_eq!(home.log().len(), 3);
    // `/dev/null` is an ordinary reader.
    assert_eq!(closed(">/dev/null").exit, 0);
    assert_eq!(home.log().len(), 4);
}

#[test]
fn a_command_succeeds_without_a_reader_of_its_output() {
    let home = Sandbox::new();
    for streams in [">&-", ">/dev/null", "<>/dev/null >&0", "<&- >&- 2>&-"] {
        let script = format!("exec \"$0\" \"$@\" {streams}");
        let words = ["-c", &script, env!("CARGO_BIN_EXE_rune"), "rules", "list"];
        assert_eq!(finish(home.command_at(Path::new("/bin/sh"), &words).spawn().unwrap(), b"").exit, 0, "{streams}");
    }
}

/// A library that replaces the clock by one that shows July 1969.
#[cfg(target_os = "linux")]
const CLOCK: &str = "
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t which, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, which, time);
    if (which == CLOCK_REALTIME) time->tv_sec = -14182980;
    return result;
}";

#[cfg(target_os = "linux")]
#[test]
fn a_clock_before_1970_does_not_change_answers() {
    let home = Sandbox::new();
    let (source, library) = (home.write("clock.c", CLOCK), home.path("clock.so"));
    let built = std::process::Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(built.unwrap().success());
    let at_that_time = |words: &[&str], input: String| {
        let mut command = home.command(words);
        command.env("LD_PRELOAD", &library);
        finish(command.spawn().unwrap(), input.as_bytes())
    };
    assert_eq!(at_that_time(&STRICT, destructive()).decision(), "deny");
    assert_eq!(at_that_time(&STRICT, harmless()).decision(), "");
    let page = after("WebFetch", json!({"url": "https://e.example/"}), json!("text"));
    assert!(!at_that_time(&["hook", "post"], page).stdout.is_empty());
    assert_eq!(home.log().len(), 3);
    assert!(home.log().iter().all(|line| line["ts"].as_str().unwrap().starts_with("1969-07-20T")));
}

#[test]
fn a_missing_home_does_not_change_answers() {
    let home = Sandbox::new();
    let gone = home.path("gone/away");
    let mut command = home.command(&STRICT);
    command.env("HOME", &gone);
    assert_eq!(finish(command.spawn().unwrap(), destructive().as_bytes()).decision(), "deny");
    // A file in place of the home directory.
    let file = home.write("file", "");
    let mut command = home.command(&STRICT);
    command.env("HOME", &file);
    let output = finish(command.spawn().unwrap(), destructive().as_bytes());
    assert_eq!((output.decision().as_str(), output.exit), ("deny", 0), "{output:?}");
}

#[test]
fn a_killed_process_leaves_no_partial_answer_and_no_other_incomplete_line() {
    let home = Sandbox::new();
    let (answers, kills) = (AtomicUsize::new(0), 60);
    std::thread::scope(|scope| {
        for thread in 0..8_u32 {
            let (home, answers) = (&home, &answers);
            scope.spawn(move || {
                for round in 0..kills {
                    let mut child = home.command(&STRICT).stderr(Stdio::null()).spawn().unwrap();
                    child.stdin.take().unwrap().write_all(destructive().as_bytes()).ok();
                    // A delay between 0 and 9 ms, so that processes are killed at different points.
                    let until = Instant::now() + Duration::from_micros(u64::from(thread * 37 + round * 53) % 9_000);
                    while Instant::now() < until {
                        std::hint::spin_loop();
                    }
                    child.kill().unwrap();
                    let stdout = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
                    if !stdout.is_empty() {
                        let answer: Value = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stdout}"));
                        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
                        answers.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    // The line of a killed process may be incomplete, but it must not contain a part of another line.
    // There is no file if every process was killed before its line.
    let log = std::fs::read_to_string(home.path(".claude/telemetry.jsonl")).unwrap_or_default();
    let lines = log.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>();
    let incomplete = lines.iter().filter(|line| serde_json::from_str::<Value>(line).is_err()).collect::<Vec<_>>();
    for line in &incomplete {
        assert_eq!(line.matches(r#"{"event""#).count().max(1), 1, "two lines are mixed: {line}");
    }
    let answers = answers.into_inner();
    eprintln!("{} killed, {answers} answers, {} lines, {} incomplete", kills * 8, lines.len(), incomplete.len());
    assert!(lines.len() <= answers, "a line was logged before the answer");
    // The line of the next call is complete.
    assert_eq!(home.run(&STRICT, destructive()).decision(), "deny");
    let log = std::fs::read_to_string(home.path(".claude/telemetry.jsonl")).unwrap();
    let last = log.lines().last().unwrap_or_default();
    assert_eq!(serde_json::from_str::<Value>(last).unwrap()["decision"], "deny");
}

#[test]
fn sixty_four_concurrent_writers_lose_no_line() {
    let home = Sandbox::new();
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(home.run(&STRICT, destructive()).decision(), "deny");
                }
            });
        }
    });
    assert_eq!(home.log().len(), 1_280, "a line is missing or duplicated");
}

/// A command with every literal of every embedded rule.
fn every_literal() -> String {
    let rules = rune::rules::RuleKind::all().into_iter().map(rune::rules::RuleKind::embedded).collect::<String>();
    let patterns = rules.lines().filter(|line| line.starts_with("    ") || line.starts_with("  match "));
    let words = patterns.flat_map(|line| line.split(|c: char| !(c.is_ascii_alphanumeric() || "-_./".contains(c))));
    format!("echo {}", words.filter(|word| word.len() > 1).collect::<Vec<_>>().join(" "))
}

#[test]
fn the_end_of_a_long_command_is_judged() {
    let home = Sandbox::new();
    let heredoc = "a line that says nothing\n".repeat(40_000);
    for (name, command) in [
        ("every literal", format!("{}; rm -rf /", every_literal())),
        ("just below 1 MB", format!("cat > notes.md <<'EOF'\n{heredoc}EOF\nrm -rf /")),
        ("above 1 MB", format!("cat > notes.md <<'EOF'\n{heredoc}{heredoc}EOF\nrm -rf /")),
        ("20,000 separators", format!("{}rm -rf /", "true; ".repeat(20_000))),
        ("3,000 substitutions", format!("{}rm -rf /{}", "echo $(".repeat(3_000), ")".repeat(3_000))),
        ("3,000 substitutions, one after the other", format!("echo {}; rm -rf /", "$(x) ".repeat(3_000))),
    ] {
        let event = before("Bash", json!({"command": command}));
        assert_eq!(home.run(&STRICT, &event).decision(), "deny", "{name}");
        assert!(["ask", "deny"].contains(&home.run(&["hook", "pre"], &event).decision().as_str()), "{name}");
    }
}
