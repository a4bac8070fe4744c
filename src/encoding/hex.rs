//! Hex digits: lower case, and no other spelling.

use sha2::{Digest, Sha256};

/// The hex digits of the SHA-256 of some bytes.
pub fn digest(bytes: &[u8]) -> String {
    encode(&Sha256::digest(bytes))
}

/// The digits of some bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 });
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// The bytes of as many digits as they need.
pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut values = [[0; 2]; N];
    if text.len() != 2 * N {
        return None;
    }
    // All of them without a branch, and so many at once: a record of pins has a hash for each of its tools.
    values.as_flattened_mut().iter_mut().zip(text.bytes()).for_each(|(place, digit)| *place = value(digit));
    if values.as_flattened().iter().fold(0, |all, value| all | value) > 15 {
        return None;
    }
    let mut bytes = [0; N];
    bytes.iter_mut().zip(values).for_each(|(byte, [high, low])| *byte = high << 4 | low);
    Some(bytes)
}

/// The value of a digit; over 15 for anything else.
fn value(digit: u8) -> u8 {
    let (number, letter) = (digit.wrapping_sub(b'0'), digit.wrapping_sub(b'a'));
    if number < 10 {
        number
    } else if letter < 6 {
        letter + 10
    } else {
        u8::MAX
    }
}

#[cfg(test)]
#[path = "../../tests/unit/encoding/hex.rs"]
mod tests;
