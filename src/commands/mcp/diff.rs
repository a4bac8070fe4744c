//! `rune mcp diff`: what has changed since the approval, in words or line by line.

use super::inventory::{Inventory, ServerState, describe_status};
use super::summary::{ToolSummary, describe_identity, print_instructions, print_tools};
use crate::commands::say;
use anyhow::bail;
use clap::Args;
use rune::encoding::canonical::Value;
use rune::mcp::status::Annotations;
use rune::mcp::{Identity, Instructions, Status};
use rune::quarantine::visible;
use std::io::IsTerminal;

/// Shows the differences between what was approved and what is served
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rune mcp diff github\n  rune mcp diff github:create_issue --full")]
pub struct DiffArgs {
    /// Server, or one of its tools
    #[arg(value_name = "SERVER[:TOOL]")]
    target: String,
    /// Show the changed objects line by line instead of one line for each tool
    #[arg(long)]
    full: bool,
}

pub fn run(args: &DiffArgs) -> anyhow::Result<()> {
    let inventory = Inventory::load()?;
    let target = inventory.parse_selector(&args.target)?;
    let state = inventory.server_state(&target.server)?;
    if let Some(tool) = &target.tool {
        let Some((name, status)) = state.tools.iter().find(|(name, _)| name == tool) else {
            bail!(
                "`{}` has no tool `{}`\n  help: `rune mcp status` lists its tools",
                visible(&state.name),
                visible(tool)
            );
        };
        if !args.full {
            return print_tools(&inventory, &state.name, &[ToolSummary::of(&state, name, status)]);
        }
        return print_tool(&state, name, status);
    }
    say!("{}: {}", visible(&state.name), describe_status(&state.status))?;
    if !args.full {
        print_server_summary(&state)?;
        let tools: Vec<ToolSummary<'_>> =
            state.tools.iter().map(|(name, status)| ToolSummary::of(&state, name, status)).collect();
        return print_tools(&inventory, &state.name, &tools);
    }
    print_server(&state)?;
    for (name, status) in state.tools.iter().filter(|(_, status)| *status != Status::Approved(Annotations::Same)) {
        print_tool(&state, name, status)?;
    }
    Ok(())
}

/// Prints what has changed in the server's configuration and instructions, one line for each.
fn print_server_summary(state: &ServerState) -> anyhow::Result<()> {
    let approved = state.pin.as_ref().and_then(|pin| pin.identity());
    let now = state.configured.as_ref().or(state.observed.as_ref().and_then(|observed| observed.identity()));
    if approved != now {
        let describe = |identity: Option<&Identity>| identity.map_or_else(|| "none".to_owned(), describe_identity);
        say!("configuration: {}", describe(now))?;
        if state.pin.as_ref().is_some_and(|pin| pin.is_approved()) {
            say!("  approved was: {}", describe(approved))?;
        }
    }
    let approved = state.pin.as_ref().and_then(|pin| pin.instructions());
    match state.observed.as_ref().map(|observed| observed.instructions()) {
        Some(Instructions::Text(text)) if approved != Some(text) => print_instructions(text, false),
        Some(Instructions::None) if approved.is_some() => say("instructions: none any more"),
        _ => Ok(()),
    }
}

/// Prints the differences in the server's configuration and instructions.
fn print_server(state: &ServerState) -> anyhow::Result<()> {
    let approved = state.pin.as_ref().and_then(|pin| pin.identity());
    let now = state.configured.as_ref().or(state.observed.as_ref().and_then(|observed| observed.identity()));
    let lines =
        |identity: Option<&Identity>| identity.map(|identity| pretty(&Value::of(identity).unwrap_or(Value::Null)));
    if approved != now {
        print_diff("configuration", &lines(approved).unwrap_or_default(), &lines(now).unwrap_or_default())?;
    }
    let approved = state.pin.as_ref().and_then(|pin| pin.instructions()).unwrap_or_default();
    let now = match state.observed.as_ref().map(|observed| observed.instructions()) {
        Some(Instructions::Text(text)) => text.as_str(),
        Some(Instructions::None | Instructions::Unreadable(_)) => "",
        None => approved,
    };
    if approved != now { print_diff("instructions", approved, now) } else { Ok(()) }
}

fn print_tool(state: &ServerState, name: &str, status: &Status) -> anyhow::Result<()> {
    say!("{}:{}: {}", visible(&state.name), visible(name), describe_status(status))?;
    let approved = state.pin.as_ref().and_then(|pin| pin.tool(name)).map(pretty).unwrap_or_default();
    let served = state.observed.as_ref().and_then(|observed| observed.tool(name));
    let served = match served.map(|tool| (tool.body(), tool.raw())) {
        Some((Ok(body), _)) => pretty(body),
        Some((Err(_), raw)) => raw.to_owned(),
        None => String::new(),
    };
    if approved == served { Ok(()) } else { print_diff(name, &approved, &served) }
}

/// Formats a value over several lines. The caller must escape the result for the terminal.
pub fn pretty(value: &Value) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_str(&value.to_string()).ok();
    parsed.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| value.to_string())
}

fn print_diff(name: &str, before: &str, after: &str) -> anyhow::Result<()> {
    let colours = std::io::stdout().is_terminal();
    let (before, after) = (with_final_newline(&visible(before)), with_final_newline(&visible(after)));
    let mut options = diffy::DiffOptions::new();
    options.set_original_filename(format!("approved/{}", visible(name)));
    options.set_modified_filename(format!("served/{}", visible(name)));
    for line in options.create_patch(&before, &after).to_string().lines() {
        let colour = match line.chars().next() {
            Some('+') => "32",
            Some('-') => "31",
            Some('@') => "36",
            _ => "",
        };
        if colours && !colour.is_empty() {
            say!("\u{1b}[{colour}m{line}\u{1b}[0m")?;
        } else {
            say(line)?;
        }
    }
    Ok(())
}

fn with_final_newline(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}
