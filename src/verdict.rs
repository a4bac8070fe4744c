//! Verdicts: the findings about one event and their effect.

pub mod failure;
pub mod limits;
mod exception;
mod note;
mod phase;
mod remedy;
mod surface;

pub use exception::ExceptionUse;
pub use note::{Note, SaltedHash};
pub use phase::Phase;
pub use remedy::Remedy;
pub use surface::{Heat, Surface};

use crate::encoding::escape;
use crate::encoding::label::Label;
use compact_str::CompactString;
use std::collections::BTreeSet;
use std::fmt;

/// What a verdict does to a call, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// No opinion: the client proceeds as without the guard.
    Pass,
    /// The call proceeds, and the model gets advice.
    Advise,
    /// A person decides.
    Ask,
    /// The call is blocked.
    Deny,
}

impl Effect {
    /// The name in logs and receipts.
    pub fn name(self) -> &'static str {
        match self {
            Effect::Pass => "allow",
            Effect::Advise => "advise",
            Effect::Ask => "ask",
            Effect::Deny => "deny",
        }
    }
}

/// The maximum length of a rule's name.
pub const MAX_RULE_NAME_CHARS: usize = 100;

/// Characters of a rule's name that are shown: enough for the longest name if every character is escaped.
const MAX_SHOWN_NAME_CHARS: usize = MAX_RULE_NAME_CHARS * "\\u{10ffff}".len();

/// The prefix of the rule names of failures. Rules in files cannot use it.
const RESERVED: &str = "rune/";

/// The name of a rule, never blank. `Display` escapes it for answers and terminals; [`RuleId::as_str`] does not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(CompactString);

impl RuleId {
    /// The name of an embedded rule.
    pub const fn known(id: &'static str) -> Self {
        assert!(!id.is_empty(), "a rule has a name");
        RuleId(CompactString::const_new(id))
    }

    /// Checks the name of a rule in a file. The error says what is wrong with it.
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

    /// Checks the name of a rule in a project's file. The name becomes a label, because no text of a project may reach an
    /// answer.
    pub(crate) fn of_project(name: &str) -> Result<Self, String> {
        RuleId::named(name).map(|id| RuleId(Label::tool(id.as_str()).as_str().into()))
    }

    /// The name as written, by which the policy refers to the rule.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&escape::one_line(&self.0, MAX_SHOWN_NAME_CHARS))
    }
}

/// One finding: its rule, its effect and its reason.
///
/// INVARIANT: the client treats an answer as an instruction of the system. Its text therefore consists of constants, labels,
/// the operator's texts and file names, and of values of the judged call (its command, program or path), escaped, on one line
/// and truncated (`Subject::shown`). It never contains other payload, such as results or file contents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    rule: RuleId,
    effect: Effect,
    reason: String,
    nudge: Option<String>,
    remedy: Option<Remedy>,
    source: Option<String>,
    program: Option<String>,
    ask: Option<SaltedHash>,
    subject: Option<String>,
}

impl Finding {
    /// Builds a finding. A blank reason is replaced by the rule's name, so that no answer is empty.
    pub fn new(rule: RuleId, effect: Effect, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let reason = if reason.trim().is_empty() { rule.to_string() } else { reason };
        Finding {
            rule,
            effect,
            reason,
            nudge: None,
            remedy: None,
            source: None,
            program: None,
            ask: None,
            subject: None,
        }
    }

    /// Adds what to do instead.
    pub fn with_nudge(self, nudge: impl Into<String>) -> Self {
        Finding { nudge: Some(nudge.into()).filter(|nudge: &String| !nudge.trim().is_empty()), ..self }
    }

    /// Adds what a person can do so that such a call passes.
    pub(crate) fn with_remedy(self, remedy: Remedy) -> Self {
        Finding { remedy: Some(remedy), ..self }
    }

    /// What a person can do so that such a call passes; `None` if nothing should.
    pub fn remedy(&self) -> Option<Remedy> {
        self.remedy
    }

    /// Adds the file and line of the rule.
    pub fn at(self, source: impl Into<String>) -> Self {
        Finding { source: Some(source.into()), ..self }
    }

    /// Adds the unknown program that the finding is about.
    pub fn about_program(self, program: impl Into<String>) -> Self {
        Finding { program: Some(program.into()), ..self }
    }

    /// Adds the text of the subject that the rule matched.
    pub(crate) fn about_subject(self, text: Option<&str>) -> Self {
        Finding { subject: text.map(str::to_owned), ..self }
    }

    /// The text that an exception from the rule is matched with; `None` if no `match` can cover the finding. It is payload
    /// and part of no answer.
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// Adds by what the ask is known, if the person is to be asked only once.
    pub(crate) fn with_ask(self, ask: Option<SaltedHash>) -> Self {
        Finding { ask, ..self }
    }

    /// The finding with at least this effect.
    fn raised_to(self, least: Effect) -> Self {
        Finding { effect: self.effect.max(least), ..self }
    }

