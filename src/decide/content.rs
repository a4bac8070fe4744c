//! Matching of content rules against the text of a result.

use super::subject::Subject;
use super::validators::Context;
use super::{before, matching};
use crate::quarantine::content::{Folded, covert};
use crate::quarantine::result;
use crate::rules::{Groups, Owner, Rule, Tier};
use crate::verdict::limits::{CONTENT_BYTES, CONTENT_STEPS, Limit, Meter};
use crate::verdict::{Effect, Finding, RuleId, Verdict};
use std::cell::{Cell, RefCell};
use std::ops::Range;

/// Passages that tell what a text is about.
const BEGINNING: usize = 6;

/// Bytes that are folded and searched for literals in one step.
const BYTES: usize = 4;

/// What comparing one pattern with one passage costs, in steps.
const TRY: usize = 600;

/// A look at the content of one result.
pub(super) struct Look<'a> {
    context: &'a Context<'a>,
    rules: Vec<&'a Rule>,
    /// The prefilter knows nothing about some of them.
    unfiltered: bool,
    found: RefCell<Vec<&'a Rule>>,
    meter: Meter,
    /// The limit that the result exceeds.
    exceeded: Cell<Option<&'static Limit>>,
    /// The first rule that could not be asked.
    broken: RefCell<Option<Finding>>,
}

impl<'a> Look<'a> {
    /// With the content rules of a policy.
    pub fn new(context: &'a Context<'a>) -> Self {
        let rules: Vec<&Rule> = context.applicable.about_content().collect();
        let unfiltered = rules.iter().any(|rule| rule.is_unfiltered());
        Look {
            context,
            rules,
            unfiltered,
            found: RefCell::new(Vec::new()),
            meter: Meter::default(),
            exceeded: Cell::new(None),
            broken: RefCell::new(None),
        }
    }

    /// Looks at a result of whatever shape.
    pub fn at_all(&self, raw: &[u8]) {
        let head = raw.get(..CONTENT_BYTES.most).inspect(|_| self.exceed(&CONTENT_BYTES));
        if !self.rules.is_empty() {
            self.at(&result::flat(head.unwrap_or(raw)));
        }
    }

    /// Looks at a text, and says which rule would have it withheld. A text that could not be compared with all rules is
    /// withheld too, under the rule of the failure.
    pub fn at(&self, text: &str) -> Option<RuleId> {
        if self.rules.is_empty() {
            return None;
        }
        let found = self.at_part(text).map(before::shown_id);
        if self.is_exhausted() {
            self.exceed(&CONTENT_STEPS);
        }
        found.or_else(|| self.exceeded.get().map(|limit| limit.failure().rule()))
    }

    fn exceed(&self, limit: &'static Limit) {
        self.exceeded.set(self.exceeded.get().or(Some(limit)));
    }

    /// Whether the budget of steps is spent.
    fn is_exhausted(&self) -> bool {
        self.meter.exceeds(&CONTENT_STEPS)
    }

    fn at_part(&self, text: &str) -> Option<&'a Rule> {
        let mut withheld = None;
        self.meter.charge(text.len() / BYTES);
        let folded = Folded::of(text);
        let words = |range: Range<usize>| folded.text.get(range).unwrap_or_default();
        let start = |at: usize| folded.passages.get(at).map_or(folded.text.len(), |passage| passage.start);
        for (at, passage) in folded.passages.iter().enumerate() {
            let around = || words(start(at.saturating_sub(1))..folded.passages.get(at + 1).unwrap_or(passage).end);
            let found = self.at_passage(words(passage.clone()), around);
            withheld = withheld.or(found);
        }
        // What they are about is said where people see it.
        let beginning = words(0..start(BEGINNING));
        for passage in covert(text, &self.meter) {
            self.meter.charge(passage.len() / BYTES);
            let around = format!("{beginning}{passage}");
            let found = self.at_passage(&passage, || &around);
            withheld = withheld.or(found);
        }
        withheld
    }

    /// Looks at some sentences.
    fn at_passage<'t>(&self, text: &'t str, around: impl FnOnce() -> &'t str) -> Option<&'a Rule> {
        let groups = Groups::of(text);
        if groups.is_empty() && !self.unfiltered {
            return None;
        }
        let mut withheld = None;
        let subject = Subject::passage(text, around(), groups);
        for rule in &self.rules {
            let known = self.found.borrow().contains(rule);
            if self.is_exhausted() || known && (rule.tier != Tier::Block || withheld.is_some()) {
                continue;
            }
            if self.matches(rule, &subject) {
                if !known {
                    self.found.borrow_mut().push(rule);
                }
                withheld = withheld.or((rule.tier == Tier::Block).then_some(*rule));
            }
        }
        withheld
    }

    fn matches(&self, rule: &Rule, subject: &Subject<'_>) -> bool {
        let cost = matching::cost(rule, subject);
        if cost == 0 {
            return false;
        }
        self.meter.charge(TRY * cost);
        match before::answer(rule, subject, self.context) {
            Ok(found) => found.is_some(),
            Err(error) => {
                self.broken.borrow_mut().get_or_insert_with(|| before::no_pattern(rule, &error, self.context));
                false
            }
        }
    }

    /// Says which rules matched something: by their names, never by what it was.
    pub fn tell(self, verdict: &mut Verdict) {
        verdict.charge(self.meter.spent());
        for rule in self.found.into_inner() {
            let reason = match rule.owner {
                Owner::Operator => format!("Its content matches the rule `{}`: {}", rule.id, rule.nudge),
                Owner::Project => "Its content matches a rule of this project's own policy".to_owned(),
            };
            verdict.add(Finding::new(before::shown_id(rule), Effect::Advise, reason).at(rule.source.to_string()));
        }
        if let Some(finding) = self.broken.into_inner() {
            verdict.add(finding);
        }
        if let Some(limit) = self.exceeded.get() {
            let reason = format!("Not all of it was compared with the rules: it is more than {}", limit.what);
            verdict.add(Finding::new(limit.failure().rule(), Effect::Advise, reason));
        }
    }
}
