//! The rules that apply to an event.

use super::matching;
use super::subject::Subject;
use crate::event::Event;
use crate::policy::Config;
use crate::rules::{Rule, RuleKind, Tier};
use crate::verdict::Effect;

/// The rules in force for one event, those with the strictest effect first and `block` before `suspicious`.
#[derive(Debug)]
pub(crate) struct ApplicableRules<'a> {
    by_kind: Vec<(RuleKind, Vec<&'a Rule>)>,
}

impl<'a> ApplicableRules<'a> {
    /// Selects the rules of a policy that have an effect on this event.
    pub fn of(event: &Event<'_>, config: &'a Config) -> Self {
        let tainted = !event.facts.taint.is_empty();
        let in_force = config.rules.iter().filter(|rule| tainted || !rule.only_when_tainted);
        let ranked: Vec<(Effect, &Rule)> = in_force.map(|rule| (config.effect(rule), rule)).collect();
        let mut by_kind: Vec<(RuleKind, Vec<&Rule>)> = Vec::new();
        // There are so few ranks that sorting by them takes longer.
        for effect in [Effect::Deny, Effect::Ask, Effect::Advise] {
            for tier in [Tier::Block, Tier::Suspicious] {
                let of_rank = ranked.iter().filter(|(of_rule, rule)| (*of_rule, rule.tier) == (effect, tier));
                for (_, rule) in of_rank {
                    match by_kind.iter_mut().find(|(kind, _)| *kind == rule.kind) {
                        Some((_, rules)) => rules.push(rule),
                        None => by_kind.push((rule.kind, vec![rule])),
                    }
                }
            }
        }
        ApplicableRules { by_kind }
    }

    /// Leaves out the rules with these ids.
    pub fn remove(&mut self, ids: &[&str]) {
        self.by_kind.iter_mut().for_each(|(_, rules)| rules.retain(|rule| !ids.contains(&rule.id.as_str())));
    }

    /// The rules of one kind.
    pub fn of_kind(&self, kind: RuleKind) -> impl Iterator<Item = &'a Rule> {
        let of_kind = self.by_kind.iter().find(|(known, _)| *known == kind);
        of_kind.into_iter().flat_map(|(_, rules)| rules.iter().copied())
    }

    /// The rules that may match a subject, by its kind and by the prefilter.
    pub fn candidates(&self, subject: &Subject<'_>) -> impl Iterator<Item = &'a Rule> {
        // Most texts have no literal of a pattern.
        let has_literals = subject.texts().any(|(_, groups)| !groups.is_empty());
        let may_match = move |rule: &&Rule| match has_literals {
            true => matching::may_match(rule, subject),
            false => rule.is_unfiltered() && matching::may_match(rule, subject),
        };
        self.of_kind(subject.rule_kind()).filter(may_match)
    }
}
