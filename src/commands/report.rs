//! `rune report`: the log as one page of HTML, without scripts and without references to other files.

mod charts;
mod flow;
mod page;
mod tables;
mod timeline;

use super::current_dir;
use super::log::LogFile;
use super::quarantine::{LogArgs, parse_since};
use crate::runtime::environment::now;
use crate::runtime::files::write_private;
use crate::runtime::{agent_check, log};
use anyhow::Context;
use clap::Args;
use rune::telemetry::history::History;
use rune::telemetry::rfc3339;
use std::path::PathBuf;

/// Writes the log as a page: sessions, sources, rules, times and exceptions; for people only
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune report --since 30d --html report.html\n\n\
The page holds what the log holds: names of tools, rules, sources and sessions, and no commands. It refers to nothing else.")]
pub struct ReportArgs {
    /// Only lines since this time: 30m, 12h, 7d, 2w, or a date such as 2026-11-01
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// File to write; one that exists is replaced
    #[arg(long, value_name = "FILE")]
    html: PathBuf,
    #[command(flatten)]
    log: LogArgs,
}

pub fn run(args: &ReportArgs) -> anyhow::Result<()> {
    // The caller names the file that is replaced, and an agent could name any.
    agent_check::refuse_agent("writing a report")?;
    let environment = args.log.environment();
    let path = log::path(&environment).context("HOME is not set\n  help: set HOME or `--client-dir`")?;
    let since = args.since.as_deref().map(|since| parse_since(since, now())).transpose()?.map(rfc3339);
    let mut history = History::default();
    LogFile::new(&path)
        .read(|record| {
            if since.as_ref().is_none_or(|since| record.ts >= *since) {
                history.add(&record);
            }
        })
        .with_context(|| format!("cannot read {}", path.display()))?;
    let page = page::render(&history, now().date()).into_string();
    let file = current_dir()?.join(&args.html);
    write_private(&file, page.as_bytes())?;
    say!("wrote {} ({} sessions, {} KB)", file.display(), history.sessions.len(), page.len().div_ceil(1024))
}
