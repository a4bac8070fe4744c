//! `--last`: an exception for a call that was stopped.

use super::edit::{self, NewException};
use super::{Change, Target, check, new_id};
use crate::commands::ask;
use crate::commands::log::{LogFile, Lookup, expose, find_all, is_traceable, judge_again};
use crate::runtime::environment::Environment;
use crate::runtime::log;
use crate::runtime::options::Options;
use anyhow::{Context, anyhow, bail, ensure};
use rune::client::RecordedCall;
use rune::encoding::escape::one_line;
use rune::policy::{Config, Exception};
use rune::quarantined::Quarantined;
use rune::rules::{Pattern, RuleKind};
use rune::telemetry::LogRecord;
use rune::verdict::{Effect, Finding, Verdict};
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use time::Date;

/// Stops at the end of the log that are looked up.
const MAX_LOOKED_UP: usize = 200;

/// Stops that are offered.
const MAX_OFFERED: usize = 9;

/// A call that was stopped, and what the transcript has under its id.
struct Stop {
    record: LogRecord,
    calls: Vec<RecordedCall>,
}

/// A stop for which an exception can be made.
struct Offer {
    rule: String,
    text: String,
    change: Change,
}

/// Makes the change for the newest stop, or for the one that the person chooses among those that can be allowed.
pub fn build(target: &Target, reason: &str, until: Option<Date>, yes: bool) -> anyhow::Result<Change> {
    let lookup = Lookup::new(&target.environment, &target.options);
    let stops = stops(&target.environment, &lookup)?;
    let mut offers = stops.iter().map(|stop| offer(stop, target, &lookup, reason, until));
    let newest = offers.next().context("there is no stop")?;
    // Without a question only the newest stop is meant.
    if yes {
        return newest.map(|offer| offer.change);
    }
    let (newest, refusal) = newest.map_or_else(|error| (None, Some(error)), |offer| (Some(offer), None));
    let offers: Vec<Offer> = newest.into_iter().chain(offers.filter_map(Result::ok)).take(MAX_OFFERED).collect();
    match refusal {
        Some(error) if offers.is_empty() => return Err(error),
        Some(error) => say!("The newest stop cannot be allowed: {error}")?,
        None if offers.len() == 1 => return offers.into_iter().next().map(|offer| offer.change).context("no offer"),
        None => {}
    }
    choose(offers)
}

