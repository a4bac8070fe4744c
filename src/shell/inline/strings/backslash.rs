//! The escapes of strings.

use crate::shell::inline::Language;
use std::str::CharIndices;

/// Stands for a character that an escape names in a way that is not decoded: `\N{TILDE}`.
pub(super) const UNKNOWN_CHARACTER: char = '\u{f8ff}';

/// Which escapes a string has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::shell::inline) enum Escapes {
    /// A backslash only keeps a quote from ending the string.
    None,
    /// All escapes of a language.
    Of(Language),
}

impl Escapes {
    /// The escapes of a string with this quote; `is_raw` if its prefix switches them off.
    pub fn of(language: Language, quote: char, is_raw: bool) -> Escapes {
        let is_plain = quote == '\'' && matches!(language, Language::Perl | Language::Ruby | Language::Php);
        if is_plain || is_raw { Escapes::None } else { Escapes::Of(language) }
    }
}

/// How Perl changes the letters of a string from an escape on: `\LRM\E`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Lower,
    Upper,
}

/// A text in which escapes are decoded.
#[derive(Default)]
pub(super) struct Decoded {
    pub text: String,
    case: Option<Case>,
    /// The case of the next letter: `\uhome`.
    next: Option<Case>,
}

impl Decoded {
    pub fn push(&mut self, c: char) {
        match self.next.take().or(self.case) {
            None => self.text.push(c),
            Some(Case::Lower) => self.text.extend(c.to_lowercase()),
            Some(Case::Upper) => self.text.extend(c.to_uppercase()),
        }
    }

    /// Decodes the escape whose letter is `c`, and that goes on in `chars`.
    pub fn escape(&mut self, language: Language, c: char, chars: &mut CharIndices<'_>) {
        match (c, language) {
            ('n', _) => self.push('\n'),
            ('t', _) => self.push('\t'),
            ('r', _) => self.push('\r'),
            ('\n', _) => {}
            ('s', Language::Ruby | Language::Elixir) => self.push(' '),
            ('e', Language::Perl | Language::Ruby | Language::Php | Language::Elixir) => self.push('\u{1b}'),
            ('a', Language::Perl | Language::Ruby | Language::Python | Language::Elixir | Language::Lua) => {
                self.push('\u{7}');
            }
            ('c', Language::Perl | Language::Ruby) => self.control(chars),
            // `\C-i`, `\M-x`
            ('C', Language::Ruby) if chars.as_str().starts_with('-') => {
                chars.next();
                self.control(chars);
            }
            ('M', Language::Ruby) if chars.as_str().starts_with('-') => {
                skip(chars, 2);
                self.push(UNKNOWN_CHARACTER);
            }
            ('L' | 'F', Language::Perl) => self.case = Some(Case::Lower),
            ('U', Language::Perl) => self.case = Some(Case::Upper),
            ('Q', Language::Perl) => {}
            ('E', Language::Perl) => self.case = None,
            ('l', Language::Perl) => self.next = Some(Case::Lower),
            ('u', Language::Perl) => self.next = Some(Case::Upper),
            ('x', _) => self.hexadecimal(chars, 2),
            ('u', _) => self.hexadecimal(chars, 4),
            ('U', _) => self.hexadecimal(chars, 8),
            ('N', Language::Perl | Language::Python) => self.named(chars),
            ('o', Language::Perl) => match braced(chars, |c| c.is_digit(8) || " _".contains(c)) {
                Some(number) => self.numbers(number, 8),
                None => self.push(c),
            },
            ('0'..='9', Language::Elixir) => self.push(c),
            ('0'..='9', Language::Lua) => self.number(chars, c, 10),
            ('0'..='9', _) => self.number(chars, c, 8),
            // Swift interpolates with `\(…)`.
            ('(', _) => self.text.push_str("\\("),
            _ => self.push(c),
        }
    }

    /// A control character: `\cI` is a tab.
    fn control(&mut self, chars: &mut CharIndices<'_>) {
        let Some((_, letter)) = chars.next() else { return };
        let code = u8::try_from(letter).ok().filter(u8::is_ascii).map(|code| code.to_ascii_uppercase() ^ 64);
        self.push(code.map_or(UNKNOWN_CHARACTER, char::from));
    }

    /// A character by its name or its number: `\N{TILDE}`, `\N{U+7e}`.
    fn named(&mut self, chars: &mut CharIndices<'_>) {
        let name = braced(chars, |c| c.is_alphanumeric() || " -+_()".contains(c)).map(str::trim);
        match name.map(|name| name.strip_prefix("U+").unwrap_or_default()) {
            Some("") => self.push(UNKNOWN_CHARACTER),
            Some(number) => self.numbers(number, 16),
            None => self.push('N'),
        }
    }

    /// A character by its hexadecimal number of at most this many digits, or between braces: `\x7e`, `\x{7e}`, `\u{72 6d}`.
    fn hexadecimal(&mut self, chars: &mut CharIndices<'_>, digits: usize) {
        if let Some(numbers) = braced(chars, |c| c.is_ascii_hexdigit() || " \t_".contains(c)) {
            return self.numbers(numbers, 16);
        }
        let rest = chars.as_str();
        let length = rest.chars().take(digits).take_while(char::is_ascii_hexdigit).count();
        let number = u32::from_str_radix(rest.get(..length).unwrap_or_default(), 16).ok();
        if let Some(c) = number.and_then(char::from_u32) {
            self.push(c);
            skip(chars, length);
        }
    }

    /// Characters by their numbers.
    fn numbers(&mut self, numbers: &str, radix: u32) {
        for number in numbers.split_whitespace() {
            let number = u32::from_str_radix(&number.replace('_', ""), radix).ok();
            self.push(number.and_then(char::from_u32).unwrap_or(UNKNOWN_CHARACTER));
        }
    }

    /// A character by its number of at most three digits.
    fn number(&mut self, chars: &mut CharIndices<'_>, first: char, radix: u32) {
        let more = chars.as_str().chars().take(2).take_while(|c| c.is_digit(radix)).count();
        let digits: String = std::iter::once(first).chain(chars.as_str().chars().take(more)).collect();
        match u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32) {
            Some(c) => {
                self.push(c);
                skip(chars, more);
            }
            None => self.push(first),
        }
    }
}

/// Takes what stands between the braces that follow, if it consists of allowed characters and the braces are closed. What
/// is not taken is read once for each escape before it, so the search must end at a backslash.
fn braced<'a>(chars: &mut CharIndices<'a>, is_allowed: fn(char) -> bool) -> Option<&'a str> {
    let inner = chars.as_str().strip_prefix('{')?;
    let end = inner.find(|c: char| !is_allowed(c))?;
    let (inside, behind) = inner.split_at(end);
    behind.starts_with('}').then(|| {
        skip(chars, end + 2);
        inside
    })
}

fn skip(chars: &mut CharIndices<'_>, bytes: usize) {
    let left = chars.as_str().len().saturating_sub(bytes);
    while chars.as_str().len() > left && chars.next().is_some() {}
}
