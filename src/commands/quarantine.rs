//! `rune quarantine`: the record of untrusted content that sessions have read.

mod status;

pub use status::parse_since;

use super::hooks::client_dir_help;
use super::say;
use crate::runtime::environment::{Environment, now};
use crate::runtime::exit_code::DONE;
use crate::runtime::options::Dirs;
use crate::runtime::{agent_check, log, receipts, session};
use anyhow::ensure;
use clap::{Args, Subcommand};
use rune::encoding::label::Label;
use rune::event::Header;
use rune::receipt::Loosening;
use rune::telemetry::LogLine;
use rune::verdict::{Effect, Finding, Heat, Phase, RuleId, Surface, Verdict};
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Debug, Subcommand)]
pub enum Quarantine {
    Status(status::StatusArgs),
    Notice(NoticeArgs),
    Clear(ClearArgs),
}

#[derive(Debug, Args)]
pub struct LogArgs {
    #[arg(long, value_name = "DIR", help = client_dir_help("Client directory, which contains telemetry.jsonl"))]
    pub client_dir: Option<PathBuf>,
}

impl LogArgs {
    pub fn environment(&self) -> Environment {
        Environment::read(&Dirs { client: self.client_dir.clone(), ..Dirs::default() })
    }
}

pub fn run(command: &Quarantine) -> anyhow::Result<u8> {
    match command {
        Quarantine::Status(args) => status::run(args),
        Quarantine::Notice(args) => notice(args),
        Quarantine::Clear(args) => clear(args),
    }
    .map(|()| DONE)
}

/// Prints and logs the notice for content that reaches the model without a hook
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune quarantine notice --source ticket:ZD-4711")]
pub struct NoticeArgs {
    /// Origin of the content, such as mail:support
    #[arg(long, value_name = "LABEL")]
    pub source: String,
    #[command(flatten)]
    pub log: LogArgs,
}

const EXTERNAL_TOOL: &str = "external";

fn notice(args: &NoticeArgs) -> anyhow::Result<()> {
    let started = Instant::now();
    let source = Label::new(&args.source);
    ensure!(
        source.as_str().contains(|c: char| c.is_ascii_alphanumeric()),
        "invalid value `{source}` for `--source`\n  help: name the origin of the content, e.g. `mail:support`"
    );
    let environment = args.log.environment();
    let session = environment.client.locations().session_variable.and_then(|name| std::env::var(name).ok());
    let header = Header {
        phase: Some(Phase::After),
        moment: Label::default(),
        tool: Label::new(EXTERNAL_TOOL),
        session: Label::new(&session.unwrap_or_default()),
        call: Label::default(),
        is_attended: true,
    };
    let rule = RuleId::known("quarantine-external");
    let text = rune::quarantine::notice(&header.tool, &source);
    let surface = Surface { source, rule: rule.clone(), trusted: false, taints: true };
    let mut verdict = Verdict::of(Finding::new(rule, Effect::Advise, text.clone()));
    writeln!(std::io::stdout().lock(), "{text}")?;
    let tainted = session::add_taint(&environment, &header.session, &surface, &header.tool, Heat::Ordinary);
    verdict.set_surface(surface);
    let us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let logged =
        log::append(&environment, &LogLine::new(&header, &verdict, now(), us).of_client(environment.client.name()));
    // The notice was printed, so a failed write to the disk is only a diagnostic.
    for error in [tainted, logged].into_iter().filter_map(Result::err) {
        writeln!(std::io::stderr().lock(), "rune: {error}").ok();
    }
    Ok(())
}

/// Removes the taint of a session; for people only
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune quarantine clear --session 977a3550-4d8b-4ce0-8865-a064dffdc873")]
pub struct ClearArgs {
    /// Session id, as in `rune quarantine status` and the log
    #[arg(long, value_name = "ID")]
    pub session: String,
    /// Go on even if stdin is not a terminal; the process still needs a terminal
    #[arg(long)]
    pub yes: bool,
}

fn clear(args: &ClearArgs) -> anyhow::Result<()> {
    agent_check::require_confirmed_person("`rune quarantine clear`", args.yes)?;
    let environment = Environment::read(&Dirs::default());
    let session = Label::new(&args.session);
    if !session::read_taint(&environment, &session).is_ok_and(|seen| seen.is_empty()) {
        receipts::record_loosening(&environment, Loosening::QuarantineClear)?;
    }
    let cleared = session::clear_taint(&environment, &session).map_err(anyhow::Error::msg)?;
    if cleared.is_empty() { say("this session was not tainted") } else { say!("cleared: {}", cleared.summary()) }
}
