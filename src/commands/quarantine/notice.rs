//! `rune quarantine notice`: the notice for content that reached the model without a hook.

use super::LogArgs;
use crate::runtime::environment::{Environment, now};
use crate::runtime::options::Dirs;
use crate::runtime::{log, session};
use anyhow::ensure;
use clap::Args;
use rune::encoding::label::Label;
use rune::event::Header;
use rune::quarantine::notice;
use rune::telemetry::LogLine;
use rune::verdict::{Effect, Finding, Phase, RuleId, Surface, Verdict};
use std::io::Write;
use std::time::Instant;

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

/// The tool name in notice and log.
const EXTERNAL_TOOL: &str = "external";

pub fn run(args: &NoticeArgs) -> anyhow::Result<()> {
    let started = Instant::now();
    let source = Label::new(&args.source);
    ensure!(
        source.as_str().contains(|c: char| c.is_ascii_alphanumeric()),
        "invalid value `{source}` for `--source`\n  help: name the origin of the content, e.g. `mail:support`"
    );
    let environment = Environment::read(&Dirs { client: args.log.client_dir.clone(), ..Dirs::default() });
    let session = environment.client.locations().session_variable.and_then(|name| std::env::var(name).ok());
    let header = Header {
        phase: Some(Phase::After),
        moment: Label::default(),
        tool: Label::new(EXTERNAL_TOOL),
        session: Label::new(&session.unwrap_or_default()),
    };
    let rule = RuleId::known("quarantine-external");
    let text = notice(&header.tool, &source);
    let surface = Surface { source, rule: rule.clone(), trusted: false, taints: true };
    let mut verdict = Verdict::of(Finding::new(rule, Effect::Advise, text.clone()));
    writeln!(std::io::stdout().lock(), "{text}")?;
    let tainted = session::add_taint(&environment, &header.session, &surface);
    verdict.set_surface(surface);
    let us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let logged = log::append(&environment, &LogLine::new(&header, &verdict, now(), us));
    // The notice was printed, so a failed write to the disk is only a diagnostic.
    for error in [tainted, logged].into_iter().filter_map(Result::err) {
        writeln!(std::io::stderr().lock(), "rune: {error}").ok();
    }
    Ok(())
}
