//! Unit tests of `src/encoding/json.rs`.

use super::*;

fn error(text: &[u8]) -> Option<JsonError> {
    Fields::read(text).error()
}

#[test]
fn errors_are_named() {
    for (text, expected) in [
        (&b""[..], Some(JsonError::Empty)),
        (b"  \n", Some(JsonError::Empty)),
        (b"[]", Some(JsonError::NotAnObject)),
        (b"rm -rf", Some(JsonError::NotAnObject)),
        (b"{}", None),
        (b" {\"a\" : [1, {\"b\": null}] }\n", None),
        (b"{\"a\":1}{}", Some(JsonError::Trailing)),
        (b"{\"a\":1,\"\\u0061\":2}", Some(JsonError::Duplicate)),
        (b"\xEF\xBB\xBF{}", Some(JsonError::Mark)),
        (b"{\"a\":1,}", Some(JsonError::Broken)),
        (b"{\"a\":01}", Some(JsonError::Broken)),
        (b"{\"a\":[1}", Some(JsonError::Broken)),
        (b"{\"a\":\"x\ny\"}", Some(JsonError::Broken)),
        (b"{\"a\":\"x", Some(JsonError::Broken)),
    ] {
        assert_eq!(error(text), expected, "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn fields_before_an_error_are_kept() {
    let fields = Fields::read(br#"{"tool_name":"WebFetch","tool_response":"cut of"#);
    assert_eq!(fields.error(), Some(JsonError::Broken));
    assert_eq!(fields.string("tool_name").map(|text| text.text).as_deref(), Some("WebFetch"));
}

#[test]
fn strings_are_decoded_and_lone_surrogates_replaced() {
    for (raw, text, error) in [
        (&br#""a\u0062\n\"""#[..], "ab\n\"", None),
        (br#""\ud83d\ude00""#, "\u{1F600}", None),
        (br#""x\ud83dy""#, "x\u{FFFD}y", Some(JsonError::Surrogate)),
        (br#""\ude00\ud83d""#, "\u{FFFD}\u{FFFD}", Some(JsonError::Surrogate)),
        (br#""\ud83d\u0041""#, "\u{FFFD}A", Some(JsonError::Surrogate)),
        (b"\"\xff\"", "\u{FFFD}", Some(JsonError::Encoding)),
    ] {
        assert_eq!(Text::read(raw), Some(Text { text: text.to_owned(), error }), "{}", String::from_utf8_lossy(raw));
    }
}

#[test]
fn deep_nesting_is_read_without_recursion() {
    let deep = [b"{\"a\":".repeat(100_000), b"1".to_vec(), b"}".repeat(100_000)].concat();
    assert_eq!(error(&deep), None);
    assert_eq!(check(&deep), Err(JsonError::Deep));
}
