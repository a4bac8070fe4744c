//! Verdicts: the findings about one event, and the effect that follows.

pub mod failure;
pub mod limits;
mod phase;
mod surface;

pub use phase::Phase;
pub use surface::Surface;

use crate::encoding::escape;
use crate::encoding::label::Label;
use compact_str::CompactString;
use std::collections::BTreeSet;
use std::fmt;

/// What a verdict does to a call, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// No opinion; the client goes on as without us.
    Pass,
    /// The call goes on and the model is told something.
    Advise,
    /// A person decides.
    Ask,
    /// The call does not happen.
    Deny,
}

impl Effect {
    /// The word for it in logs and receipts.
    pub fn name(self) -> &'static str {
        match self {
            Effect::Pass => "allow",
            Effect::Advise => "advise",
            Effect::Ask => "ask",
            Effect::Deny => "deny",
        }
    }
}

/// Characters that a rule's name may have.
pub const MAX_RULE_NAME_CHARS: usize = 100;

/// Characters of a rule's name that are shown: enough for the longest name with every character escaped.
const MAX_SHOWN_NAME_CHARS: usize = MAX_RULE_NAME_CHARS * "\\u{10ffff}".len();

/// How the names of failures begin, which are no rules of a file.
const RESERVED: &str = "rune/";

/// The name of a rule, never blank. `Display` escapes it for answers and terminals; `as_str` is the name as written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(CompactString);

impl RuleId {
    /// A rule that is compiled in.
    pub const fn known(id: &'static str) -> Self {
        assert!(!id.is_empty(), "a rule has a name");
        RuleId(CompactString::const_new(id))
    }

    /// A rule of a file, by the text between its quotes. The error says what is wrong with the name.
    pub fn named(name: &str) -> Result<Self, String> {
        if name.trim().is_empty() {
            return Err("a rule without a name".to_owned());
        }
        if name.contains(['"', '\n', '\r']) {
            return Err("a double quote within the name of a rule".to_owned());
        }
        if name.chars().count() > MAX_RULE_NAME_CHARS {
            return Err(format!("the name of a rule is longer than {MAX_RULE_NAME_CHARS} characters"));
        }
        if name.trim().get(..RESERVED.len()).is_some_and(|start| start.eq_ignore_ascii_case(RESERVED)) {
            return Err(format!("names that begin with `{RESERVED}` are reserved for failures of the guard"));
        }
        Ok(RuleId(name.into()))
    }

    /// A rule of a project's own file: its name as a label, because none of a project's words reach an answer.
    pub(crate) fn of_project(name: &str) -> Result<Self, String> {
        RuleId::named(name).map(|id| RuleId(Label::tool(id.as_str()).as_str().into()))
    }

    /// The name as it is written, which the policy refers to.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&escape::one_line(&self.0, MAX_SHOWN_NAME_CHARS))
    }
}

/// One thing found: which rule, with what effect, and why in words.
///
/// INVARIANT: an answer speaks with system authority, so its words are constants, labels, the operator's own words and
/// file names, and, where a nudge of the operator's rules asks for them, values of the call that is judged (its command,
/// program or path), escaped, on one line and cut (`Unit::value`). Never other payload, such as results or contents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    rule: RuleId,
    effect: Effect,
    reason: String,
    nudge: Option<String>,
    source: Option<String>,
}

impl Finding {
    /// A finding; a blank reason is replaced by the rule's name, so that no answer is mute.
    pub fn new(rule: RuleId, effect: Effect, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let reason = if reason.trim().is_empty() { rule.to_string() } else { reason };
        Finding { rule, effect, reason, nudge: None, source: None }
    }

    /// The same with what to do instead.
    pub fn with_nudge(self, nudge: impl Into<String>) -> Self {
        Finding { nudge: Some(nudge.into()).filter(|nudge: &String| !nudge.trim().is_empty()), ..self }
    }

    /// The same with the place of its rule.
    pub fn at(self, source: impl Into<String>) -> Self {
        Finding { source: Some(source.into()), ..self }
    }

    /// What to do instead.
    pub fn nudge(&self) -> Option<&str> {
        self.nudge.as_deref()
    }

    /// The file and line that its rule is on.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// The rule that found it.
    pub fn rule(&self) -> &RuleId {
        &self.rule
    }

    /// What it does to the call.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Why, for the one who is told.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// A result as the client is to have it in place of the original, as JSON. It holds payload, so nothing of it is ever
/// said by us.
#[derive(Clone, PartialEq, Eq)]
pub struct Replacement(String);

impl Replacement {
    pub(crate) fn new(json: String) -> Self {
        Replacement(json)
    }

    /// For the client, and nobody else.
    pub(crate) fn into_json(self) -> String {
        self.0
    }
}

impl fmt::Debug for Replacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replacement({} bytes)", self.0.len())
    }
}

/// All findings about one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    findings: Vec<Finding>,
    surface: Option<Surface>,
    replacement: Option<Replacement>,
    explicit: bool,
    steps: usize,
}

impl Verdict {
    /// A verdict of one finding.
    pub fn of(finding: Finding) -> Self {
        Verdict { findings: vec![finding], ..Verdict::default() }
    }

    /// Adds a finding.
    pub fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Takes over what another verdict found.
    pub fn merge(&mut self, other: Verdict) {
        self.findings.extend(other.findings);
        self.charge(other.steps);
        self.surface = self.surface.take().or(other.surface);
        self.replacement = self.replacement.take().or(other.replacement);
    }

    /// Adds to the work that the judgement took.
    pub(crate) fn charge(&mut self, steps: usize) {
        self.steps = self.steps.saturating_add(steps);
    }

    /// The work that the judgement took, in steps: it grows with the size of the call, and no faster.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Has the client take this in place of the result.
    pub(crate) fn replace(&mut self, replacement: Replacement) {
        self.replacement = Some(replacement);
    }

    /// What the client is to take in place of the result.
    pub fn replacement(&self) -> Option<&Replacement> {
        self.replacement.as_ref()
    }

    /// Names the untrusted surface that the event touched.
    pub fn set_surface(&mut self, surface: Surface) {
        self.surface = Some(surface);
    }

    /// Says that the call is allowed where nothing was found, which the client takes for a yes.
    pub fn allow_explicitly(&mut self) {
        self.explicit = true;
    }

    /// Whether nothing was found and that is to be said.
    pub fn is_explicit(&self) -> bool {
        self.explicit && self.effect() == Effect::Pass
    }

    /// The untrusted surface that the event touched, marked or not.
    pub fn surface(&self) -> Option<&Surface> {
        self.surface.as_ref()
    }

    /// The strictest effect of all findings.
    pub fn effect(&self) -> Effect {
        self.findings.iter().map(Finding::effect).max().unwrap_or(Effect::Pass)
    }

    /// What was found, in order.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// What was found, each finding once, in order: a call may repeat the same thing thousands of times.
    pub fn distinct(&self) -> Vec<&Finding> {
        let mut seen = BTreeSet::new();
        self.findings.iter().filter(|finding| seen.insert(*finding)).collect()
    }

    /// The findings that the verdict's effect rests on, in order.
    pub fn deciding(&self) -> impl Iterator<Item = &Finding> {
        let effect = self.effect();
        self.findings.iter().filter(move |finding| finding.effect == effect)
    }
}
