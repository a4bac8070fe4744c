//! Matching of one rule against one subject.

use super::subject::{Subject, Unit};
use super::validators::Scene;
use crate::rules::{Found, Groups, Matcher, Pattern, PatternError, Rule, Tier};

/// Whether it could find something in a unit of its kind, by the prefilter of its patterns.
pub(super) fn could_match(rule: &Rule, unit: &Unit<'_>) -> bool {
    match &rule.matcher {
        Matcher::Validator(_) => true,
        Matcher::Patterns(patterns) => {
            unit.texts().any(|(_, groups)| patterns.iter().any(|pattern| pattern.could_match(groups)))
        }
    }
}

/// The cost of matching those of its patterns that could match, in ordinary patterns; nothing where none could.
pub(super) fn cost(rule: &Rule, unit: &Unit<'_>) -> usize {
    match &rule.matcher {
        Matcher::Validator(_) => 1,
        Matcher::Patterns(patterns) => {
            let of = |groups| {
                patterns.iter().filter(|pattern| pattern.could_match(groups)).map(Pattern::cost).sum::<usize>()
            };
            unit.texts().map(|(_, groups)| of(groups)).sum()
        }
    }
}

/// What this rule finds in a unit of its kind.
pub(super) fn find(rule: &Rule, unit: &Unit<'_>, scene: &Scene<'_>) -> Result<Option<Found>, PatternError> {
    let found = match &rule.matcher {
        Matcher::Patterns(patterns) => {
            matches_any(patterns, unit)?.then(|| Found { tier: rule.tier, what: String::new() })
        }
        // What is certain is suspicious too; what is only suspicious is not certain.
        Matcher::Validator(validator) => {
            let found = unit.ask(*validator, scene);
            found.filter(|found| rule.tier == Tier::Suspicious || found.tier == Tier::Block)
        }
    };
    let Some(found) = found else { return Ok(None) };
    let wanted = rule.only_when.is_empty() || matches_any(&rule.only_when, unit)?;
    let excepted = match unit.subject {
        // What a passage is about is said before or behind it.
        Subject::Passage(around) => matches_in(&rule.except_when, around)?,
        Subject::Command(..)
        | Subject::Pipeline(_)
        | Subject::Line
        | Subject::Access(_)
        | Subject::File(_)
        | Subject::Page(_)
        | Subject::Mcp
        | Subject::Agent => matches_any(&rule.except_when, unit)?,
    };
    Ok((wanted && !excepted).then_some(found))
}

fn matches_in(patterns: &[Pattern], text: &str) -> Result<bool, PatternError> {
    let groups = Groups::of(text);
    for pattern in patterns {
        if pattern.matches_with(text, &groups)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a pattern matches one of the texts of a unit.
pub(super) fn matches_any(patterns: &[Pattern], unit: &Unit<'_>) -> Result<bool, PatternError> {
    // A pattern that says nothing of a pipe means one command.
    let piped = matches!(unit.subject, Subject::Pipeline(_));
    for (text, groups) in unit.texts() {
        for pattern in patterns.iter().filter(|pattern| !piped || pattern.as_str().contains("\\|")) {
            if pattern.matches_with(text, groups)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
