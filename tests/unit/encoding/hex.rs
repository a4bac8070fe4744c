//! Unit tests of `src/encoding/hex.rs`.

use super::*;

#[test]
fn only_lower_case_is_accepted() {
    assert_eq!(encode(&[0, 10, 255]), "000aff");
    assert_eq!(decode("000aff"), Some([0, 10, 255]));
    for wrong in ["000aFF", "000af", "000aff00", "000ag0", "0000\u{e9}", ""] {
        assert_eq!(decode::<3>(wrong), None, "{wrong}");
    }
    for byte in 0..=255 {
        let digit = b"0123456789abcdef".iter().position(|digit| *digit == byte);
        assert_eq!(value(byte), digit.map_or(u8::MAX, |digit| u8::try_from(digit).unwrap()), "{byte}");
    }
}
