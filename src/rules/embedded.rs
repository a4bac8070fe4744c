//! The embedded rules, as the build script has parsed them.

use super::example::Example;
use super::syntax::Expected;
use super::{Matcher, Owner, Pattern, Rule, RuleKind, Source, Tier, ValidatorId};
use crate::verdict::RuleId;
use std::borrow::Cow;
use std::rc::Rc;

/// An embedded rule.
struct EmbeddedRule {
    tier: Tier,
    name: &'static str,
    line: usize,
    validator: Option<ValidatorId>,
    patterns: &'static [Pattern],
    only_when: &'static [Pattern],
    except_when: &'static [Pattern],
    only_when_tainted: bool,
    nudge: &'static str,
    examples: &'static [Example],
}

// `RULES`: the rules of every embedded file, by the name of their kind.
include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// The rules of a file whose text is the embedded one of its kind.
pub(super) fn rules(text: &str, file: &str, kind: RuleKind, owner: Owner) -> Option<Vec<Rule>> {
    let (_, rows) = RULES.iter().find(|(name, _)| *name == kind.name() && text == kind.embedded())?;
    let file: Rc<str> = Rc::from(file);
    let rule = |row: &EmbeddedRule| Rule {
        id: RuleId::known(row.name),
        tier: row.tier,
        kind,
        matcher: row.validator.map_or(Matcher::Patterns(Cow::Borrowed(row.patterns)), Matcher::Validator),
        only_when: Cow::Borrowed(row.only_when),
        except_when: Cow::Borrowed(row.except_when),
        only_when_tainted: row.only_when_tainted,
        nudge: Cow::Borrowed(row.nudge),
        examples: Cow::Borrowed(row.examples),
        source: Source { file: Rc::clone(&file), line: row.line },
        owner,
    };
    Some(rows.iter().map(rule).collect())
}

#[cfg(test)]
#[path = "../../tests/unit/rules/embedded.rs"]
mod tests;
