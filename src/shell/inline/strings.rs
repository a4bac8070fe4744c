//! Strings: their escapes, and the values that are interpolated in them.

mod backslash;

use super::Language;
use super::lexis;
use super::token::{Piece, Token};
use backslash::{Decoded, UNKNOWN_CHARACTER};

pub(super) use backslash::Escapes;

/// What ends a string.
#[derive(Clone, Copy)]
pub(super) struct Delimiter<'a> {
    /// The bracket that has to be closed once more if the string contains it.
    nests: Option<char>,
    close: &'a str,
}

impl<'a> Delimiter<'a> {
    pub fn quote(close: &'a str) -> Delimiter<'a> {
        Delimiter { nests: None, close }
    }

    /// The delimiter of a string that `open` begins, which contains pairs of this bracket: `q{a{b}c}`.
    pub fn nesting(open: char, close: &'a str) -> Delimiter<'a> {
        Delimiter { nests: Some(open).filter(|open| !close.starts_with(*open)), close }
    }
}

/// Returns the text up to the delimiter with its escapes decoded, and its length in the source with the delimiter.
pub(super) fn string(rest: &str, delimiter: Delimiter<'_>, escapes: Escapes) -> (String, usize) {
    let mut decoded = Decoded::default();
    let mut depth = 0_usize;
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        if rest.get(at..).is_some_and(|rest| rest.starts_with(delimiter.close)) {
            if depth == 0 {
                return (decoded.text, at + delimiter.close.len());
            }
            depth -= 1;
        }
        if c != '\\' {
            depth += usize::from(delimiter.nests == Some(c));
            decoded.push(c);
            continue;
        }
        let Some((_, c)) = chars.next() else { break };
        match escapes {
            Escapes::None => {
                if c != '\\' && !delimiter.close.starts_with(c) {
                    decoded.push('\\');
                }
                decoded.push(c);
            }
            Escapes::Of(language) => decoded.escape(language, c, &mut chars),
        }
    }
    (decoded.text, rest.len())
}

/// How interpolated values are read in one text.
pub(super) struct Values {
    /// Whether a quote in a value begins a string, in which brackets do not count.
    has_strings: bool,
    /// Whether the values before were closed. Once one is not, the others are not searched for their ends, each of which
    /// would be the end of the text.
    closes: bool,
}

impl Values {
    pub fn new(reading: lexis::Reading) -> Values {
        Values { has_strings: reading == lexis::Reading::Usual, closes: true }
    }

    /// Where a value ends whose code a text begins with.
    pub fn end(&mut self, text: &str, marks: &[&str]) -> Option<usize> {
        if !self.closes {
            return None;
        }
        let end = if self.has_strings {
            value_end(text, marks)
        } else {
            Some(balanced_end(text, '{', '}')).filter(|end| *end < text.len())
        };
        self.closes = end.is_some();
        end
    }
}

/// What begins an interpolated value that may contain the quotes of the string around it: `${`.
pub(super) fn nested_marks(language: Language, interpolation: Interpolation) -> &'static [&'static str] {
    match interpolation {
        Interpolation::Hash => &["#{"],
        Interpolation::DollarBrace => &["${"],
        Interpolation::Brace => &["{"],
        Interpolation::Dollar if language == Language::Php => &["{$", "${"],
        Interpolation::Dollar | Interpolation::None => &[],
    }
}

/// The same as `string` for one with interpolated values, which may contain quotes.
pub(super) fn interpolated_string(
    rest: &str,
    close: &str,
    escapes: Escapes,
    marks: &[&str],
    values: &mut Values,
) -> (String, usize) {
    let mut length = 0;
    let mut text = String::new();
    loop {
        let part = rest.get(length..).unwrap_or_default();
        // The next value before the end of the string.
        let Some((start, mark)) = next_value(part, marks, close) else { break };
        let code = start + mark;
        let Some(end) = values.end(part.get(code..).unwrap_or_default(), marks) else { break };
        let end = code + end + 1;
        let (before, _) = string(part.get(..start).unwrap_or_default(), Delimiter::quote("\u{0}"), escapes);
        text.push_str(&before);
        text.push_str(part.get(start..end).unwrap_or_default());
        length += end;
    }
    let (last, more) = string(rest.get(length..).unwrap_or_default(), Delimiter::quote(close), escapes);
    (text + &last, length + more)
}

