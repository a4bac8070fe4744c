//! `rune mcp block` and `unblock`. Anyone may block a server or a tool; only a person may unblock it.

use super::inventory::{Inventory, ToolSelector};
use crate::runtime::agent_check;
use clap::Args;
use rune::quarantine::visible;
use rune::receipt::ReceiptKind;

/// Blocks a server or a tool until a person unblocks it
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune mcp block github:delete_repository")]
pub struct BlockArgs {
    /// Server, or one of its tools
    #[arg(value_name = "SERVER[:TOOL]")]
    target: String,
}

/// Removes a block; for people only
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune mcp unblock github:delete_repository")]
pub struct UnblockArgs {
    /// Server, or one of its tools
    #[arg(value_name = "SERVER[:TOOL]")]
    target: String,
    /// Go on even if stdin is not a terminal; the process still needs a terminal
    #[arg(long)]
    yes: bool,
}

pub fn block(args: &BlockArgs) -> anyhow::Result<()> {
    let inventory = Inventory::load()?;
    let target = inventory.parse_selector(&args.target)?;
    inventory.store.change(&target.change(ReceiptKind::Block, None), |pin| pin.block(target.tool.as_deref()))?;
    say!("blocked: {}", display_name(&target))
}

pub fn unblock(args: &UnblockArgs) -> anyhow::Result<()> {
    agent_check::require_confirmed_person("`rune mcp unblock`", args.yes)?;
    let inventory = Inventory::load()?;
    let target = inventory.parse_selector(&args.target)?;
    inventory.store.change(&target.change(ReceiptKind::Unblock, None), |pin| pin.unblock(target.tool.as_deref()))?;
    say!("unblocked: {}; earlier approvals apply again", display_name(&target))
}

fn display_name(target: &ToolSelector) -> String {
    let tool = target.tool.iter().map(|tool| format!(":{}", visible(tool))).collect::<String>();
    format!("{}{tool}", visible(&target.server))
}
