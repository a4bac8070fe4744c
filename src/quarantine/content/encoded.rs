//! What a text says in another writing: base64, hexadecimal and percent signs, letters that stand apart or stand for
//! others, and what it says itself is to be turned around.

/// Parts that are kept at most.
const MOST: usize = 1_000;

/// A token up to this is too short to say anything.
const SHORT: usize = 24;

/// Tokens beyond this are files.
const LONG: usize = 64 << 10;

/// The texts that are written in a text in another way.
pub(super) fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = tokens(text).filter_map(token).take(MOST).collect();
    for line in text.lines() {
        let strange = Strange::of(line);
        parts.extend(Some(line).filter(|_| strange.apart).and_then(apart));
        parts.extend(Some(line).filter(|line| strange.mixed && is_leet(line)).map(unleet));
        if parts.len() > MOST {
            break;
        }
    }
    let (turned_around, backwards) = names(text);
    if turned_around {
        parts.push(text.chars().map(rot13).collect());
    }
    if backwards {
        parts.extend(
            text.split(['\n', '"']).filter(|line| line.len() > 15).take(MOST).map(|line| line.chars().rev().collect()),
        );
    }
    parts
}

/// Whether a text says that its letters, or its lines, are turned around.
fn names(text: &str) -> (bool, bool) {
    let bytes = text.as_bytes();
    let (mut letters, mut lines) = (false, false);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(byte | 0x20, b'r' | b'b') {
            let is = |word: &str| {
                bytes.get(at..at + word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word.as_bytes()))
            };
            letters |= is("rot13") || is("rot-13");
            lines |= is("backward") || is("reverse") || is("right to left");
        }
    }
    (letters, lines)
}

/// What a line may hold, after a quick look at its bytes.
struct Strange {
    /// Letters that stand apart.
    apart: bool,
    /// Words with digits among their letters.
    mixed: bool,
}

impl Strange {
    fn of(line: &str) -> Self {
        let bytes = line.as_bytes();
        let next = bytes.get(1..).unwrap_or_default();
        let mixed: u32 =
            bytes.iter().zip(next).map(|(one, next)| u32::from(one.is_ascii_digit() & next.is_ascii_lowercase())).sum();
        // Letters of other scripts have several bytes, and may stand alone too.
        Strange { apart: !line.is_ascii() || may_stand_apart(bytes) && stand_apart(bytes), mixed: mixed > 2 }
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() | (byte == b'@')
}

/// Whether there are enough letters that stand alone, wherever they are; counted so that the compiler can do many at once.
fn may_stand_apart(bytes: &[u8]) -> bool {
    let [second, third] = [1, 2].map(|at| bytes.get(at..).unwrap_or_default());
    let alone = bytes
        .iter()
        .zip(second)
        .zip(third)
        .map(|((first, second), third)| u32::from(is_letter(*second) & !is_letter(*first) & !is_letter(*third)));
    // The first and the last byte of the line are in the middle of none.
    alone.sum::<u32>() + 2 > 4
}

/// Whether more than four of them follow each other.
fn stand_apart(bytes: &[u8]) -> bool {
    let (mut first, mut second, mut alone) = (false, false, 0);
    for byte in bytes.iter().copied().chain([b' ']) {
        let letter = is_letter(byte);
        if second {
            alone = if first || letter { 0 } else { alone + 1 };
            if alone > 4 {
                return true;
            }
        }
        (first, second) = (second, letter);
    }
    false
}

/// The bytes that such writings use.
static IS_PART: [bool; 256] = {
    let mut is_part = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let sign = byte as u8;
        #[expect(clippy::indexing_slicing, reason = "it is counted up to the length")]
        {
            is_part[byte] = sign.is_ascii_alphanumeric() || matches!(sign, b'+' | b'/' | b'=' | b'_' | b'-' | b'%');
        }
        byte += 1;
    }
    is_part
};

/// Long runs of the characters that such writings use.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |byte: &u8| IS_PART.get(usize::from(*byte)) == Some(&true);
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.as_bytes().get(at..).filter(|rest| !rest.is_empty())?;
            let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
            let start = at;
            at += length + 1;
            if (SHORT..LONG).contains(&length) {
                return text.get(start..start + length);
            }
        }
    })
}

