//! Base64 (RFC 4648), in the standard and the URL alphabet.

/// Decodes a text without line ends; padding may be missing.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
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

/// Encodes bytes in the standard alphabet, with padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let digit = |value: u32| match u8::try_from(value & 63).unwrap_or_default() {
        value @ 0..=25 => char::from(b'A' + value),
        value @ 26..=51 => char::from(b'a' + value - 26),
        value @ 52..=61 => char::from(b'0' + value - 52),
        62 => '+',
        _ => '/',
    };
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for block in bytes.chunks(3) {
        let byte = |at: usize| u32::from(block.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let digits = [digit(bits >> 18), digit(bits >> 12), digit(bits >> 6), digit(bits)];
        text.extend(digits.iter().take(block.len() + 1));
        text.extend(std::iter::repeat_n('=', 3 - block.len()));
    }
    text
}
