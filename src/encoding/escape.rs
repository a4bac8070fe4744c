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
/// # use rune::encoding::escape::one_line;
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
#[path = "../../tests/unit/encoding/escape.rs"]
mod tests;
