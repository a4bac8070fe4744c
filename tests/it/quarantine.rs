//! `rune quarantine status` and `rune quarantine notice`.

use crate::support::sandbox::{Sandbox, after, notice};
use serde_json::{Value, json};

const LOG: &str = ".claude/telemetry.jsonl";

fn line(ts: &str, decision: &str, source: &str, session: &str) -> String {
    let line = json!({"event": "quarantine", "ts": ts, "tool": "mcp__desk__get", "decision": decision, "source": source,
        "session_id": session, "rule": "", "us": 400});
    format!("{line}\n")
}

fn status(home: &Sandbox, words: &[&str]) -> Value {
    let words: Vec<&str> = ["quarantine", "status", "--json"].iter().chain(words).copied().collect();
    let output = home.run(&words, "");
    assert_eq!(output.exit, 0, "{output:?}");
    output.json()
}

#[test]
fn the_summary_counts_what_the_hook_wrote() {
    let home = Sandbox::new();
    for at in 0..7 {
        let event =
            after("mcp__desk__get", json!({}), json!("x")).replace("\"s1\"", if at < 5 { "\"a\"" } else { "\"b\"" });
        home.run(&["hook", "post"], event);
    }
    home.run(&["hook", "post"], after("mcp__github__get", json!({}), json!("x")));
    home.run(&["hook", "post"], after("Read", json!({"file_path": "/p/a.rs"}), json!("x")));
    home.run(&["hook", "pre"], "broken");
    let report = status(&home, &[]);
    assert_eq!((&report["lines"], &report["malformed"]), (&json!(10), &json!(0)));
    assert_eq!(report["decisions"], json!({"deny": 1, "emit": 7, "skip": 2}));
    assert_eq!(
        report["sources"],
        json!([{"source": "mcp:desk", "emit": 7, "skip": 0}, {"source": "mcp:github", "emit": 0, "skip": 1}])
    );
    assert_eq!(report["sessions"][0], json!({"session_id": "a", "emit": 5}));
    assert_eq!(report["escalations"], json!([{"session_id": "a", "source": "mcp:desk", "count": 5}]));
    assert!(report["first_ts"].as_str().unwrap() <= report["last_ts"].as_str().unwrap());
    assert_eq!(status(&home, &["--session", "b"])["lines"], 2);
    assert_eq!(status(&home, &["--top", "1"])["sources"].as_array().unwrap().len(), 1);
    assert_eq!(status(&home, &["--since", "1h"])["lines"], 10);
    assert_eq!(status(&home, &["--since", "2999-01-01"])["lines"], 0);
}

#[test]
fn incomplete_and_foreign_lines_are_counted_as_malformed() {
    let home = Sandbox::new();
    let whole = line("2026-11-16T01:00:00.000Z", "emit", "mcp:desk", "a");
    let half: String = whole.chars().take(30).collect();
    let long = "x".repeat(3 << 20);
    home.write(LOG, &[whole.as_str(), "\u{0}\n", "null\n", &long, "\n", &whole, "\n\n", &half].concat());
    let report = status(&home, &[]);
    assert_eq!((&report["lines"], &report["malformed"]), (&json!(6), &json!(4)));
    assert_eq!(report["decisions"], json!({"emit": 2}));
}

#[test]
fn json_has_every_source_and_the_table_counts_those_it_leaves_out() {
    let home = Sandbox::new();
    let lines: String =
        (0..37).map(|at| line("2026-11-16T01:00:00.000Z", "emit", &format!("mcp:s{at}"), "a")).collect();
    home.write(LOG, &lines);
    assert_eq!(status(&home, &[])["sources"].as_array().unwrap().len(), 37);
    assert_eq!(status(&home, &["--top", "3"])["sources"].as_array().unwrap().len(), 3);
    let shown = home.run(&["quarantine", "status"], "").stdout;
    assert!(shown.matches("mcp:s").count() == 10 && shown.contains("27"), "{shown}");
}

#[test]
fn the_tables_fit_80_columns_and_contain_no_control_characters() {
    let home = Sandbox::new();
    let mut log = String::new();
    for at in 0..6 {
        log += &line("2026-11-16T01:00:00.000Z", "emit", &format!("mcp:{}", "w".repeat(90)), &"s".repeat(100 + at));
        log += &line("2026-11-16T01:00:00.000Z", "emit", "mcp:desk", "a");
        log += &line("2026-11-16T01:00:00.000Z", "\u{1b}[31memit", "mcp:\u{1b}[2J", "\u{9b}1m");
        log += &line("2026-11-16T01:00:00.000Z", "skip", "mcp:github", "a");
    }
    home.write(LOG, &log);
    let output = home.run(&["quarantine", "status"], "");
    assert_eq!(output.exit, 0);
    for row in output.stdout.lines().filter(|row| !row.contains(LOG)) {
        assert!(row.chars().count() <= 80, "{row}");
        assert!(row.chars().all(|c| c.is_ascii_graphic() || c == ' '), "{row:?}");
    }
    assert!(output.stdout.contains("mcp:desk"), "{}", output.stdout);
}

#[test]
fn an_empty_or_missing_log_is_not_an_error() {
    let home = Sandbox::new();
    for _ in 0..2 {
        let output = home.run(&["quarantine", "status"], "");
        assert_eq!(output.exit, 0);
        assert_eq!(status(&home, &[])["lines"], 0);
        home.write(LOG, "");
    }
}

#[test]
fn an_invalid_time_and_an_unreadable_log_are_errors() {
    let home = Sandbox::new();
    let output = home.run(&["quarantine", "status", "--since", "soon"], "");
    assert!(output.exit != 0 && output.stderr.contains("soon"), "{output:?}");
    std::fs::create_dir_all(home.path(LOG)).unwrap();
    let output = home.run(&["quarantine", "status"], "");
    assert_eq!(output.exit, 1);
    assert!(output.stderr.contains("telemetry.jsonl"), "{}", output.stderr);
}

#[test]
fn a_notice_is_printed_and_logged() {
    let home = Sandbox::new();
    let output = home.run(&["quarantine", "notice", "--source", "ticket:ZD-4711]\n[x"], "");
    assert_eq!((output.exit, output.stdout.trim_end()), (0, notice("external", "ticket:ZD-4711_x").as_str()));
    let log = home.log();
    assert_eq!(log.len(), 1);
    assert_eq!((&log[0]["decision"], &log[0]["source"]), (&json!("emit"), &json!("ticket:ZD-4711_x")));
    for blank in ["", " ", "\u{200b}"] {
        assert_eq!(home.run(&["quarantine", "notice", "--source", blank], "").exit, 1, "{blank:?}");
    }
    assert_eq!(home.log().len(), 1);
}
