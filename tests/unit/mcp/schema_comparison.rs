//! Compares the schema check with the `jsonschema` crate on random schemas and arguments.

use super::*;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::json;

/// The result of the check by the standard; `None` if the budget is exceeded.
fn by_standard(schema: &Value, arguments: &Value) -> Option<bool> {
    let mut checker = SchemaChecker::new(schema);
    let at = Location { name: "", depth: 0, closed: false, standard: true };
    let fits = checker.check_value(schema, arguments, at).is_ok();
    (!checker.exceeded).then_some(fits)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-6..7_i64).prop_map(Value::from),
        (-6..7_i64).prop_map(|number| json!(number as f64 / 2.0)),
        select(vec!["", "a", "b", "ab", "7", "é"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(select(vec!["a", "b", "c", "d7"]), inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    let name = select(vec!["a", "b", "c", "d7"]);
    proptest::collection::btree_map(name, value(), 0..4).prop_map(|map| json!(map))
}

fn names() -> impl Strategy<Value = Value> {
    subsequence(vec!["a", "b", "c"], 0..3).prop_map(|names| json!(names))
}

/// A keyword and its value; `inner` generates nested schemas.
fn keyword(inner: BoxedStrategy<Value>) -> impl Strategy<Value = (&'static str, Value)> {
    let count = (0..4_u64).prop_map(Value::from);
    let number = (-4..5_i64).prop_map(|number| json!(number as f64 / 2.0));
    let pattern = select(vec!["^a", "b$", "^[a-c]$", "[0-9]"]);
    let list = proptest::collection::vec(inner.clone(), 1..4).prop_map(Value::from);
    let kinds = vec!["null", "boolean", "number", "string", "array", "object", "integer"];
    let map = |key: BoxedStrategy<&'static str>, inner: BoxedStrategy<Value>| {
        proptest::collection::btree_map(key, inner, 1..3).prop_map(|map| json!(map)).boxed()
    };
    let name = select(vec!["a", "b", "c"]).boxed();
    prop_oneof![
        3 => (Just("type"), select(kinds.clone()).prop_map(Value::from)),
        1 => (Just("type"), subsequence(kinds, 1..4).prop_map(|kinds| json!(kinds))),
        1 => (Just("enum"), proptest::collection::vec(value(), 1..4).prop_map(Value::from)),
        1 => (Just("const"), value()),
        2 => (select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), number),
        1 => (Just("multipleOf"), select(vec![json!(1), json!(2), json!(0.5), json!(1.5)])),
        2 => (select(vec!["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]), count.clone()),
        1 => (Just("pattern"), pattern.clone().prop_map(Value::from)),
        1 => (Just("uniqueItems"), any::<bool>().prop_map(Value::Bool)),
        1 => (select(vec!["minContains", "maxContains"]), count),
        2 => (select(vec!["items", "contains", "not", "if", "then", "else", "additionalProperties"]), inner.clone()),
        1 => (Just("additionalProperties"), Just(json!(false))),
        1 => (Just("propertyNames"), pattern.clone().prop_map(|pattern| json!({"pattern": pattern}))),
        2 => (select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]), list),
        3 => (select(vec!["properties", "dependentSchemas"]), map(name.clone(), inner.clone())),
        1 => (Just("patternProperties"), map(pattern.boxed(), inner)),
        1 => (Just("required"), names()),
        1 => (Just("dependentRequired"), map(name, names().boxed())),
        1 => (Just("$ref"), Just(json!("#/$defs/x"))),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![4 => Just(json!({})), 1 => any::<bool>().prop_map(Value::Bool)];
    let any = leaf.prop_recursive(4, 40, 4, |inner| {
        proptest::collection::vec(keyword(inner.boxed()), 1..4)
            .prop_map(|words| Value::Object(words.into_iter().map(|(word, says)| (word.to_owned(), says)).collect()))
    });
    (any.clone(), any).prop_map(|(mut schema, named)| {
        if let Value::Object(root) = &mut schema {
            root.insert("$defs".to_owned(), json!({"x": named}));
        }
        schema
    })
}

/// Whether a schema may be recursive. The two checks handle recursion differently.
fn has_circle(schema: &Value) -> bool {
    schema["$defs"].to_string().contains("$ref")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_check_agrees_with_jsonschema(schema in schema(), arguments in object()) {
        prop_assume!(!has_circle(&schema));
        let Ok(validator) = jsonschema::draft202012::new(&schema) else {
            return Err(TestCaseError::reject("no schema"));
        };
        let fits = validator.is_valid(&arguments);
        prop_assert_eq!(by_standard(&schema, &arguments), Some(fits));
        prop_assert!(fits || check(&schema, &arguments).is_err(), "we may be stricter, and never milder");
    }

    #[test]
    fn no_format_is_refused_that_the_crate_takes(
        format in select(vec!["date", "time", "date-time", "email", "ipv4", "ipv6", "uri", "uuid"]),
        text in "[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?([zZ]|[+-][0-9]{2}:[0-9]{2}))?\
            |[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|\\+[0-9]{2}:[0-9]{2})|[a-z.]{1,6}@[a-z.]{1,6}|[a-z]{1,5}:[a-z/?#@:]{0,8}\
            |[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}|([0-9a-f]{0,4}:){1,7}[0-9a-f]{0,4}\
            |[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    ) {
        let schema = json!({"format": format});
        let validator = jsonschema::options().should_validate_formats(true).build(&schema);
        let takes = validator.is_ok_and(|validator| validator.is_valid(&json!(text)));
        prop_assert!(!takes || format::matches(format, &text), "{format} {text}");
    }
}
