//! Failures: why an event could not be judged. Each has a rule of its own, and none lets a call pass.

use crate::verdict::Phase;
use crate::verdict::{Effect, Finding, RuleId};

/// Why an event could not be judged, or not completely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The event cannot be parsed. The text says what is wrong with it and does not quote it.
    Event(String),
    /// The policy cannot be read. The text names the file.
    Config(String),
    /// A limit is exceeded.
    Limit(String),
    /// The deadline has passed.
    Timeout,
    /// The guard panicked.
    Bug,
}

impl Failure {
    const EVENT: RuleId = RuleId::known("rune/event");
    const CONFIG: RuleId = RuleId::known("rune/config");
    const LIMIT: RuleId = RuleId::known("rune/limit");
    const TIMEOUT: RuleId = RuleId::known("rune/timeout");
    const BUG: RuleId = RuleId::known("rune/bug");

    /// The rules of failures, and what each means.
    pub const RULES: [(&'static str, &'static str); 5] = [
        ("rune/event", "the hook event could not be read"),
        ("rune/config", "the policy could not be read; `rune rules check` finds the error"),
        ("rune/limit", "the call is larger than the guard judges"),
        ("rune/timeout", "the guard ran out of time"),
        ("rune/bug", "the guard broke; this is a bug in rune"),
    ];

    /// The rule of the failure.
    pub fn rule(&self) -> RuleId {
        match self {
            Failure::Event(_) => Self::EVENT,
            Failure::Config(_) => Self::CONFIG,
            Failure::Limit(_) => Self::LIMIT,
            Failure::Timeout => Self::TIMEOUT,
            Failure::Bug => Self::BUG,
        }
    }

    /// Whether a rule is the rule of a failure.
    pub fn is_failure_rule(rule: &RuleId) -> bool {
        [Self::EVENT, Self::CONFIG, Self::LIMIT, Self::TIMEOUT, Self::BUG].contains(rule)
    }

    /// The finding for an event in `phase`; `policy` is the policy's effect for failures.
    ///
    /// Before a call no failure passes. An event that cannot be parsed is denied whatever the policy says, because a person
    /// cannot judge a call that cannot be shown. After a call nothing can be stopped.
    pub fn finding(&self, phase: Option<Phase>, policy: Effect) -> Finding {
        let effect = match phase {
            // Without a phase, the form of a question is unknown.
            None => Effect::Deny,
            Some(Phase::Before | Phase::Settings) => match self {
                Failure::Event(_) => Effect::Deny,
                Failure::Config(_) | Failure::Limit(_) | Failure::Timeout | Failure::Bug => policy.max(Effect::Ask),
            },
            Some(Phase::Start) => Effect::Advise,
            Some(Phase::After | Phase::Failed | Phase::Prompt | Phase::End | Phase::Other) => Effect::Pass,
        };
        let finding = Finding::new(self.rule(), effect, self.reason());
        match self.nudge() {
            Some(nudge) => finding.with_nudge(nudge),
            None => finding,
        }
    }

    /// What to do instead.
    fn nudge(&self) -> Option<&'static str> {
        match self {
            Failure::Event(_) => Some("write the call in plainer words"),
            Failure::Limit(_) => Some("split the call into smaller ones"),
            Failure::Timeout => Some("try again; if it stays, a file of the policy hangs"),
            Failure::Config(_) | Failure::Bug => None,
        }
    }

    /// The reason, for the person or the model that gets the answer.
    pub fn reason(&self) -> String {
        match self {
            Failure::Event(what) => {
                format!("the call cannot be judged, because its hook event cannot be read: {what}")
            }
            Failure::Config(what) => {
                let plain = |c: char| if c.is_control() { '?' } else { c };
                let what: String = what.replace("\n  help: ", "; ").chars().map(plain).collect();
                format!("the policy cannot be read, so no call can be judged by it: {what}; see `rune rules check`")
            }
            Failure::Limit(what) => format!("the call is larger than the guard judges ({what})"),
            Failure::Timeout => "the guard ran out of time before it could judge the call".to_owned(),
            Failure::Bug => "the guard broke while judging the call; this is a bug in rune, not in the call".to_owned(),
        }
    }
}
