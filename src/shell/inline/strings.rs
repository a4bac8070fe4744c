//! Strings: their escapes, and the values that are interpolated in them.

use super::Language;
use super::token::{Piece, Token};
use std::str::CharIndices;

/// Stands for a character that an escape names in a way that is not decoded: `\N{TILDE}`.
const UNKNOWN_CHARACTER: char = '\u{f8ff}';

/// Which escapes a string has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escapes {
    /// A backslash only keeps a quote from ending the string.
    None,
    /// `\176` is a number with octal digits.
    Octal,
    /// `\126` is a decimal number.
    Decimal,
}

impl Escapes {
    /// The escapes of a string with this quote; `is_raw` if its prefix switches them off.
    pub fn of(language: Language, quote: char, is_raw: bool) -> Escapes {
        let is_plain = quote == '\'' && matches!(language, Language::Perl | Language::Ruby | Language::Php);
        if language == Language::Lua {
            Escapes::Decimal
        } else if is_plain || is_raw {
            Escapes::None
        } else {
            Escapes::Octal
        }
    }
}

/// Returns the text up to `close` with its escapes decoded, and its length in the source with `close`.
pub(super) fn string(rest: &str, close: &str, escapes: Escapes) -> (String, usize) {
    let mut text = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        if rest.get(at..).is_some_and(|rest| rest.starts_with(close)) {
            return (text, at + close.len());
        }
        if c != '\\' {
            text.push(c);
            continue;
        }
        let Some((_, c)) = chars.next() else { break };
        if escapes == Escapes::None {
            if c != '\\' && !close.starts_with(c) {
                text.push('\\');
            }
            text.push(c);
            continue;
        }
        match c {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            '\n' => {}
            'x' => decode(&mut text, &mut chars, 2),
            'u' => decode(&mut text, &mut chars, 4),
            'U' => decode(&mut text, &mut chars, 8),
            'N' | 'o' if chars.as_str().starts_with('{') => {
                text.push(UNKNOWN_CHARACTER);
                let length = chars.as_str().find(['}', '"', '\'']).map_or(0, |end| end + 1);
                skip(&mut chars, length);
            }
            '0'..='9' => decode_number(&mut text, &mut chars, c, escapes),
            // Swift interpolates with `\(…)`.
            '(' => text.push_str("\\("),
            c => text.push(c),
        }
    }
    (text, rest.len())
}

fn skip(chars: &mut CharIndices<'_>, bytes: usize) {
    let left = chars.as_str().len().saturating_sub(bytes);
    while chars.as_str().len() > left && chars.next().is_some() {}
}

/// Decodes a character by its hexadecimal number of at most this many digits, or between braces: `\x7e`, `\x{7e}`.
fn decode(text: &mut String, chars: &mut CharIndices<'_>, digits: usize) {
    let rest = chars.as_str();
    let (hex, length) = match rest.strip_prefix('{') {
        Some(inner) => {
            let end = inner.find('}').unwrap_or(inner.len().min(8));
            (inner.get(..end).unwrap_or_default(), end + 2)
        }
        None => {
            let end = rest.char_indices().take(digits).take_while(|(_, c)| c.is_ascii_hexdigit()).count();
            (rest.get(..end).unwrap_or_default(), end)
        }
    };
    if let Some(c) = u32::from_str_radix(hex.trim(), 16).ok().and_then(char::from_u32) {
        text.push(c);
        skip(chars, length);
    }
}

/// Decodes a character by its number of at most three digits.
fn decode_number(text: &mut String, chars: &mut CharIndices<'_>, first: char, escapes: Escapes) {
    let radix = if escapes == Escapes::Decimal { 10 } else { 8 };
    let more = chars.as_str().chars().take(2).take_while(|c| c.is_digit(radix)).count();
    let digits: String = std::iter::once(first).chain(chars.as_str().chars().take(more)).collect();
    match u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32) {
        Some(c) => {
            text.push(c);
            skip(chars, more);
        }
        None => text.push(first),
    }
}

/// The same as `string` for one in which an interpolated value may contain quotes.
pub(super) fn interpolated_string(language: Language, rest: &str, close: &str, escapes: Escapes) -> (String, usize) {
    let mark = match (language, close) {
        (Language::Ruby | Language::Elixir, "\"" | "\"\"\"" | "`") => "#{",
        (Language::Node, "`") => "${",
        _ => return string(rest, close, escapes),
    };
    let mut length = 0;
    let mut text = String::new();
    loop {
        let part = rest.get(length..).unwrap_or_default();
        // The next value before the end of the string.
        let Some(start) = next_value(part, mark, close) else { break };
        let end = start + mark.len();
        let end = end + balanced_end(part.get(end..).unwrap_or_default(), '{', '}') + 1;
        let (before, _) = string(part.get(..start).unwrap_or_default(), "\u{0}", escapes);
        text.push_str(&before);
        text.push_str(part.get(start..end.min(part.len())).unwrap_or_default());
        length += end.min(part.len());
    }
    let (last, more) = string(rest.get(length..).unwrap_or_default(), close, escapes);
    (text + &last, length + more)
}

