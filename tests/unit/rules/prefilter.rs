use super::bucket::{EDGE, END, START, is_word};
use super::*;
use proptest::prelude::*;
use regex_lite::Regex;

/// Whether a text contains a literal, position by position.
fn contains(text: &str, literal: &[u8]) -> bool {
    let text = text.to_ascii_lowercase().into_bytes();
    (0..=text.len()).any(|start| {
        let (before, rest) = text.split_at(start);
        let mut rest = rest.iter();
        literal.iter().enumerate().all(|(at, byte)| match *byte {
            START => before.is_empty(),
            END => rest.as_slice().is_empty(),
            EDGE if at == 0 => before.last().is_none_or(|byte| !is_word(*byte)),
            EDGE => rest.as_slice().first().is_none_or(|byte| !is_word(*byte)),
            _ => rest.next() == Some(byte),
        })
    })
}

/// A literal with its marks.
fn marked(literal: &Literal) -> Vec<u8> {
    let marks = |mark: u8| (mark != 0).then_some(mark);
    marks(literal.left).into_iter().chain(literal.text.iter().copied()).chain(marks(literal.right)).collect()
}

fn allows(pattern: &str, text: &str) -> bool {
    let groups = literals::all_groups(pattern);
    groups.iter().all(|group| group.iter().any(|literal| contains(text, literal)))
}

#[test]
fn a_pattern_requires_the_literals_of_its_syntax_tree() {
    for (pattern, expected) in [
        ("^git push\\b.* --force( |$)", vec![" --force |", " --force>|", "<git push^|"]),
        ("(npm|yarn) publish", vec!["npm publish|", "yarn publish|"]),
        ("\\b(ai|llms?)\\b", vec!["^ai^|", "^llm^|", "^llms^|"]),
        ("(?i)SUDO", vec!["sudo|"]),
        ("a+bcd(efg){2}", vec!["bcd|", "efg|"]),
        ("^[0-9]+$", vec![]),
        ("abc|d", vec![]),
        ("(abc)?(def)*", vec![]),
    ] {
        let mark = |byte: &u8| match *byte {
            START => '<',
            END => '>',
            EDGE => '^',
            byte => char::from(byte),
        };
        let text = |literal: &Vec<u8>| literal.iter().map(mark).chain(['|']).collect::<String>();
        let mut found: Vec<String> = literals::required(pattern).iter().flatten().map(text).collect();
        found.sort();
        assert_eq!(found, expected, "{pattern}");
    }
}

#[test]
fn the_table_finds_what_a_search_position_by_position_finds() {
    let literals: Vec<&Literal> = LITERALS.iter().step_by(7).collect();
    for literal in &literals {
        let bare: String = literal.text.iter().filter(|byte| byte.is_ascii()).map(|byte| char::from(*byte)).collect();
        for text in
            [bare.clone(), format!(" {bare} "), format!("x{bare}y"), bare.to_ascii_uppercase(), format!("é{bare}é")]
        {
            let groups = Groups::find_in(&text);
            for other in literals.iter().step_by(50).chain([literal]) {
                let found = contains(&text, &marked(other));
                assert!(!found || groups.contain_all(other.groups), "{text:?} {}", other.text.escape_ascii());
            }
            let in_call = Groups::find_in_call(&text);
            for group in 0..CALL_GROUPS {
                assert_eq!(in_call.contain_all(&[group]), groups.contain_all(&[group]), "{text:?} {group}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_match_lacks_a_required_literal(
        pattern in "(\\(\\?i\\))?([ab|()^$.*+?\\[\\]{}\\\\-]{0,8}|(a|b|k|S|ab|é|[ab]|\\.|\\^|\\$|\\||\\(|\\)|\\*|\\?|\\+|\\{2\\}|\\(\\?:|\\\\b|\\\\B|\\\\w|\\[ab\\]|\\[Kk\\]|\\[\\^a\\]|\\\\xe9| ){0,9})",
        text in "[abABkKsS|é ſK]{0,7}",
    ) {
        if let Ok(regex) = Regex::new(&pattern) {
            prop_assert!(allows(&pattern, &text) || !regex.is_match(&text), "{pattern:?} {text:?}");
        }
    }
}
