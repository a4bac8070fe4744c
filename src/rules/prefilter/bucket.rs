//! The hash table of literals. The build script shares this file and fills the table.

/// First byte of a literal that occurs only at the beginning of a text. No UTF-8 text contains it.
pub const START: u8 = 0xfe;

/// Last byte of a literal that occurs only at the end of a text. No UTF-8 text contains it.
pub const END: u8 = 0xff;

/// First or last byte of a literal with a word boundary (`\b`) there. No UTF-8 text contains it.
pub const EDGE: u8 = 0xfd;

/// Adjacent bytes of a literal that form its key. Shorter literals are not used.
pub const KEY_BYTES: usize = 3;

/// Number of buckets.
pub const BUCKETS: usize = 1 << 14;

/// Whether a byte is part of a word. For `regex-lite` only ASCII is.
pub const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Normalises a byte for keys: letters to lower case, and marks and other ASCII characters to a space.
pub const fn key_byte(byte: u8) -> u8 {
    match byte {
        START | END | EDGE => b' ',
        _ if is_word(byte) => byte.to_ascii_lowercase(),
        _ if byte.is_ascii() => b' ',
        _ => byte,
    }
}

/// Shifts a byte into a key and drops its first one. The lowest eight bits of a key are zero.
#[inline]
pub const fn next_key(key: u32, key_byte: u8) -> u32 {
    (key | key_byte as u32) << 8
}

/// The bucket of a key, by multiplicative hashing.
#[inline]
pub const fn bucket(key: u32) -> usize {
    (key.wrapping_mul(0x9e37_79b1) >> 18) as usize
}
