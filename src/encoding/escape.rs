//! Texts of untrusted origin in answers and on terminals: shown as they are, on one line, without anything hidden.

use std::borrow::Cow;

/// Combining marks that may follow one character; more of them would cover the lines around.
const MAX_MARKS: usize = 2;

/// Characters that Rust counts as printable although nothing is seen of them: fillers, joiners, variation selectors.
const INVISIBLE: [(char, char); 10] = [
    ('\u{034f}', '\u{034f}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{e0100}', '\u{e01ef}'),
];

/// The text on one line, with unsafe characters escaped, and cut to at most `max_chars` characters and a `…`.
///
/// Escaped are control characters (`\n`, `\u{1b}`), format characters such as bidi controls, every white space but the
/// plain blank, what is invisible, and backticks: a text that stands in backticks cannot end them. Quotes and
/// backslashes stay as they are, so the original cannot always be restored.
///
/// ```
/// # use rune::escape::one_line;
/// assert_eq!(one_line("src/deep dir/secret.txt", 200), "src/deep dir/secret.txt");
/// assert_eq!(one_line("a`\n\u{202e}b", 200), r"a\u{60}\n\u{202e}b");
/// assert_eq!(one_line("echo one two", 8), "echo one…");
/// ```
pub fn one_line(text: &str, max_chars: usize) -> Cow<'_, str> {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'`';
    if text.len() <= max_chars && text.as_bytes().iter().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    let (mut length, mut marks) = (0, 0);
    for c in text.chars() {
        let mark = is_mark(c);
        marks = if mark { marks + 1 } else { 0 };
        let whole = c != '`' && !is_invisible(c) && marks <= MAX_MARKS && (mark || is_shown(c));
        // A mark needs something to stand on.
        let whole = whole && (!mark || !shown.is_empty());
        let mut piece = String::new();
        match c {
            _ if whole => piece.push(c),
            '\n' | '\r' | '\t' => piece.extend(c.escape_default()),
            _ => piece.extend(c.escape_unicode()),
        }
        // An escape is shown whole or not at all.
        let more = piece.chars().count();
        if length + more > max_chars {
            shown.push('…');
            break;
        }
        length += more;
        shown.push_str(&piece);
    }
    Cow::Owned(shown)
}

/// Whether Rust counts it as printable; quotes and backslashes are escaped there only as part of a literal.
fn is_shown(c: char) -> bool {
    matches!(c, '\'' | '"' | '\\') || c.escape_debug().eq([c])
}

/// Whether it changes the character before it: escaped alone, and not behind another character.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && !c.escape_debug().eq([c]) && String::from_iter(['a', c]).escape_debug().eq(['a', c])
}

fn is_invisible(c: char) -> bool {
    INVISIBLE.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

/// Characters that nobody sees, or that change what others look like.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // A line of another system ends so.
        '\r' => true,
        _ if c.is_control() => true,
        _ if c.is_ascii() => false,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordinary_texts_are_shown_as_they_are() {
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
    fn what_could_hide_or_imitate_is_escaped() {
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
    fn a_long_text_is_cut_visibly_and_never_within_an_escape() {
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert_eq!(one_line("abcdefg", 6), "abcdef…");
        assert_eq!(one_line("ééééééé", 6), "éééééé…");
        assert_eq!(one_line("abc\u{1b}d", 6), "abc…");
        assert_eq!(one_line("abcd\nef", 6), r"abcd\n…");
    }

    proptest! {
        #[test]
        fn one_line_is_one_line_of_limited_length(text in "\\PC{0,300}|[\\x00-\\xff\u{2028}\u{202e}\u{200b}]{0,300}") {
            let shown = one_line(&text, 50);
            prop_assert!(shown.chars().count() <= 51, "{shown:?}");
            prop_assert!(!shown.chars().any(|c| c.is_control() || c == '`' || c.is_whitespace() && c != ' '), "{shown:?}");
        }
    }
}
