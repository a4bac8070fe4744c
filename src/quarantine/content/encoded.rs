//! What a text says in another writing: base64, hexadecimal and percent signs, letters that stand apart or stand for
//! others, and what it says itself is to be turned around.

/// Parts that are kept at most.
const MOST: usize = 100;

/// A token up to this is too short to say anything.
const SHORT: usize = 24;

/// Tokens beyond this are files.
const LONG: usize = 16 << 10;

/// The texts that are written in a text in another way.
pub(super) fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = tokens(text).filter_map(token).take(MOST).collect();
    parts.extend(apart(text));
    parts.extend(text.lines().filter(|line| is_leet(line)).take(MOST).map(unleet));
    let lower = text.to_ascii_lowercase();
    if lower.contains("rot13") || lower.contains("rot-13") {
        parts.push(text.chars().map(rot13).collect());
    }
    if ["backward", "reverse", "right to left"].iter().any(|word| lower.contains(word)) {
        parts.extend(
            text.split(['\n', '"']).filter(|line| line.len() > 15).take(MOST).map(|line| line.chars().rev().collect()),
        );
    }
    parts
}

/// Long runs of the characters that such writings use.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '_' | '-' | '%');
    text.split(move |c| !is_part(c)).filter(|token| token.len() >= SHORT && token.len() < LONG)
}

fn token(token: &str) -> Option<String> {
    let hexadecimal = token.rsplit(['=', '/', '-']).next().unwrap_or(token);
    let value = token.split_once('=').map_or(token, |(_, value)| if value.len() < SHORT { token } else { value });
    percent(token)
        .or_else(|| hex(hexadecimal).and_then(sentence))
        .or_else(|| base64(value).and_then(|bytes| sentence(bytes.clone()).or_else(|| twice(bytes))))
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
fn apart(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines().filter(|line| line.len() > 8) {
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
        if most > 4 && found.len() < MOST {
            found.push(joined);
        }
    }
    found
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
