//! Escapes in ANSI-C quotes: `$'…'`.

use std::iter::Peekable;
use std::str::CharIndices;

/// Decodes the text after `$'`. Returns it with the position of the closing quote.
pub(in super::super) fn decode(inner: &str) -> (String, Option<usize>) {
    let mut chars = inner.char_indices().peekable();
    let mut text = String::new();
    let mut end = None;
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => {
                end = Some(at);
                break;
            }
            '\\' => {
                let Some((_, kind)) = chars.next() else { break };
                let decoded = match kind {
                    'a' => Some('\u{7}'),
                    'b' => Some('\u{8}'),
                    'e' | 'E' => Some('\u{1b}'),
                    'f' => Some('\u{c}'),
                    'n' => Some('\n'),
                    'r' => Some('\r'),
                    't' => Some('\t'),
                    'v' => Some('\u{b}'),
                    '\\' | '\'' | '"' | '?' => Some(kind),
                    'x' if chars.next_if(|(_, c)| *c == '{').is_some() => {
                        let value = digits(&mut chars, None, 8, 16);
                        chars.next_if(|(_, c)| *c == '}');
                        value.and_then(|value| char::from_u32(value & 0xff))
                    }
                    'x' => digits(&mut chars, None, 2, 16).and_then(char::from_u32),
                    'u' => digits(&mut chars, None, 4, 16).and_then(char::from_u32),
                    'U' => digits(&mut chars, None, 8, 16).and_then(char::from_u32),
                    'c' => chars.next().and_then(|(_, c)| char::from_u32(u32::from(c) & 0x1f)),
                    // Up to three octal digits, including this one.
                    '0'..='7' => {
                        let value = digits(&mut chars, kind.to_digit(8), 2, 8);
                        value.and_then(|value| char::from_u32(value & 0xff))
                    }
                    _ => None,
                };
                match decoded {
                    Some(c) => text.push(c),
                    None => text.extend(['\\', kind]),
                }
            }
            c => text.push(c),
        }
    }
    // bash drops the text after a NUL.
    (text.split('\0').next().unwrap_or_default().to_owned(), end)
}

/// Parses a number of at most `longest` digits that continues `first`.
fn digits(chars: &mut Peekable<CharIndices<'_>>, first: Option<u32>, longest: usize, radix: u32) -> Option<u32> {
    let mut value = first;
    for _ in 0..longest {
        let Some(digit) = chars.peek().and_then(|(_, c)| c.to_digit(radix)) else { break };
        value = Some(value.unwrap_or_default().wrapping_mul(radix).wrapping_add(digit));
        chars.next();
    }
    value
}
