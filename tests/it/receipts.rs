//! Receipts: which decisions write one, that none is lost, and that every change of one is found.

mod concurrent;
mod people;
mod written;
mod proof;
mod python;
mod rotation;
mod tamper;

use crate::support::sandbox::{Output, Sandbox, before};
use rune::receipt::{Receipt, Secret};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const STRICT: [&str; 4] = ["hook", "pre", "--preset", "strict"];

/// A call that strict denies, one that it asks about, and one that passes.
const DENIED: &str = "mcp__acme__run";
const ASKED: &str = "mcp__jira__fetch_url";
const PASSED: &str = "mcp__github__get_issue";

fn folder(home: &Sandbox) -> PathBuf {
    home.path(".local/state/rune/receipts")
}

fn file(home: &Sandbox, session: &str) -> PathBuf {
    folder(home).join(format!("{session}.jsonl"))
}

/// Runs the hook for a call in a session.
fn call(home: &Sandbox, session: &str, tool: &str, input: Value) -> Output {
    home.run(&STRICT, before(tool, input).replace("\"s1\"", &format!("\"{session}\"")))
}

/// Ends a session.
fn end(home: &Sandbox, session: &str) {
    let event = json!({"session_id": session, "transcript_path": "/t", "cwd": "/proj", "hook_event_name": "SessionEnd",
        "reason": "other"});
    let output = home.run(&["hook", "--preset", "strict"], event.to_string());
    assert_eq!((output.exit, output.stderr.as_str()), (0, ""));
}

/// Runs a session of six calls and ends it.
fn session(home: &Sandbox, session: &str) {
    for (number, tool) in [DENIED, PASSED, ASKED, DENIED, PASSED, DENIED].into_iter().enumerate() {
        let output = call(home, session, tool, json!({"id": number}));
        assert_eq!(output.stderr, "", "{tool}");
    }
    end(home, session);
}

fn receipts(path: &Path) -> Vec<Receipt> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn secret(home: &Sandbox) -> Secret {
    Secret::read(&std::fs::read_to_string(home.path(".local/share/rune/receipt.key")).unwrap()).unwrap()
}

/// Verifies a path with the key of a home: the exit code, every fault as `(code, line)`, and the report.
fn verify(home: &Sandbox, path: &Path, more: &[&str]) -> (i32, Vec<(String, Option<u64>)>, Value) {
    let key = secret(home).public().to_owned();
    let words = ["receipts", "verify", "--json", "--key", &key, path.to_str().unwrap()];
    let output = home.run(&[&words, more].concat(), "");
    if output.stdout.is_empty() {
        panic!("{output:?}");
    }
    let report = output.json();
    let of_files = report["files"].as_array().unwrap().iter().flat_map(|file| file["faults"].as_array().unwrap());
    let all = of_files.chain(report["faults"].as_array().unwrap());
    let codes = all.map(|fault| (fault["code"].as_str().unwrap().to_owned(), fault["line"].as_u64())).collect();
    (output.exit, codes, report)
}
