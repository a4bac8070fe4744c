//! Matching of one rule against one subject.

use super::subject::{Subject, SubjectKind};
use super::validators::Context;
use crate::rules::{Groups, Match, Matcher, Pattern, PatternError, Rule, Tier};

/// Whether it could find something in a unit of its kind, by the prefilter of its patterns.
pub(super) fn could_match(rule: &Rule, subject: &Subject<'_>) -> bool {
    match &rule.matcher {
        Matcher::Validator(_) => true,
        Matcher::Patterns(patterns) => {
            subject.texts().any(|(_, groups)| patterns.iter().any(|pattern| pattern.could_match(groups)))
        }
    }
}

/// The cost of matching those of its patterns that could match, in ordinary patterns; nothing where none could.
pub(super) fn cost(rule: &Rule, subject: &Subject<'_>) -> usize {
    match &rule.matcher {
        Matcher::Validator(_) => 1,
        Matcher::Patterns(patterns) => {
            let of = |groups| {
                patterns.iter().filter(|pattern| pattern.could_match(groups)).map(Pattern::cost).sum::<usize>()
            };
            subject.texts().map(|(_, groups)| of(groups)).sum()
        }
    }
}

/// What this rule finds in a unit of its kind.
pub(super) fn find(rule: &Rule, subject: &Subject<'_>, context: &Context<'_>) -> Result<Option<Match>, PatternError> {
    let found = match &rule.matcher {
        Matcher::Patterns(patterns) => {
            matches_any(patterns, subject)?.then(|| Match { tier: rule.tier, what: String::new() })
        }
        // What is certain is suspicious too; what is only suspicious is not certain.
        Matcher::Validator(validator) => {
            let found = subject.ask(*validator, context);
            found.filter(|found| rule.tier == Tier::Suspicious || found.tier == Tier::Block)
        }
    };
    let Some(found) = found else { return Ok(None) };
    let wanted = rule.only_when.is_empty() || matches_any(&rule.only_when, subject)?;
    let excepted = match subject.subject {
        // What a passage is about is said before or behind it.
        SubjectKind::Passage(around) => matches_in(&rule.except_when, around)?,
        SubjectKind::Command(..)
        | SubjectKind::Pipeline(_)
        | SubjectKind::Line
        | SubjectKind::Access(_)
        | SubjectKind::File(_)
        | SubjectKind::Page(_)
        | SubjectKind::Mcp
        | SubjectKind::Agent => matches_any(&rule.except_when, subject)?,
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
pub(super) fn matches_any(patterns: &[Pattern], subject: &Subject<'_>) -> Result<bool, PatternError> {
    // A pattern that says nothing of a pipe means one command.
    let piped = matches!(subject.subject, SubjectKind::Pipeline(_));
    for (text, groups) in subject.texts() {
        for pattern in patterns.iter().filter(|pattern| !piped || pattern.as_str().contains("\\|")) {
            if pattern.matches_with(text, groups)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
