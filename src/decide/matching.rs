//! Compares rules with one subject.

use super::context::Context;
use super::repeated;
use super::subject::{MAX_SHOWN_CHARS, Subject, SubjectKind};
use super::typed;
use crate::encoding::escape;
use crate::encoding::label::Label;
use crate::event::Action;
use crate::policy::Exception;
use crate::quarantine::Namespace;
use crate::rules::{Groups, Match, Matcher, Owner, Pattern, PatternError, Rule, Tier};
use crate::verdict::failure::Failure;
use crate::verdict::{ExceptionUse, Finding, Remedy, RuleId, Verdict};

/// Adds the finding of the first rule that matches the subject, and a failure for each invalid pattern before it.
///
/// INVARIANT: rules are in order of their effects, strictest first, so no later rule would have a stricter finding.
pub(super) fn apply_rules(subject: &Subject<'_>, context: &Context<'_>, verdict: &mut Verdict) {
    for rule in context.applicable.candidates(subject) {
        verdict.charge(1);
        match compare(rule, subject, context) {
            Ok(Comparison::NoMatch) => {}
            Ok(Comparison::Excepted(exception)) => verdict.except(used(exception, rule)),
            Ok(Comparison::Match(matched)) => return verdict.add(finding(rule, &matched, subject, context)),
            Err(error) => verdict.add(invalid_pattern(rule, &error, context)),
        }
    }
}

/// How a rule compares with a subject.
enum Comparison<'a> {
    NoMatch,
    /// It matches, and an exception of the operator covers the subject.
    Excepted(&'a Exception),
    Match(Match),
}

/// Describes the use of an exception.
fn used(exception: &Exception, rule: &Rule) -> ExceptionUse {
    let Exception { id, reason, source, .. } = exception.clone();
    ExceptionUse { rule: rule.id.clone(), id, reason, source }
}

/// Compares a rule with a subject.
fn compare<'a>(rule: &Rule, subject: &Subject<'_>, context: &Context<'a>) -> Result<Comparison<'a>, PatternError> {
    let matched = match &rule.matcher {
        // A command that only prints its help does nothing that a pattern is about.
        Matcher::Patterns(_) if rule.owner == Owner::Operator && subject.only_helps() => None,
        Matcher::Patterns(patterns) => {
            matches_any(patterns, subject)?.then(|| Match { tier: rule.tier, reason: String::new() })
        }
        Matcher::Does(effects) => {
            // A function of the shell text hides the program of the same name.
            let is_function = |name: &str| context.reading().is_some_and(|reading| reading.functions.contains(name));
            let by_function =
                matches!(&subject.kind, SubjectKind::Command(command, _) if is_function(&command.program));
            let has_effect = !by_function && subject.has_effect(effects);
            has_effect.then(|| Match { tier: rule.tier, reason: String::new() })
        }
        // A `suspicious` rule takes every match of its validator, a `block` rule only those of tier `block`.
        Matcher::Validator(validator) => {
            let matched = subject.run_validator(*validator, context);
            matched.filter(|matched| rule.tier == Tier::Suspicious || matched.tier == Tier::Block)
        }
    };
    let Some(matched) = matched else { return Ok(Comparison::NoMatch) };
    if rule.only_when_tainted && typed::is_typed(subject, context) {
        return Ok(Comparison::NoMatch);
    }
    // Both lists are matched in every case, so that an invalid pattern in either is reported.
    let included = rule.only_when.is_empty() || matches_any(&rule.only_when, subject)?;
    let excluded = matches_any(&rule.except_when, subject)?;
    if !included || excluded {
        return Ok(Comparison::NoMatch);
    }
    Ok(exception(rule, subject, context)?.map_or(Comparison::Match(matched), Comparison::Excepted))
}

