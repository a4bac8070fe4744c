//! Nothing is lost and nothing passes where the machine fails us: no room, no descriptors, no time, no mercy.

use crate::support::sandbox::{Output, Sandbox, after, before, finish};
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

fn deadly() -> String {
    before("Bash", json!({"command": "rm -rf /"}))
}

/// Runs the hook as a shell leaves it behind that was told `limit` first.
fn limited(home: &Sandbox, limit: &str, words: &[&str], input: &str) -> Output {
    let script = format!("{limit} && exec \"$0\" \"$@\"");
    let words = [&["-c", &script, env!("CARGO_BIN_EXE_rune")], words].concat();
    finish(home.command_at(Path::new("/bin/sh"), &words).spawn().unwrap(), input.as_bytes())
}

#[test]
fn in_little_room_the_answer_is_the_same() {
    let home = Sandbox::new();
    let room = "ulimit -v 65536";
    assert_eq!(limited(&home, room, &STRICT, &harmless()).decision(), "");
    assert_eq!(limited(&home, room, &STRICT, &deadly()).decision(), "deny");
    let long = before("Bash", json!({"command": format!("{}rm -rf /", "true; ".repeat(20_000))}));
    assert_eq!(limited(&home, room, &STRICT, &long).decision(), "deny");
    let large = before("Bash", json!({"command": "x".repeat(10 << 20)}));
    assert_eq!(limited(&home, room, &STRICT, &large).decision(), "deny");
    let page = after("WebFetch", json!({"url": "https://e.example/"}), json!("x".repeat(10 << 20)));
    assert!(!limited(&home, room, &["hook", "post"], &page).stdout.is_empty());
    assert_eq!(home.log().len(), 5);
}

#[test]
fn a_hundred_megabytes_are_drained_and_answered() {
    let home = Sandbox::new();
    let text = "x".repeat(100 << 20);
    let command = before("Bash", json!({"command": text}));
    assert_eq!(home.run(&STRICT, command).decision(), "deny");
    let page = after("WebFetch", json!({"url": "https://e.example/"}), json!(text));
    assert!(!home.run(&["hook", "post"], page).stdout.is_empty());
    assert_eq!(home.log().len(), 2);
}

#[test]
fn a_trickle_is_not_waited_for_and_does_not_pass() {
    let home = Sandbox::new();
    let mut child = home.command(&STRICT).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || {
        for byte in deadly().bytes() {
            if stdin.write_all(&[byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_secs(1));
        }
    });
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("\"deny\""));
    assert_eq!(home.log()[0]["rule"], "rune/timeout");
    // It ends once nobody reads any more.
    feeder.join().unwrap();
}

#[test]
fn nobody_reads_the_answer() {
    let home = Sandbox::new();
    for _ in 0..20 {
        let mut child = home.command(&STRICT).spawn().unwrap();
        drop(child.stdout.take());
        child.stdin.take().unwrap().write_all(deadly().as_bytes()).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(2), "the call is blocked all the same");
    }
    assert_eq!(home.log().len(), 20);
}

#[test]
fn a_stream_that_is_closed_is_nobody_elses() {
    let home = Sandbox::new();
    let event = home.write("event.json", &deadly());
    let closed = |streams: &str| {
        let script = format!("exec \"$0\" \"$@\" <'{}' {streams}", event.display());
        let words = [&["-c", &script, env!("CARGO_BIN_EXE_rune")], STRICT.as_slice()].concat();
        finish(home.command_at(Path::new("/bin/sh"), &words).spawn().unwrap(), b"")
    };
    assert_eq!(closed("2>&-").decision(), "deny");
    assert_eq!(closed("<&-").decision(), "deny", "no event is no reason to pass");
    assert_eq!(closed("<&- 2>&-").decision(), "deny");
    assert_eq!(home.log().len(), 3);
    // Nobody can hear it, and the log is not in the place of the answer.
    for streams in [">&-", "<&- >&-", "<&- >&- 2>&-"] {
        assert_eq!(closed(streams).exit, 2, "{streams}");
    }
    assert_eq!(home.log().len(), 3);
    // Somebody who times the hook throws its answer away on purpose.
    assert_eq!(closed(">/dev/null").exit, 0);
    assert_eq!(home.log().len(), 4);
}

#[test]
fn a_command_works_where_nobody_wants_its_output() {
    let home = Sandbox::new();
    for streams in [">&-", ">/dev/null", "<>/dev/null >&0", "<&- >&- 2>&-"] {
        let script = format!("exec \"$0\" \"$@\" {streams}");
        let words = ["-c", &script, env!("CARGO_BIN_EXE_rune"), "rules", "list"];
        assert_eq!(finish(home.command_at(Path::new("/bin/sh"), &words).spawn().unwrap(), b"").exit, 0, "{streams}");
    }
}

