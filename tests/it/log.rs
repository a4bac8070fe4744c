//! `rune log`: what the hook logs, and what people and agents are shown of it.

use crate::support::sandbox::{Output, Sandbox, finish};
use crate::support::snapshot;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};

/// The directory of the transcripts of the project.
const TRANSCRIPTS: &str = ".claude/projects/-proj";

/// An event before a call, with the id of the call.
fn event(session: &str, call: &str, tool: &str, input: &Value) -> String {
    json!({"session_id": session, "transcript_path": "/t.jsonl", "cwd": "/proj", "hook_event_name": "PreToolUse",
        "tool_name": tool, "tool_input": input, "tool_use_id": call})
    .to_string()
}

/// A line of a transcript with one call.
fn recorded(call: &str, tool: &str, input: &Value) -> String {
    let part = json!({"type": "tool_use", "id": call, "name": tool, "input": input});
    let message = json!({"role": "assistant", "content": [{"type": "text", "text": "Now."}, part]});
    format!("{}\n", json!({"type": "assistant", "cwd": "/proj", "sessionId": "s1", "message": message}))
}

/// A home in which these calls were judged and recorded: session, id, tool, input.
fn home_with(calls: &[(&str, &str, &str, Value)]) -> Sandbox {
    let home = Sandbox::new();
    let mut transcripts = std::collections::BTreeMap::<&str, String>::new();
    for (session, call, tool, input) in calls {
        assert_eq!(home.run(&["hook", "pre"], event(session, call, tool, input)).exit, 0);
        transcripts.entry(session).or_default().push_str(&recorded(call, tool, input));
    }
    for (session, text) in transcripts {
        home.write(&format!("{TRANSCRIPTS}/{session}.jsonl"), &text);
    }
    home
}

fn push(target: &str) -> Value {
    json!({"command": format!("git push --force origin {target}")})
}

fn as_person(home: &Sandbox, words: &[&str]) -> Output {
    home.run_as_person(&[&["log"], words].concat())
}

#[test]
fn the_log_line_names_client_and_call_and_holds_a_keyed_hash_of_a_stopped_input() {
    let home = home_with(&[
        ("s1", "toolu_1", "Bash", push("main")),
        ("s1", "toolu_2", "Bash", json!({"command": "ls"})),
        ("s2", "toolu_3", "Bash", push("main")),
    ]);
    let log = home.log();
    assert_eq!(log[0]["client"], "claude");
    assert_eq!(log[0]["call"], "toolu_1");
    let hash = log[0]["input"].as_str().unwrap();
    assert!(hash.starts_with("hmac-sha256:") && hash.len() == "hmac-sha256:".len() + 64, "{hash}");
    assert_eq!(log[2]["input"], hash, "the same input");
    assert_eq!(log[1].get("input"), None, "a call that passes does not read the key");
    let other = home_with(&[("s1", "toolu_1", "Bash", push("main"))]);
    assert_ne!(other.log()[0]["input"], hash, "the key belongs to the installation");
    assert!(!std::fs::read_to_string(home.path(".claude/telemetry.jsonl")).unwrap().contains("origin"));
}

#[test]
fn a_dry_run_creates_no_key() {
    let home = Sandbox::new();
    home.run(&["hook", "pre", "--dry-run"], event("s1", "toolu_1", "Bash", &push("main")));
    assert!(home.all_files().is_empty());
}

#[test]
fn recent_decisions_are_shown_newest_last_with_their_commands() {
    let home = home_with(&[
        ("s1", "toolu_1", "Bash", json!({"command": "rm -rf ~"})),
        ("s1", "toolu_2", "Bash", json!({"command": "cargo test"})),
        ("s2", "toolu_3", "Bash", push("a-branch-with-a-rather-long-name-that-does-not-fit-in-one-line-of-a-terminal")),
        (
            "s2",
            "toolu_4",
            "Edit",
            json!({"file_path": "/proj/.git/hooks/pre-commit", "old_string": "a", "new_string": "b"}),
        ),
        ("s2", "toolu_5", "Bash", json!({"command": "echo '\u{1b}[2Jgone\u{202e}' && git push --force"})),
    ]);
    let redact = |output: Output| {
        let text = output.combined();
        let line = |line: &str| match line.split_at_checked(20) {
            Some((time, rest)) if time.starts_with(|c: char| c.is_ascii_digit()) && time.ends_with(' ') => {
                format!("<time>               {rest}\n")
            }
            _ => format!("{line}\n"),
        };
        snapshot::redact(&home, &text.lines().map(line).collect::<String>())
    };
    let all = as_person(&home, &[]);
    assert!(all.stdout.lines().all(|line| line.chars().count() <= 80), "{}", all.stdout);
    assert!(!all.stdout.contains('\u{1b}') && !all.stdout.contains('\u{202e}'), "{}", all.stdout);
    let mut text = format!("$ rune log\n{}", redact(all));
    for words in [&["-n", "1"][..], &["--denied", "--session", "s1"], &["--rule", "git-force-push", "-n", "1"]] {
        text += &format!("\n$ rune log {}\n{}", words.join(" "), redact(as_person(&home, words)));
    }
    for words in [
        &["--rule", "git-force-posh"][..],
        &["--rule", "wholly-unknown"],
        &["--session", "../s1"],
        &["--session", "s3"],
        &["--since", "soon"],
        &["--denid"],
        &["--since", "2020-01-01", "--session", "s1", "--rule", "git-force-push"],
    ] {
        text += &format!("\n$ rune log {}\n{}", words.join(" "), redact(as_person(&home, words)));
    }
    snapshot::check("log", &text);
}

