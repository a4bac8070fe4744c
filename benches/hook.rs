//! The cost of a hook process as a ratio to `/bin/true`, measured in one interleaved run.
//!
//! `cargo bench --bench hook [-- --short] [-- PROGRAM…]` also runs other programs on the same event.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench measures the environment and prints"
)]

mod common;

use common::{Subject, before, empty, installed, pinned, script};
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// A line of the table.
struct Measurement {
    subject: Subject,
    /// The maximum ratio to `/bin/true`.
    budget: Option<f64>,
    /// Microseconds of each run.
    times: Vec<f64>,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let short = words.iter().any(|word| word == "--short");
    let folder = tempfile::tempdir().unwrap();
    let rune = if short { PathBuf::from(env!("CARGO_BIN_EXE_rune")) } else { installed(folder.path()) };
    let bytes = std::fs::metadata(&rune).unwrap().len();
    println!("{} ({:.1} MB)\n", rune.display(), bytes as f64 / 1e6);
    policy(&rune, folder.path());
    let mut measurements = measurements(&rune, folder.path());
    for peer in words.iter().filter(|word| !word.starts_with("--")) {
        let name = peer.rsplit('/').next().unwrap_or_default();
        let input = before("git status");
        measurements.push(measurement(
            &format!("{name}: git status"),
            Path::new(peer),
            "pre",
            input,
            folder.path(),
            None,
        ));
    }
    for _ in 0..if short { 3 } else { 300 } {
        // A new order in each round, because a program finds the caches as the previous one left them.
        let mut order: Vec<&mut Measurement> = measurements.iter_mut().collect();
        let chance = RandomState::new();
        order.sort_by_cached_key(|measurement| chance.hash_one(&measurement.subject.name));
        order.into_iter().for_each(Measurement::run);
    }
    let floor = measurements.first().map(|measurement| (measurement.quantile(0), measurement.quantile(50))).unwrap();
    let (ratio, us) = ("x true", "us");
    println!("{:<46} {:>17} {:>17} {:>7} {:>11} {:>7}", "", us, ratio, "budget", "instr", "faults");
    println!("{:<46} {:>8} {:>8} {:>8} {:>8}", "", "min", "median", "min", "median");
    for measurement in &measurements {
        let (least, median) = (measurement.quantile(0), measurement.quantile(50));
        let budget = measurement.budget.map_or(String::new(), |budget| format!("{budget:.1}"));
        let counted = if short { None } else { measurement.subject.instructions() };
        let counted = counted.map_or("-".to_owned(), |count| count.to_string());
        let faults = if short { None } else { faults(&measurement.subject) };
        let faults = faults.map_or("-".to_owned(), |count| count.to_string());
        println!(
            "{:<46} {least:>8.0} {median:>8.0} {:>8.2} {:>8.2} {budget:>7} {counted:>11} {faults:>7}",
            measurement.subject.name,
            least / floor.0,
            median / floor.1
        );
    }
    session(&rune, folder.path(), short);
}

/// Writes the policy into a home, as an installation does.
fn policy(rune: &Path, home: &Path) {
    let mut command = Command::new(rune);
    command.args(["policy", "install"]).env_clear().env("HOME", home).stdout(Stdio::null());
    assert!(command.status().unwrap().success());
}

/// The calls with a budget, calls of growing size, and expensive calls.
fn measurements(rune: &Path, folder: &Path) -> Vec<Measurement> {
    let script = script();
    let mut measurements = vec![measurement("/bin/true", Path::new("/bin/true"), "", Vec::new(), folder, None)];
    measurements.extend(
        empty(folder).map(|empty| measurement("an empty static program", &empty, "", Vec::new(), folder, None)),
    );
    let mut add = |name: &str, phase: &str, input: Vec<u8>, budget: Option<f64>| {
        measurements.push(measurement(name, rune, phase, input, folder, budget));
    };
    add("git status", "pre", before("git status"), Some(1.3));
    add("rm -rf /", "pre", before("rm -rf /"), Some(1.5));
    add("a 2 KB script", "pre", before(&script), Some(2.2));
    add("a 64 KB command, one long word", "pre", before(&format!("echo {}", "x".repeat(64 << 10))), Some(5.0));
    add("a 64 KB command, a heredoc", "pre", before(&heredoc(64 << 10)), Some(5.0));
    add("after, 1 KB result, notice", "post", result(1 << 10), Some(1.5));
    add("after, 1 MB result, notice", "post", result(1 << 20), Some(5.0));
    add("growth: 100 B", "pre", before(&heredoc(100)), None);
    add("growth: 2 KB", "pre", before(&heredoc(2 << 10)), None);
    add("growth: 64 KB", "pre", before(&heredoc(64 << 10)), None);
    add("growth: 1 MB", "pre", before(&heredoc((1 << 20) - 100)), None);
    add("worst: every literal of every rule", "pre", before(&literals()), None);
    add("worst: 64 KB of scripts, all alike", "pre", before(&script.repeat((64 << 10) / script.len())), None);
    add("worst: 64 KB of nested $(", "pre", before(&"$(".repeat(32 << 10)), None);
    add("worst: 64 KB of ((", "pre", before(&"((".repeat(32 << 10)), None);
    add("worst: 3,000 heredocs", "pre", before(&heredocs()), None);
    add("worst: 20,000 separators", "pre", before(&format!("{}rm -rf /", "true; ".repeat(20_000))), None);
    // The difference is the cost of a receipt.
    let asked = mcp("mcp__acme__run", "acme");
    for (name, words) in
        [("an MCP call that is asked about, receipt", ""), ("the same, no receipt", "[mcp]\nreceipts = \"off\"\n")]
    {
        measurements.push(measurement(name, rune, "pre", asked.clone(), &home(rune, folder, words), None));
    }
    // The difference is the cost of the pins of a hundred tools.
    let call = mcp("mcp__demo__tool7", "demo");
    for (name, words) in [
        ("a call to a server with 100 pinned tools", "[[mcp.servers]]\nname = \"demo\"\n"),
        ("the same, no pins", "[[mcp.servers]]\nname = \"demo\"\n[mcp]\npins = \"off\"\n"),
    ] {
        let home = home(rune, folder, words);
        pinned::write(&home);
        measurements.push(measurement(name, rune, "pre", call.clone(), &home, None));
    }
    for count in [60, 300, 3_000] {
        let home = home(rune, folder, "");
        std::fs::write(home.join(".config/rune/rules/bash.team.rules"), team(count)).unwrap();
        measurements.push(measurement(
            &format!("git status, {count} more rules"),
            rune,
            "pre",
            before("git status"),
            &home,
            None,
        ));
    }
    measurements
}

