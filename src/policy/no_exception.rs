//! Rules that no exception is made from.

use super::Config;
use super::layer::embedded_values;
use crate::rules::{Matcher, Rule};

/// Rules that guard Rune itself, besides those of the validator.
const GUARD_RULES: [&str; 1] = ["guard-copy"];

/// Why no exception can be made from a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoException {
    /// It guards Rune itself.
    Guard,
    /// What it stops cannot be undone.
    AlwaysDenied,
    /// It is about sessions that have read untrusted content.
    Tainted,
}

impl Config {
    /// Why no exception can be made from a rule; `None` if one can.
    pub fn no_exception(&self, rule: &Rule) -> Option<NoException> {
        let name = rule.id.as_str();
        if matches!(rule.matcher, Matcher::Validator(validator) if validator.name() == "SelfProtection")
            || GUARD_RULES.contains(&name)
        {
            return Some(NoException::Guard);
        }
        let shipped = embedded_values("gentle", "decision.always_deny");
        if self.always_deny.iter().any(|denied| denied == name) || shipped.contains(&name) {
            return Some(NoException::AlwaysDenied);
        }
        rule.only_when_tainted.then_some(NoException::Tainted)
    }
}
