//! Decodes encoded parts of a text: base64, hexadecimal, percent encoding, spaced-out letters, digits in place of
//! letters, and ROT13 or reversed lines where the text names them.

use crate::encoding::base64;
use crate::encoding::bytes::position;

/// The shortest token that is decoded.
const MIN_TOKEN_BYTES: usize = 24;

/// The decoded parts of a text.
pub(super) fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = tokens(text).filter_map(decode_token).collect();
    for line in text.lines() {
        let traits = LineTraits::of(line);
        parts.extend(Some(line).filter(|_| traits.spaced).and_then(join_spaced_letters));
        parts.extend(Some(line).filter(|line| traits.mixed && is_leet(line)).map(unleet));
    }
    let (names_rot13, names_reversal) = named_encodings(text);
    if names_rot13 {
        parts.push(text.chars().map(rot13).collect());
    }
    if names_reversal {
        parts.extend(text.split(['\n', '"']).filter(|line| line.len() > 15).map(|line| line.chars().rev().collect()));
    }
    parts
}

/// Whether a text mentions ROT13, and whether it mentions reversed text.
fn named_encodings(text: &str) -> (bool, bool) {
    let (mut rot13, mut reversal) = (false, false);
    let mut rest = text.as_bytes();
    while let Some(here) =
        position(rest, |byte| matches!(byte | 0x20, b'r' | b'b' | b'v')).and_then(|at| rest.get(at..))
    {
        let is = |word: &str| here.get(..word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word.as_bytes()));
        // Also what "instruction" and "ignore" are in ROT13.
        rot13 |= is("rot13") || is("rot-13") || is("vafgehpgvba") || is("vtaber");
        reversal |= is("backward") || is("reverse") || is("right to left");
        rest = here.get(1..).unwrap_or_default();
    }
    (rot13, reversal)
}

/// A prefilter for the costlier checks of a line.
struct LineTraits {
    /// The line may have spaced-out letters.
    spaced: bool,
    /// The line may have words with digits among their letters.
    mixed: bool,
}

impl LineTraits {
    fn of(line: &str) -> Self {
        let bytes = line.as_bytes();
        let signs = count(bytes, |byte| !byte.is_ascii_alphanumeric() && byte != b'@');
        let digits = count(bytes, |byte| byte.is_ascii_digit());
        // Five spaced-out letters have four separators.
        if signs < 4 && digits < 3 {
            return LineTraits { spaced: !line.is_ascii(), mixed: false };
        }
        // The kinds of the last three bytes, `KINDS` bits each.
        let mut kinds = 0_u32;
        let (mut alone, mut spaced, mut mixed) = (0, false, 0);
        for byte in line.bytes().chain([b' ']) {
            kinds = kinds << KINDS | u32::from(BYTE_KINDS.get(usize::from(byte)).copied().unwrap_or_default());
            let around = kinds & (LETTER | LETTER << (2 * KINDS));
            if kinds & LETTER << KINDS != 0 {
                alone = if around == 0 { alone + 1 } else { 0 };
                spaced |= alone > 4;
            }
            mixed += kinds >> KINDS & kinds >> 1 & DIGIT;
        }
        // Letters of other scripts have several bytes and are not recognized here.
        LineTraits { spaced: spaced || !line.is_ascii(), mixed: mixed / DIGIT > 2 }
    }
}

/// Letters, digits and `@`.
const LETTER: u32 = 1;

/// Digits.
const DIGIT: u32 = 2;

/// Lower-case letters.
const LOWER: u32 = 4;

/// The number of kinds.
const KINDS: u32 = 3;

/// The kinds of each byte, as bits.
static BYTE_KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        let mut kind = 0;
        if byte.is_ascii_alphanumeric() || byte == b'@' {
            kind |= LETTER;
        }
        if byte.is_ascii_digit() {
            kind |= DIGIT;
        }
        if byte.is_ascii_lowercase() {
            kind |= LOWER;
        }
        #[expect(clippy::indexing_slicing, reason = "the index is below the length")]
        {
            kinds[at] = kind as u8;
        }
        at += 1;
    }
    kinds
};

