//! The cost of `rune quarantine status` on a long log: megabytes per second and resident memory.
//!
//! `cargo bench --bench status [-- --short] [-- MEGABYTES]`; the default is a gigabyte.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench measures the environment and prints"
)]

mod common;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let short = words.iter().any(|word| word == "--short");
    let megabytes = words.iter().find_map(|word| word.parse().ok()).unwrap_or(if short { 8 } else { 1024 });
    let home = tempfile::tempdir().unwrap();
    let rune = if short { env!("CARGO_BIN_EXE_rune").into() } else { common::installed(home.path()) };
    std::fs::create_dir(home.path().join(".claude")).unwrap();
    let log = home.path().join(".claude/telemetry.jsonl");
    write_log(&log, megabytes << 20);
    let size = std::fs::metadata(&log).unwrap().len() as f64 / 1e6;
    for round in 0..3 {
        let started = Instant::now();
        let mut child = Command::new(&rune)
            .args(["quarantine", "status", "--json"])
            .env_clear()
            .env("HOME", home.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut resident = 0;
        while child.try_wait().unwrap().is_none() {
            // The value disappears when the process exits, so it is sampled.
            resident = resident.max(peak_resident(child.id()).unwrap_or(0));
            std::thread::sleep(Duration::from_millis(2));
        }
        let seconds = started.elapsed().as_secs_f64();
        println!(
            "round {round}: {size:.0} MB in {seconds:.2} s: {:.0} MB/s, {:.1} MB resident",
            size / seconds,
            resident as f64 / 1e3
        );
    }
}

/// Writes a log of many sessions in which some lines are incomplete.
fn write_log(path: &Path, bytes: usize) {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    let (mut written, mut at) = (0, 0_u64);
    let tools = ["Bash", "Read", "WebFetch", "mcp__desk__get_ticket", "Edit"];
    while written < bytes {
        // A linear congruential generator.
        at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let of = |most: u64| (at >> 33) % most;
        let tool = tools.get(usize::try_from(of(5)).unwrap()).unwrap();
        let line = if of(5_000) == 0 {
            "{\"event\":\"quaran\n".to_owned()
        } else {
            let (event, decision) = if of(2) == 0 { ("quarantine", "emit") } else { ("PreToolUse", "allow") };
            format!(
                "{{\"event\":\"{event}\",\"ts\":\"2026-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z\",\"tool\":\"{tool}\",\
                 \"decision\":\"{decision}\",\"source\":\"webfetch:host-{}.example\",\"session_id\":\"{:08x}-1c1a-4c1b-9a51-b1c4f2a0d7e3\",\
                 \"rule\":\"quarantine-external\",\"us\":{}}}\n",
                of(12) + 1,
                of(28) + 1,
                of(24),
                of(60),
                of(61).min(59),
                of(1000),
                of(97),
                of(1_003),
                of(900) + 100,
            )
        };
        file.write_all(line.as_bytes()).unwrap();
        written += line.len();
    }
    file.flush().unwrap();
    // So that the disk is idle during the measurement.
    file.get_ref().sync_all().unwrap();
}

/// The peak resident memory of a process, in kilobytes.
fn peak_resident(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}
