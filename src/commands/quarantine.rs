//! `rune quarantine`: the record of untrusted content that sessions have read.

mod clear;
mod notice;
mod status;

use super::hooks::client_dir_help;
use crate::runtime::exit_code::DONE;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Quarantine {
    Status(status::StatusArgs),
    Notice(notice::NoticeArgs),
    Clear(clear::ClearArgs),
}

#[derive(Debug, Args)]
pub struct LogArgs {
    #[arg(long, value_name = "DIR", help = client_dir_help("Client directory, which contains telemetry.jsonl"))]
    pub client_dir: Option<PathBuf>,
}

pub fn run(command: &Quarantine) -> anyhow::Result<u8> {
    match command {
        Quarantine::Status(args) => status::run(args),
        Quarantine::Notice(args) => notice::run(args),
        Quarantine::Clear(args) => clear::run(args),
    }
    .map(|()| DONE)
}