/// The change that allows a call; an error says why there is none.
fn offer(
    stop: &Stop,
    target: &Target,
    lookup: &Lookup<'_>,
    reason: &str,
    until: Option<Date>,
) -> anyhow::Result<Offer> {
    let record = &stop.record;
    let (call, input) = judged(stop, lookup)?;
    check::rule(&record.rule, &target.config)?;
    let judge = |exceptions: &[NewException]| {
        judge_again((record, call, input), &target.options, &target.environment, |policy| {
            with_exceptions(policy, exceptions)
        })
    };
    let verdict = judge(&[])?;
    let rule =
        verdict.deciding().next().filter(|_| verdict.effect() >= Effect::Ask).map(|finding| finding.rule().as_str());
    let help = "help: the policy has changed since, or the call depends on files that have";
    ensure!(
        rule == Some(record.rule.as_str()),
        "the call was stopped by `{}`, and now the answer is {}\n  {help}",
        one_line(&record.rule, 100),
        rule.map_or_else(|| "pass".to_owned(), |rule| format!("`{}`", one_line(rule, 100)))
    );
    let mut change = Change { text: target.text.clone(), ..Change::default() };
    let mut exceptions = Vec::new();
    for finding in stopping(&verdict) {
        let rule = finding.rule().as_str();
        if let Some(program) = finding.program() {
            check::program(program, &target.config)?;
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
        change.notes.extend(note(rule, subject, &target.config));
        let id = new_id(&target.config)?;
        let (rule, reason) = (rule.to_owned(), reason.to_owned());
        exceptions.push(NewException { id: id.clone(), rule, pattern, reason, until });
        change.ids.push(id);
    }
    let is_exact = exceptions.len() == change.ids.len();
    let left = judge(&exceptions)?;
    if let Some(finding) = stopping(&left).first().filter(|_| is_exact) {
        bail!("with the exception the call would still be stopped by `{}`", one_line(finding.rule().as_str(), 100));
    }
    if !exceptions.is_empty() {
        change.text = edit::add_exceptions(&change.text, &exceptions)?;
    }
    Ok(Offer { rule: record.rule.clone(), text: expose(&call.text)?.clone(), change })
}

/// What else an exception covers that is matched with this text. Only the texts of commands are about one call.
fn note(rule: &str, subject: &str, config: &Config) -> Option<String> {
    let kind = config.rules.iter().find(|known| known.id.as_str() == rule)?.kind;
    let covered = match kind {
        RuleKind::Bash => return None,
        RuleKind::Edit => "every change of",
        RuleKind::Read => "every use of",
        RuleKind::Mcp => "every call of",
        RuleKind::Agent => "every agent in mode",
        RuleKind::Post => "every result with",
    };
    Some(format!("The exception from `{}` covers {covered} `{}`.", one_line(rule, 100), one_line(subject, 200)))
}

/// The recorded call of a stop, and the input that was judged.
fn judged<'s>(stop: &'s Stop, lookup: &Lookup<'_>) -> anyhow::Result<(&'s RecordedCall, &'s Quarantined<Vec<u8>>)> {
    let found = stop.calls.iter().find_map(|call| Some((call, lookup.judged_input(&stop.record, call)?)));
    found.context(
        "the transcript has another input than the one that was judged, so nothing can be allowed by it\n  \
         help: name the rule and `--match`, see `rune allow --help`",
    )
}

/// A call that was stopped, as the transcript has it.
pub struct StoppedCall {
    pub tool: String,
    pub cwd: String,
    pub text: String,
    pub input: Vec<u8>,
}

/// The newest stop of the environment's project. The transcript must have the input that was judged.
pub fn newest_stop(options: &Options, environment: &Environment) -> anyhow::Result<StoppedCall> {
    let lookup = Lookup::new(environment, options);
    let stop = stops(environment, &lookup)?.into_iter().next().context("there is no such call")?;
    let (call, input) = judged(&stop, &lookup)?;
    let (text, input) = (expose(&call.text)?.clone(), expose(input)?.clone());
    Ok(StoppedCall { tool: call.tool.clone(), cwd: call.cwd.clone(), text, input })
}

/// The findings that stop a call, one for each rule and subject.
fn stopping(verdict: &Verdict) -> Vec<&Finding> {
    let mut seen = BTreeSet::new();
    let stopping = verdict.findings().iter().filter(|finding| finding.effect() >= Effect::Ask);
    stopping.filter(|finding| seen.insert((finding.rule(), finding.subject(), finding.program()))).collect()
}

/// The last stops whose calls were made in the environment's project, newest first.
fn stops(environment: &Environment, lookup: &Lookup<'_>) -> anyhow::Result<Vec<Stop>> {
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

/// Asks which call is meant.
fn choose(offers: Vec<Offer>) -> anyhow::Result<Change> {
    for (nth, offer) in offers.iter().enumerate() {
        say!("{}  {:<24} {}", nth + 1, one_line(&offer.rule, 24), one_line(&offer.text, 48))?;
    }
    let count = offers.len();
    let typed = ask(&format!("Which one? [1-{count}, default 1] "))?;
    let typed = typed.trim();
    let number = if typed.is_empty() { Some(1) } else { typed.parse().ok().filter(|number| *number > 0) };
    let chosen = number.and_then(|number: usize| offers.into_iter().nth(number - 1));
    let invalid = || anyhow!("invalid choice `{}`: expected 1 to {count}", one_line(typed, 20));
    chosen.map(|offer| offer.change).ok_or_else(invalid)
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
