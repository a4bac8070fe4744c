//! `rune mcp block` and `unblock`. Anyone may block a server or a tool; only a person may unblock it.

use super::inventory::{Inventory, ToolSelector};
use crate::runtime::environment::Environment;
use crate::runtime::options::Dirs;
use crate::runtime::{agent_check, receipts};
use anyhow::{Context, Error};
use clap::Args;
use rune::quarantine::visible;
use rune::receipt::{ReceiptBody, ReceiptKind};

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
    inventory.store.change(&target.server, |pin| pin.block(target.tool.as_deref()))?;
    say!("blocked: {}", display_name(&target))?;
    write_receipt(ReceiptKind::Block, &target, None)
}

pub fn unblock(args: &UnblockArgs) -> anyhow::Result<()> {
    agent_check::require_confirmed_person("`rune mcp unblock`", args.yes)?;
    let inventory = Inventory::load()?;
    let target = inventory.parse_selector(&args.target)?;
    inventory.store.change(&target.server, |pin| pin.unblock(target.tool.as_deref()))?;
    say!("unblocked: {}; earlier approvals apply again", display_name(&target))?;
    write_receipt(ReceiptKind::Unblock, &target, None)
}

/// Writes the receipt of an approval, a block or an unblock.
pub fn write_receipt(kind: ReceiptKind, target: &ToolSelector, pin: Option<String>) -> anyhow::Result<()> {
    let environment = Environment::read(&Dirs::default());
    let body = ReceiptBody::pin_change(kind, &target.server, target.tool.as_deref(), pin);
    let written = receipts::record_operator_action(&environment, &body, None);
    written.map_err(Error::msg).context("the change was made, but its receipt was not written")
}

fn display_name(target: &ToolSelector) -> String {
    let tool = target.tool.iter().map(|tool| format!(":{}", visible(tool))).collect::<String>();
    format!("{}{tool}", visible(&target.server))
}
