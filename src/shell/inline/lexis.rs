//! Comments, long strings, character literals and identifiers, as each language writes them.
//!
//! What begins a comment, a string or a regular expression can depend on what stands far before it. A spot that is taken for
//! one of them by mistake hides the code behind it, so a text in which this can happen (`is_doubtful`) is read a second
//! time without comments, regular expressions and character literals (`Reading::Flat`), and the calls in what both readings
//! take for something else are read by themselves (`token::doubtful_tokens`).

use super::Language;
use crate::programs::code;

/// How a piece of code is split into tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// With comments and regular expressions.
    Usual,
    /// Only a comment that has a line for itself is one, and a slash begins nothing.
    Flat,
}

/// Whether comments, strings or regular expressions of a text may be taken for something else.
pub(super) fn is_doubtful(language: Language, code: &str) -> bool {
    let marks: &[&str] = match language {
        Language::Node => &code::DOUBTFUL_NODE,
        Language::Perl => &code::DOUBTFUL_PERL,
        Language::Ruby => &code::DOUBTFUL_RUBY,
        Language::Php => &code::DOUBTFUL_PHP,
        Language::Lua => &code::DOUBTFUL_LUA,
        Language::Elixir => &code::DOUBTFUL_ELIXIR,
        Language::Awk => &code::DOUBTFUL_AWK,
        Language::Lisp => &code::DOUBTFUL_LISP,
        Language::Other => &code::DOUBTFUL_OTHER,
        Language::Sql => &code::DOUBTFUL_SQL,
        Language::Python | Language::Source | Language::Sed => &[],
    };
    marks.iter().any(|mark| code.contains(mark))
}

/// The marks that begin a comment up to the end of the line.
fn line_comments(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python | Language::Perl | Language::Ruby | Language::Awk | Language::Elixir => &["#"],
        Language::Php => &["#", "//"],
        Language::Node => &["//"],
        Language::Lua | Language::Sql => &["--"],
        Language::Lisp => &[";"],
        Language::Other => &["# ", "// "],
        Language::Source => &["# ", "//"],
        Language::Sed => &[],
    }
}

/// The length of the comment that begins at `at`.
pub(super) fn comment(language: Language, code: &str, at: usize, reading: Reading) -> Option<usize> {
    let rest = code.get(at..)?;
    let mark = line_comments(language).iter().find(|mark| rest.starts_with(**mark));
    if let Some(mark) = mark {
        let before = code.get(..at).unwrap_or_default();
        let has_own_line =
            before.trim_end_matches([' ', '\t']).is_empty() || before.trim_end_matches([' ', '\t']).ends_with('\n');
        // `#{x}` is a value in the text of a here-document.
        let is_attribute = language == Language::Php && rest.starts_with("#[")
            || matches!(language, Language::Ruby | Language::Elixir) && rest.starts_with("#{");
        let is_operator = language == Language::Other && before.ends_with(|c: char| !c.is_whitespace());
        if is_attribute || is_operator && !has_own_line || reading == Reading::Flat && !has_own_line {
            return None;
        }
        // `--[==[ … ]==]`
        if language == Language::Lua
            && let Some((_, length)) = rest.get(mark.len()..).and_then(|rest| long_string(language, rest))
        {
            return Some(mark.len() + length);
        }
        let line = rest.find('\n').unwrap_or(rest.len());
        let ends = rest.get(..line).and_then(|line| line.find("?>")).filter(|_| language == Language::Php);
        return Some(ends.unwrap_or(line));
    }
    let has_blocks = matches!(language, Language::Php | Language::Sql | Language::Source | Language::Node);
    let is_block = rest.starts_with("/*") && has_blocks && reading == Reading::Usual;
    is_block.then(|| rest.find("*/").map_or(rest.len(), |end| end + 2))
}

/// A string between long brackets, and its length in the source: `[==[text]==]`.
pub(super) fn long_string(language: Language, rest: &str) -> Option<(&str, usize)> {
    if language != Language::Lua || !rest.starts_with('[') {
        return None;
    }
    let level = rest.get(1..)?.bytes().take_while(|byte| *byte == b'=').count();
    let start = level + 2;
    let inner = rest.get(start..).filter(|_| rest.get(start - 1..start) == Some("["))?;
    let close = format!("]{}]", "=".repeat(level));
    // A string that is not closed is no program, so the search need not begin again behind its bracket.
    let end = inner.find(&close).unwrap_or(inner.len());
    Some((inner.get(..end)?, (start + end + close.len()).min(rest.len())))
}

/// A string of PostgreSQL between tags, and its length in the source: `$x$text$x$`.
pub(super) fn dollar_string(rest: &str) -> Option<(&str, usize)> {
    // `$1` is a parameter.
    if rest.get(1..)?.starts_with(|c: char| c.is_numeric()) {
        return None;
    }
    let end = rest.get(1..)?.find(|c: char| !(c.is_alphanumeric() || c == '_'))? + 1;
    let tag = rest.get(..=end).filter(|tag| tag.ends_with('$'))?;
    let inner = rest.get(tag.len()..)?;
    let length = inner.find(tag).unwrap_or(inner.len());
    Some((inner.get(..length)?, (tag.len() * 2 + length).min(rest.len())))
}

