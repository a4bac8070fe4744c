//! A person at a terminal: a `tmux` server of its own, with an emptied environment and nothing of the tests above it.
//!
//! The tests may run below an agent or without a terminal, and a terminal that a test makes is held by the test. `tmux`
//! detaches itself from whoever starts it.

use super::{Ran, Sandbox};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Where stdin of a command comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    Null,
    Terminal,
}

/// A command that runs in a terminal. Its output and its exit code come through named pipes.
pub struct Session {
    folder: TempDir,
    stdout: File,
    shown: Vec<u8>,
    has_ended: bool,
}

impl Sandbox {
    /// Runs `rune` as a person, at a terminal and with stdin at `/dev/null`.
    pub fn run_alone(&self, words: &[&str]) -> Ran {
        self.start_alone(self.home.path(), Stdin::Null, words).finish()
    }

    /// Runs `rune` as a person who types what `answer` returns, as soon as it returns something for what is shown.
    pub fn run_at_terminal(&self, words: &[&str], answer: impl Fn(&str) -> Option<String>) -> Ran {
        let mut session = self.start_alone(self.home.path(), Stdin::Terminal, words);
        let (shown, typed) = session.wait_for(answer);
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
        let folder_of_session = tempfile::tempdir().unwrap();
        let pipe = |name: &str| folder_of_session.path().join(name);
        let made = Command::new("mkfifo").args([pipe("out"), pipe("exit")]).status();
        assert!(made.unwrap().success(), "mkfifo");
        let stdin = if stdin == Stdin::Null { "</dev/null" } else { "" };
        let script = format!("dir=$1; shift; \"$@\" {stdin} >\"$dir/out\" 2>\"$dir/err\"; echo $? >\"$dir/exit\"");
        let home = format!("HOME={}", self.home.path().display());
        let mut tmux = tmux(folder_of_session.path(), &["-f", "/dev/null", "new-session", "-d", "-c"]);
        tmux.arg(folder).args(["/bin/sh", "-c", &script, "sh"]).arg(folder_of_session.path());
        let status = tmux.args(["/usr/bin/env", "-i", &home]).args(words).envs(variables.iter().copied()).status();
        let status = status.unwrap_or_else(|error| panic!("tmux: {error}; install it, as with `apt-get install tmux`"));
        assert!(status.success(), "tmux: {status}");
        // Opens once the command has been started.
        let stdout = File::open(pipe("out")).unwrap();
        Session { folder: folder_of_session, stdout, shown: Vec::new(), has_ended: false }
    }
}

impl Session {
    /// Waits until the command has ended and nobody can write to its stdout any more.
    pub fn finish(mut self) -> Ran {
        self.stdout.read_to_end(&mut self.shown).unwrap();
        let exit = std::fs::read_to_string(self.file("exit")).unwrap();
        self.has_ended = true;
        let stderr = std::fs::read(self.file("err")).unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { stdout: text(&self.shown), stderr: text(&stderr), exit: exit.trim().parse().unwrap() }
    }

    /// Waits until `find` returns something for what was written to stdout; returns both.
    fn wait_for(&mut self, find: impl Fn(&str) -> Option<String>) -> (String, String) {
        loop {
            let shown = String::from_utf8_lossy(&self.shown).into_owned();
            if let Some(found) = find(&shown) {
                return (shown, found);
            }
            let mut bytes = [0; 4096];
            let count = self.stdout.read(&mut bytes).unwrap();
            assert!(count > 0, "it ended without a question: {shown}");
            self.shown.extend_from_slice(&bytes[..count]);
        }
    }

    /// Types a text at the terminal.
    fn type_text(&self, text: &str) {
        assert!(tmux(self.folder.path(), &["send-keys", "-l", "--", text]).status().unwrap().success());
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A client of the server in a directory.
fn tmux(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("tmux");
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.arg("-S").arg(folder.join("socket")).args(words);
    command
}

impl Drop for Session {
    fn drop(&mut self) {
        // The server ends with its session; one that is still there belongs to a test that failed.
        if !self.has_ended {
            tmux(self.folder.path(), &["kill-server"]).status().ok();
        }
    }
}