    /// The unknown program that the finding is about.
    pub fn program(&self) -> Option<&str> {
        self.program.as_deref()
    }

    /// What to do instead.
    pub fn nudge(&self) -> Option<&str> {
        self.nudge.as_deref()
    }

    /// The file and line of the rule.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// The rule.
    pub fn rule(&self) -> &RuleId {
        &self.rule
    }

    /// The effect on the call.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// The reason, for the person or the model that gets the answer.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// The JSON by which the client replaces a result. It contains payload, so no other part of an answer may quote it.
#[derive(Clone, PartialEq, Eq)]
pub struct Replacement(String);

impl Replacement {
    pub(crate) fn new(json: String) -> Self {
        Replacement(json)
    }

    /// The JSON, for the client only.
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
    notes: Vec<Note>,
    heat: Heat,
    exceptions: Vec<ExceptionUse>,
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

    /// Adds the findings of another verdict. Its surface and its replacement are used if this verdict has none.
    pub fn merge(&mut self, other: Verdict) {
        self.findings.extend(other.findings);
        self.charge(other.steps);
        self.notes.extend(other.notes);
        self.heat = self.heat.max(other.heat);
        other.exceptions.into_iter().for_each(|used| self.except(used));
        self.surface = self.surface.take().or(other.surface);
        self.replacement = self.replacement.take().or(other.replacement);
    }

    /// Records that an exception was used.
    pub(crate) fn except(&mut self, used: ExceptionUse) {
        if !self.exceptions.contains(&used) {
            self.exceptions.push(used);
        }
    }

    /// The exceptions that were used, without duplicates.
    pub fn exceptions(&self) -> &[ExceptionUse] {
        &self.exceptions
    }

    /// Appends a remark to the reasons of the findings that stop the call.
    pub(crate) fn remark_stops(&mut self, remark: &str) {
        for finding in self.findings.iter_mut().filter(|finding| finding.effect >= Effect::Ask) {
            finding.reason.push_str(remark);
        }
    }

    /// Adds to the number of steps.
    pub(crate) fn charge(&mut self, steps: usize) {
        self.steps = self.steps.saturating_add(steps);
    }

    /// The number of steps that the judgement took, which is linear in the size of the call.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Sets what replaces the result.
    pub(crate) fn replace(&mut self, replacement: Replacement) {
        self.replacement = Some(replacement);
    }

    /// Adds something to remember.
    pub(crate) fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// What is to be remembered: the notes, and the asks if the person is asked.
    pub fn notes(&self) -> Vec<Note> {
        let asking: &[Finding] = if self.effect() == Effect::Ask { &self.findings } else { &[] };
        let asks = asking.iter().filter_map(|finding| finding.ask.clone());
        self.notes.iter().cloned().chain(asks.map(Note::Asked)).collect()
    }

    /// Records that the result contains what a content rule describes.
    pub(crate) fn set_hot(&mut self) {
        self.heat = Heat::Hot;
    }

    /// Whether a content rule matched the result.
    pub fn heat(&self) -> Heat {
        self.heat
    }

    /// Raises the findings that have an effect to at least this one.
    pub(crate) fn raise_to(&mut self, least: Effect) {
        let raise = |finding: Finding| if finding.effect > Effect::Pass { finding.raised_to(least) } else { finding };
        self.findings = std::mem::take(&mut self.findings).into_iter().map(raise).collect();
    }

    /// What replaces the result.
    pub fn replacement(&self) -> Option<&Replacement> {
        self.replacement.as_ref()
    }

    /// Sets the untrusted surface of the event.
    pub fn set_surface(&mut self, surface: Surface) {
        self.surface = Some(surface);
    }

    /// Has a verdict without findings answer that the call is allowed, so that the client does not ask.
    pub fn allow_explicitly(&mut self) {
        self.explicit = true;
    }

    /// Whether the answer allows the call explicitly.
    pub fn is_explicit(&self) -> bool {
        self.explicit && self.effect() == Effect::Pass
    }

    /// The untrusted surface of the event, with or without a notice.
    pub fn surface(&self) -> Option<&Surface> {
        self.surface.as_ref()
    }

    /// The strictest effect of all findings.
    pub fn effect(&self) -> Effect {
        self.findings.iter().map(Finding::effect).max().unwrap_or(Effect::Pass)
    }

    /// The findings, in order.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The findings without duplicates, in order. Findings that differ only in their subject are shown alike.
    pub fn distinct(&self) -> Vec<&Finding> {
        let mut seen = BTreeSet::new();
        let shown = |finding: &Finding| Finding { subject: None, ..finding.clone() };
        self.findings.iter().filter(|finding| seen.insert(shown(finding))).collect()
    }

    /// The findings that have the effect of the verdict, in order.
    pub fn deciding(&self) -> impl Iterator<Item = &Finding> {
        let effect = self.effect();
        self.findings.iter().filter(move |finding| finding.effect == effect)
    }
}
