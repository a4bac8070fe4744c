//! The MCP client of a proof: starts a fixture server, lists its tools and calls them.

use super::fixture::COUNT_VARIABLE;
use crate::commands::current_program;
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running fixture server, and the file in which it counts calls.
pub struct FixtureServer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    count: PathBuf,
    last_id: u64,
}

impl FixtureServer {
    pub fn start(words: &[String], count: PathBuf) -> anyhow::Result<FixtureServer> {
        let mut command = Command::new(current_program()?);
        command.args(words).env_clear().env(COUNT_VARIABLE, &count).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start the fixture server")?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("the fixture server has no stdout")?);
        let mut server = FixtureServer { child, input, output, count, last_id: 0 };
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "rune-proof", "version": "1"}});
        server.request("initialize", &params)?;
        Ok(server)
    }

    pub fn tools(&mut self) -> anyhow::Result<Vec<Value>> {
        let result = self.request("tools/list", &json!({}))?;
        Ok(result.get("tools").and_then(Value::as_array).cloned().unwrap_or_default())
    }

    pub fn call(&mut self, name: &str, arguments: &Value) -> anyhow::Result<Value> {
        self.request("tools/call", &json!({"name": name, "arguments": arguments}))
    }

    /// The number of calls that the server has counted.
    pub fn count(&self) -> usize {
        std::fs::read_to_string(&self.count).map_or(0, |text| text.lines().count())
    }

    fn request(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.last_id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        let input = self.input.as_mut().context("the fixture server has ended")?;
        writeln!(input, "{message}")?;
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("the fixture server has ended");
        }
        let answer: Value = serde_json::from_str(&line)?;
        answer.get("result").cloned().context("the fixture server returned an error")
    }
}

impl Drop for FixtureServer {
    fn drop(&mut self) {
        // The server exits at the end of its input.
        self.input = None;
        self.child.wait().ok();
    }
}
