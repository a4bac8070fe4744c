//! The docket: the rules that a call is asked about, by kind, in the order in which they are asked.

use super::matching::could_match;
use super::subject::Subject;
use crate::event::Event;
use crate::policy::Config;
use crate::rules::{Rule, RuleKind, Tier};
use crate::verdict::Effect;

/// The rules in force for one call.
#[derive(Debug)]
pub(crate) struct ApplicableRules<'a> {
    kinds: Vec<(RuleKind, Vec<&'a Rule>)>,
}

impl<'a> ApplicableRules<'a> {
    /// The rules of a policy, those with the strictest effect first, and of these those that block.
    ///
    /// INVARIANT: a unit takes the answer of the first rule that matches, so no rule behind it has a stricter effect.
    pub fn of(event: &Event<'_>, config: &'a Config) -> Self {
        let tainted = !event.facts.taint.is_empty();
        let asked = config.rules.iter().filter(|rule| tainted || !rule.only_when_tainted);
        let ranked: Vec<_> = asked.map(|rule| (config.effect(rule), rule.tier, rule)).collect();
        let mut applicable = ApplicableRules { kinds: Vec::new() };
        // There are so few ranks that sorting by them takes longer.
        for effect in [Effect::Deny, Effect::Ask, Effect::Advise] {
            for tier in [Tier::Block, Tier::Suspicious] {
                let of_rank = ranked.iter().filter(|ranked| (ranked.0, ranked.1) == (effect, tier));
                of_rank.for_each(|(.., rule)| applicable.add(rule));
            }
        }
        applicable
    }

    fn add(&mut self, rule: &'a Rule) {
        match self.kinds.iter_mut().find(|(kind, _)| *kind == rule.kind) {
            Some((_, rules)) => rules.push(rule),
            None => self.kinds.push((rule.kind, vec![rule])),
        }
    }

    /// The rules about what results say.
    pub fn about_content(&self) -> impl Iterator<Item = &'a Rule> {
        self.kinds.iter().filter(|(kind, _)| *kind == RuleKind::Post).flat_map(|(_, rules)| rules.iter().copied())
    }

    /// The rules that could have to do with a unit.
    pub fn concerning(&self, subject: &Subject<'_>) -> impl Iterator<Item = &'a Rule> {
        let rules = self.kinds.iter().find(|(kind, _)| *kind == subject.kind()).map(|(_, rules)| rules.as_slice());
        rules.unwrap_or_default().iter().copied().filter(move |rule| could_match(rule, subject))
    }
}