/// Long runs of characters that encodings use.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let is_encoding =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'%');
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.as_bytes().get(at..)?;
            // A token starts after the last other byte of the next `MIN_TOKEN_BYTES`, or here if there is none.
            if let Some(last) = rest.get(..MIN_TOKEN_BYTES)?.iter().rposition(|byte| !is_encoding(*byte)) {
                at += last + 1;
                continue;
            }
            let start = at;
            at += position(rest, |byte| !is_encoding(byte)).unwrap_or(rest.len());
            return text.get(start..at);
        }
    })
}

/// Counts bytes. Sums of `u8` in short chunks are vectorized.
fn count(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    let in_chunk = |chunk: &[u8]| chunk.iter().map(|byte| u8::from(is(*byte))).sum::<u8>();
    bytes.chunks(usize::from(u8::MAX)).map(|chunk| usize::from(in_chunk(chunk))).sum()
}

/// Decodes one token.
fn decode_token(token: &str) -> Option<String> {
    let is_sign = |byte: u8| matches!(byte, b'=' | b'/' | b'-');
    let (mut hexadecimal, mut value) = (token, token);
    if position(token.as_bytes(), is_sign).is_some() {
        hexadecimal = token.rsplit(['=', '/', '-']).next().unwrap_or(token);
        let after = token.split_once('=').map(|(_, value)| value);
        value = after.filter(|value| value.len() >= MIN_TOKEN_BYTES).unwrap_or(token);
    }
    // Base64 of a sentence has letters of both cases.
    let mixed = position(value.as_bytes(), |byte| byte.is_ascii_uppercase()).is_some()
        && position(value.as_bytes(), |byte| byte.is_ascii_lowercase()).is_some();
    percent(token).or_else(|| hex(hexadecimal).and_then(if_sentence)).or_else(|| {
        Some(value)
            .filter(|_| mixed)
            .and_then(base64::decode)
            .and_then(|bytes| if_sentence(bytes.clone()).or_else(|| decode_nested(bytes)))
    })
}

/// Decodes base64 within base64.
fn decode_nested(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    base64::decode(text.trim()).and_then(if_sentence)
}

/// The decoded bytes if they are words, and not an image or a number.
fn if_sentence(bytes: Vec<u8>) -> Option<String> {
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
    if count(text.as_bytes(), |byte| byte == b'%') < 8 {
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

fn rot13(c: char) -> char {
    let turn = |byte: u8, first: u8| char::from((byte - first + 13) % 26 + first);
    match u8::try_from(c) {
        Ok(byte @ b'a'..=b'z') => turn(byte, b'a'),
        Ok(byte @ b'A'..=b'Z') => turn(byte, b'A'),
        _ => c,
    }
}

/// Joins spaced-out letters, as in `i g n o r e  t h i s`; `None` unless at least five follow each other.
fn join_spaced_letters(line: &str) -> Option<String> {
    let letters: Vec<char> = line.chars().collect();
    let (mut joined, mut single, mut most, mut blanks) = (String::new(), 0, 0, 0);
    for (at, c) in letters.iter().enumerate() {
        if c.is_alphanumeric() || *c == '@' {
            let alone = |at: Option<usize>| !at.and_then(|at| letters.get(at)).is_some_and(|c| c.is_alphanumeric());
            single = if alone(at.checked_sub(1)) && alone(Some(at + 1)) { single + 1 } else { 0 };
            most = most.max(single);
            single *= usize::from(!c.is_ascii_digit());
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

/// The letter that a digit or sign replaces.
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

/// Whether several words have digits among their letters.
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
#[path = "../../../tests/unit/quarantine/content/encoded.rs"]
mod tests;
