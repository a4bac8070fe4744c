//! Proof: every rule answers what it says it answers, and nobody objects to what it says is fine.

use crate::client::{self, SampleEvent};
use crate::encoding::label::Label;
use crate::event::Facts;
use crate::event::taint::Taint;
use crate::policy::Config;
use crate::quarantined::{ContentSource, Origin, Quarantined};
use crate::rules::{Example, Rule, RuleKind};
use crate::verdict::{Effect, Finding, Phase};
use std::fmt;

/// An example that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disproof {
    /// The file and line of the example.
    pub place: String,
    /// What was expected and what came.
    pub what: String,
}

impl fmt::Display for Disproof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// The place that all examples happen in.
const PROJECT: &str = "/home/user/proj";

/// Puts the examples of every rule to the test.
pub fn disproofs(config: &Config) -> Vec<Disproof> {
    let mut found = Vec::new();
    for rule in &config.rules {
        for example in rule.hits() {
            let findings = judge(example, rule, config);
            let deciding = findings.iter().map(Finding::effect).max().unwrap_or(Effect::Pass);
            let answered = |finding: &Finding| *finding.rule() == rule.id && finding.effect() == deciding;
            if !findings.iter().any(answered) {
                found.push(disproof(
                    rule,
                    example,
                    format!("should be answered by `{}`, but {}", rule.id, said(&findings)),
                ));
            }
        }
        for example in rule.misses() {
            let findings = judge(example, rule, config);
            // That it came from elsewhere is said of every result.
            let objects = |finding: &Finding| {
                finding.effect() > Effect::Pass
                    && !(rule.kind == RuleKind::Post && finding.rule().as_str().starts_with("quarantine-"))
            };
            if findings.iter().any(objects) {
                found.push(disproof(rule, example, format!("should be left alone, but {}", said(&findings))));
            }
        }
    }
    found
}

fn disproof(rule: &Rule, example: &Example, what: String) -> Disproof {
    Disproof { place: format!("{}:{}", rule.source.file, example.line), what: format!("`{}` {what}", example.text()) }
}

fn said(findings: &[Finding]) -> String {
    let rules: Vec<String> = findings.iter().map(|finding| finding.rule().to_string()).collect();
    if rules.is_empty() { "nothing answers".to_owned() } else { format!("is answered by `{}`", rules.join("`, `")) }
}

fn judge(example: &Example, rule: &Rule, config: &Config) -> Vec<Finding> {
    let (tool, input) = example.call(rule.kind);
    let (phase, result) = match rule.kind {
        RuleKind::Post => (Phase::After, Some(example.result())),
        RuleKind::Bash | RuleKind::Edit | RuleKind::Read | RuleKind::Mcp | RuleKind::Agent => (Phase::Before, None),
    };
    let sample = SampleEvent { session: "", cwd: PROJECT, phase, tool: &tool, input, result };
    let event = client::DEFAULT.sample_event(&sample);
    let origin = Origin::new(ContentSource::UserInput, "example", time::OffsetDateTime::UNIX_EPOCH);
    let sealed = Quarantined::new(event.into_bytes(), origin);
    match client::DEFAULT.parse(&sealed) {
        Ok(message) => {
            let event = message.into_event(Some("/home/user".to_owned()), Some(PROJECT.to_owned()));
            let taint =
                if rule.only_when_tainted { Taint::of([Label::of("mcp", "example")]) } else { Taint::default() };
            let event = event.with_facts(Facts { taint, ..Facts::default() });
            crate::decide(&event, config).findings().to_vec()
        }
        Err(unread) => vec![unread.failure.finding(unread.header.phase, config.failure)],
    }
}
