//! Unit tests of `src/rules/literal.rs`.

use super::*;
use proptest::prelude::*;
use regex_lite::Regex;

fn literal(pattern: &str) -> &str {
    pattern.get(required(pattern)).unwrap()
}

#[test]
fn the_longest_literal_outside_of_groups_is_required() {
    for (pattern, expected) in [
        ("^(deploy|release)-7\\b.* --(force|yes)( |$)", " --"),
        ("terraform (destroy|apply)", "terraform "),
        ("^make\\.sh deploys?$", "sh deploy"),
        ("colou*r+s", "colo"),
        ("a*b?(cd)+", ""),
        ("publish|deploy", ""),
        ("(?i)publish", ""),
        ("publish [a-z]", ""),
        ("publish(", ""),
        ("publish**", ""),
        ("publish\\b{start}", ""),
        ("publish\\x41", ""),
        ("veröffentliche", ""),
    ] {
        assert_eq!(literal(pattern), expected, "{pattern}");
    }
}

#[test]
fn a_long_or_deep_pattern_has_no_literal() {
    assert_eq!(literal(&"x".repeat(MAX_BYTES + 1)), "");
    let nested = |depth: usize| format!("x{}y{}", "((?:a|".repeat(depth / 2), ")*)*".repeat(depth / 2));
    assert_eq!(literal(&nested(MAX_DEPTH)), "x");
    assert!(Regex::new(&nested(MAX_DEPTH)).is_ok());
    assert_eq!(literal(&nested(MAX_DEPTH + 2)), "");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_pattern_with_a_literal_is_valid_and_does_not_match_without_it(
        pattern in "([ab|()^$.*+?{}\\\\-]{0,9}|(a|b|ab|\\.|\\^|\\$|\\||\\(|\\)|\\*|\\?|\\+|\\{2\\}|\\(\\?:|\\\\b|\\\\w|\\\\\\.|\\\\\\(|\\[ab\\]| ){0,9})",
        text in "[ab(. é]{0,7}",
    ) {
        let literal = literal(&pattern);
        let regex = Regex::new(&pattern);
        prop_assert!(literal.is_empty() || regex.is_ok(), "{pattern:?}");
        if let Ok(regex) = regex {
            prop_assert!(text.contains(literal) || !regex.is_match(&text), "{pattern:?} {text:?}");
        }
    }
}
