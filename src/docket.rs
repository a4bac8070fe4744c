//! The docket: the rules that a call is asked about, by kind, in the order in which they are asked.

use crate::config::Config;
use crate::event::Event;
use crate::rule::{Kind, Rule, Tier};
use crate::unit::Unit;

/// The rules in force for one call.
#[derive(Debug)]
pub(crate) struct Docket<'a> {
    kinds: Vec<(Kind, Vec<&'a Rule>)>,
}

impl<'a> Docket<'a> {
    /// The rules of a policy: those that block before those that only suspect.
    pub fn of(event: &Event<'_>, config: &'a Config) -> Self {
        let mut docket = Docket { kinds: Vec::new() };
        let tainted = !event.facts.taint.is_empty();
        for tier in [Tier::Block, Tier::Suspicious] {
            let rules = config.rules.iter().filter(|rule| rule.tier == tier);
            for rule in rules.filter(|rule| tainted || !rule.only_when_tainted) {
                docket.add(rule);
            }
        }
        docket
    }

    fn add(&mut self, rule: &'a Rule) {
        match self.kinds.iter_mut().find(|(kind, _)| *kind == rule.kind) {
            Some((_, rules)) => rules.push(rule),
            None => self.kinds.push((rule.kind, vec![rule])),
        }
    }

    /// The rules about what results say.
    pub fn about_content(&self) -> impl Iterator<Item = &'a Rule> {
        self.kinds.iter().filter(|(kind, _)| *kind == Kind::Post).flat_map(|(_, rules)| rules.iter().copied())
    }

    /// The rules that could have to do with a unit.
    pub fn concerning(&self, unit: &Unit<'_>) -> impl Iterator<Item = &'a Rule> {
        let rules = self.kinds.iter().find(|(kind, _)| *kind == unit.kind()).map(|(_, rules)| rules.as_slice());
        rules.unwrap_or_default().iter().copied().filter(move |rule| rule.could_concern(unit))
    }
}