fn token(token: &str) -> Option<String> {
    let sign = token.bytes().rposition(|byte| matches!(byte, b'=' | b'/' | b'-'));
    let hexadecimal = token.get(sign.map_or(0, |at| at + 1)..).unwrap_or(token);
    let value = token.split_once('=').map_or(token, |(_, value)| if value.len() < SHORT { token } else { value });
    // Text that is written so has letters of both cases.
    let mixed =
        value.bytes().any(|byte| byte.is_ascii_uppercase()) && value.bytes().any(|byte| byte.is_ascii_lowercase());
    percent(token).or_else(|| hex(hexadecimal).and_then(sentence)).or_else(|| {
        Some(value)
            .filter(|_| mixed)
            .and_then(base64)
            .and_then(|bytes| sentence(bytes.clone()).or_else(|| twice(bytes)))
    })
}

/// Encoded once more.
fn twice(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    base64(text.trim()).and_then(sentence)
}

/// Words, and not a picture or a number.
fn sentence(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    let is_plain = |c: char| c.is_alphanumeric() || c.is_ascii_punctuation() || c.is_whitespace();
    (text.len() > 11 && text.trim().contains([' ', '\u{3000}', '。']) && text.chars().all(is_plain)).then_some(text)
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}

fn percent(text: &str) -> Option<String> {
    if text.matches('%').count() < 8 {
        return None;
    }
    let mut bytes = Vec::new();
    let mut parts = text.split('%');
    bytes.extend(parts.next()?.bytes());
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        bytes.extend(hex(code)?);
        bytes.extend(rest.bytes());
    }
    String::from_utf8(bytes).ok()
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).unwrap_or_default());
        }
    }
    Some(bytes)
}

fn rot13(c: char) -> char {
    let turn = |byte: u8, first: u8| char::from((byte - first + 13) % 26 + first);
    match u8::try_from(c) {
        Ok(byte @ b'a'..=b'z') => turn(byte, b'a'),
        Ok(byte @ b'A'..=b'Z') => turn(byte, b'A'),
        _ => c,
    }
}

/// `i g n o r e  t h i s`: letters that stand apart, where five or more do in a row.
fn apart(line: &str) -> Option<String> {
    let letters: Vec<char> = line.chars().collect();
    let (mut joined, mut single, mut most, mut blanks) = (String::new(), 0, 0, 0);
    for (at, c) in letters.iter().enumerate() {
        if c.is_alphanumeric() || *c == '@' {
            let alone = |at: Option<usize>| !at.and_then(|at| letters.get(at)).is_some_and(|c| c.is_alphanumeric());
            single = if alone(at.checked_sub(1)) && alone(Some(at + 1)) { single + 1 } else { 0 };
            most = most.max(single);
            if blanks > 1 || single == 0 && blanks > 0 {
                joined.push(' ');
            }
            joined.push(*c);
            blanks = 0;
        } else {
            blanks += 1;
        }
    }
    (most > 4).then_some(joined)
}

/// The letter that a digit stands for.
fn leet(c: char) -> Option<char> {
    Some(match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        _ => return None,
    })
}

/// Several words have digits among their letters.
fn is_leet(line: &str) -> bool {
    let mixed = |word: &&str| {
        word.len() > 3
            && word.chars().all(|c| c.is_ascii_alphabetic() || leet(c).is_some() || c.is_ascii_punctuation())
            && word.chars().filter(char::is_ascii_lowercase).count() > 1
            && word.as_bytes().windows(2).any(|pair| matches!(pair, [b'0'..=b'9', b'a'..=b'z']))
    };
    line.split(' ').filter(mixed).count() > 2
}

fn unleet(line: &str) -> String {
    line.chars().map(|c| leet(c).unwrap_or(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_letters_that_stand_apart_are_overlooked_at_a_glance() {
        for pattern in 0..1_u32 << 13 {
            let line: Vec<u8> = (0..13).map(|at| if pattern >> at & 1 == 1 { b'a' } else { b' ' }).collect();
            assert!(may_stand_apart(&line) || !stand_apart(&line), "{pattern:b}");
        }
        assert!(stand_apart(b"i g n o r") && !stand_apart(b"i g n o re a b c d"));
    }
}