/// Whether the patterns of a rule match a passage of a result, outside of quotations and in a sentence that no
/// `except_when` pattern matches. Every further search is charged.
pub(super) fn matches_passage(
    rule: &Rule,
    subject: &Subject<'_>,
    context: &Context<'_>,
    charge: impl Fn(),
) -> Result<bool, PatternError> {
    let (Matcher::Patterns(patterns), SubjectKind::Passage(sentences)) = (&rule.matcher, &subject.kind) else {
        return Ok(matches!(compare(rule, subject, context)?, Comparison::Match(_)));
    };
    if !rule.only_when.is_empty() && !matches_any(&rule.only_when, subject)? {
        return Ok(false);
    }
    for (text, groups) in subject.texts() {
        for pattern in patterns.iter() {
            let mut from = 0;
            while let Some(found) = pattern.find_from(text, from, groups)? {
                let next = if let Some(quotation) = sentences.quotation(&found) {
                    quotation.end
                } else {
                    let around = sentences.around(&found);
                    let sentence = text.get(around.clone()).unwrap_or_default();
                    if !any_matches(rule.except_when.iter(), sentence, &Groups::find_in(sentence))? {
                        return Ok(exception(rule, subject, context)?.is_none());
                    }
                    around.end
                };
                let next = next.max(found.end);
                // An empty match must not be found again.
                let one_further = || (from + 1..=text.len()).find(|at| text.is_char_boundary(*at));
                from = if next > from { next } else { one_further().unwrap_or(text.len() + 1) };
                charge();
            }
        }
    }
    Ok(false)
}

/// The exception of the operator that covers the subject.
fn exception<'a>(
    rule: &Rule,
    subject: &Subject<'_>,
    context: &Context<'a>,
) -> Result<Option<&'a Exception>, PatternError> {
    for exception in &context.config.exceptions {
        // A project's rule may be named by its id or by the id that findings display.
        let is_named = exception.rule == rule.id.as_str()
            || rule.owner == Owner::Project && exception.rule == displayed_id(rule).as_str();
        if is_named
            && !exception.is_expired(context.event.facts.today)
            && (exception.patterns.is_empty() || matches_any(&exception.patterns, subject)?)
        {
            return Ok(Some(exception));
        }
    }
    Ok(None)
}

/// Whether the prefilter leaves something of a rule to match.
pub(super) fn may_match(rule: &Rule, subject: &Subject<'_>) -> bool {
    match &rule.matcher {
        Matcher::Validator(_) | Matcher::Does(_) => true,
        Matcher::Patterns(patterns) => {
            subject.texts().any(|(_, groups)| patterns.iter().any(|pattern| pattern.could_match(groups)))
        }
    }
}

/// Returns the cost of matching the patterns that the prefilter does not rule out, as a multiple of an ordinary pattern.
///
/// A rule of cost 0 does not match.
pub(super) fn cost(rule: &Rule, subject: &Subject<'_>) -> usize {
    match &rule.matcher {
        Matcher::Validator(_) | Matcher::Does(_) => 1,
        Matcher::Patterns(patterns) => {
            let candidates = |groups| patterns.iter().filter(move |pattern| pattern.could_match(groups));
            subject.texts().flat_map(|(_, groups)| candidates(groups)).map(Pattern::cost).sum()
        }
    }
}

