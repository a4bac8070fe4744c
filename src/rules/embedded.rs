//! The embedded rules, which the build script parses.

use super::example::Example;
use super::syntax::Expected;
use super::{Matcher, NamedEffect, Owner, Pattern, Rule, RuleKind, Source, Tier, ValidatorId};
use crate::programs::Does;
use crate::verdict::RuleId;
use std::borrow::Cow;
use std::rc::Rc;

/// A rule as the build script writes it.
struct EmbeddedRule {
    tier: Tier,
    name: &'static str,
    line: usize,
    validator: Option<ValidatorId>,
    does: &'static [NamedEffect],
    patterns: &'static [Pattern],
    only_when: &'static [Pattern],
    except_when: &'static [Pattern],
    only_when_tainted: bool,
    reason: &'static str,
    nudge: &'static str,
    examples: &'static [Example],
}

// `EMBEDDED_RULES`: the rules of each kind, by its name.
include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// Returns the rules of a file if its text is the embedded text of its kind.
pub(super) fn rules(text: &str, file: &str, kind: RuleKind, owner: Owner) -> Option<Vec<Rule>> {
    // A file that equals the embedded text has been read as that text.
    let is_embedded = std::ptr::eq(text, kind.embedded()) || text == kind.embedded();
    let (_, embedded) = EMBEDDED_RULES.iter().find(|(name, _)| *name == kind.name() && is_embedded)?;
    let file: Rc<str> = Rc::from(file);
    let rule = |rule: &EmbeddedRule| Rule {
        id: RuleId::known(rule.name),
        tier: rule.tier,
        kind,
        matcher: match (rule.validator, rule.does) {
            (Some(validator), _) => Matcher::Validator(validator),
            (None, []) => Matcher::Patterns(Cow::Borrowed(rule.patterns)),
            (None, does) => Matcher::Does(Cow::Borrowed(does)),
        },
        only_when: Cow::Borrowed(rule.only_when),
        except_when: Cow::Borrowed(rule.except_when),
        only_when_tainted: rule.only_when_tainted,
        reason: Cow::Borrowed(rule.reason),
        nudge: Cow::Borrowed(rule.nudge),
        examples: Cow::Borrowed(rule.examples),
        source: Source { file: Rc::clone(&file), line: rule.line },
        owner,
    };
    Some(embedded.iter().map(rule).collect())
}

#[cfg(test)]
#[path = "../../tests/unit/rules/embedded.rs"]
mod tests;
