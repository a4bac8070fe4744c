//! A person at a terminal: a `tmux` server of its own, with an emptied environment and nothing of the tests above it.
//!
//! The tests may run below an agent or without a terminal, and a terminal that a test makes is held by the test. `tmux`
//! detaches itself from whoever starts it.

use super::{Ran, Sandbox};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a command may take before the test fails.
const LIMIT: Duration = Duration::from_secs(120);

/// Where stdin of a command comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    Null,
    Terminal,
}

/// A command that runs in a terminal. Its output goes to files.
pub struct Session {
    folder: TempDir,
}

impl Sandbox {
    /// Runs `rune` as a person, at a terminal and with stdin at `/dev/null`.
    pub fn run_alone(&self, words: &[&str]) -> Ran {
        self.start_alone(self.home.path(), Stdin::Null, words).finish()
    }

    /// Runs `rune` as a person. Once `prompt` is shown, `answer` gets all that was shown and returns what is typed.
    pub fn run_at_terminal(&self, words: &[&str], prompt: &str, answer: impl FnOnce(&str) -> String) -> Ran {
        let session = self.start_alone(self.home.path(), Stdin::Terminal, words);
        let shown = session.wait_for(prompt);
        let typed = answer(&shown);
        session.type_text(&typed);
        let mut ran = session.finish();
        // As the terminal shows it.
        ran.stdout.insert_str(shown.len(), &typed);
        ran
    }

    /// Starts `rune` as a person in a directory.
    pub fn start_alone(&self, folder: &Path, stdin: Stdin, words: &[&str]) -> Session {
        let program = [env!("CARGO_BIN_EXE_rune")];
        self.start_program_alone(folder, stdin, &[&program, words].concat())
    }

    /// Starts any program as a person in a directory, with `HOME` as its only variable.
    pub fn start_program_alone(&self, folder: &Path, stdin: Stdin, words: &[&str]) -> Session {
        self.start_with(folder, stdin, &[], words)
    }

    /// The same in a terminal whose multiplexer was started with these variables.
    pub fn start_with(&self, folder: &Path, stdin: Stdin, variables: &[(&str, &str)], words: &[&str]) -> Session {
        let session = Session { folder: tempfile::tempdir().unwrap() };
        let stdin = if stdin == Stdin::Null { "</dev/null" } else { "" };
        let script = format!(
            "dir=$1; shift; \"$@\" {stdin} >\"$dir/out\" 2>\"$dir/err\"; echo $? >\"$dir/new\"; mv \"$dir/new\" \"$dir/exit\""
        );
        let home = format!("HOME={}", self.home.path().display());
        let mut tmux = session.tmux(&["-f", "/dev/null", "new-session", "-d", "-c"]);
        tmux.arg(folder).args(["/bin/sh", "-c", &script, "sh"]).arg(session.folder.path());
        let status = tmux.args(["/usr/bin/env", "-i", &home]).args(words).envs(variables.iter().copied()).status();
        let status = status.unwrap_or_else(|error| panic!("tmux: {error}; install it, as with `apt-get install tmux`"));
        assert!(status.success(), "tmux: {status}");
        session
    }
}

impl Session {
    /// Waits until the command has ended.
    pub fn finish(self) -> Ran {
        let exit = self.wait(|| std::fs::read_to_string(self.file("exit")).ok());
        Ran { stdout: self.read("out"), stderr: self.read("err"), exit: exit.trim().parse().unwrap() }
    }

    /// Waits until stdout holds a text; returns all of it.
    pub fn wait_for(&self, text: &str) -> String {
        self.wait(|| {
            let (shown, ended) = (self.read("out"), self.file("exit").exists());
            let found = shown.contains(text);
            assert!(found || !ended, "nobody was asked `{text}`: {shown}{}", self.read("err"));
            found.then_some(shown)
        })
    }

    /// Types a text at the terminal.
    pub fn type_text(&self, text: &str) {
        assert!(self.tmux(&["send-keys", "-l", "--", text]).status().unwrap().success());
    }

    fn wait<T>(&self, mut ready: impl FnMut() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(value) = ready() {
                return value;
            }
            assert!(start.elapsed() < LIMIT, "it does not end: {}{}", self.read("out"), self.read("err"));
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn read(&self, name: &str) -> String {
        std::fs::read(self.file(name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tmux(&self, words: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.arg("-S").arg(self.file("socket")).args(words);
        command
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The server ends with its session; one that is still there belongs to a test that failed.
        if !self.file("exit").exists() {
            self.tmux(&["kill-server"]).status().ok();
        }
    }
}
