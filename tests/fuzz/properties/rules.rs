//! Properties of rule files, shared by the fuzzer and the test of its stored inputs.

use rune::rules::{Matcher, Owner, Pattern, RuleKind, parse};

/// Panics if a property does not hold for a rule file with this text.
pub fn check(text: &str) {
    let (rules, errors) = parse(text, "f.rules", RuleKind::Bash, Owner::Operator);
    assert!(!rules.is_empty() || !errors.is_empty(), "a file without rules must be an error");
    let lines = text.split('\n').count();
    for error in &errors {
        assert!((1..=lines).contains(&error.line), "{error}");
    }
    for rule in &rules {
        assert!((1..=lines).contains(&rule.source.line));
        let examples: Vec<usize> = rule.hits().chain(rule.misses()).map(|example| example.line).collect();
        assert!(examples.iter().all(|line| (rule.source.line..=lines).contains(line)), "{examples:?}");
        let patterns = match &rule.matcher {
            Matcher::Patterns(patterns) => &**patterns,
            Matcher::Validator(_) | Matcher::Does(_) => &[],
        };
        for pattern in patterns.iter().chain(rule.only_when.iter()).chain(rule.except_when.iter()).take(8) {
            check_pattern(pattern, text);
        }
    }
    // The first line is also used as a pattern for the rest.
    let (pattern, text) = text.split_once('\n').unwrap_or((text, ""));
    check_pattern(&Pattern::new(pattern.to_owned()), text);
}

/// A pattern with its prefilter matches what the regex engine matches.
fn check_pattern(pattern: &Pattern, text: &str) {
    let text: String = text.chars().take(200).collect();
    let engine = regex_lite::RegexBuilder::new(pattern.as_str()).size_limit(1 << 20).build();
    match (engine, pattern.matches(&text)) {
        (Ok(engine), found) => assert_eq!(found, Ok(engine.is_match(&text)), "{pattern:?} {text:?}"),
        (Err(_), found) => assert!(found.is_err(), "{pattern:?} {text:?}"),
    }
}
