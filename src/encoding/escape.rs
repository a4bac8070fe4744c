//! Escapes untrusted text for answers and terminals.

use std::borrow::Cow;

/// Combining marks that may follow one character. More would cover the adjacent lines.
const MAX_MARKS: usize = 2;

/// Escapes unsafe characters, so that the text stays on one line, and truncates it to `max_chars` characters and a `…`.
///
/// Escapes control characters (`\n`, `\u{1b}`), format characters such as bidi controls, all white space except the space,
/// invisible characters, and backticks, so that a text in backticks cannot end them. Quotes and backslashes are not escaped,
/// so the original cannot always be restored.
///
/// ```
/// # use rune::encoding::escape::one_line;
/// assert_eq!(one_line("src/deep dir/secret.txt", 200), "src/deep dir/secret.txt");
/// assert_eq!(one_line("a`\n\u{202e}b", 200), r"a\u{60}\n\u{202e}b");
/// assert_eq!(one_line("echo one two", 8), "echo one…");
/// ```
pub fn one_line(text: &str, max_chars: usize) -> Cow<'_, str> {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'`';
    if text.len() <= max_chars && text.as_bytes().iter().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    let (mut length, mut marks) = (0, 0);
    for c in text.chars() {
        // Almost all characters.
        if matches!(c, ' '..='~') && c != '`' && length < max_chars {
            shown.push(c);
            (length, marks) = (length + 1, 0);
            continue;
        }
        let mark = is_mark(c);
        marks = if mark { marks + 1 } else { 0 };
        let is_safe = c != '`' && !is_hidden(c) && marks <= MAX_MARKS && (mark || is_printable(c));
        // A combining mark needs a base character.
        let is_safe = is_safe && (!mark || !shown.is_empty());
        let mut piece = String::new();
        match c {
            _ if is_safe => piece.push(c),
            '\n' | '\r' | '\t' => piece.extend(c.escape_default()),
            _ => piece.extend(c.escape_unicode()),
        }
        // An escape sequence is not truncated.
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

/// Whether Rust counts a character as printable. `escape_debug` also escapes quotes and backslashes, which are printable.
fn is_printable(c: char) -> bool {
    matches!(c, '\'' | '"' | '\\') || c.escape_debug().eq([c])
}

/// Whether a character is a combining mark: `escape_debug` escapes it at the start of a text and not after a character.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && !c.escape_debug().eq([c]) && String::from_iter(['a', c]).escape_debug().eq(['a', c])
}

/// Whether a character is invisible or changes how others are displayed.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
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
