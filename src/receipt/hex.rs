//! Hex digits: lower case, and no other spelling.

/// The digits of some bytes.
pub(super) fn encode(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 });
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The bytes of as many digits as they need.
pub(super) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let nibble = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let mut bytes = [0; N];
    if pairs.len() != N {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = nibble(*high)? << 4 | nibble(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_spelling() {
        assert_eq!(encode(&[0, 10, 255]), "000aff");
        assert_eq!(decode("000aff"), Some([0, 10, 255]));
        for wrong in ["000aFF", "000af", "000aff00", "000ag0", ""] {
            assert_eq!(decode::<3>(wrong), None, "{wrong}");
        }
    }
}
