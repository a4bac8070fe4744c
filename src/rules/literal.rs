//! A literal that the matches of an operator's pattern contain, found without a syntax tree.
//!
//! The literals of embedded patterns come from the build script instead, see `prefilter`.

use std::ops::Range;

/// Bytes of a pattern that is looked at. The compiled form of a longer one could be too large.
const MAX_BYTES: usize = 400;

/// Groups within each other. `regex-lite` accepts 50 levels, of which a group takes up to four.
const MAX_DEPTH: usize = 8;

/// Where the longest literal stands that all matches of a pattern contain; empty if nothing is known about it.
///
/// INVARIANT: `regex-lite` accepts every pattern that has a literal. A pattern is not compiled for a text that lacks its
/// literal, and an invalid pattern has to be reported whatever the text is.
pub(super) fn required(pattern: &str) -> Range<usize> {
    if pattern.len() > MAX_BYTES { 0..0 } else { longest(pattern.as_bytes()).unwrap_or_default() }
}

/// Reads plain ASCII, `^ $ . * + ?`, groups, alternatives within groups and some escapes; `None` for anything else.
fn longest(pattern: &[u8]) -> Option<Range<usize>> {
    let (mut longest, mut literal) = (0..0, 0..0);
    let (mut depth, mut is_repeatable) = (0, false);
    let mut bytes = pattern.iter().copied().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        if depth == 0 && is_plain(byte) {
            literal = if literal.end == at { literal.start } else { at }..at + 1;
            is_repeatable = true;
            continue;
        }
        // What is repeated may be missing.
        if matches!(byte, b'*' | b'?') && literal.end == at {
            literal.end = literal.end.saturating_sub(1).max(literal.start);
        }
        longest = longer(longest, &literal);
        is_repeatable = match byte {
            b'*' | b'+' | b'?' if is_repeatable => {
                bytes.next_if(|(_, next)| *next == b'?');
                false
            }
            b'(' if depth < MAX_DEPTH => {
                if bytes.next_if(|(_, next)| *next == b'?').is_some() {
                    bytes.next_if(|(_, next)| *next == b':')?;
                }
                depth += 1;
                false
            }
            b')' if depth > 0 => {
                depth -= 1;
                true
            }
            b'|' if depth > 0 => false,
            b'^' | b'$' => false,
            b'\\' => match bytes.next()?.1 {
                b'b' => bytes.peek().is_none_or(|(_, next)| *next != b'{').then_some(false)?,
                b'd' | b's' | b'w' | b'.' | b'/' | b'-' | b'|' | b'*' | b'+' | b'?' | b'(' | b')' | b'$' => true,
                _ => return None,
            },
            b'.' => true,
            _ if is_plain(byte) => true,
            _ => return None,
        };
    }
    (depth == 0).then(|| longer(longest, &literal))
}

/// Whether a byte stands for itself.
fn is_plain(byte: u8) -> bool {
    let is_meta = matches!(
        byte,
        b'\\' | b'.' | b'+' | b'*' | b'?' | b'(' | b')' | b'|' | b'[' | b']' | b'{' | b'}' | b'^' | b'$'
    );
    matches!(byte, b' '..=b'~') && !is_meta
}

fn longer(one: Range<usize>, other: &Range<usize>) -> Range<usize> {
    if other.len() > one.len() { other.clone() } else { one }
}

#[cfg(test)]
#[path = "../../tests/unit/rules/literal.rs"]
mod tests;
