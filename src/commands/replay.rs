//! `rune replay`: what the guard would have answered in the sessions that the client has recorded. Writes nothing.

mod judge;
mod progress;
mod show;
mod suggest;
mod tally;

use super::current_dir;
use super::hooks::{project, registered_options};
use super::quarantine::parse_since;
use super::style::Style;
use crate::runtime::agent_check;
use crate::runtime::environment::{Environment, now};
use crate::runtime::mcp::seen;
use crate::runtime::options::{Dirs, Options};
use crate::runtime::policy_files::{self, RuleSelection};
use crate::runtime::transcripts::{self, SessionFiles};
use anyhow::{Context, bail, ensure};
use clap::Args;
use judge::Judge;
use progress::Progress;
use rune::policy::DEFAULT_PRESET;
use rune::rules::RuleKind;
use rune::telemetry::rfc3339;
use std::cmp::Reverse;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::SystemTime;
use tally::Tally;

/// Judges recorded sessions again: what each preset would have asked and denied
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rune replay --since 30d\n  rune replay ~/.claude/projects/-home-you-app\n  \
rune replay --json | jq '.presets[] | {preset, interrupts_per_100}'\n\n\
Calls are judged in order, by the policy and the files of today, and nothing is written. \
What a session has read counts for its later calls, as in the hook. Commands are not shown to agents.")]
pub struct ReplayArgs {
    /// Only calls since this time: 30m, 12h, 7d, 2w, or a date such as 2026-11-01
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
    /// Print one JSON object for each call and preset instead: effect and rule
    #[arg(long, conflicts_with_all = ["json", "summary"])]
    calls: bool,
    /// Print one line, or nothing if no calls are recorded
    #[arg(long, conflicts_with = "json")]
    summary: bool,
    /// Transcripts, or directories that contain them [default: all sessions of the client]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// The presets that are compared besides the registered one.
const PRESETS: [&str; 2] = [DEFAULT_PRESET, "strict"];

/// A preset that calls are judged by.
pub struct Preset {
    name: String,
    options: Options,
}

/// The stack of the main thread, which the hook judges on.
const STACK_BYTES: usize = 8 << 20;

pub fn run(args: &ReplayArgs) -> anyhow::Result<()> {
    let registered = registered_options()?;
    let environment = registered.environment().with_dirs(&Dirs::default());
    let since = args.since.as_deref().map(|since| parse_since(since, now())).transpose()?;
    let roots = match args.paths.as_slice() {
        [] => vec![environment.client_dir.clone().context("HOME is not set\n  help: set it")?],
        paths => paths.to_vec(),
    };
    let (mut sessions, empty) = transcripts::sessions(environment.client, &roots);
    if !args.paths.is_empty() {
        let help = "help: name a transcript, or a directory such as ~/.claude/projects/-home-you-app";
        if let Some(path) = empty.first() {
            bail!("{}: no transcripts\n  {help}", path.display());
        }
    }
    if let Some(since) = since {
        sessions.retain(|session| session.modified >= SystemTime::from(since));
    }
    let (presets, chosen) = presets(&registered, &environment);
    let is_hidden = agent_check::refuse_agent("reading transcripts").is_err();
    let settings = judge::Settings {
        since: since.map(rfc3339),
        chosen,
        keeps_text: !is_hidden,
        keeps_calls: args.calls,
        seen_servers: seen::read(&environment),
    };
    let tally = judge_all(sessions, &presets, &environment, &settings)?;
    let mut out = std::io::stdout().lock();
    if args.calls {
        return Ok(out.write_all(tally.calls_json.as_bytes())?);
    }
    let preset = presets.get(chosen).context("there is no preset")?;
    if args.summary {
        return Ok(out.write_all(show::summary(&tally).as_bytes())?);
    }
    let mut here = environment.clone();
    here.project = Some(project(environment.client, &current_dir()?));
    let config = policy_files::config(&preset.options, &here, &RuleSelection::all(&RuleKind::all()), None);
    let suggested = suggest::suggest(&tally.stops, &config, &here);
    let report = show::Report { tally: &tally, chosen: &preset.name, suggested: &suggested, is_hidden };
    let text = if args.json { report.json()? } else { report.text(Style::of(&out)) };
    Ok(out.write_all(text.as_bytes())?)
}

/// The presets to judge by, and the position of the one whose interruptions are to be removed: the registered one, unless it
/// is off.
fn presets(registered: &Options, environment: &Environment) -> (Vec<Preset>, usize) {
    let own = registered.preset.clone().or_else(|| policy_files::preset(environment));
    let own = own.filter(|name| name != "off").unwrap_or_else(|| DEFAULT_PRESET.to_owned());
    let mut names: Vec<String> = PRESETS.map(str::to_owned).to_vec();
    if !names.contains(&own) {
        names.insert(0, own.clone());
    }
    let chosen = names.iter().position(|name| *name == own).unwrap_or_default();
    let preset = |name: String| {
        let mut options = registered.clone();
        options.preset = Some(name.clone());
        Preset { name, options }
    };
    (names.into_iter().map(preset).collect(), chosen)
}

/// Judges the sessions on all processors. The result does not depend on their order.
fn judge_all(
    mut sessions: Vec<SessionFiles>,
    presets: &[Preset],
    environment: &Environment,
    settings: &judge::Settings,
) -> anyhow::Result<Tally> {
    // The largest first, so that no processor is left with one at the end.
    sessions.sort_by_key(|session| Reverse(session.bytes));
    let total = sessions.iter().map(|session| session.bytes).sum();
    let (next, sessions) = (AtomicUsize::new(0), sessions.as_slice());
    let (sender, judged) = mpsc::channel();
    let workers = thread::available_parallelism().map_or(1, usize::from).min(sessions.len());
    thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next) = (sender.clone(), &next);
            let work = move || {
                let mut judge = Judge::new(presets, environment, settings);
                while let Some(session) = sessions.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((session, judge.session(session))).is_err() {
                        return;
                    }
                }
            };
            thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, work)
                .context("cannot start a thread")?;
        }
        drop(sender);
        let mut progress = Progress::new(total);
        let mut tallies: Vec<(&SessionFiles, Tally)> = Vec::new();
        for (session, tally) in judged {
            progress.add(session.bytes);
            tallies.push((session, tally));
        }
        ensure!(tallies.len() == sessions.len(), "a session could not be judged; this is a bug in rune");
        tallies.sort_by(|(one, _), (other, _)| one.session.cmp(&other.session));
        let empty = Tally::new(presets.iter().map(|preset| preset.name.as_str()));
        Ok(tallies.into_iter().fold(empty, |all, (_, tally)| all.merged_with(tally)))
    })
}
