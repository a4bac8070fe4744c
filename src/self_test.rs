//! Checks the examples of rules and of catalogue files.

use crate::client::{self, SampleEvent};
use crate::encoding::label::Label;
use crate::event::Facts;
use crate::event::taint::Taint;
use crate::path::Place;
use crate::policy::Config;
use crate::programs::{Catalogue, Use, schema};
use crate::quarantined::{ContentSource, Origin, Quarantined};
use crate::rules::{Example, Rule, RuleKind};
use crate::shell::{self, Command};
use crate::verdict::{Effect, Finding, Phase};
use std::fmt;

/// An example with another outcome than expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedExample {
    /// The file and line of the example.
    pub source: String,
    /// The expected and the actual outcome.
    pub message: String,
}

impl FailedExample {
    fn new(rule: &Rule, example: &Example, expected: &str, findings: &[Finding]) -> Self {
        let ids: Vec<String> = findings.iter().map(|finding| finding.rule().to_string()).collect();
        let actual = match ids.as_slice() {
            [] => "nothing answers".to_owned(),
            _ => format!("is answered by `{}`", ids.join("`, `")),
        };
        FailedExample {
            source: format!("{}:{}", rule.source.file, example.line),
            message: format!("`{}` should be {expected}, but {actual}", example.text()),
        }
    }
}

impl fmt::Display for FailedExample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.message)
    }
}

/// The working directory of all examples.
const PROJECT: &str = "/home/user/proj";

/// Judges the examples of every rule, and returns those that fail.
///
/// A `hits` example must get a finding of its rule with the strictest effect. A `misses` example must get no finding.
pub fn check_examples(config: &Config) -> Vec<FailedExample> {
    let mut failed = Vec::new();
    for rule in &config.rules {
        for example in rule.hits() {
            let findings = judge(example, rule, config);
            let strictest = findings.iter().map(Finding::effect).max().unwrap_or(Effect::Pass);
            if !findings.iter().any(|finding| *finding.rule() == rule.id && finding.effect() == strictest) {
                failed.push(FailedExample::new(rule, example, &format!("answered by `{}`", rule.id), &findings));
            }
        }
        for example in rule.misses() {
            let findings = judge(example, rule, config);
            // Every untrusted result gets a notice.
            let is_notice =
                |finding: &Finding| rule.kind == RuleKind::Post && finding.rule().as_str().starts_with("quarantine-");
            if findings.iter().any(|finding| finding.effect() > Effect::Pass && !is_notice(finding)) {
                failed.push(FailedExample::new(rule, example, "left alone", &findings));
            }
        }
    }
    failed
}

/// Judges an example as a hook event of Claude Code.
fn judge(example: &Example, rule: &Rule, config: &Config) -> Vec<Finding> {
    let (tool, input) = example.call(rule.kind);
    let (phase, result) =
        if rule.kind == RuleKind::Post { (Phase::After, Some(example.result())) } else { (Phase::Before, None) };
    let sample = SampleEvent { session: "", cwd: PROJECT, phase, tool: &tool, input, result };
    let event = client::DEFAULT.sample_event(&sample);
    let origin = Origin::new(ContentSource::UserInput, "example", time::OffsetDateTime::UNIX_EPOCH);
    let sealed = Quarantined::new(event.into_bytes(), origin);
    match client::DEFAULT.parse(&sealed) {
        Ok(message) => {
            let event =
                message.into_event(Some("/home/user".to_owned()), Some(PROJECT.to_owned()), &Catalogue::shipped());
            let taint =
                if rule.only_when_tainted { Taint::of([Label::of("mcp", "example")]) } else { Taint::default() };
            let event = event.with_facts(Facts { taint, ..Facts::default() });
            crate::decide(&event, config).findings().to_vec()
        }
        Err(unread) => vec![unread.failure.finding(unread.header.phase, config.failure)],
    }
}

/// Parses the examples of a catalogue file, and returns one line for each that does not hold.
pub fn check_program_examples(examples: &[schema::Example], catalogue: &Catalogue) -> Vec<String> {
    let check = |example: &schema::Example| {
        let reading = shell::read(&example.command, &Place::default(), catalogue);
        let found = reading.commands.first().map(describe).unwrap_or_default();
        let missing: Vec<&String> = example.expected.iter().filter(|item| !found.contains(item)).collect();
        let expected = missing.iter().map(|item| item.as_str()).collect::<Vec<_>>().join("`, `");
        let line = format!("`{}`: expected `{expected}`, found `{}`", example.command, found.join("`, `"));
        (!missing.is_empty()).then_some(line)
    };
    examples.iter().filter_map(check).collect()
}

/// What the catalogue says about a command, in the words of its examples: the effect, each use with its value, and what it
/// prints.
pub fn describe(command: &Command) -> Vec<String> {
    let Some(parsed) = &command.parsed else { return Vec::new() };
    let uses = parsed.uses.iter().filter_map(|used| {
        let value = command.value(used)?;
        Some(format!("{} {}", used.takes.map_or("unknown", Use::name), value.text))
    });
    let inner = parsed.command.and_then(|start| command.args.get(start..)).map(|args| {
        let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        format!("run {}", words.join(" "))
    });
    let flags = [
        ("reveals", parsed.reveals()),
        ("injects", parsed.injects()),
        ("brings", parsed.brings()),
        ("installs", parsed.installs()),
        ("activates", parsed.activates()),
        ("recursive", parsed.recursive == Some(true)),
    ];
    let flags = flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| name.to_owned());
    parsed.does.map(|does| does.name().to_owned()).into_iter().chain(uses).chain(inner).chain(flags).collect()
}
