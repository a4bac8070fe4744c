//! How literals are looked up; shared with the build script, which fills the table.

/// Begins a literal that only the beginning of a text matches. No UTF-8 text contains this byte.
pub const START: u8 = 0xfe;

/// Ends a literal that only the end of a text matches. No UTF-8 text contains this byte.
pub const END: u8 = 0xff;

/// Begins or ends a literal at which a word does (`\b`). No UTF-8 text contains this byte.
pub const EDGE: u8 = 0xfd;

/// Adjacent bytes of a literal, by which it is looked up. Shorter literals are not used.
pub const KEY_BYTES: usize = 3;

/// Buckets of the table of literals.
pub const BUCKETS: usize = 1 << 14;

/// Whether a byte is part of a word; `regex-lite` knows ASCII words only.
pub const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A byte as it counts in keys: letters in lower case, and ASCII that is no word like a mark that it may meet.
pub const fn key_byte(byte: u8) -> u8 {
    match byte {
        START | END | EDGE => b' ',
        _ if is_word(byte) => byte.to_ascii_lowercase(),
        _ if byte.is_ascii() => b' ',
        _ => byte,
    }
}

/// A literal without the mark at its beginning, which is not part of keys.
pub fn without_left_mark(literal: &[u8]) -> &[u8] {
    match literal {
        [START | EDGE, rest @ ..] => rest,
        _ => literal,
    }
}

/// The key with one more byte at its end, and without its first. The lowest bits of a key are empty.
#[inline]
pub const fn next_key(key: u32, key_byte: u8) -> u32 {
    (key | key_byte as u32) << 8
}

/// The bucket of a key, by multiplicative hashing.
#[inline]
pub const fn bucket(key: u32) -> usize {
    (key.wrapping_mul(0x9e37_79b1) >> 18) as usize
}
