//! Properties of canonical JSON (RFC 8785), for random values.

use proptest::prelude::*;
use rune::encoding::canonical::{Value as Canonical, canonical, canonical_of};
use serde_json::{Map, Value, json};

/// Any JSON value.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1_i64 << 53)..=(1 << 53)).prop_map(Value::from),
        any::<f64>().prop_filter_map("a number of JSON", |number| {
            let exact = number.abs() <= 9e15 || number.abs() >= 1e21;
            (number.is_finite() && exact).then(|| json!(number))
        }),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Writes a value with its members rotated, blanks between all tokens and escaped strings.
fn respell(value: &Value, turn: usize) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| respell(item, turn)).collect();
            format!("[ {} ]", items.join(" ,\t"))
        }
        Value::Object(fields) => {
            let mut fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{}\n:{}", escape(name), respell(value, turn))).collect();
            let middle = turn % fields.len().max(1);
            fields.rotate_left(middle);
            format!("{{ {} }}\r\n", fields.join(" , "))
        }
        Value::String(text) => escape(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Writes a string with every character as an escape.
fn escape(text: &str) -> String {
    let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
    format!("\"{units}\"")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn canonicalisation_is_idempotent(value in value()) {
        let once = canonical_of(&value).unwrap();
        prop_assert_eq!(canonical(once.as_bytes()).unwrap(), once);
    }

    #[test]
    fn order_blanks_and_escapes_do_not_matter(value in value(), turn in 0_usize..6) {
        prop_assert_eq!(canonical(respell(&value, turn).as_bytes()).unwrap(), canonical_of(&value).unwrap());
    }

    #[test]
    fn the_canonical_form_is_read_as_the_same_value(value in value()) {
        let canonical = Canonical::of(&value).unwrap();
        prop_assert_eq!(Canonical::read(canonical.to_string().as_bytes()).unwrap(), canonical);
    }

    #[test]
    fn different_values_have_different_canonical_forms(one in value(), other in value()) {
        let (a, b) = (Canonical::of(&one).unwrap(), Canonical::of(&other).unwrap());
        prop_assert_eq!(a == b, a.to_string() == b.to_string());
    }

    #[test]
    fn bytes_that_serde_json_rejects_are_rejected(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        if canonical(&bytes).is_ok() {
            prop_assert!(serde_json::from_slice::<Value>(&bytes).is_ok());
        }
    }
}
