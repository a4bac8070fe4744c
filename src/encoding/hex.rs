//! Lower-case hex digits.

use sha2::{Digest, Sha256};

/// The SHA-256 hash of some bytes, in hex.
pub fn digest(bytes: &[u8]) -> String {
    encode(&Sha256::digest(bytes))
}

/// Encodes bytes in lower-case hex.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 });
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// Decodes exactly `2 * N` lower-case hex digits.
pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut values = [[0; 2]; N];
    if text.len() != 2 * N {
        return None;
    }
    // Without branches, so that the compiler vectorises it: a pin record has a hash for each of its tools.
    values.as_flattened_mut().iter_mut().zip(text.bytes()).for_each(|(slot, digit)| *slot = value(digit));
    if values.as_flattened().iter().fold(0, |all, value| all | value) > 15 {
        return None;
    }
    let mut bytes = [0; N];
    bytes.iter_mut().zip(values).for_each(|(byte, [high, low])| *byte = high << 4 | low);
    Some(bytes)
}

/// The value of a hex digit; over 15 for any other byte.
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
