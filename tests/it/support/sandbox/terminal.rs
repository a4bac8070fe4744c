//! Runs `rune` as a person at a terminal, in a `tmux` server with an empty environment.
//!
//! The tests may run below an agent or without a terminal, and the test process would hold a terminal that it creates
//! itself. A `tmux` server detaches from the process that starts it, so no ancestor of the command is a test.

use super::{Output, Sandbox, make_pipe};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// What stdin of a command is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    Null,
    Terminal,
}

/// A command that runs in a terminal. It writes its output and its exit code to named pipes.
pub struct Session {
    folder: TempDir,
    stdout: File,
    shown: Vec<u8>,
    has_ended: bool,
}

impl Sandbox {
    /// Runs `rune` as a person at a terminal, with `/dev/null` as stdin.
    pub fn run_as_person(&self, words: &[&str]) -> Output {
        self.start_as_person(self.home.path(), Stdin::Null, words).finish()
    }

    /// Runs `rune` as a person. `answer` gets the output so far; the text that it returns is typed.
    pub fn run_and_type(&self, words: &[&str], answer: impl Fn(&str) -> Option<String>) -> Output {
        let mut session = self.start_as_person(self.home.path(), Stdin::Terminal, words);
        let (shown, typed) = session.wait_for(answer);
        session.type_text(&typed);
        let mut output = session.finish();
        // As a terminal would show it.
        output.stdout.insert_str(shown.len(), &typed);
        output
    }

    /// Starts `rune` as a person in a directory.
    pub fn start_as_person(&self, folder: &Path, stdin: Stdin, words: &[&str]) -> Session {
        let program = [env!("CARGO_BIN_EXE_rune")];
        self.start_program_as_person(folder, stdin, &[&program, words].concat())
    }

    /// Starts any program as a person in a directory, with only `HOME` in its environment.
    pub fn start_program_as_person(&self, folder: &Path, stdin: Stdin, words: &[&str]) -> Session {
        self.start_with_variables(folder, stdin, &[], words)
    }

    /// The same, with environment variables for the terminal multiplexer.
    pub fn start_with_variables(
        &self,
        folder: &Path,
        stdin: Stdin,
        variables: &[(&str, &str)],
        words: &[&str],
    ) -> Session {
        let folder_of_session = tempfile::tempdir().unwrap();
        let pipe = |name: &str| folder_of_session.path().join(name);
        ["out", "exit"].map(pipe).iter().for_each(make_pipe);
        let stdin = if stdin == Stdin::Null { "</dev/null" } else { "" };
        let script = format!("dir=$1; shift; \"$@\" {stdin} >\"$dir/out\" 2>\"$dir/err\"; echo $? >\"$dir/exit\"");
        let home = format!("HOME={}", self.home.path().display());
        let mut tmux = tmux(folder_of_session.path(), &["-f", "/dev/null", "new-session", "-d", "-c"]);
        tmux.arg(folder).args(["/bin/sh", "-c", &script, "sh"]).arg(folder_of_session.path());
        let status = tmux.args(["/usr/bin/env", "-i", &home]).args(words).envs(variables.iter().copied()).status();
        let status = status.unwrap_or_else(|error| panic!("tmux: {error}; install it, as with `apt-get install tmux`"));
        assert!(status.success(), "tmux: {status}");
        // Blocks until the command has opened its end.
        let stdout = File::open(pipe("out")).unwrap();
        Session { folder: folder_of_session, stdout, shown: Vec::new(), has_ended: false }
    }
}

impl Session {
    /// Waits until the command has exited and every writer of its stdout is closed.
    pub fn finish(mut self) -> Output {
        self.stdout.read_to_end(&mut self.shown).unwrap();
        let exit = std::fs::read_to_string(self.file("exit")).unwrap();
        self.has_ended = true;
        let stderr = std::fs::read(self.file("err")).unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Output { stdout: text(&self.shown), stderr: text(&stderr), exit: exit.trim().parse().unwrap() }
    }

    /// Types an answer to each question, in order, when the output ends with the question, and waits for the end.
    pub fn answer(mut self, answers: &[(&str, &str)]) -> Output {
        for (question, text) in answers {
            let (_, typed) = self.wait_for(|shown| shown.ends_with(question).then(|| (*text).to_owned()));
            self.type_text(&typed);
        }
        self.finish()
    }

    /// Reads stdout until `find` returns something for it; returns stdout and that.
    fn wait_for(&mut self, find: impl Fn(&str) -> Option<String>) -> (String, String) {
        loop {
            let shown = String::from_utf8_lossy(&self.shown).into_owned();
            if let Some(found) = find(&shown) {
                return (shown, found);
            }
            let mut bytes = [0; 4096];
            let count = self.stdout.read(&mut bytes).unwrap();
            assert!(count > 0, "the command exited without a question: {shown}");
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

/// A `tmux` client of the server whose socket is in `folder`.
fn tmux(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("tmux");
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.arg("-S").arg(folder.join("socket")).args(words);
    command
}

impl Drop for Session {
    fn drop(&mut self) {
        // The server exits with its session, unless the test failed before that.
        if !self.has_ended {
            tmux(self.folder.path(), &["kill-server"]).status().ok();
        }
    }
}
