//! `--last`: an exception for a call that was stopped.

use super::edit::{self, NewException};
use super::{Change, Target, check, new_id};
use crate::commands::log::{LogFile, Lookup, find_all, is_traceable};
use crate::commands::{ask, explain};
use crate::runtime::log;
use crate::runtime::policy_files;
use anyhow::{Context, anyhow, bail, ensure};
use rune::client::{self, Client, RecordedCall, SampleEvent};
use rune::encoding::escape::one_line;
use rune::policy::{Config, Exception};
use rune::quarantined::{Audit, Quarantined, Reason};
use rune::rules::Pattern;
use rune::telemetry::LogRecord;
use rune::verdict::{Effect, Finding, Phase, Verdict};
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use time::Date;

/// Stops at the end of the log that are looked up.
const MAX_LOOKED_UP: usize = 200;

/// Stops that are offered.
const MAX_OFFERED: usize = 9;

/// The session that a call is judged in again: one that has read nothing and was asked nothing.
const SESSION: &str = "rune-allow";

/// A call that was stopped, and what the transcript has under its id.
struct Stop {
    record: LogRecord,
    calls: Vec<RecordedCall>,
}

pub fn build(target: &Target, reason: &str, until: Option<Date>, yes: bool) -> anyhow::Result<Change> {
    let lookup = Lookup::new(&target.environment);
    let stop = choose(stops(target, &lookup)?, &lookup, yes)?;
    let record = &stop.record;
    let changed = "the transcript has another input than the one that was judged, so nothing can be allowed by it\n  \
                   help: name the rule and `--match`, see `rune allow --help`";
    let judged = stop.calls.iter().find_map(|call| Some((call, call.inputs.get(lookup.judged_input(record, call)?)?)));
    let (call, input) = judged.context(changed)?;
    check::rule(&record.rule, &target.config)?;
    let judge = Judge {
        target,
        client: client::named(&record.client).unwrap_or(target.options.client),
        call,
        input: expose(input)?,
    };
    let verdict = judge.run(&[])?;
    let rule =
        verdict.deciding().next().filter(|_| verdict.effect() >= Effect::Ask).map(|finding| finding.rule().as_str());
    let help = "help: the policy has changed since, or the call depends on files that have";
    ensure!(
        rule == Some(record.rule.as_str()),
        "the call was stopped by `{}`, and now the answer is {}\n  {help}",
        one_line(&record.rule, 100),
        rule.map_or_else(|| "pass".to_owned(), |rule| format!("`{}`", one_line(rule, 100)))
    );
    let mut change = Change { text: target.text.clone(), ids: Vec::new() };
    let mut exceptions = Vec::new();
    for finding in stopping(&verdict) {
        let rule = finding.rule().as_str();
        if let Some(program) = finding.program() {
            check::program(program, target)?;
            change.text = edit::add_to_list(&change.text, "executables", "allowed", program, reason)?;
            change.ids.push(program.to_owned());
            continue;
        }
        check::rule(rule, &target.config)?;
        let subject = finding.subject().with_context(|| {
            let help = "help: it can only be disabled, with `rules.disabled` in config.local.toml";
            format!(
                "`{}` judges the call as a whole, so no exception can be limited to this one\n  {help}",
                one_line(rule, 100)
            )
        })?;
        let pattern = format!("^{}$", regex_lite::escape(subject));
        check::pattern(&pattern)?;
        let id = new_id(&target.config)?;
        let (rule, reason) = (rule.to_owned(), reason.to_owned());
        exceptions.push(NewException { id: id.clone(), rule, pattern, reason, until });
        change.ids.push(id);
    }
    let is_exact = exceptions.len() == change.ids.len();
    let left = judge.run(&exceptions)?;
    if let Some(finding) = stopping(&left).first().filter(|_| is_exact) {
        bail!("with the exception the call would still be stopped by `{}`", one_line(finding.rule().as_str(), 100));
    }
    if !exceptions.is_empty() {
        change.text = edit::add_exceptions(&change.text, &exceptions)?;
    }
    Ok(change)
}

/// The findings that stop a call, one for each rule and subject.
fn stopping(verdict: &Verdict) -> Vec<&Finding> {
    let mut seen = BTreeSet::new();
    let stopping = verdict.findings().iter().filter(|finding| finding.effect() >= Effect::Ask);
    stopping.filter(|finding| seen.insert((finding.rule(), finding.subject(), finding.program()))).collect()
}