/// Whether one of the patterns matches one of the texts of a subject.
fn matches_any(patterns: &[Pattern], subject: &Subject<'_>) -> Result<bool, PatternError> {
    // Only patterns with a `\|` are about pipelines; the others would match a single command of one.
    let piped = matches!(subject.kind, SubjectKind::Pipeline(_));
    for (text, groups) in subject.texts() {
        let patterns = patterns.iter().filter(|pattern| !piped || pattern.as_str().contains("\\|"));
        if any_matches(patterns, text, groups)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn any_matches<'p>(
    patterns: impl Iterator<Item = &'p Pattern>,
    text: &str,
    groups: &Groups,
) -> Result<bool, PatternError> {
    for pattern in patterns {
        if pattern.matches_with(text, groups)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Builds the finding of a rule that matched.
///
/// Answers reach the model with system authority and a project may be hostile, so the finding of a project's rule
/// contains no text of the project.
fn finding(rule: &Rule, matched: &Match, subject: &Subject<'_>, context: &Context<'_>) -> Finding {
    let effect = context.config.effect(rule);
    if rule.owner == Owner::Project {
        let reason = sentence(subject, context, "matches a rule of this project's own policy");
        return Finding::new(displayed_id(rule), effect, reason).at(rule.source.to_string());
    }
    let server = if let Action::Mcp { server, .. } = &context.event.action {
        let tool = context.event.tool.inspect("its server's name becomes a label");
        Label::new(Namespace::of_tool(tool, server.as_ref(), context.event, context.config).as_str())
    } else {
        Label::default()
    };
    let render = |template: &str| subject.render(template, &context.event.header.tool, &server);
    let templates = [&*matched.reason, &*rule.reason, "matches a rule of your policy"];
    let template = templates.into_iter().find(|template| !template.is_empty()).unwrap_or_default();
    let is_unknown_program =
        matches!(rule.matcher, Matcher::Validator(validator) if validator.name() == "UnknownExecutable");
    // The finding is about the program, whatever its arguments are.
    let mut reason = if let (SubjectKind::Command(command, _), true) = (&subject.kind, is_unknown_program) {
        format!("`{}` {}", escape::one_line(&command.program, MAX_SHOWN_CHARS), render(template))
    } else {
        sentence(subject, context, &render(template))
    };
    let taint = &context.event.facts.taint;
    let outbound = rule.only_when_tainted
        || matches!(rule.matcher, Matcher::Validator(validator) if validator.name() == "Exfiltration");
    if outbound && !taint.is_empty() {
        reason = format!("{reason}; {}", taint.summary());
    }
    let finding =
        Finding::new(rule.id.clone(), effect, reason).with_nudge(render(&rule.nudge)).at(rule.source.to_string());
    let finding = finding.about_subject(subject.texts().next().map(|(text, _)| text));
    let can_except = finding.subject().is_some() || is_unknown_program;
    let finding = if can_except && context.config.no_exception(rule).is_none() {
        finding.with_remedy(Remedy::Exception)
    } else {
        finding
    };
    match (&rule.matcher, &subject.kind) {
        (_, SubjectKind::Command(command, _)) if is_unknown_program => finding.about_program(command.program.as_str()),
        (Matcher::Validator(validator), SubjectKind::McpTool) if validator.name() == "McpWrite" => {
            finding.with_ask(repeated::write_ask(context.event))
        }
        _ => finding,
    }
}

/// A sentence about the subject: what it is, and what a rule or a validator says of it.
fn sentence(subject: &Subject<'_>, context: &Context<'_>, predicate: &str) -> String {
    subject.shown(context).map_or_else(|| predicate.to_owned(), |shown| format!("{shown} {predicate}"))
}

/// The id of a rule in findings. A project's rule is named by its line, because its id is text of the project.
pub(super) fn displayed_id(rule: &Rule) -> RuleId {
    match rule.owner {
        Owner::Operator => rule.id.clone(),
        Owner::Project => {
            let id = RuleId::named(&format!("project/rule-{}", rule.source.line));
            id.unwrap_or(RuleId::known("project/rule"))
        }
    }
}

/// Builds the finding for an invalid regular expression of a rule.
pub(super) fn invalid_pattern(rule: &Rule, error: &PatternError, context: &Context<'_>) -> Finding {
    let Rule { id, source, owner, .. } = rule;
    context.failure(&Failure::Config(match owner {
        Owner::Operator => format!("{source}: rule `{id}`: pattern `{}`: {}", error.pattern, error.message),
        Owner::Project => format!("the project's own policy has an invalid pattern in line {}", source.line),
    }))
}
