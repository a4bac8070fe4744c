//! Compares texts for people with snapshots. What differs between machines and runs is replaced first.

use super::sandbox::{Output, Sandbox};
use insta::Settings;
use regex_lite::Regex;
use std::path::Path;

/// Compares a text with `tests/it/snapshots/<name>.snap`.
#[track_caller]
pub fn check(name: &str, text: &str) {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Formats a command with its output and exit code, redacted.
pub fn render(home: &Sandbox, words: &[&str], output: &Output) -> String {
    let mut text = format!("$ rune {}\n{}", words.join(" "), output.stdout);
    for line in output.stderr.lines() {
        text += &format!("stderr: {line}\n");
    }
    redact(home, &format!("{text}[exit {}]\n", output.exit))
}

/// Replaces directories, times, versions, durations, hashes and keys.
pub fn redact(home: &Sandbox, text: &str) -> String {
    let canonical = home.home.path().canonicalize().unwrap();
    let mut text = text.to_owned();
    for (path, name) in [
        (Path::new(env!("CARGO_BIN_EXE_rune")), "[RUNE]"),
        (canonical.as_path(), "[HOME]"),
        (home.home.path(), "[HOME]"),
    ] {
        text = text.replace(path.to_str().unwrap(), name);
    }
    for (pattern, name) in [
        (r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z", "[TIME]"),
        (r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}(:\d{2})?", "[TIME]"),
        (r"\b\d+\.\d+\.\d+\b", "[VERSION]"),
        (r"\bprocess \d+", "process [PID]"),
        (r"\b\d+ (rules|examples)\b", "[N] $1"),
        (r"\b(bash|edit|read|mcp|agent|post)\.rules:\d+", "$1.rules:[LINE]"),
        (r"\b[0-9a-f]{64}\b", "[SHA256]"),
        (r"\b[0-9a-f]{32}\b", "[MARK]"),
        (r"\b[0-9a-f]{8}\b", "[HASH]"),
        (r" *\b\d+(\.\d+)? (ms|µs|us)\b", " [DURATION]"),
    ] {
        text = Regex::new(pattern).unwrap().replace_all(&text, name).into_owned();
    }
    let now = time::OffsetDateTime::now_utc();
    for time in [now, now - time::Duration::DAY] {
        text = text.replace(&time.date().to_string(), "[TODAY]");
    }
    text
}