#[test]
fn json_has_one_object_for_each_decision() {
    let home =
        home_with(&[("s1", "toolu_1", "Bash", push("main")), ("s1", "toolu_2", "Bash", json!({"command": "ls"}))]);
    let shown = as_person(&home, &["--json"]).stdout;
    let lines: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["command"], "git push --force origin main");
    assert_eq!(lines[0]["rules"], json!(["git-force-push"]));
    assert_eq!((&lines[0]["decision"], &lines[1]["decision"]), (&json!("ask"), &json!("allow")));
    assert_eq!((&lines[0]["session"], &lines[0]["call"]), (&json!("s1"), &json!("toolu_1")));
}

#[test]
fn the_reason_is_that_of_the_call_if_the_same_rule_judges_it_now() {
    let home = home_with(&[("s1", "toolu_1", "Bash", json!({"command": "rm -rf ~ \u{9b}2J\u{e0041}"}))]);
    let shown = as_person(&home, &["--json"]).stdout;
    assert!(!shown.contains(['\u{9b}', '\u{e0041}']), "{shown}");
    let line: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(line["command"], "rm -rf ~ \u{9b}2J\u{e0041}");
    let says_more = |home: &Sandbox| {
        let shown = as_person(home, &[]).stdout;
        shown.split_whitespace().collect::<Vec<_>>().join(" ").contains("and would be deleted")
    };
    assert!(says_more(&home));
    home.write(".config/rune/config.toml", "[rules]\ndisabled = [\"destructive-delete\"]\n");
    assert!(!says_more(&home));
}

#[test]
fn an_agent_sees_no_commands() {
    let home = home_with(&[("s1", "toolu_1", "Bash", push("main"))]);
    for words in [&["log"][..], &["log", "--json"]] {
        let mut command = home.command(words);
        command.env("CLAUDECODE", "1");
        let output = finish(command.spawn().unwrap(), b"");
        assert!(output.exit == 0 && output.stdout.contains("not shown to agents"), "{output:?}");
        assert!(output.stdout.contains("git-force-push") && !output.stdout.contains("origin main"), "{output:?}");
    }
}

#[test]
fn only_the_input_that_was_judged_is_shown() {
    let home = home_with(&[("s1", "toolu_1", "Bash", push("main"))]);
    let transcript = format!("{TRANSCRIPTS}/s1.jsonl");
    home.write(&transcript, &recorded("toolu_1", "Bash", &push("elsewhere")));
    let shown = as_person(&home, &[]).stdout;
    assert!(shown.contains("another input") && !shown.contains("elsewhere"), "{shown}");
    // Of two calls with the same id, the judged one is shown.
    let both = [&push("elsewhere"), &push("main")].map(|input| recorded("toolu_1", "Bash", input)).concat();
    home.write(&transcript, &both);
    let shown = as_person(&home, &[]).stdout;
    assert!(shown.contains("origin main") && !shown.contains("elsewhere"), "{shown}");
}

#[test]
fn what_the_client_completes_for_the_hook_is_recognised() {
    let home = Sandbox::new();
    let judged = json!({"file_path": "/proj/.env", "old_string": "a", "new_string": "b", "replace_all": false});
    home.run(&["hook", "pre"], event("s1", "toolu_1", "Edit", &judged));
    let written = json!({"file_path": "./x/../.env", "old_string": "a", "new_string": "b"});
    home.write(&format!("{TRANSCRIPTS}/s1/subagents/agent-7.jsonl"), &recorded("toolu_1", "Edit", &written));
    let shown = as_person(&home, &[]).stdout;
    assert!(shown.contains("Edit: ./x/../.env"), "{shown}");
}

#[test]
fn no_transcript_is_read_through_a_link_or_outside_of_the_clients_directory() {
    let calls = [("s1", "toolu_1", "Bash", push("main"))];
    let is_missing = |home: &Sandbox| as_person(home, &[]).stdout.contains("no transcript has the call");
    let home = home_with(&calls);
    assert!(!is_missing(&home));
    let (file, moved) = (home.path(&format!("{TRANSCRIPTS}/s1.jsonl")), home.path("elsewhere.jsonl"));
    std::fs::rename(&file, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &file).unwrap();
    assert!(is_missing(&home));
    std::fs::remove_file(&file).unwrap();
    std::fs::rename(&moved, &file).unwrap();
    let (folder, moved) = (home.path(TRANSCRIPTS), home.path("elsewhere"));
    std::fs::rename(&folder, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &folder).unwrap();
    assert!(is_missing(&home));
    // A session id that leads out of the directory.
    let home = home_with(&[]);
    let line = json!({"event": "PreToolUse", "ts": "2026-11-19T00:00:00.000Z", "tool": "Bash", "decision": "ask", "source": "",
        "session_id": "../../../elsewhere", "rule": "git-force-push", "us": 1, "client": "claude", "call": "toolu_1"});
    home.write(".claude/telemetry.jsonl", &format!("{line}\n"));
    home.write(".claude/projects/-proj/x", "");
    home.write("elsewhere.jsonl", &recorded("toolu_1", "Bash", &push("main")));
    assert!(is_missing(&home));
}

#[test]
fn new_decisions_are_followed_also_in_a_new_log() {
    let home = home_with(&[("s1", "toolu_1", "Bash", push("one"))]);
    let mut child = home.command(&["log", "--follow", "--denied", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap()["call"].clone();
    assert_eq!(next(), "toolu_1");
    home.run(&["hook", "pre"], event("s1", "toolu_2", "Bash", &push("two")));
    assert_eq!(next(), "toolu_2");
    std::fs::rename(home.path(".claude/telemetry.jsonl"), home.path("old")).unwrap();
    home.run(&["hook", "pre"], event("s1", "toolu_3", "Bash", &push("three")));
    assert_eq!(next(), "toolu_3");
    child.kill().unwrap();
    child.wait().unwrap();
}
