//! The client of a proof: it starts a server, learns its tools, and calls them.

use super::fixture::COUNT_VARIABLE;
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A server that runs, and the file that it counts in.
pub struct FixtureServer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    count: PathBuf,
    last: u64,
}

impl FixtureServer {
    pub fn start(words: &[String], count: PathBuf) -> anyhow::Result<FixtureServer> {
        let program = std::env::current_exe().context("where this program lies cannot be told")?;
        let mut command = Command::new(program);
        command.args(words).env_clear().env(COUNT_VARIABLE, &count).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("the fixture server does not start")?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("the fixture server says nothing")?);
        let mut server = FixtureServer { child, input, output, count, last: 0 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "rune-proof", "version": "1"}});
        server.ask("initialize", &hello)?;
        Ok(server)
    }

    /// The tools that it serves.
    pub fn tools(&mut self) -> anyhow::Result<Vec<Value>> {
        let result = self.ask("tools/list", &json!({}))?;
        Ok(result.get("tools").and_then(Value::as_array).cloned().unwrap_or_default())
    }

    /// Calls a tool.
    pub fn call(&mut self, name: &str, arguments: &Value) -> anyhow::Result<Value> {
        self.ask("tools/call", &json!({"name": name, "arguments": arguments}))
    }

    /// How many calls have call_count it, by its own count.
    pub fn count(&self) -> usize {
        std::fs::read_to_string(&self.count).map_or(0, |text| text.lines().count())
    }

    fn ask(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.last += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        let input = self.input.as_mut().context("the fixture server has ended")?;
        writeln!(input, "{message}")?;
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("the fixture server has ended");
        }
        let answer: Value = serde_json::from_str(&line)?;
        answer.get("result").cloned().context("the fixture server did not answer")
    }
}

impl Drop for FixtureServer {
    fn drop(&mut self) {
        // It ends with its input.
        self.input = None;
        self.child.wait().ok();
    }
}
