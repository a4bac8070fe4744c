//! Unit tests of `src/encoding/canonical.rs`, with the test vectors of RFC 8785.

use super::*;

#[test]
fn the_examples_of_the_rfc() {
    // RFC 8785, 3.2.2 and 3.2.4.
    let text = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let expected = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
        \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
    assert_eq!(canonical(text.as_bytes()).unwrap(), expected);
}

#[test]
fn names_are_ordered_by_code_units() {
    // RFC 8785, 3.2.3.
    let text = r#"{
        "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"
    }"#;
    let value = Value::read(text.as_bytes()).unwrap();
    let values: Vec<&str> = value.fields().filter_map(|(_, value)| value.text()).collect();
    assert_eq!(
        values,
        [
            "Carriage Return",
            "One",
            "Control",
            "Latin Small Letter O With Diaeresis",
            "Euro Sign",
            "Emoji: Grinning Face",
            "Hebrew Letter Dalet With Dagesh"
        ]
    );
}

#[test]
fn numbers_are_written_as_ecmascript_does() {
    // RFC 8785, appendix B: the bits of a number and how it is written.
    for (bits, expected) in [
        (0x0000_0000_0000_0000_u64, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        let number = f64::from_bits(bits);
        assert_eq!(Value::Number(number).to_string(), expected, "{bits:x}");
        let spelled = Value::read(format!("{number:e}").as_bytes());
        let exact = number.abs() < 9_007_199_254_740_992.0 || number.abs() >= 1e21;
        assert_eq!(spelled.map(|value| value.to_string()).ok(), exact.then(|| expected.to_owned()), "{bits:x}");
    }
    assert_eq!(canonical(b"-0.0").unwrap(), "0");
    assert_eq!(canonical(b"-9007199254740992").unwrap(), "-9007199254740992");
}

#[test]
fn texts_without_a_canonical_form_are_errors() {
    let deep = |levels: usize| [b"[".repeat(levels), b"]".repeat(levels)].concat();
    assert!(canonical(&deep(128)).is_ok());
    for (text, fault) in [
        (&b""[..], CanonicalError::Broken),
        (b"  ", CanonicalError::Broken),
        (b"nul", CanonicalError::Broken),
        (b"nulll", CanonicalError::Trailing),
        (b"{\"a\":1}{}", CanonicalError::Trailing),
        (b"\xEF\xBB\xBF{}", CanonicalError::Broken),
        (b"{\"a\":1,}", CanonicalError::Broken),
        (b"[1,]", CanonicalError::Broken),
        (b"[1 2]", CanonicalError::Broken),
        (b"{a:1}", CanonicalError::Broken),
        (b"{\"a\" 1}", CanonicalError::Broken),
        (b"01", CanonicalError::Trailing),
        (b"-", CanonicalError::Broken),
        (b"1.", CanonicalError::Broken),
        (b"1e", CanonicalError::Broken),
        (b"+1", CanonicalError::Broken),
        (b".5", CanonicalError::Broken),
        (b"NaN", CanonicalError::Broken),
        (b"1e400", CanonicalError::Number),
        (b"9007199254740993", CanonicalError::Number),
        (b"-9007199254740993", CanonicalError::Number),
        (b"12345678901234567890", CanonicalError::Number),
        (b"1e20", CanonicalError::Number),
        (b"9007199254740993.0", CanonicalError::Number),
        (b"123456789012345678901234567890", CanonicalError::Number),
        (b"\"a\nb\"", CanonicalError::Broken),
        (b"\"a", CanonicalError::Broken),
        (b"\"\\x\"", CanonicalError::Broken),
        (b"\"\\u+123\"", CanonicalError::Broken),
        (b"\"\\u12\"", CanonicalError::Broken),
        (b"\"\\ud800\"", CanonicalError::Surrogate),
        (b"\"\\udc00\"", CanonicalError::Surrogate),
        (b"\"\\ud800\\u0041\"", CanonicalError::Surrogate),
        (b"\"\\ud800\\ud800\"", CanonicalError::Surrogate),
        (b"\"\xff\"", CanonicalError::Encoding),
        (b"\"\xed\xa0\x80\"", CanonicalError::Encoding),
        (b"{\"a\":1,\"\\u0061\":2}", CanonicalError::Duplicate),
        (b"{\"a\":[{\"b\":1,\"c\":2,\"b\":1}]}", CanonicalError::Duplicate),
        (&deep(129), CanonicalError::Deep),
        (&deep(100_000), CanonicalError::Deep),
        (&b"{\"a\":".repeat(100_000), CanonicalError::Deep),
    ] {
        assert_eq!(canonical(text), Err(fault), "{}", String::from_utf8_lossy(text.get(..60).unwrap_or(text)));
    }
}

#[test]
fn serialisable_values_have_a_canonical_form() {
    #[derive(serde::Serialize)]
    struct Own {
        z: u64,
        a: Option<&'static str>,
        list: Vec<f64>,
    }
    let own = Own { z: 7, a: Some("x\u{2028}"), list: vec![1.0, 0.5] };
    assert_eq!(canonical_of(&own).unwrap(), "{\"a\":\"x\u{2028}\",\"list\":[1,0.5],\"z\":7}");
    assert_eq!(canonical_of(&u64::MAX), Err(CanonicalError::Number));
}

#[test]
fn a_built_object_is_in_canonical_order() {
    let value = Value::object([("b".to_owned(), Value::Null), ("a".to_owned(), Value::Bool(true))]);
    assert_eq!(value.to_string(), r#"{"a":true,"b":null}"#);
}
