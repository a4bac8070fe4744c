//! `rune mcp status`: how every server and every tool stands.

use super::view::{Row, View, words};
use crate::commands::hooks::say;
use clap::Args;
use rune::mcp::{ChangedPart, Status};
use rune::quarantine::visible;
use serde::Serialize;

/// Shows which servers and tools are approved, and which are not
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rune mcp status\n  rune mcp status --json | jq '.servers[].tools'")]
pub struct StatusArgs {
    /// JSON instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    servers: Vec<ServerReport>,
    unreadable: Vec<String>,
}

#[derive(Serialize)]
struct ServerReport {
    name: String,
    configured: bool,
    status: &'static str,
    changed: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    tools: Vec<ToolReport>,
}

#[derive(Serialize)]
struct ToolReport {
    name: String,
    status: &'static str,
    changed: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
}

pub fn run(args: &StatusArgs) -> anyhow::Result<()> {
    let view = View::look()?;
    let mut unreadable: Vec<String> = view.unreadable.iter().map(ToString::to_string).collect();
    unreadable.extend(view.servers.flaws.iter().cloned());
    let mut rows = Vec::new();
    for name in view.names() {
        match view.row(&name) {
            Ok(row) => rows.push(row),
            Err(error) => unreadable.push(error.to_string()),
        }
    }
    unreadable.sort();
    unreadable.dedup();
    if args.json {
        let servers = rows.iter().map(|row| report(row, view.servers.named(&row.name).is_some())).collect();
        return say(&serde_json::to_string(&Report { servers, unreadable })?);
    }
    if rows.is_empty() && unreadable.is_empty() {
        return say("no MCP server is configured here, and none has a record");
    }
    for row in &rows {
        table(row, view.servers.named(&row.name).is_some())?;
    }
    unreadable.iter().try_for_each(|what| say(&format!("unreadable: {}", visible(what))))
}

fn parts(status: &Status) -> Vec<String> {
    let parts: &[ChangedPart] = if let Status::Changed(parts) = status { parts } else { &[] };
    parts.iter().map(ToString::to_string).collect()
}

fn report(row: &Row, configured: bool) -> ServerReport {
    let tool = |(name, status): &(String, Status)| {
        let served = row.observed.as_ref().and_then(|observed| observed.tool(name));
        let hash = served.and_then(|tool| tool.hash().ok()).map(|hash| hash.to_string());
        ToolReport { name: name.clone(), status: status.as_str(), changed: parts(status), hash }
    };
    ServerReport {
        name: row.name.clone(),
        configured,
        status: row.status.as_str(),
        changed: parts(&row.status),
        source: row.observed.as_ref().map(|observed| observed.source().to_string()),
        tools: row.tools.iter().map(tool).collect(),
    }
}

fn table(row: &Row, configured: bool) -> anyhow::Result<()> {
    let seen = match &row.observed {
        Some(observed) => {
            format!("{} tools, seen by {} on {}", observed.tools().len(), observed.source(), observed.at().date())
        }
        None => "never seen: run `rune mcp probe`".to_owned(),
    };
    let here = if configured { "" } else { ", not configured here" };
    say(&format!("{}  {} ({seen}{here})", visible(&row.name), words(&row.status)))?;
    let width = row.tools.iter().map(|(name, _)| visible(name).chars().count()).max().unwrap_or_default();
    row.tools.iter().try_for_each(|(name, status)| say(&format!("  {:width$}  {}", visible(name), words(status))))
}
