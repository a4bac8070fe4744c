//! `rune mcp approve`: shows what a server serves, and pins it once a person confirms its hash.

use super::diff::pretty;
use super::inventory::{Inventory, ServerState, ToolSelector, describe_status};
use super::summary::{
    ToolSummary, describe_identity, print_instructions, print_tools, print_warnings, tool_warnings,
    tools_of_other_servers,
};
use crate::commands::{ask, say};
use crate::runtime::agent_check;
use crate::runtime::environment::now;
use crate::runtime::exit_code::{DONE, FAILED};
use anyhow::{Context, bail};
use clap::Args;
use rune::encoding::canonical::Value;
use rune::mcp::{Proposal, Status};
use rune::quarantine::visible;
use rune::receipt::ReceiptKind;
use std::io::IsTerminal;

/// Shows what a server serves, and approves it after you type its short hash; for people only
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune mcp approve github\n  rune mcp approve github:create_issue\n  rune mcp approve github --yes --hash 1a2b3c4d\n\n\
If stdin is not a terminal, `--yes` and the hash that `rune mcp approve` prints are required."
)]
pub struct ApproveArgs {
    /// Servers or tools
    #[arg(value_name = "SERVER[:TOOL]", required_unless_present = "all")]
    targets: Vec<String>,
    /// Approve every server that has a record
    #[arg(long, conflicts_with = "targets")]
    all: bool,
    /// Show the whole objects of the tools instead of one line for each
    #[arg(long)]
    full: bool,
    /// Go on even if stdin is not a terminal; the process still needs a terminal
    #[arg(long)]
    yes: bool,
    /// Short hash of what is approved, instead of typing it; once for each target
    #[arg(long, value_name = "HASH")]
    hash: Vec<String>,
}

pub fn run(args: &ApproveArgs) -> anyhow::Result<u8> {
    agent_check::require_confirmed_person("`rune mcp approve`", args.yes)?;
    let inventory = Inventory::load()?;
    let targets = if args.all {
        inventory.names().into_iter().map(|server| ToolSelector { server, tool: None }).collect()
    } else {
        args.targets.iter().map(|target| inventory.parse_selector(target)).collect::<anyhow::Result<Vec<_>>>()?
    };
    let mut exit = DONE;
    for target in &targets {
        let state = inventory.state_to_approve(&target.server)?;
        if args.all && (state.observed.is_none() || is_fully_decided(&state)) {
            continue;
        }
        if !approve(&inventory, &state, target, args)? {
            exit = FAILED;
        }
    }
    Ok(exit)
}

/// Whether everything about a server is approved, blocked or removed.
fn is_fully_decided(state: &ServerState) -> bool {
    let settled = |status: &Status| matches!(status, Status::Approved(_) | Status::Blocked | Status::Removed);
    state.status == Status::Blocked || settled(&state.status) && state.tools.iter().all(|(_, status)| settled(status))
}

/// Prints what would be approved and asks for its hash. Returns whether it was approved.
fn approve(
    inventory: &Inventory,
    state: &ServerState,
    target: &ToolSelector,
    args: &ApproveArgs,
) -> anyhow::Result<bool> {
    let name = visible(&state.name);
    let Some(observed) = &state.observed else {
        bail!("`{name}` has no record\n  help: run `rune mcp probe`, `rune mcp import` or `rune mcp wrap` first");
    };
    let proposal = Proposal::of(state.pin.as_ref(), observed, state.configured.as_ref(), target.tool.as_deref());
    let proposal = proposal.with_context(|| match &target.tool {
        Some(tool) => format!("`{name}:{}`", visible(tool)),
        None => format!("`{name}`"),
    })?;
    print_proposal(inventory, state, &proposal, args)?;
    let hash = proposal.hash().to_string();
    let short = proposal.hash().short();
    say!("hash: {short}")?;
    let approval = if args.hash.is_empty() {
        if !std::io::stdin().is_terminal() {
            bail!(
                "not approved: stdin is not a terminal, and `--hash` is missing\n  help: to approve what is shown above, add `--hash {short}`"
            );
        }
        proposal.confirm(&ask("Type the hash to approve this, or press Enter to skip: ")?)
    } else {
        args.hash.iter().find_map(|hash| proposal.clone().confirm(hash))
    };
    let Some(approval) = approval else {
        say!("not approved: {name}: not the hash of what was shown")?;
        return Ok(false);
    };
    let at = now();
    inventory.store.change(&target.change(ReceiptKind::Approve, Some(hash)), |pin| pin.approve(approval, at))?;
    say!("approved: {name}")?;
    Ok(true)
}

fn print_proposal(
    inventory: &Inventory,
    state: &ServerState,
    proposal: &Proposal,
    args: &ApproveArgs,
) -> anyhow::Result<()> {
    say!("{}: {}", visible(&state.name), describe_status(&state.status))?;
    match proposal.identity() {
        Some(identity) if args.full => say!("configuration: {}", visible(&pretty(&Value::of(identity)?)))?,
        Some(identity) => say!("configuration: {}", describe_identity(identity))?,
        None => say("configuration: unknown; only the name identifies this server")?,
    }
    if let Some(text) = proposal.instructions() {
        print_instructions(text, args.full)?;
    }
    let status_of =
        |name: &str| state.tools.iter().find(|(known, _)| known == name).map_or(&Status::Pending, |(_, status)| status);
    let tools: Vec<ToolSummary<'_>> =
        proposal.tools().map(|(name, _)| ToolSummary::of(state, name, status_of(name))).collect();
    if args.full {
        print_whole_tools(inventory, &state.name, &tools)?;
    } else {
        print_tools(inventory, &state.name, &tools)?;
    }
    for (name, status) in &state.tools {
        if proposal.tools().all(|(known, _)| known != name) && matches!(status, Status::Unpinnable(_) | Status::Blocked)
        {
            say!("not included: {} ({})", visible(name), describe_status(status))?;
        }
    }
    Ok(())
}

/// Prints the whole objects of all tools that are not settled.
fn print_whole_tools(inventory: &Inventory, server: &str, tools: &[ToolSummary<'_>]) -> anyhow::Result<()> {
    let names = tools_of_other_servers(inventory, server);
    for tool in tools.iter().filter(|tool| !tool.is_settled()) {
        let Some(body) = tool.served else { continue };
        say!("{} ({})\n{}", visible(tool.name), describe_status(tool.status), visible(&pretty(body)))?;
        print_warnings(&tool_warnings(body, &names)?)?;
    }
    let settled = tools.iter().filter(|tool| tool.is_settled()).count();
    if settled > 0 { say!("{settled} tools are unchanged since they were approved") } else { Ok(()) }
}
