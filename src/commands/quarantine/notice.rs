//! `rune quarantine notice`: the notice for content that came by a way without hooks.

use super::LogArgs;
use crate::runtime::environment::{Environment, now};
use crate::runtime::options::Dirs;
use crate::runtime::{log, session};
use anyhow::{Context, ensure};
use clap::Args;
use rune::encoding::label::Label;
use rune::event::Header;
use rune::quarantine::notice;
use rune::telemetry::LogLine;
use rune::verdict::Phase;
use rune::verdict::Surface;
use rune::verdict::{Effect, Finding, RuleId, Verdict};
use std::io::Write;
use std::time::Instant;

/// Prints the notice for content that came by a way without hooks, and logs it
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune quarantine notice --source ticket:ZD-4711")]
pub struct NoticeArgs {
    /// Where the content came from, such as mail:support
    #[arg(long, value_name = "LABEL")]
    pub source: String,
    #[command(flatten)]
    pub log: LogArgs,
}

/// What stands for the tool's name: there was no tool.
const TOOL: &str = "external";

pub fn run(args: &NoticeArgs) -> anyhow::Result<()> {
    let started = Instant::now();
    let source = Label::new(&args.source);
    ensure!(
        source.as_str().contains(|c: char| c.is_ascii_alphanumeric()),
        "`--source` says nothing\n  help: name where the content came from, such as `mail:support`"
    );
    let environment = Environment::look(&Dirs { client: args.log.client_dir.clone(), ..Dirs::default() });
    let header = Header {
        phase: Some(Phase::After),
        moment: Label::default(),
        tool: Label::new(TOOL),
        session: Label::new(&std::env::var("CLAUDE_CODE_SESSION_ID").unwrap_or_default()),
    };
    let rule = RuleId::known("quarantine-external");
    let text = notice(&header.tool, &source);
    let surface = Surface { source, rule: rule.clone(), trusted: false, taints: true };
    let mut verdict = Verdict::of(Finding::new(rule, Effect::Advise, text.clone()));
    writeln!(std::io::stdout().lock(), "{text}").context("cannot print the notice")?;
    let noted = session::taint(&environment, &header.session, &surface);
    verdict.touch(surface);
    let us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let logged = log::append(&environment, &LogLine::new(&header, &verdict, now(), us));
    // The notice is what matters: a log that cannot be written does not make it a failure.
    for what in [noted, logged].into_iter().filter_map(Result::err) {
        writeln!(std::io::stderr().lock(), "rune: {what}").ok();
    }
    Ok(())
}
