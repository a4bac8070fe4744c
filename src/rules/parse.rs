//! Parses `.rules` files into rules.

use super::embedded;
use super::syntax::{self, Checks, RuleText, SyntaxError, suggest};
use super::{Example, Matcher, NamedEffect, Owner, Pattern, Rule, RuleKind, Source, Tier, ValidatorId};
use crate::verdict::RuleId;
use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;

/// A rule that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The file.
    pub file: Rc<str>,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    message: String,
    help: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RuleError { file, line, column, message, help } = self;
        write!(f, "{file}:{line}:{column}: {message}")?;
        if help.is_empty() { Ok(()) } else { write!(f, "\n  help: {help}") }
    }
}

/// Parses a file, and returns its rules and its errors. A file without a rule is an error, because it would replace
/// the embedded rules by nothing.
///
/// A text that equals the embedded one of its kind is not parsed again.
pub fn parse(text: impl AsRef<str>, file: &str, kind: RuleKind, owner: Owner) -> (Vec<Rule>, Vec<RuleError>) {
    let text = text.as_ref();
    match embedded::rules(text, file, kind, owner) {
        Some(rules) => (rules, Vec::new()),
        None => parse_text(text, file, kind, owner),
    }
}

/// Parses any text.
pub(super) fn parse_text(text: &str, file: &str, kind: RuleKind, owner: Owner) -> (Vec<Rule>, Vec<RuleError>) {
    let id = |name: &str| match owner {
        Owner::Operator => RuleId::named(name),
        Owner::Project => RuleId::of_project(name),
    };
    let checks = Checks { name: &|name| id(name).map(drop), validator: &check_validator };
    let (texts, mut errors) = syntax::parse(text, &checks);
    let file: Rc<str> = Rc::from(file);
    let rule = |rule: RuleText<'_>| Rule {
        id: id(rule.name).unwrap_or(RuleId::known("unnamed")),
        tier: rule.tier,
        kind,
        matcher: matcher(&rule, kind),
        only_when: patterns(&rule.only_when, kind),
        except_when: patterns(&rule.except_when, kind),
        only_when_tainted: rule.only_when_tainted,
        reason: Cow::Owned(rule.reason.to_owned()),
        nudge: Cow::Owned(rule.nudge.to_owned()),
        examples: rule.examples.iter().map(example).collect(),
        source: Source { file: Rc::clone(&file), line: rule.line },
        owner,
    };
    let mut rules = texts.into_iter().map(rule).collect();
    errors.extend(remove_duplicates(&mut rules));
    errors.sort_by_key(|error| error.line);
    if rules.is_empty() && errors.is_empty() {
        let (message, help) = ("there is no rule in this file", "delete the file to get the default rules");
        errors.push(SyntaxError { line: 1, column: 1, message: message.to_owned(), help: help.to_owned() });
    }
    let error =
        |SyntaxError { line, column, message, help }| RuleError { file: Rc::clone(&file), line, column, message, help };
    (rules, errors.into_iter().map(error).collect())
}

fn check_validator(name: &str) -> Result<(), String> {
    ValidatorId::from_name(name).map(drop).ok_or_else(|| suggest(name, ValidatorId::names()))
}

fn matcher(rule: &RuleText<'_>, kind: RuleKind) -> Matcher {
    if !rule.does.is_empty() {
        return Matcher::Does(rule.does.iter().filter_map(|name| NamedEffect::from_name(name)).collect());
    }
    let validator = rule.validator.and_then(ValidatorId::from_name);
    validator.map_or_else(|| Matcher::Patterns(patterns(&rule.patterns, kind)), Matcher::Validator)
}

fn patterns(texts: &[Cow<'_, str>], kind: RuleKind) -> Cow<'static, [Pattern]> {
    let pattern = |text: &Cow<'_, str>| match kind {
        RuleKind::Post => Pattern::for_results(text.clone().into_owned()),
        RuleKind::Bash | RuleKind::Edit | RuleKind::Read | RuleKind::Mcp | RuleKind::Agent => {
            Pattern::new(text.clone().into_owned())
        }
    };
    texts.iter().map(pattern).collect()
}

fn example((expected, line, text): &(syntax::Expected, usize, &str)) -> Example {
    Example { expected: *expected, line: *line, text: Cow::Owned((*text).to_owned()) }
}

/// Removes every rule that has the name of an earlier one.
fn remove_duplicates(rules: &mut Vec<Rule>) -> Vec<SyntaxError> {
    let mut order: Vec<&Rule> = rules.iter().collect();
    // The sort is stable, so rules with one name stay in the order of their lines.
    order.sort_by(|one, other| one.id.as_str().cmp(other.id.as_str()));
    let pairs = order.iter().zip(order.iter().skip(1)).filter(|(first, second)| first.id == second.id);
    let error = |(first, second): (&&Rule, &&Rule)| SyntaxError {
        line: second.source.line,
        column: if second.tier == Tier::Block { 7 } else { 12 },
        message: format!("a second rule named `{}`", second.id),
        help: format!("the first one is on line {}", first.source.line),
    };
    let errors: Vec<SyntaxError> = pairs.map(error).collect();
    rules.retain(|rule| !errors.iter().any(|error| error.line == rule.source.line));
    errors
}

#[cfg(test)]
#[path = "../../tests/unit/rules/parse.rs"]
mod tests;
