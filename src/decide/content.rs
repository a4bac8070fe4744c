//! Compares the text of a result with the content rules.

use super::context::Context;
use super::matching;
use super::subject::Subject;
use crate::quarantine::content::{NormalizedText, Passage, hidden_passages};
use crate::quarantine::result;
use crate::rules::{Groups, Owner, Rule, RuleKind, Tier};
use crate::verdict::limits::{CONTENT_BYTES, CONTENT_STEPS, Limit, Meter};
use crate::verdict::{Effect, Finding, RuleId, Verdict};
use std::cell::{Cell, RefCell};

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
        for range in &folded.passages {
            let blocking = self.scan_passage(folded.passage(range));
            withheld_for = withheld_for.or(blocking);
        }
        for passage in hidden_passages(text, &self.meter) {
            self.meter.charge(passage.len() / BYTES_PER_STEP);
            let blocking = self.scan_passage(Passage::of(&passage));
            withheld_for = withheld_for.or(blocking);
        }
        withheld_for
    }

    /// Compares one passage with all rules, and returns the first `block` rule that matches.
    fn scan_passage(&self, passage: Passage<'_>) -> Option<&'a Rule> {
        let groups = Groups::find_in(passage.text);
        if groups.is_empty() && !self.has_unfiltered {
            return None;
        }
        let mut blocking = None;
        let subject = Subject::passage(passage, groups);
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
        let charge = || self.meter.charge(PATTERN_STEPS);
        matching::matches_passage(rule, subject, self.context, charge).unwrap_or_else(|error| {
            let finding = || matching::invalid_pattern(rule, &error, self.context);
            self.invalid_pattern.borrow_mut().get_or_insert_with(finding);
            false
        })
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