/// The last stops whose calls were made in this project, newest first.
fn stops(target: &Target, lookup: &Lookup<'_>) -> anyhow::Result<Vec<Stop>> {
    let environment = &target.environment;
    let path = log::path(environment).context("HOME is not set\n  help: set it")?;
    let mut last: VecDeque<LogRecord> = VecDeque::new();
    LogFile::new(&path)
        .read(|record| {
            if record.is_stop() && is_traceable(&record) {
                last.push_back(record);
                if last.len() > MAX_LOOKED_UP {
                    last.pop_front();
                }
            }
        })
        .with_context(|| format!("cannot read {}", path.display()))?;
    let mut found = find_all(environment, last.iter());
    let project = environment.project.clone().unwrap_or_default();
    // Where the transcript does not say the directory, the person has chosen it.
    let is_here = |call: &RecordedCall| call.cwd.is_empty() || Path::new(&call.cwd).starts_with(&project);
    let stop = |record: LogRecord| {
        let session = found.get_mut(&record.session_id)?;
        let calls = if record.call.is_empty() {
            let all = session.get_mut("")?;
            let at = all.iter().position(|call| lookup.judged_input(&record, call).is_some())?;
            vec![all.swap_remove(at)]
        } else {
            session.remove(&record.call)?
        };
        calls.iter().all(is_here).then_some(Stop { record, calls })
    };
    let stops: Vec<Stop> = last.into_iter().rev().filter_map(stop).collect();
    let help = "help: `rune log --denied` shows the stops of all projects; run this in the project of the call";
    ensure!(!stops.is_empty(), "no stopped call of {} is recorded\n  {help}", project.display());
    Ok(stops)
}

/// The newest stop, or the one that the person chooses.
fn choose(stops: Vec<Stop>, lookup: &Lookup<'_>, yes: bool) -> anyhow::Result<Stop> {
    let offered = stops.len().min(MAX_OFFERED);
    let mut chosen = 1;
    if offered > 1 && !yes {
        for (nth, stop) in stops.iter().take(offered).enumerate() {
            let text = lookup.judged(&stop.record, &stop.calls).map(|call| expose(&call.text).cloned()).transpose()?;
            let text = text.unwrap_or_else(|| "(another input than the one that was judged)".to_owned());
            say!("{}  {:<24} {}", nth + 1, one_line(&stop.record.rule, 24), one_line(&text, 48))?;
        }
        let typed = ask(&format!("Which one? [1-{offered}, default 1] "))?;
        let typed = typed.trim();
        if !typed.is_empty() {
            let number = typed.parse().ok().filter(|number| (1..=offered).contains(number));
            chosen =
                number.ok_or_else(|| anyhow!("invalid choice `{}`: expected 1 to {offered}", one_line(typed, 20)))?;
        }
    }
    stops.into_iter().nth(chosen - 1).context("there is no such call")
}

fn expose<T>(content: &Quarantined<T>) -> anyhow::Result<&T> {
    let reason = Reason::new("a person allows the call").map_err(|_| anyhow!("no reason"))?;
    Ok(content.expose(reason, &mut Audit::new(|_| {})))
}

/// Judges a recorded call again.
struct Judge<'a> {
    target: &'a Target,
    client: &'static dyn Client,
    call: &'a RecordedCall,
    input: &'a [u8],
}

impl Judge<'_> {
    fn run(&self, exceptions: &[NewException]) -> anyhow::Result<Verdict> {
        let options = &self.target.options.for_client(self.client);
        let environment = &self.target.environment.of_logged(self.client.name());
        let project = environment.project.as_ref().map(|project| project.to_string_lossy().into_owned());
        let sample = SampleEvent {
            session: SESSION,
            cwd: Some(&self.call.cwd).filter(|cwd| !cwd.is_empty()).or(project.as_ref()).map_or("", String::as_str),
            phase: Phase::Before,
            tool: &self.call.tool,
            input: serde_json::from_slice(self.input).context("the recorded input cannot be read")?,
            result: None,
        };
        let event = options.client.sample_event(&sample);
        let preview = explain::preview_with_policy(&event, options, environment, |wanted, project| {
            let config = policy_files::config(options, environment, wanted, project);
            with_exceptions(config, exceptions)
        })?;
        Ok(preview.verdict)
    }
}

fn with_exceptions(mut config: Config, new: &[NewException]) -> Config {
    let exception = |new: &NewException| Exception {
        rule: new.rule.clone(),
        patterns: vec![Pattern::new(new.pattern.clone())],
        reason: new.reason.clone(),
        until: new.until,
        id: Some(new.id.clone()),
        source: String::new(),
    };
    config.exceptions.extend(new.iter().map(exception));
    if let Some(project) = &mut config.project {
        project.exceptions.extend(new.iter().map(exception));
    }
    config
}
