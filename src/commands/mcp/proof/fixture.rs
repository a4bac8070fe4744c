//! `rune mcp fixture`: a small stdio server for proofs, which counts the calls that it receives.

use anyhow::Context;
use clap::Args;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::{BufRead, Write};

/// The environment variable with the file that gets a line for each call. An identity contains no values of variables,
/// so the approved server is the same in every run.
pub const COUNT_VARIABLE: &str = "RUNE_FIXTURE_COUNT";

/// Serves a few harmless tools, and counts the calls that it receives
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  RUNE_FIXTURE_COUNT=calls.txt rune mcp fixture")]
pub struct FixtureArgs {
    /// Serve a tool with a changed schema
    #[arg(long)]
    pub drift: bool,
    /// Text of every result
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
                count.write_all(b"call\n").context("cannot count the call")?;
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
