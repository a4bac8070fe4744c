//! A small MCP server over stdio for proofs: it echoes, and counts every call that reaches it.

use anyhow::Context;
use clap::Args;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::{BufRead, Write};

/// The variable that names the file which gets a line for each call. No identity holds the value of a variable, so that
/// what is approved of the server is the same in every run.
pub const COUNT_VARIABLE: &str = "RUNE_FIXTURE_COUNT";

/// Serves a few harmless tools, and counts the calls that reach it
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  RUNE_FIXTURE_COUNT=calls.txt rune mcp fixture")]
pub struct FixtureArgs {
    /// Serve another schema than before
    #[arg(long)]
    pub drift: bool,
    /// What every call is answered with
    #[arg(long, default_value = "done")]
    pub answer: String,
}

pub fn run(args: &FixtureArgs) -> anyhow::Result<()> {
    let count = std::env::var_os(COUNT_VARIABLE).with_context(|| format!("{COUNT_VARIABLE} is not set"))?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        let Some(id) = message.get("id") else { continue };
        let result = match message.get("method").and_then(Value::as_str) {
            Some("initialize") => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "rune-fixture", "version": "1"}}),
            Some("tools/list") => json!({"tools": tools(args.drift)}),
            Some("tools/call") => {
                let mut count = OpenOptions::new().append(true).create(true).open(&count)?;
                count.write_all(b"call\n").context("a call could not be counted")?;
                json!({"content": [{"type": "text", "text": args.answer}]})
            }
            _ => json!({}),
        };
        writeln!(out, "{}", json!({"jsonrpc": "2.0", "id": id, "result": result}))?;
        out.flush()?;
    }
    Ok(())
}

fn tools(drift: bool) -> Value {
    let text = json!({"text": {"type": "string"}});
    let closed = |properties: Value, required: &str| json!({"type": "object", "properties": properties, "required": [required], "additionalProperties": false});
    let echo = if drift { json!({"text": {"type": "string"}, "notes": {"type": "string"}}) } else { text.clone() };
    json!([
        {"name": "local.echo", "description": "Says what it is told", "inputSchema": closed(echo, "text")},
        {"name": "send_note", "description": "Sends a note to somebody", "inputSchema": closed(text, "text")},
        {"name": "erase", "description": "Erases a record",
            "inputSchema": closed(json!({"id": {"type": "integer"}}), "id")},
    ])
}
