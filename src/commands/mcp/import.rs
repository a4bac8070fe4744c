//! `rune mcp import`: what a server serves, from a dump that somebody else has made.

use super::record::{Sighting, Voucher, record};
use crate::commands::hooks::say;
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

/// Records what a server serves from a file: the answer to `tools/list`, its result, or a list of tools; for people only
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune mcp import tools.json --server github\n  curl -s https://example.com/tools.json | rune mcp import - --server docs\n\n\
What a probe or a wrap has seen is not overwritten: they have looked for themselves."
)]
pub struct ImportArgs {
    /// The file; `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The server, as the client's configuration names it
    #[arg(long, value_name = "NAME")]
    pub server: String,
}

pub fn run(args: &ImportArgs) -> anyhow::Result<()> {
    agent_check::check("`rune mcp import`")?;
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
    let served =
        Served::import(&text).map_err(|what| anyhow::anyhow!("{name}: no tools can be read from it: {what}"))?;
    let environment = Environment::look(&Dirs::default());
    let here = std::env::current_dir().context("the current directory cannot be told")?;
    let servers = Servers::for_directory(&environment, &here);
    let identity = servers.named(&args.server).and_then(Configured::identity);
    let sighting =
        Sighting { server: &args.server, source: Source::Import, identity, served: &served, voucher: Voucher::Known };
    receipts::loosen(&environment, Loosening::McpImport)?;
    let outcome = record(&environment, &sighting).map_err(|what| anyhow::anyhow!(what))?;
    say(&format!("{}: {} tools, {outcome}", Label::new(&args.server), served.tools.len()))
}

fn read(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    from.take(MAX_SERVED_BYTES as u64 + 1).read_to_end(&mut text)?;
    Ok(text)
}
