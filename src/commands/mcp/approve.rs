//! `rune mcp approve`: shows what a server serves, and pins it once a person confirms its hash.

use super::diff::pretty;
use super::inventory::{Inventory, ServerState, ToolSelector, describe_status};
use crate::commands::explain::preview;
use crate::commands::{ask, say};
use crate::runtime::agent_check;
use crate::runtime::environment::now;
use crate::runtime::exit_code::{DONE, FAILED};
use crate::runtime::options::Options;
use anyhow::{Context, bail};
use clap::Args;
use rune::client::SampleEvent;
use rune::encoding::canonical::Value;
use rune::mcp::status::Annotations;
use rune::mcp::{Proposal, Status, scan};
use rune::quarantine::visible;
use rune::receipt::ReceiptKind;
use rune::verdict::Phase;
use serde_json::json;
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
    print_proposal(inventory, state, &proposal)?;
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

fn print_proposal(inventory: &Inventory, state: &ServerState, proposal: &Proposal) -> anyhow::Result<()> {
    say!("{}: {}", visible(&state.name), describe_status(&state.status))?;
    match proposal.identity() {
        Some(identity) => say!("configuration: {}", visible(&pretty(&Value::of(identity)?)))?,
        None => say("configuration: unknown; only the name identifies this server")?,
    }
    if let Some(text) = proposal.instructions() {
        say!("instructions:\n{}", visible(text))?;
        print_warnings(content_findings(text)?)?;
        print_warnings(scan::text(text))?;
    }
    let names = tools_of_other_servers(inventory, &state.name);
    let mut same = 0;
    for (name, body) in proposal.tools() {
        let status = state.tools.iter().find(|(known, _)| known == name).map_or(&Status::Pending, |(_, status)| status);
        if matches!(status, Status::Approved(Annotations::Same)) {
            same += 1;
            continue;
        }
        say!("{} ({})\n{}", visible(name), describe_status(status), visible(&pretty(body)))?;
        print_warnings(content_findings(&scan::all_text(body))?)?;
        print_warnings(scan::tool(body, &names))?;
    }
    if same > 0 {
        say!("{same} tools are unchanged since they were approved")?;
    }
    for (name, status) in &state.tools {
        if proposal.tools().all(|(known, _)| known != name) && matches!(status, Status::Unpinnable(_) | Status::Blocked)
        {
            say!("not included: {} ({})", visible(name), describe_status(status))?;
        }
    }
    Ok(())
}

/// Reasons of the content rules that match a text, as if it were a fetched page.
fn content_findings(text: &str) -> anyhow::Result<Vec<String>> {
    let (input, result) = (json!({"url": "", "prompt": ""}), Some(json!({"result": text})));
    let sample = SampleEvent { session: "", cwd: "/", phase: Phase::After, tool: "WebFetch", input, result };
    let options = Options::parse(&[]);
    let judged = preview(&options.client.sample_event(&sample), &options, &options.environment())?;
    let findings =
        judged.verdict.distinct().into_iter().filter(|finding| finding.rule().as_str().starts_with("content-"));
    Ok(findings.map(|finding| finding.reason().to_owned()).collect())
}

fn print_warnings(warnings: Vec<String>) -> anyhow::Result<()> {
    warnings.iter().try_for_each(|warning| say!("  warning: {}", visible(warning)))
}

/// Lists the tools of all other servers, as pairs of server and tool.
fn tools_of_other_servers(inventory: &Inventory, server: &str) -> Vec<(String, String)> {
    let others = inventory.names().into_iter().filter(|name| name != server);
    let states = others.filter_map(|name| inventory.server_state(&name).ok());
    states
        .flat_map(|state| state.tools.into_iter().map(|(tool, _)| (state.name.clone(), tool)).collect::<Vec<_>>())
        .collect()
}