/// Where the next interpolated value begins, if it does before the end of the string.
fn next_value(part: &str, mark: &str, close: &str) -> Option<usize> {
    let mut chars = part.char_indices();
    while let Some((at, c)) = chars.next() {
        let rest = part.get(at..).unwrap_or_default();
        if c == '\\' {
            chars.next();
        } else if rest.starts_with(close) {
            return None;
        } else if rest.starts_with(mark) {
            return Some(at);
        }
    }
    None
}

/// Where the bracket ends whose content a text begins with.
pub(super) fn balanced_end(text: &str, open: char, close: char) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == close {
            if depth == 0 {
                return at;
            }
            depth -= 1;
        } else if c == open {
            depth += 1;
        }
    }
    text.len()
}

/// How a string marks interpolated values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Interpolation {
    None,
    /// `{x}`
    Brace,
    /// `#{x}`
    Hash,
    /// `$x`, `${x}`, `{$x}`, `$x{y}`, `@{[x]}`
    Dollar,
    /// `${x}`
    DollarBrace,
}

pub(super) fn interpolation(language: Language, quote: char, formatted: bool) -> Interpolation {
    let plain = quote == '\'';
    match language {
        Language::Perl | Language::Php | Language::Other if !plain => Interpolation::Dollar,
        Language::Ruby | Language::Elixir if !plain => Interpolation::Hash,
        Language::Node if quote == '`' => Interpolation::DollarBrace,
        Language::Python if formatted => Interpolation::Brace,
        Language::Perl
        | Language::Php
        | Language::Other
        | Language::Source
        | Language::Ruby
        | Language::Elixir
        | Language::Node
        | Language::Python
        | Language::Awk
        | Language::Lua
        | Language::Sed
        | Language::Lisp
        | Language::Sql => Interpolation::None,
    }
}

/// Splits a text at its interpolated values, and at characters that are not known.
pub(super) fn pieces(text: String, interpolation: Interpolation) -> Vec<Piece> {
    let (mark, open) = match interpolation {
        Interpolation::None => ("\u{f8ff}", "\u{f8ff}"),
        Interpolation::Brace => ("{", "{"),
        Interpolation::Hash => ("#", "#{"),
        Interpolation::DollarBrace => ("$", "${"),
        Interpolation::Dollar => ("$", ""),
    };
    if !text.contains(mark) && !text.contains([UNKNOWN_CHARACTER, '@']) && !text.contains("\\(") {
        return vec![Piece::Text(text)];
    }
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        if interpolation == Interpolation::Brace && rest.starts_with("{{") {
            plain.push('{');
            rest = rest.get(2..).unwrap_or_default();
            continue;
        }
        let braced = if c == UNKNOWN_CHARACTER {
            pieces.extend([Piece::Text(std::mem::take(&mut plain)), Piece::Code(String::new())]);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        } else if !open.is_empty() && rest.starts_with(open) {
            Some(open.len())
        } else if interpolation == Interpolation::Dollar {
            ["${", "{$", "$(", "\\(", "@{"].iter().find(|open| rest.starts_with(**open)).map(|open| open.len())
        } else {
            None
        };
        let named = interpolation == Interpolation::Dollar
            && c == '$'
            && rest.get(1..).is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'));
        let (code, length) = if let Some(start) = braced {
            let inner = rest.get(start..).unwrap_or_default();
            let is_round = rest.get(..start).is_some_and(|open| open.ends_with('('));
            let end = if is_round { balanced_end(inner, '(', ')') } else { balanced_end(inner, '{', '}') };
            // `{$x}` names the variable with its sign.
            let begin = if rest.starts_with("{$") { start - 1 } else { start };
            (rest.get(begin..start + end).unwrap_or_default(), (start + end + 1).min(rest.len()))
        } else if named {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || "_$".contains(c))).unwrap_or(rest.len());
            // `$ENV{HOME}`, `$env(HOME)`
            let close = rest.get(end..).and_then(|rest| {
                let close = rest.chars().next().filter(|open| "{[(".contains(*open)).map(closing_of)?;
                let ends = |c: char| c == close || c == '$' || c.is_whitespace();
                rest.find(ends).filter(|at| rest.get(*at..).is_some_and(|rest| rest.starts_with(close)))
            });
            let end = close.map_or(end, |close| end + close + 1);
            (rest.get(..end).unwrap_or_default(), end)
        } else {
            plain.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        };
        pieces.extend([Piece::Text(std::mem::take(&mut plain)), Piece::Code(code.to_owned())]);
        rest = rest.get(length..).unwrap_or_default();
    }
    pieces.push(Piece::Text(plain));
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    pieces
}

pub(super) fn closing_of(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        same => same,
    }
}

/// Builds the token of a string.
pub(super) fn quoted(mut pieces: Vec<Piece>) -> Token {
    match pieces.as_mut_slice() {
        [] => Token::Text(String::new()),
        [Piece::Text(text)] => Token::Text(std::mem::take(text)),
        _ => Token::Mixed(pieces),
    }
}
