//! Shared code of the benches: the binary as it is installed, an empty program to compare with, and events.

#![allow(dead_code, clippy::expect_used, reason = "not every bench uses everything; a bench fails by panicking")]

pub mod pinned;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The flags of the static build, the same as in `install.sh`.
const STATIC_FLAGS: [&str; 4] = ["-C", "target-feature=+crt-static", "-C", "relocation-model=static"];

/// The binary as it is installed: stripped, static if possible, and copied. The page cache of a copied file has larger
/// contiguous pieces than that of a file written by a linker.
pub fn installed(folder: &Path) -> PathBuf {
    let path = folder.join("rune");
    std::fs::copy(built(), &path).expect("the temporary directory is writable");
    path
}

fn built() -> PathBuf {
    let host = host();
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--bin", "rune", "--target", &host])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("RUSTFLAGS", STATIC_FLAGS.join(" "))
        .stderr(Stdio::null())
        .status();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target").join(host).join("release/rune");
    let is_built = built.is_ok_and(|status| status.success()) && path.is_file();
    if is_built { path } else { PathBuf::from(env!("CARGO_BIN_EXE_rune")) }
}

/// A program that does nothing, built with the same flags, to measure the cost of starting a process.
pub fn empty(folder: &Path) -> Option<PathBuf> {
    let (source, program) = (folder.join("empty.rs"), folder.join("empty"));
    std::fs::write(&source, "fn main() {}").ok()?;
    let mut rustc = Command::new("rustc");
    rustc
        .args(["-O", "-C", "strip=symbols", "--target", &host()])
        .args(STATIC_FLAGS)
        .arg(&source)
        .arg("-o")
        .arg(&program);
    let built = rustc.stderr(Stdio::null()).status();
    built.is_ok_and(|status| status.success()).then_some(program)
}

fn host() -> String {
    let version = Command::new("rustc").arg("-vV").output().map(|output| output.stdout).unwrap_or_default();
    let version = String::from_utf8_lossy(&version).into_owned();
    version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default().to_owned()
}

/// An event before a command.
pub fn before(command: &str) -> Vec<u8> {
    let event = serde_json::json!({"session_id": "s", "cwd": "/p", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": command}});
    event.to_string().into_bytes()
}

/// A release script of 2 KB.
pub fn script() -> String {
    let lines = "set -euo pipefail\n\
        cd \"$(git rev-parse --show-toplevel)\"\n\
        if [ -n \"$(git status --porcelain)\" ]; then echo 'the tree is not clean' >&2; exit 1; fi\n\
        npm ci --no-audit && npm run lint && npm test -- --coverage\n\
        rm -rf dist build\n\
        for f in src/assets/*.svg; do cp \"$f\" dist/assets/; done\n\
        grep -rn TODO src | sort | uniq -c | sort -rn | head -20 > todo.txt\n\
        tar -czf app.tgz -C dist . && sha256sum app.tgz | awk '{print $1}' > app.sha256\n";
    let mut script = String::new();
    let mut at = 0;
    while script.len() < 2 << 10 {
        script.push_str(&lines.replace("dist", &format!("dist{at}")));
        at += 1;
    }
    script.truncate(script.get(..2 << 10).and_then(|head| head.rfind('\n')).unwrap_or(0));
    script.push('\n');
    script
}

/// A program whose time or instructions are measured.
pub struct Subject {
    pub name: String,
    pub program: PathBuf,
    pub words: Vec<String>,
    pub input: Vec<u8>,
    pub home: PathBuf,
}

impl Subject {
    /// The command, run by the program `under` if there is one, with only `HOME` and `PATH` in its environment.
    pub fn command(&self, under: &[&str]) -> Command {
        let mut command = match under.split_first() {
            Some((program, words)) => {
                let mut command = Command::new(program);
                command.args(words).arg(&self.program);
                command
            }
            None => Command::new(&self.program),
        };
        command
            .args(&self.words)
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// The instructions of one run, if `valgrind` is installed.
    pub fn instructions(&self) -> Option<u64> {
        let mut command = self.command(&["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        let mut child = command.stderr(Stdio::piped()).spawn().ok()?;
        std::io::Write::write_all(&mut child.stdin.take()?, &self.input).ok();
        let output = child.wait_with_output().ok()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        text.lines().find_map(|line| line.split("Collected :").nth(1))?.trim().parse().ok()
    }
}
