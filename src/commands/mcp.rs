//! `rune mcp`: records what MCP servers serve, and what a person has approved.

mod approve;
mod block;
mod discovery;
mod diff;
mod http;
mod import;
mod install;
mod probe;
pub mod proof;
mod record;
mod relay;
mod status;
mod stdio;
mod summary;
mod inventory;
mod wrap;

pub use inventory::Inventory;

use crate::runtime::exit_code::DONE;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum Mcp {
    Probe(probe::ProbeArgs),
    Import(import::ImportArgs),
    Wrap(wrap::WrapArgs),
    Status(status::StatusArgs),
    Diff(diff::DiffArgs),
    Approve(approve::ApproveArgs),
    Block(block::BlockArgs),
    Unblock(block::UnblockArgs),
    Proof(proof::ProofArgs),
    #[command(hide = true)]
    Fixture(proof::fixture::FixtureArgs),
}

pub fn run(command: &Mcp) -> anyhow::Result<u8> {
    match command {
        Mcp::Probe(args) => probe::run(args),
        Mcp::Import(args) => import::run(args).map(|()| DONE),
        Mcp::Wrap(args) => wrap::run(args),
        Mcp::Status(args) => status::run(args).map(|()| DONE),
        Mcp::Diff(args) => diff::run(args).map(|()| DONE),
        Mcp::Approve(args) => approve::run(args),
        Mcp::Block(args) => block::block(args).map(|()| DONE),
        Mcp::Unblock(args) => block::unblock(args).map(|()| DONE),
        Mcp::Proof(args) => proof::run(args),
        Mcp::Fixture(args) => proof::fixture::run(args).map(|()| DONE),
    }
}
