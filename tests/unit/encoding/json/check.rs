//! Unit tests of `src/encoding/json/check.rs`.

use super::*;

#[test]
fn ambiguous_and_invalid_texts_are_refused() {
    assert_eq!(check(br#"{"a":{"b":1,"c":[{"d":2}]},"e":1.5e3,"f":-1,"g":true,"h":null}"#), Ok(()));
    assert_eq!(check(br#"{"a":[{"b":1,"b":2}]}"#), Err(JsonError::Duplicate));
    assert_eq!(check(br#"{"a":"\ud800"}"#), Err(JsonError::Surrogate));
    assert_eq!(check(b"{\"a\":\"\xff\"}"), Err(JsonError::Encoding));
    assert_eq!(check(b"{"), Err(JsonError::Broken));
}