/// Where the next interpolated value begins, if it does before the end of the string, and the length of its mark.
fn next_value(part: &str, marks: &[&str], close: &str) -> Option<(usize, usize)> {
    if marks.is_empty() {
        return None;
    }
    let mut chars = part.char_indices();
    while let Some((at, c)) = chars.next() {
        let rest = part.get(at..).unwrap_or_default();
        // Python: `{{` is a brace, and `\{` begins a value.
        if marks == ["{"] && rest.starts_with("{{") || c == '\\' && !(marks == ["{"] && rest.starts_with("\\{")) {
            chars.next();
        } else if rest.starts_with(close) {
            return None;
        } else if let Some(mark) = marks.iter().find(|mark| rest.starts_with(**mark)) {
            return Some((at, mark.len()));
        }
    }
    None
}

/// What a part of an interpolated value is in.
enum Within<'a> {
    /// Code, with the number of its open braces and of its other open brackets.
    Code { braces: usize, brackets: usize },
    /// The format behind the colon of a value in Python, which may contain values.
    Format,
    Quote {
        close: &'a str,
        /// Whether it has values of its own.
        interpolates: bool,
    },
}

/// Whether the prefix of a string of Python, at the end of a text, says that it has values: `f`, `rf`, but not the end of `if`.
fn is_formatted(before: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let prefix = before.get(before.trim_end_matches(is_name).len()..).unwrap_or_default();
    lexis::is_prefix(prefix) && prefix.contains(['f', 'F'])
}

/// Where a value ends whose code a text begins with. Brackets in strings do not count, except in their own values.
fn value_end(text: &str, marks: &[&str]) -> Option<usize> {
    let is_python = marks == ["{"];
    let value = || Within::Code { braces: 0, brackets: 0 };
    let mut within = vec![value()];
    let mut chars = text.char_indices();
    // The last sign, behind which a slash begins a regular expression.
    let mut before = '(';
    while let Some((at, c)) = chars.next() {
        let rest = text.get(at..).unwrap_or_default();
        match within.last_mut()? {
            Within::Quote { close, .. } if rest.starts_with(*close) => {
                chars.by_ref().take(close.len() - 1).for_each(drop);
                within.pop();
            }
            Within::Quote { .. } if c == '\\' || is_python && rest.starts_with("{{") => {
                chars.next();
            }
            Within::Quote { interpolates, .. } => {
                if *interpolates && let Some(mark) = marks.iter().find(|mark| rest.starts_with(**mark)) {
                    chars.by_ref().take(mark.len() - 1).for_each(drop);
                    within.push(value());
                }
            }
            Within::Code { braces: 0, .. } | Within::Format if c == '}' => {
                within.pop();
                if within.is_empty() {
                    return Some(at);
                }
            }
            Within::Format if c == '{' => within.push(value()),
            Within::Format => {}
            Within::Code { braces, brackets } => match c {
                '{' => *braces += 1,
                '}' => *braces -= 1,
                '"' | '\'' | '`' => {
                    let interpolates = match marks {
                        ["{"] => is_formatted(text.get(..at).unwrap_or_default()),
                        ["${"] => c == '`',
                        _ => c != '\'',
                    };
                    let is_long = is_python && rest.chars().take_while(|next| *next == c).nth(2).is_some();
                    let close = rest.get(..if is_long { 3 } else { 1 })?;
                    chars.by_ref().take(close.len() - 1).for_each(drop);
                    within.push(Within::Quote { close, interpolates });
                }
                '(' | '[' => *brackets += 1,
                ')' | ']' => *brackets = brackets.saturating_sub(1),
                ':' if is_python && *braces == 0 && *brackets == 0 => *within.last_mut()? = Within::Format,
                '#' if is_python => drop(chars.find(|(_, c)| *c == '\n')),
                '/' if "(,=:[!&|?{;".contains(before) && (marks == ["${"] || marks == ["#{"]) => {
                    let end = at + 1 + lexis::pattern_end(rest.get(1..).unwrap_or_default(), '/');
                    while chars.offset() < end && chars.next().is_some() {}
                }
                _ => {}
            },
        }
        before = if c.is_whitespace() { before } else { c };
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
        Language::Ruby if !plain => Interpolation::Hash,
        // Also a list of characters.
        Language::Elixir => Interpolation::Hash,
        Language::Node if quote == '`' => Interpolation::DollarBrace,
        Language::Python if formatted => Interpolation::Brace,
        Language::Perl
        | Language::Php
        | Language::Other
        | Language::Source
        | Language::Ruby
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
    let marks = nested_marks(Language::Php, interpolation);
    let mut values = Values::new(lexis::Reading::Usual);
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
            let end = if is_round { None } else { values.end(inner, marks) };
            let (open, close) = if is_round { ('(', ')') } else { ('{', '}') };
            let end = end.unwrap_or_else(|| balanced_end(inner, open, close));
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