/// A new home with the policy that an installation writes and an addition to `config.local.toml`.
fn home(rune: &Path, folder: &Path, words: &str) -> PathBuf {
    let home = tempfile::tempdir_in(folder).unwrap().keep();
    policy(rune, &home);
    std::fs::write(home.join(".config/rune/config.local.toml"), format!("{words}[rules]\ndisabled = []\n")).unwrap();
    home
}

/// A call of an MCP tool.
fn mcp(tool: &str, server: &str) -> Vec<u8> {
    let call = serde_json::json!({"session_id": "s1", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_name": tool,
        "tool_input": {"text": "x"}, "mcp_server": {"name": server, "source": "user"}});
    call.to_string().into_bytes()
}

fn measurement(
    name: &str,
    program: &Path,
    phase: &str,
    input: Vec<u8>,
    home: &Path,
    budget: Option<f64>,
) -> Measurement {
    let words = if phase.is_empty() { Vec::new() } else { vec!["hook".to_owned(), phase.to_owned()] };
    let subject = Subject { name: name.to_owned(), program: program.to_owned(), words, input, home: home.to_owned() };
    Measurement { subject, budget, times: Vec::new() }
}

impl Measurement {
    fn run(&mut self) {
        let started = Instant::now();
        let mut child = self.subject.command(&[]).spawn().unwrap();
        // A program that does not read its input may have exited already.
        child.stdin.take().unwrap().write_all(&self.subject.input).ok();
        child.wait().unwrap();
        self.times.push(started.elapsed().as_secs_f64() * 1e6);
    }

    /// Microseconds at a percentage of the sorted times.
    fn quantile(&self, percent: usize) -> f64 {
        let mut times = self.times.clone();
        times.sort_by(f64::total_cmp);
        times.get(times.len() * percent / 100).copied().unwrap_or_default()
    }
}

/// Measures a hundred marked results in a row, as in a session.
fn session(rune: &Path, folder: &Path, short: bool) {
    let mut call = measurement("", rune, "post", result(1 << 10), folder, None);
    let started = Instant::now();
    (0..if short { 5 } else { 100 }).for_each(|_| call.run());
    println!("\n{} marked calls in a row: {:.0} ms", call.times.len(), started.elapsed().as_secs_f64() * 1e3);
}

/// Page faults, as `perf` counts them.
fn faults(subject: &Subject) -> Option<u64> {
    let mut child = subject
        .command(&["perf", "stat", "-x", ",", "-e", "page-faults"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(&subject.input).ok();
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines().find(|line| line.contains("page-faults"))?.split(',').next()?.parse().ok()
}

fn heredoc(bytes: usize) -> String {
    format!("cat > notes.md <<'EOF'\n{}\nEOF\n", "a line of text that says nothing\n".repeat(bytes / 33))
}

fn heredocs() -> String {
    (0..3_000).fold(String::new(), |mut text, at| {
        write!(text, "cat <<E{at}\nx\nE{at}\n").unwrap();
        text
    })
}

/// A command with every literal of every embedded rule.
fn literals() -> String {
    let rules = rune::rules::RuleKind::all().into_iter().map(rune::rules::RuleKind::embedded).collect::<String>();
    let patterns = rules.lines().filter(|line| line.starts_with("    ") || line.starts_with("  match "));
    let words = patterns.flat_map(|line| line.split(|c: char| !(c.is_ascii_alphanumeric() || "-_./".contains(c))));
    let words: Vec<&str> = words.filter(|word| word.len() > 1).collect();
    format!("git push {} ; rm -rf /", words.join(" "))
}

/// Additional rules that match no call of the bench.
fn team(count: usize) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        write!(
            text,
            "block \"team-{at}\"\n  match ^(deploy|release)-{at}\\b.* --(force|yes)( |$)\n  except_when --dry-run\n  \
             nudge \"Ask the team first\"\n  hits deploy-{at} --force\n  misses deploy-{at} --dry-run\n\n"
        )
        .unwrap();
        text
    })
}

fn result(bytes: usize) -> Vec<u8> {
    let event = serde_json::json!({"session_id": "reader", "cwd": "/p", "hook_event_name": "PostToolUse",
        "tool_name": "WebFetch", "tool_input": {"url": "https://e.example/"}, "tool_response": {"result": "x".repeat(bytes)}});
    event.to_string().into_bytes()
}
