//! `rune log`: recent decisions, with the command from the client's own transcript.

mod again;
mod lookup;
mod read;
mod show;

pub use again::{expose, judge_again};
pub use lookup::{Command, Lookup, find_all, is_traceable};
pub use read::LogFile;

use super::hooks::{options_with_preset, registered_options};
use super::quarantine::{LogArgs, parse_since};
use super::style::Style;
use crate::runtime::environment::{Environment, now};
use crate::runtime::log;
use crate::runtime::options::{Dirs, Options};
use crate::runtime::policy_files::{self, RuleSelection};
use crate::runtime::transcripts::is_plain_id;
use anyhow::{Context, bail, ensure};
use clap::Args;
use read::Recent;
use rune::encoding::{escape, nearest};
use rune::rules::RuleKind;
use rune::telemetry::{LogRecord, rfc3339};
use rune::verdict::failure::Failure;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::time::Duration;

/// How often `--follow` looks for new lines.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Shows recent decisions, newest last
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune log --denied\n  rune log --rule git-force-push --since 7d\n  rune log --follow\n\n\
The log holds no commands. They are looked up in the client's own transcript by the id of the call, and not shown to agents."
)]
pub struct RecentArgs {
    /// Number of decisions
    #[arg(short = 'n', value_name = "N", default_value_t = 20)]
    pub count: usize,
    /// Only calls that a person was asked about or that were denied
    #[arg(long)]
    pub denied: bool,
    /// Only decisions by this rule
    #[arg(long, value_name = "ID")]
    pub rule: Option<String>,
    /// Only decisions in this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only decisions since this time: 30m, 12h, 7d, 2w, or a date such as 2026-11-01
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Wait for further decisions and show them, until interrupted
    #[arg(short, long)]
    pub follow: bool,
    /// Print one JSON object for each decision
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub log: LogArgs,
}

/// Which decisions are shown.
struct Wanted<'a> {
    args: &'a RecentArgs,
    since: Option<String>,
}

impl Wanted<'_> {
    fn includes(&self, record: &LogRecord) -> bool {
        let args = self.args;
        record.is_decision()
            && (!args.denied || record.is_stop())
            && args.rule.as_deref().is_none_or(|rule| record.rules().contains(&rule))
            && args.session.as_ref().is_none_or(|session| record.session_id == *session)
            && self.since.as_ref().is_none_or(|since| record.ts >= *since)
    }
}

pub fn run(args: &RecentArgs) -> anyhow::Result<()> {
    let (options, environment) = registered(args);
    let path = log::path(&environment).context("HOME is not set\n  help: set HOME or `--client-dir`")?;
    let since = args.since.as_deref().map(|since| parse_since(since, now())).transpose()?;
    let wanted = Wanted { args, since: since.map(rfc3339) };
    check_session(args)?;
    let reasons = reasons(&environment);
    let mut file = LogFile::new(&path);
    let mut recent = Recent::new(args.count);
    file.read(|record| recent.add(record, |record| wanted.includes(record)))
        .with_context(|| format!("cannot read {}", path.display()))?;
    check_known(args, &recent, &reasons)?;
    let lookup = Lookup::new(&environment, &options);
    let printer = Printer { args, reasons: &reasons, lookup: &lookup };
    if !args.json {
        say!("{}", options_with_preset(None, None)?.1)?;
    }
    let none = recent.kept.is_empty();
    printer.print(recent.kept)?;
    if none && !args.json && !args.follow {
        say!("no decisions in {} match", path.display())?;
    }
    if !args.follow {
        return Ok(());
    }
    loop {
        std::thread::sleep(POLL_INTERVAL);
        let mut recent = Recent::new(usize::MAX);
        file.read(|record| recent.add(record, |record| wanted.includes(record)))?;
        printer.print(recent.kept)?;
    }
}

/// The registered hook, whose directories hold the log and the key of its hashes.
fn registered(args: &RecentArgs) -> (Options, Environment) {
    let named = Dirs { client: args.log.client_dir.clone(), ..Dirs::default() };
    let Ok(options) = registered_options() else { return (Options::parse(&[]), args.log.environment()) };
    let environment = options.environment().with_dirs(&named);
    (options, environment)
}

struct Printer<'a> {
    args: &'a RecentArgs,
    reasons: &'a BTreeMap<String, String>,
    lookup: &'a Lookup<'a>,
}

impl Printer<'_> {
    fn print(&self, records: impl IntoIterator<Item = LogRecord>) -> anyhow::Result<()> {
        let records: Vec<LogRecord> = records.into_iter().collect();
        let commands = self.lookup.commands(&records);
        let mut out = std::io::stdout().lock();
        let style = Style::of(&out);
        for (record, command) in records.iter().zip(commands) {
            let text = if self.args.json {
                show::json(record, &command, self.reasons)?
            } else {
                show::text(record, &command, self.reasons, style)
            };
            out.write_all(text.as_bytes())?;
        }
        Ok(out.flush()?)
    }
}

/// What each rule in force says, by its name.
fn reasons(environment: &Environment) -> BTreeMap<String, String> {
    let options = super::hook_options(None, environment.config_dir.as_deref());
    let config = policy_files::config(&options, environment, &RuleSelection::all(&RuleKind::all()), None);
    // The presets disable different rules, and older decisions were made under another preset perhaps.
    let shipped = policy_files::shipped("strict", &RuleKind::all()).map(|config| config.rules).unwrap_or_default();
    let failures = Failure::RULES.map(|(name, what)| (name.to_owned(), what.to_owned()));
    let rules = shipped.into_iter().chain(config.rules);
    let texts = failures.into_iter().chain(rules.map(|rule| {
        let what = if rule.reason.is_empty() { rule.nudge } else { rule.reason };
        (rule.id.as_str().to_owned(), what.into_owned())
    }));
    texts.collect()
}

fn check_session(args: &RecentArgs) -> anyhow::Result<()> {
    let Some(session) = &args.session else { return Ok(()) };
    ensure!(
        is_plain_id(session),
        "invalid value `{}` for `--session`: expected at most 128 letters, digits, `-` and `_`",
        escape::one_line(session, 200)
    );
    Ok(())
}

/// Refuses names of rules and sessions that neither the log nor the policy has.
fn check_known(args: &RecentArgs, recent: &Recent, reasons: &BTreeMap<String, String>) -> anyhow::Result<()> {
    if let Some(rule) = &args.rule {
        let names = recent.rules.iter().chain(reasons.keys()).map(String::as_str);
        refuse_unknown("rule", rule, &names.collect(), "`rune rules list` lists the rules")?;
    }
    if let Some(session) = &args.session {
        let names = recent.sessions.iter().map(String::as_str).collect();
        refuse_unknown("session", session, &names, "`rune log` shows the sessions in the log")?;
    }
    Ok(())
}

/// Refuses a name that is not among the known ones, and suggests the nearest.
pub fn refuse_unknown(what: &str, name: &str, known: &BTreeSet<&str>, list: &str) -> anyhow::Result<()> {
    if known.contains(name) {
        return Ok(());
    }
    let near = nearest(name, known.iter().copied());
    let help = near.map_or_else(|| list.to_owned(), |near| format!("did you mean `{}`?", escape::one_line(near, 200)));
    bail!("unknown {what} `{}`\n  help: {help}", escape::one_line(name, 200))
}
