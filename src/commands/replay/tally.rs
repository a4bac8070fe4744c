//! Counts of verdicts. Counts of several sessions are added, whatever their order.

use rune::verdict::{Effect, Finding, Verdict};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Examples that are kept for each rule.
const MAX_EXAMPLES: usize = 3;

#[derive(Debug, Default)]
pub struct Tally {
    pub sessions: u64,
    pub tainted_sessions: u64,
    pub calls: u64,
    pub unreadable_files: usize,
    pub skipped_lines: usize,
    /// The times of the first and the last call.
    pub times: Option<(String, String)>,
    pub presets: Vec<PresetTally>,
    /// The interruptions of one preset: what stopped each call, and how many.
    pub stops: BTreeMap<BTreeSet<Stopped>, u64>,
    /// The effect on each call, as lines of JSON.
    pub calls_json: String,
}

#[derive(Debug, Default)]
pub struct PresetTally {
    pub name: String,
    pub asks: u64,
    pub denials: u64,
    pub advice: u64,
    /// Results that were marked as untrusted.
    pub marked: u64,
    pub quiet_sessions: u64,
    pub rules: BTreeMap<String, RuleTally>,
}

impl PresetTally {
    pub fn interrupts(&self) -> u64 {
        self.asks + self.denials
    }
}

/// The calls that a rule decided.
#[derive(Debug, Default)]
pub struct RuleTally {
    pub asks: u64,
    pub denials: u64,
    pub advice: u64,
    pub examples: BTreeSet<Example>,
}

impl RuleTally {
    pub fn interrupts(&self) -> u64 {
        self.asks + self.denials
    }
}

/// A call that a rule decided; the earliest are kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Example {
    pub time: String,
    pub session: String,
    pub tool: String,
    /// `None` below an agent.
    pub text: Option<String>,
}

/// What stopped a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stopped {
    pub rule: String,
    pub subject: Option<String>,
    pub program: Option<String>,
}

impl Stopped {
    pub fn of(verdict: &Verdict) -> BTreeSet<Stopped> {
        let stopped = |finding: &Finding| Stopped {
            rule: finding.rule().as_str().to_owned(),
            subject: finding.subject().map(str::to_owned),
            program: finding.program().map(str::to_owned),
        };
        verdict.findings().iter().filter(|finding| finding.effect() >= Effect::Ask).map(stopped).collect()
    }
}

/// The rule that the log names: that of the first finding that decides.
fn rule_of(verdict: &Verdict) -> Option<&str> {
    verdict.deciding().next().filter(|_| verdict.effect() > Effect::Pass).map(|finding| finding.rule().as_str())
}

impl Tally {
    pub fn new<'n>(presets: impl Iterator<Item = &'n str>) -> Tally {
        let preset = |name: &str| PresetTally { name: name.to_owned(), ..PresetTally::default() };
        Tally { presets: presets.map(preset).collect(), ..Tally::default() }
    }

    pub fn count_call(&mut self, example: &Example, verdicts: &[Verdict]) {
        self.calls += 1;
        self.widen(&example.time, &example.time);
        for (preset, verdict) in self.presets.iter_mut().zip(verdicts) {
            let Some(rule) = rule_of(verdict) else { continue };
            let rule = preset.rules.entry(rule.to_owned()).or_default();
            let (of_preset, of_rule) = match verdict.effect() {
                Effect::Pass => continue,
                Effect::Advise => (&mut preset.advice, &mut rule.advice),
                Effect::Ask => (&mut preset.asks, &mut rule.asks),
                Effect::Deny => (&mut preset.denials, &mut rule.denials),
            };
            *of_preset += 1;
            *of_rule += 1;
            rule.add_example(example.clone());
        }
    }

    pub fn count_results(&mut self, verdicts: &[Verdict]) {
        for (preset, verdict) in self.presets.iter_mut().zip(verdicts) {
            preset.marked += u64::from(verdict.effect() > Effect::Pass);
        }
    }

    pub fn count_stop(&mut self, stopped: BTreeSet<Stopped>) {
        *self.stops.entry(stopped).or_default() += 1;
    }

    pub fn add_calls(&mut self, session: &str, call: &str, verdicts: &[Verdict]) {
        for (preset, verdict) in self.presets.iter().zip(verdicts) {
            let effect = crate::commands::explain::effect_name(verdict.effect());
            let line = json!({"session": session, "call": call, "preset": preset.name, "effect": effect,
                "rule": rule_of(verdict)});
            self.calls_json.push_str(&format!("{line}\n"));
        }
    }

    /// Counts the session itself, if a call of it was counted.
    pub fn end_session(&mut self, is_tainted: bool) {
        if self.calls == 0 {
            return;
        }
        self.sessions = 1;
        self.tainted_sessions = u64::from(is_tainted);
        for preset in &mut self.presets {
            preset.quiet_sessions = u64::from(preset.interrupts() == 0);
        }
    }

    fn widen(&mut self, first: &str, last: &str) {
        let (known_first, known_last) = self.times.get_or_insert_with(|| (first.to_owned(), last.to_owned()));
        if first < known_first.as_str() {
            first.clone_into(known_first);
        }
        if last > known_last.as_str() {
            last.clone_into(known_last);
        }
    }

    #[must_use]
    pub fn merged_with(mut self, other: Tally) -> Tally {
        self.sessions += other.sessions;
        self.tainted_sessions += other.tainted_sessions;
        self.calls += other.calls;
        self.unreadable_files += other.unreadable_files;
        self.skipped_lines += other.skipped_lines;
        if let Some((first, last)) = other.times {
            self.widen(&first, &last);
        }
        for (preset, other) in self.presets.iter_mut().zip(other.presets) {
            preset.asks += other.asks;
            preset.denials += other.denials;
            preset.advice += other.advice;
            preset.marked += other.marked;
            preset.quiet_sessions += other.quiet_sessions;
            for (name, other) in other.rules {
                let rule = preset.rules.entry(name).or_default();
                rule.asks += other.asks;
                rule.denials += other.denials;
                rule.advice += other.advice;
                other.examples.into_iter().for_each(|example| rule.add_example(example));
            }
        }
        for (stopped, count) in other.stops {
            *self.stops.entry(stopped).or_default() += count;
        }
        self.calls_json.push_str(&other.calls_json);
        self
    }
}

impl RuleTally {
    /// Keeps the example if it is one of the earliest. Of equal texts one is kept.
    fn add_example(&mut self, example: Example) {
        let Some(text) = &example.text else { return };
        if let Some(same) = self.examples.iter().find(|known| known.text.as_ref() == Some(text)) {
            if *same <= example {
                return;
            }
            let same = same.clone();
            self.examples.remove(&same);
        }
        self.examples.insert(example);
        if self.examples.len() > MAX_EXAMPLES {
            self.examples.pop_last();
        }
    }
}
