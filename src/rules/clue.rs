//! Clues: phrases that a match of a pattern cannot do without, and how they are looked up.
//!
//! Most passages of a long text have nothing to do with most patterns, and matching is what costs. So each embedded
//! pattern is taken apart when the binary is built, and a passage is only matched where it holds its clues.

/// Bytes that phrases are looked up by; shorter ones are no clues.
pub(crate) const KEY: usize = 3;

/// A key with another byte behind it, and without its first.
pub(crate) const fn behind(key: u32, byte: u8) -> u32 {
    key >> 8 | (byte as u32) << (8 * (KEY - 1))
}

/// Where phrases with this key are looked up.
pub(crate) const fn place(key: u32) -> u16 {
    // The upper half of a product that mixes all bits.
    (key.wrapping_mul(0x9e37_79b1) >> 16) as u16
}

/// Places that share a list of phrases.
pub(crate) const SHARE: u32 = 4;

/// A byte as phrases are looked up by it: signs as blanks, all others as they are.
pub(crate) const fn key_byte(byte: u8) -> u8 {
    if is_word(byte) || !byte.is_ascii() { byte.to_ascii_lowercase() } else { b' ' }
}

/// What stands in words, for a pattern.
pub(crate) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
