//! Unit tests of `src/encoding/escape.rs`.

use super::*;
use proptest::prelude::*;

#[test]
fn ordinary_text_is_unchanged() {
    for text in [
        "",
        "git commit -m \"it's done\" && echo 'a\\b' > $HOME/x",
        "src/über/日本語/Приве́т.txt",
        "नमस्ते",
        "cafe\u{301}",
        "🙂",
    ] {
        assert_eq!(one_line(text, 200), text);
    }
}

#[test]
fn deceptive_characters_are_escaped() {
    for (text, expected) in [
        ("a\nrune: allowed", r"a\nrune: allowed"),
        ("\u{1b}[31mred\u{7}", r"\u{1b}[31mred\u{7}"),
        ("a` rune says `b", r"a\u{60} rune says \u{60}b"),
        ("\u{202e}txt.exe", r"\u{202e}txt.exe"),
        ("a\u{200b}b\u{feff}c\u{ad}d", r"a\u{200b}b\u{feff}c\u{ad}d"),
        ("a\u{2028}b\u{85}c\u{a0}d\u{3000}e", r"a\u{2028}b\u{85}c\u{a0}d\u{3000}e"),
        ("\u{e0041}\u{fe0f}\u{3164}\u{2800}", r"\u{e0041}\u{fe0f}\u{3164}\u{2800}"),
        ("\u{301}x", r"\u{301}x"),
        ("e\u{301}\u{301}\u{301}", "e\u{301}\u{301}\\u{301}"),
    ] {
        assert_eq!(one_line(text, 200), expected, "{text:?}");
    }
}

#[test]
fn a_long_text_is_truncated_but_not_within_an_escape() {
    assert_eq!(one_line("abcdef", 6), "abcdef");
    assert_eq!(one_line("abcdefg", 6), "abcdef…");
    assert_eq!(one_line("ééééééé", 6), "éééééé…");
    assert_eq!(one_line("abc\u{1b}d", 6), "abc…");
    assert_eq!(one_line("abcd\nef", 6), r"abcd\n…");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_line_is_one_line_of_limited_length(text in "\\PC{0,300}|[\\x00-\\xff\u{2028}\u{202e}\u{200b}]{0,300}") {
        let shown = one_line(&text, 50);
        prop_assert!(shown.chars().count() <= 51, "{shown:?}");
        prop_assert!(!shown.chars().any(|c| c.is_control() || c == '`' || c.is_whitespace() && c != ' '), "{shown:?}");
    }
}