/// A character literal at `at`, and its length in the source: `?#`, `#\;`.
pub(super) fn character(language: Language, code: &str, at: usize) -> Option<(&str, usize)> {
    let rest = code.get(at..)?;
    let is_lisp = language == Language::Lisp;
    let has_characters = is_lisp || matches!(language, Language::Ruby | Language::Elixir);
    let mark = if is_lisp && (rest.starts_with("#\\") || rest.starts_with("?\\")) {
        2
    } else if has_characters && rest.starts_with('?') || is_lisp && rest.starts_with('\\') {
        1
    } else {
        return None;
    };
    let inner = rest.get(mark..)?;
    let letter = inner.chars().next().filter(|c| !c.is_whitespace() && *c != ')')?;
    // `?\n`
    let escaped = inner.chars().nth(1).filter(|_| letter == '\\' && !is_lisp).map_or(0, char::len_utf8);
    let end = mark + letter.len_utf8() + escaped;
    let is_longer = rest.get(end..)?.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let follows_name = code.get(..at)?.ends_with(|c: char| c.is_alphanumeric() || "_)]}\"'".contains(c));
    (!is_longer && !follows_name).then(|| (rest.get(mark..end).unwrap_or_default(), end))
}

/// Whether a quote follows an operand, and transposes it: `[1 2]'`, `x'`.
pub(super) fn follows_value(code: &str, at: usize) -> bool {
    code.get(..at).is_some_and(|text| text.ends_with(|c: char| c.is_alphanumeric() || ")]}".contains(c)))
}

/// Whether three quotes begin a string with lines.
pub(super) fn has_triple_quotes(language: Language) -> bool {
    matches!(language, Language::Python | Language::Elixir | Language::Other | Language::Source)
}

/// Whether a name before a quote belongs to the string.
pub(super) fn is_prefix(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(name.as_str(), "r" | "b" | "f" | "rb" | "br" | "fr" | "rf" | "u" | "c" | "s" | "t" | "rt" | "tr" | "e")
}

/// The delimiter of a sigil of Elixir, and where its text begins.
pub(super) fn sigil(rest: &str) -> Option<(char, usize)> {
    let mut chars = rest.char_indices().skip(1);
    chars.next().filter(|(_, c)| c.is_ascii_alphabetic())?;
    let (at, open) = chars.next().filter(|(_, c)| "([{<|/\"'".contains(*c))?;
    Some((open, at + open.len_utf8()))
}

/// The length of a regular expression up to behind its delimiter, which is no delimiter between brackets.
pub(super) fn pattern_end(rest: &str, delimiter: char) -> usize {
    let mut in_class = false;
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '\n' => return at,
            c if c == delimiter && !in_class => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// A letter of an identifier that is written as an escape, and its length in the source: `\u0065`, `\u{65}`.
pub(super) fn escaped_letter(language: Language, rest: &str) -> Option<(char, usize)> {
    let behind = rest.strip_prefix("\\u").filter(|_| language == Language::Node)?;
    let (digits, length) = match behind.strip_prefix('{') {
        Some(inner) => {
            let end = inner.get(..inner.len().min(9)).unwrap_or(inner).find('}')?;
            (inner.get(..end)?, end + 4)
        }
        None => (behind.get(..4)?, 6),
    };
    Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, length))
}

/// Adds the letters that Python reads for a letter of an identifier (NFKC): those of `ｅ`, `𝓮` and `ﬁ` are ASCII.
pub(super) fn push_plain(name: &mut String, letter: char) {
    let number = u32::from(letter);
    let letters = |first: u32| char::from_u32(u32::from('A') + first).filter(char::is_ascii_alphabetic);
    let plain = match number {
        0xff10..=0xff5a => char::from_u32(number - 0xfee0),
        // Mathematical alphabets: 26 capital and 26 small letters each, then digits.
        0x1d400..=0x1d6a3 => {
            let at = (number - 0x1d400) % 52;
            letters(if at < 26 { at } else { at + 6 })
        }
        0x1d7ce..=0x1d7ff => char::from_digit((number - 0x1d7ce) % 10, 10),
        0x1f130..=0x1f149 => letters(number - 0x1f130),
        0x24b6..=0x24cf => letters(number - 0x24b6),
        0x24d0..=0x24e9 => letters(number - 0x24d0 + 32),
        _ => None,
    };
    if let Some(plain) = plain {
        name.push(plain);
        return;
    }
    let found = code::LETTERS_FORMS.iter().find_map(|form| form.strip_prefix(letter));
    name.push_str(found.unwrap_or(letter.encode_utf8(&mut [0; 4])));
}
