//! `rune mcp approve`: a person looks at what a server serves, and says that it may be called.

use super::block::leave_receipt;
use super::diff::pretty;
use super::view::{Row, Target, View, words};
use crate::commands::explain::preview;
use crate::commands::hooks::say;
use crate::runtime::agent_check;
use crate::runtime::environment::Environment;
use crate::runtime::exit_code::{DONE, FAILED};
use crate::runtime::options::Options;
use anyhow::{Context, bail};
use clap::Args;
use rune::encoding::canonical::Value;
use rune::mcp::{Proposal, Status, scan};
use rune::quarantine::visible;
use rune::receipt::ReceiptKind;
use serde_json::json;
use std::io::{BufRead, IsTerminal, Write};

/// Shows what a server serves, and approves it once its short hash is typed; for people only
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune mcp approve github\n  rune mcp approve github:create_issue\n  rune mcp approve github --yes --hash 1a2b3c4d\n\n\
Where stdin is not a terminal it takes `--yes` and the hash of what is approved, as `rune mcp approve` shows it."
)]
pub struct ApproveArgs {
    /// Servers, or tools of them
    #[arg(value_name = "SERVER[:TOOL]", required_unless_present = "all")]
    targets: Vec<String>,
    /// Every server that was seen
    #[arg(long, conflicts_with = "targets")]
    all: bool,
    /// Do it where stdin is not a terminal; a terminal is needed all the same
    #[arg(long)]
    yes: bool,
    /// The short hash of what is approved, instead of typing it; once for each target
    #[arg(long, value_name = "HASH")]
    hash: Vec<String>,
}

pub fn run(args: &ApproveArgs) -> anyhow::Result<u8> {
    agent_check::may_loosen("`rune mcp approve`", args.yes)?;
    let view = View::look()?;
    let targets = if args.all {
        view.names().into_iter().map(|server| Target { server, tool: None }).collect()
    } else {
        args.targets.iter().map(|target| view.target(target)).collect::<anyhow::Result<Vec<_>>>()?
    };
    let mut exit = DONE;
    for target in &targets {
        let row = view.row(&target.server)?;
        if args.all && (row.observed.is_none() || is_settled(&row)) {
            continue;
        }
        if !approve(&view, &row, target, args)? {
            exit = FAILED;
        }
    }
    Ok(exit)
}

/// Whether nothing is left to approve.
fn is_settled(row: &Row) -> bool {
    let settled = |status: &Status| matches!(status, Status::Approved(_) | Status::Blocked | Status::Removed);
    row.status == Status::Blocked || settled(&row.status) && row.tools.iter().all(|(_, status)| settled(status))
}

/// Shows what would be approved and asks; tells whether it was.
fn approve(view: &View, row: &Row, target: &Target, args: &ApproveArgs) -> anyhow::Result<bool> {
    let name = visible(&row.name);
    let Some(observed) = &row.observed else {
        bail!("`{name}` was never seen\n  help: run `rune mcp probe`, `rune mcp import` or `rune mcp wrap` first");
    };
    let proposal = Proposal::of(row.pin.as_ref(), observed, row.live.as_ref(), target.tool.as_deref());
    let proposal = proposal.with_context(|| match &target.tool {
        Some(tool) => format!("`{name}:{}`", visible(tool)),
        None => format!("`{name}`"),
    })?;
    show(view, row, &proposal)?;
    let hash = proposal.hash().to_string();
    let short = proposal.hash().short();
    say(&format!("hash of all this: {short}"))?;
    let approval = if args.hash.is_empty() {
        if !std::io::stdin().is_terminal() {
            bail!(
                "nothing was approved: where stdin is not a terminal, the hash is named\n  help: if this is what you approve, add `--hash {short}`"
            );
        }
        write!(std::io::stdout(), "Type the hash to approve it, or nothing to leave it: ")
            .and_then(|()| std::io::stdout().flush())?;
        let mut typed = String::new();
        std::io::stdin().lock().read_line(&mut typed)?;
        proposal.confirm(&typed)
    } else {
        let named = args.hash.iter().find(|hash| proposal.clone().confirm(hash).is_ok());
        proposal.confirm(named.map(String::as_str).unwrap_or_default())
    };
    match approval {
        Ok(approval) => {
            let at = crate::runtime::environment::now();
            view.store.change(&row.name, |pin| pin.approve(approval, at))?;
            say(&format!("approved: {name}"))?;
            leave_receipt(ReceiptKind::Approve, target, Some(hash))?;
            Ok(true)
        }
        Err(mismatch) => {
            say(&format!("not approved: {name}: {mismatch}"))?;
            Ok(false)
        }
    }
}

fn show(view: &View, row: &Row, proposal: &Proposal) -> anyhow::Result<()> {
    say(&format!("{}: {}", visible(&row.name), words(&row.status)))?;
    match proposal.identity() {
        Some(identity) => say(&format!("configuration: {}", visible(&pretty(&Value::of(identity)?))))?,
        None => say("configuration: none is known; the name is all that tells it from another server")?,
    }
    if let Some(text) = proposal.instructions() {
        say(&format!("instructions:\n{}", visible(text)))?;
        warn(by_rules(text)?)?;
        warn(scan::text(text))?;
    }
    let names = foreign_tools(view, &row.name);
    let mut same = 0;
    for (name, body) in proposal.tools() {
        let status = row.tools.iter().find(|(known, _)| known == name).map_or(&Status::Pending, |(_, status)| status);
        if matches!(status, Status::Approved(rune::mcp::status::Annotations::Same)) {
            same += 1;
            continue;
        }
        say(&format!("{} ({})\n{}", visible(name), words(status), visible(&pretty(body))))?;
        warn(by_rules(&scan::all_text(body))?)?;
        warn(scan::tool(body, &names))?;
    }
    if same > 0 {
        say(&format!("{same} tools are as they were approved"))?;
    }
    for (name, status) in &row.tools {
        if proposal.tools().all(|(known, _)| known != name) && matches!(status, Status::Unpinnable(_) | Status::Blocked)
        {
            say(&format!("left out: {} ({})", visible(name), words(status)))?;
        }
    }
    Ok(())
}

/// What the rules about content say of a text, as if it were a page.
fn by_rules(text: &str) -> anyhow::Result<Vec<String>> {
    let event = json!({"session_id": "", "cwd": "/", "hook_event_name": "PostToolUse", "tool_name": "WebFetch",
        "tool_input": {"url": "", "prompt": ""}, "tool_response": {"result": text}});
    let options = Options::parse(&[]);
    let judged = preview(&event.to_string(), &options, &Environment::look(&options.dirs))?;
    let findings =
        judged.verdict.distinct().into_iter().filter(|finding| finding.rule().as_str().starts_with("content-"));
    Ok(findings.map(|finding| finding.reason().to_owned()).collect())
}

fn warn(points: Vec<String>) -> anyhow::Result<()> {
    points.iter().try_for_each(|point| say(&format!("  look at this: {}", visible(point))))
}

/// The names of the tools of other servers.
fn foreign_tools(view: &View, server: &str) -> Vec<(String, String)> {
    let others = view.names().into_iter().filter(|name| name != server);
    let rows = others.filter_map(|name| view.row(&name).ok());
    rows.flat_map(|row| row.tools.into_iter().map(|(tool, _)| (row.name.clone(), tool)).collect::<Vec<_>>()).collect()
}
