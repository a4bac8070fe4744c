//! `rune mcp block` and `unblock`: anybody may stop a server or a tool, and a person may take that back.

use super::view::{Target, View};
use crate::commands::hooks::say;
use crate::runtime::environment::Environment;
use crate::runtime::options::Dirs;
use crate::runtime::{agent_check, receipts};
use anyhow::{Context, anyhow};
use clap::Args;
use rune::encoding::label::Label;
use rune::quarantine::visible;
use rune::receipt::ReceiptKind;

/// Blocks a server or a tool until a person unblocks it
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune mcp block github:delete_repository")]
pub struct BlockArgs {
    /// A server, or one of its tools
    #[arg(value_name = "SERVER[:TOOL]")]
    target: String,
}

/// Takes a block back; for people only
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune mcp unblock github:delete_repository")]
pub struct UnblockArgs {
    /// A server, or one of its tools
    #[arg(value_name = "SERVER[:TOOL]")]
    target: String,
    /// Do it where stdin is not a terminal; a terminal is needed all the same
    #[arg(long)]
    yes: bool,
}

pub fn block(args: &BlockArgs) -> anyhow::Result<()> {
    let view = View::look()?;
    let target = view.target(&args.target)?;
    view.store.change(&target.server, |pin| pin.block(target.tool.as_deref()))?;
    say(&format!("blocked: {}", shown(&target)))?;
    leave_receipt(ReceiptKind::Block, &target, None)
}

pub fn unblock(args: &UnblockArgs) -> anyhow::Result<()> {
    agent_check::require_confirmed_person("`rune mcp unblock`", args.yes)?;
    let view = View::look()?;
    let target = view.target(&args.target)?;
    view.store.change(&target.server, |pin| pin.unblock(target.tool.as_deref()))?;
    say(&format!("unblocked: {}; what was approved of it before is approved as before", shown(&target)))?;
    leave_receipt(ReceiptKind::Unblock, &target, None)
}

/// Notes what was done, for those who look later.
pub fn leave_receipt(kind: ReceiptKind, target: &Target, pin: Option<String>) -> anyhow::Result<()> {
    let environment = Environment::read(&Dirs::default());
    let (server, tool) = (Label::new(&target.server), target.tool.as_deref().map(Label::new));
    let left = receipts::record_operator_action(&environment, kind, server, tool, pin, None);
    left.map_err(|what| anyhow!(what)).context("it is done, and has left no receipt")
}

fn shown(target: &Target) -> String {
    let tool = target.tool.iter().map(|tool| format!(":{}", visible(tool))).collect::<String>();
    format!("{}{tool}", visible(&target.server))
}