/// A library that tells the time as it was before there were clocks like ours.
#[cfg(target_os = "linux")]
const CLOCK: &str = "
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t which, struct timespec *time) {
    int told = syscall(SYS_clock_gettime, which, time);
    if (which == CLOCK_REALTIME) time->tv_sec = -14182980;
    return told;
}";

#[cfg(target_os = "linux")]
#[test]
fn a_clock_before_1970_is_a_clock_like_any_other() {
    let home = Sandbox::new();
    let (source, library) = (home.write("clock.c", CLOCK), home.path("clock.so"));
    let built = std::process::Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(built.unwrap().success());
    let at_that_time = |words: &[&str], input: String| {
        let mut command = home.command(words);
        command.env("LD_PRELOAD", &library);
        finish(command.spawn().unwrap(), input.as_bytes())
    };
    assert_eq!(at_that_time(&STRICT, deadly()).decision(), "deny");
    assert_eq!(at_that_time(&STRICT, harmless()).decision(), "");
    let page = after("WebFetch", json!({"url": "https://e.example/"}), json!("text"));
    assert!(!at_that_time(&["hook", "post"], page).stdout.is_empty());
    assert_eq!(home.log().len(), 3);
    assert!(home.log().iter().all(|line| line["ts"].as_str().unwrap().starts_with("1969-07-20T")));
}

#[test]
fn a_home_that_is_not_there_is_made_or_done_without() {
    let home = Sandbox::new();
    let gone = home.path("gone/away");
    let mut command = home.command(&STRICT);
    command.env("HOME", &gone);
    assert_eq!(finish(command.spawn().unwrap(), deadly().as_bytes()).decision(), "deny");
    // A file where the home should be.
    let file = home.write("file", "");
    let mut command = home.command(&STRICT);
    command.env("HOME", &file);
    let output = finish(command.spawn().unwrap(), deadly().as_bytes());
    assert_eq!((output.decision().as_str(), output.exit), ("deny", 0), "{output:?}");
}

#[test]
fn killed_at_any_point_no_answer_is_half_and_no_other_line_is_torn() {
    let home = Sandbox::new();
    let (answers, kills) = (AtomicUsize::new(0), 60);
    std::thread::scope(|scope| {
        for thread in 0..8_u32 {
            let (home, answers) = (&home, &answers);
            scope.spawn(move || {
                for round in 0..kills {
                    let mut child = home.command(&STRICT).stderr(Stdio::null()).spawn().unwrap();
                    child.stdin.take().unwrap().write_all(deadly().as_bytes()).ok();
                    // Anywhere between the start and the end; the machine adds its own chance to it.
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
    // The kernel may write a part of a killed process's line. Every other line has to be whole.
    let log = std::fs::read_to_string(home.path(".claude/telemetry.jsonl")).unwrap();
    let lines = log.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>();
    let torn = lines.iter().filter(|line| serde_json::from_str::<Value>(line).is_err()).collect::<Vec<_>>();
    for line in &torn {
        assert_eq!(line.matches(r#"{"event""#).count().max(1), 1, "two lines in one: {line}");
    }
    let answers = answers.into_inner();
    eprintln!("{} killed, {answers} had answered, {} had logged, {} in part", kills * 8, lines.len(), torn.len());
    assert!(lines.len() <= answers, "who has logged has answered before");
    // The next call's line is whole.
    assert_eq!(home.run(&STRICT, deadly()).decision(), "deny");
    let log = std::fs::read_to_string(home.path(".claude/telemetry.jsonl")).unwrap();
    let last = log.lines().last().unwrap_or_default();
    assert_eq!(serde_json::from_str::<Value>(last).unwrap()["decision"], "deny");
}

#[test]
fn calls_from_sixty_four_threads_at_once_lose_no_line() {
    let home = Sandbox::new();
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(home.run(&STRICT, deadly()).decision(), "deny");
                }
            });
        }
    });
    assert_eq!(home.log().len(), 1_280, "no line is lost, torn or there twice");
}

/// A command that holds every literal of every embedded rule.
fn every_literal() -> String {
    let rules = rune::rules::RuleKind::ALL.iter().map(|(.., text)| *text).collect::<String>();
    let patterns = rules.lines().filter(|line| line.starts_with("    ") || line.starts_with("  match "));
    let words = patterns.flat_map(|line| line.split(|c: char| !(c.is_ascii_alphanumeric() || "-_./".contains(c))));
    format!("echo {}", words.filter(|word| word.len() > 1).collect::<Vec<_>>().join(" "))
}

#[test]
fn no_length_hides_what_stands_at_the_end() {
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
