//! What holds for any file of rules; shared by the fuzzer and the test of what it found.

use rune::rules::{Initials, Kind, Matcher, Owner, Pattern, Rule, RuleError, Skim, parse};

/// Panics if it does not hold for a file with this text.
pub fn holds(text: &str) {
    let (rules, errors) = parse(text.to_owned(), "f.rules", Kind::Bash, Owner::Operator);
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
            Matcher::Validator(_) => &[],
        };
        for pattern in patterns.iter().chain(rule.only_when.iter()).chain(rule.except_when.iter()).take(8) {
            agrees(pattern, text);
        }
    }
    skims(text, &rules, &errors);
    // The first line as a pattern, the rest as what it is matched with.
    let (pattern, text) = text.split_once('\n').unwrap_or((text, ""));
    agrees(&Pattern::new(pattern), text);
}

/// What is passed over by who skims the file has nothing to do with the call, and nothing is wrong with the file.
fn skims(text: &str, rules: &[Rule], errors: &[RuleError]) {
    const CALL: &str = "git status";
    let skim = Skim::new("f.rules", Kind::Bash, Owner::Operator, Initials::default().with(CALL));
    let Some(found) = skim.finish(text.as_bytes()) else { return };
    assert_eq!(errors, []);
    let mut found = found.into_iter().peekable();
    for rule in rules {
        if found.next_if_eq(rule).is_some() {
            continue;
        }
        let idle = match &rule.matcher {
            Matcher::Patterns(patterns) => patterns.iter().all(|pattern| pattern.matches(CALL) == Ok(false)),
            Matcher::Validator(_) => false,
        };
        assert!(idle, "{rule:?} is passed over");
    }
    assert_eq!(found.next(), None);
}

/// The shortcut says what the engine says.
fn agrees(pattern: &Pattern, text: &str) {
    let text: String = text.chars().take(200).collect();
    let engine = regex_lite::RegexBuilder::new(pattern.as_str()).size_limit(1 << 20).build();
    match (engine, pattern.matches(&text)) {
        (Ok(engine), found) => assert_eq!(found, Ok(engine.is_match(&text)), "{pattern:?} {text:?}"),
        // A pattern that is none may be seen to have no chance before it is seen to be none, where only its size is
        // wrong.
        (Err(error), found) => assert!(found.is_err() || error.to_string().contains("size"), "{pattern:?} {text:?}"),
    }
}
