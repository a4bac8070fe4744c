//! `rune mcp status`: the status of every server and tool.

use super::inventory::{Inventory, ServerState, describe_status};
use crate::commands::say;
use clap::Args;
use rune::mcp::{ChangedPart, Status};
use rune::quarantine::visible;
use serde::Serialize;

/// Shows the servers and tools, and whether they are approved
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rune mcp status\n  rune mcp status --json | jq '.servers[].tools'")]
pub struct StatusArgs {
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct StatusOutput {
    servers: Vec<ServerOutput>,
    unreadable: Vec<String>,
}

#[derive(Serialize)]
struct ServerOutput {
    name: String,
    configured: bool,
    status: &'static str,
    /// The worst status of the server and its tools.
    worst: &'static str,
    changed: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    tools: Vec<ToolOutput>,
}

#[derive(Serialize)]
struct ToolOutput {
    name: String,
    status: &'static str,
    changed: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
}

pub fn run(args: &StatusArgs) -> anyhow::Result<()> {
    let inventory = Inventory::load()?;
    let mut unreadable: Vec<String> = inventory.unreadable.iter().map(ToString::to_string).collect();
    unreadable.extend(inventory.servers.flaws.iter().cloned());
    let mut states = Vec::new();
    for name in inventory.names() {
        match inventory.server_state(&name) {
            Ok(state) => states.push(state),
            Err(error) => unreadable.push(error.to_string()),
        }
    }
    unreadable.sort();
    unreadable.dedup();
    if args.json {
        let servers = states.iter().map(server_output).collect();
        return say(&crate::commands::to_json(&StatusOutput { servers, unreadable })?);
    }
    if states.is_empty() && unreadable.is_empty() {
        return say("no MCP server is configured here or has a record");
    }
    states.iter().try_for_each(print_server)?;
    unreadable.iter().try_for_each(|what| say!("unreadable: {}", visible(what)))
}

fn changed_parts(status: &Status) -> Vec<String> {
    let parts: &[ChangedPart] = if let Status::Changed(parts) = status { parts } else { &[] };
    parts.iter().map(ToString::to_string).collect()
}

fn server_output(state: &ServerState) -> ServerOutput {
    let tool = |(name, status): &(String, Status)| {
        let served = state.observed.as_ref().and_then(|observed| observed.tool(name));
        let hash = served.and_then(|tool| tool.hash().ok()).map(|hash| hash.to_string());
        ToolOutput { name: name.clone(), status: status.as_str(), changed: changed_parts(status), hash }
    };
    ServerOutput {
        name: state.name.clone(),
        configured: state.is_configured,
        status: state.status.as_str(),
        worst: state.worst().as_str(),
        changed: changed_parts(&state.status),
        source: state.observed.as_ref().map(|observed| observed.source().to_string()),
        tools: state.tools.iter().map(tool).collect(),
    }
}

/// The worst status of a server and its tools, and how many tools have it.
fn describe_worst(state: &ServerState) -> String {
    let worst = state.worst();
    if worst.as_str() == state.status.as_str() {
        return describe_status(&state.status);
    }
    let count = state.tools.iter().filter(|(_, status)| status.as_str() == worst.as_str()).count();
    format!("{}: {count} of {} tools", worst.as_str(), state.tools.len())
}

fn print_server(state: &ServerState) -> anyhow::Result<()> {
    let record = match &state.observed {
        Some(observed) => {
            format!("{} tools, recorded by {} on {}", observed.tools().len(), observed.source(), observed.at().date())
        }
        None => "not recorded: run `rune mcp probe`".to_owned(),
    };
    let elsewhere = if state.is_configured { "" } else { ", not configured here" };
    say!("{}  {} ({record}{elsewhere})", visible(&state.name), describe_worst(state))?;
    let width = state.tools.iter().map(|(name, _)| visible(name).chars().count()).max().unwrap_or_default();
    state.tools.iter().try_for_each(|(name, status)| say!("  {:width$}  {}", visible(name), describe_status(status)))
}
