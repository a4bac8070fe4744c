//! What holds for any file of rules; shared by the fuzzer and the test of what it found.

use rune::rules::{Matcher, Owner, Pattern, RuleKind, parse};

/// Panics if it does not hold for a file with this text.
pub fn holds(text: &str) {
    let (rules, errors) = parse(text, "f.rules", RuleKind::Bash, Owner::Operator);
    assert!(!rules.is_empty() || !errors.is_empty(), "a file without a rule is an error");
    let lines = text.split('\n').count();
    for error in &errors {
        assert!((1..=lines).contains(&error.line), "{error}");
    }
    for rule in &rules {
        assert!((1..=lines).contains(&rule.source.line));
        let proof: Vec<usize> = rule.hits().chain(rule.misses()).map(|example| example.line).collect();
        assert!(proof.iter().all(|line| (rule.source.line..=lines).contains(line)), "{proof:?}");
        let patterns = match &rule.matcher {
            Matcher::Patterns(patterns) => &**patterns,
            Matcher::Validator(_) | Matcher::Does(_) => &[],
        };
        for pattern in patterns.iter().chain(rule.only_when.iter()).chain(rule.except_when.iter()).take(8) {
            agrees(pattern, text);
        }
    }
    // The first line as a pattern, the rest as what it is matched with.
    let (pattern, text) = text.split_once('\n').unwrap_or((text, ""));
    agrees(&Pattern::new(pattern.to_owned()), text);
}

/// A pattern matches what the engine matches.
fn agrees(pattern: &Pattern, text: &str) {
    let text: String = text.chars().take(200).collect();
    let engine = regex_lite::RegexBuilder::new(pattern.as_str()).size_limit(1 << 20).build();
    match (engine, pattern.matches(&text)) {
        (Ok(engine), found) => assert_eq!(found, Ok(engine.is_match(&text)), "{pattern:?} {text:?}"),
        (Err(_), found) => assert!(found.is_err(), "{pattern:?} {text:?}"),
    }
}
