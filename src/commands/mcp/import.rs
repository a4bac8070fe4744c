//! `rune mcp import`: records what a server serves from a file.

use super::record::{Provenance, ServerSnapshot, record};
use crate::commands::current_dir;
use crate::runtime::environment::Environment;
use crate::runtime::mcp::servers::{Configured, Servers};
use crate::runtime::options::Dirs;
use crate::runtime::{agent_check, receipts};
use anyhow::{Context, bail};
use clap::Args;
use rune::encoding::label::Label;
use rune::mcp::Source;
use rune::mcp::protocol::{MAX_SERVED_BYTES, Served};
use rune::receipt::Loosening;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

/// Records what a server serves from a file: a response to `tools/list`, its result, or a list of tools; for people only
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune mcp import tools.json --server github\n  curl -s https://example.com/tools.json | rune mcp import - --server docs\n\n\
A record that `rune mcp probe` or `rune mcp wrap` made is not overwritten."
)]
pub struct ImportArgs {
    /// File to read; `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Name of the server in the client's configuration
    #[arg(long, value_name = "NAME")]
    pub server: String,
}

pub fn run(args: &ImportArgs) -> anyhow::Result<()> {
    agent_check::require_person("`rune mcp import`")?;
    let name = args.file.display();
    let text = if args.file.as_os_str() == "-" {
        read(std::io::stdin().lock())
    } else {
        File::open(&args.file).and_then(read)
    };
    let text = text.with_context(|| name.to_string())?;
    if text.len() > MAX_SERVED_BYTES {
        bail!("{name}: larger than {} MB", MAX_SERVED_BYTES >> 20);
    }
    let served = Served::import(&text).map_err(|what| anyhow::anyhow!("{name}: not a list of tools: {what}"))?;
    let environment = Environment::read(&Dirs::default());
    let servers = Servers::for_directory(&environment, &current_dir()?);
    let identity = servers.named(&args.server).and_then(Configured::identity);
    let snapshot = ServerSnapshot {
        server: &args.server,
        source: Source::Import,
        identity,
        served: &served,
        provenance: Provenance::Trusted,
    };
    receipts::record_loosening(&environment, Loosening::McpImport)?;
    let outcome = record(&environment, &snapshot).map_err(anyhow::Error::msg)?;
    say!("{}: {} tools, {outcome}", Label::new(&args.server), served.tools.len())
}

fn read(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    from.take(MAX_SERVED_BYTES as u64 + 1).read_to_end(&mut text)?;
    Ok(text)
}
