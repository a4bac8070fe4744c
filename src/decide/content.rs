//! Compares the text of a result with the content rules.

use super::context::Context;
use super::matching;
use super::subject::Subject;
use crate::quarantine::content::{NormalizedText, hidden_passages};
use crate::quarantine::result;
use crate::rules::{Groups, Owner, Rule, RuleKind, Tier};
use crate::verdict::limits::{CONTENT_BYTES, CONTENT_STEPS, Limit, Meter};
use crate::verdict::{Effect, Finding, RuleId, Verdict};
use std::cell::{Cell, RefCell};
use std::ops::Range;

/// Passages at the beginning of a text that are taken as the context of its hidden passages.
const BEGINNING_PASSAGES: usize = 6;

/// Bytes that are normalised and searched for literals in one step.
const BYTES_PER_STEP: usize = 4;

/// Steps that comparing one ordinary pattern with one passage costs.
const PATTERN_STEPS: usize = 600;

/// The comparison of one result with the content rules.
///
/// It collects its matches in cells, because the wrapper calls [`ContentScan::scan_text`] through a shared reference.
pub(super) struct ContentScan<'a> {
    context: &'a Context<'a>,
    rules: Vec<&'a Rule>,
    /// Whether the prefilter cannot rule out some of the rules.
    has_unfiltered: bool,
    matched: RefCell<Vec<&'a Rule>>,
    meter: Meter,
    /// The first limit that the result exceeded.
    exceeded: Cell<Option<&'static Limit>>,
    /// The failure of the first rule with an invalid pattern.
    invalid_pattern: RefCell<Option<Finding>>,
}

impl<'a> ContentScan<'a> {
    /// Prepares a scan with the content rules of the policy.
    pub fn new(context: &'a Context<'a>) -> Self {
        let rules: Vec<&Rule> = context.applicable.of_kind(RuleKind::Post).collect();
        let has_unfiltered = rules.iter().any(|rule| rule.is_unfiltered());
        ContentScan {
            context,
            rules,
            has_unfiltered,
            matched: RefCell::default(),
            meter: Meter::default(),
            exceeded: Cell::default(),
            invalid_pattern: RefCell::default(),
        }
    }

    /// Scans all texts of a result, whatever its structure.
    pub fn scan_result(&self, raw: &[u8]) {
        let head = raw.get(..CONTENT_BYTES.most).inspect(|_| self.exceed(&CONTENT_BYTES));
        if !self.rules.is_empty() {
            self.scan_text(&result::flat(head.unwrap_or(raw)));
        }
    }

    /// Scans a text, and returns the rule for which it must be withheld.
    ///
    /// A text that could not be compared with all rules is withheld too, for the rule of the failure.
    pub fn scan_text(&self, text: &str) -> Option<RuleId> {
        if self.rules.is_empty() {
            return None;
        }
        let withheld_for = self.scan_passages(text).map(matching::displayed_id);
        if self.is_exhausted() {
            self.exceed(&CONTENT_STEPS);
        }
        withheld_for.or_else(|| self.exceeded.get().map(|limit| limit.failure().rule()))
    }

    fn exceed(&self, limit: &'static Limit) {
        self.exceeded.set(self.exceeded.get().or(Some(limit)));
    }

    fn is_exhausted(&self) -> bool {
        self.meter.exceeds(&CONTENT_STEPS)
    }

    fn scan_passages(&self, text: &str) -> Option<&'a Rule> {
        let mut withheld_for = None;
        self.meter.charge(text.len() / BYTES_PER_STEP);
        let folded = NormalizedText::of(text);
        let slice = |range: Range<usize>| folded.text.get(range).unwrap_or_default();
        let start = |at: usize| folded.passages.get(at).map_or(folded.text.len(), |passage| passage.start);
        for (at, passage) in folded.passages.iter().enumerate() {
            let around = || slice(start(at.saturating_sub(1))..folded.passages.get(at + 1).unwrap_or(passage).end);
            let blocking = self.scan_passage(slice(passage.clone()), around);
            withheld_for = withheld_for.or(blocking);
        }
        // Hidden passages have no visible neighbours, so the beginning of the text is their context.
        let beginning = slice(0..start(BEGINNING_PASSAGES));
        for passage in hidden_passages(text, &self.meter) {
            self.meter.charge(passage.len() / BYTES_PER_STEP);
            let around = format!("{beginning}{passage}");
            let blocking = self.scan_passage(&passage, || &around);
            withheld_for = withheld_for.or(blocking);
        }
        withheld_for
    }

    /// Compares one passage with all rules, and returns the first `block` rule that matches.
    fn scan_passage<'t>(&self, text: &'t str, around: impl FnOnce() -> &'t str) -> Option<&'a Rule> {
        let groups = Groups::find_in(text);
        if groups.is_empty() && !self.has_unfiltered {
            return None;
        }
        let mut blocking = None;
        let subject = Subject::passage(text, around(), groups);
        for rule in &self.rules {
            let known = self.matched.borrow().contains(rule);
            if self.is_exhausted() || known && (rule.tier != Tier::Block || blocking.is_some()) {
                continue;
            }
            if self.matches(rule, &subject) {
                if !known {
                    self.matched.borrow_mut().push(rule);
                }
                blocking = blocking.or((rule.tier == Tier::Block).then_some(*rule));
            }
        }
        blocking
    }

    fn matches(&self, rule: &Rule, subject: &Subject<'_>) -> bool {
        let cost = matching::cost(rule, subject);
        if cost == 0 {
            return false;
        }
        self.meter.charge(PATTERN_STEPS * cost);
        matching::find(rule, subject, self.context).map_or_else(
            |error| {
                let finding = || matching::invalid_pattern(rule, &error, self.context);
                self.invalid_pattern.borrow_mut().get_or_insert_with(finding);
                false
            },
            |matched| matched.is_some(),
        )
    }

    /// Adds a finding for each rule that matched. It names the rule and never shows the content.
    pub fn report(self, verdict: &mut Verdict) {
        verdict.charge(self.meter.spent());
        for rule in self.matched.into_inner() {
            let reason = match rule.owner {
                Owner::Operator => format!("Its content matches the rule `{}`: {}", rule.id, rule.nudge),
                Owner::Project => "Its content matches a rule of this project's own policy".to_owned(),
            };
            verdict.add(Finding::new(matching::displayed_id(rule), Effect::Advise, reason).at(rule.source.to_string()));
        }
        if let Some(finding) = self.invalid_pattern.into_inner() {
            verdict.add(finding);
        }
        if let Some(limit) = self.exceeded.get() {
            let reason = format!("Not all of it was compared with the rules: it is more than {}", limit.what);
            verdict.add(Finding::new(limit.failure().rule(), Effect::Advise, reason));
        }
    }
}
