//! Unit tests of `src/mcp/schema.rs`.

use super::*;

fn fits(schema: &str, arguments: &str) -> Result<(), String> {
    let (schema, arguments) = (serde_json::from_str(schema).unwrap(), serde_json::from_str(arguments).unwrap());
    check(&schema, &arguments).map_err(|off| format!("{}: {off}", off.name))
}

#[test]
fn arguments_are_checked_against_the_schema() {
    let plain = r#"{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"integer","minimum":1,"maximum":9},
        "mode":{"enum":["a","b",1]},"list":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number"}},
        "required":["x"]},"maxItems":2},"free":{"type":"object"},"maybe":{"type":["string","null"]}},"required":["q"]}"#;
    let open = r#"{"type":"object","properties":{"q":{}},"additionalProperties":true}"#;
    let typed = r#"{"type":"object","additionalProperties":{"type":"string"}}"#;
    let by_pattern = r#"{"type":"object","patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}"#;
    let reference = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/node"}},
        "$defs":{"node":{"type":"object","properties":{"next":{"$ref":"#/$defs/node"},"v":{"type":"integer"}}}}}"##;
    let any = r#"{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},
        {"properties":{"b":{"type":"integer"}},"required":["b"]}]}"#;
    let all = r#"{"allOf":[{"type":"object","properties":{"a":{}}},{"properties":{"b":{"const":7}}}]}"#;
    let conditional = r#"{"type":"object","properties":{"k":{"type":"string"}},"if":{"properties":{"k":{"const":"x"}}},
        "then":{"properties":{"only":{}},"required":["only"]}}"#;
    let text = r#"{"type":"object","properties":{"t":{"type":"string","minLength":2,"maxLength":3,"pattern":"^é"}}}"#;
    let one = r#"{"oneOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]}"#;
    let names = r#"{"properties":{"a":{}},"propertyNames":{"pattern":"^[a-z]$"},"additionalProperties":true,
        "minProperties":2,"maxProperties":3}"#;
    let depends = r#"{"properties":{"a":{},"b":{},"c":{},"old":{},"older":{}},"dependentRequired":{"a":["b"]},
        "dependencies":{"old":["b"],"older":{"properties":{"b":{"type":"integer"}}}},
        "dependentSchemas":{"c":{"properties":{"only":{}},"required":["only"]}}}"#;
    let lists = r#"{"properties":{"set":{"type":"array","uniqueItems":true},
        "some":{"contains":{"type":"integer"},"maxContains":2},
        "two":{"items":[{"type":"string"}],"additionalItems":false}}}"#;
    let steps = r#"{"properties":{"a":{"multipleOf":0.1},"b":{"multipleOf":7}}}"#;
    for (schema, arguments, fine) in [
        (plain, r#"{"q":"x"}"#, true),
        (plain, r#"{"q":"x","n":3,"mode":"a","list":[{"x":1.5}],"free":{"any":{"thing":1}},"maybe":null}"#, true),
        (plain, r#"{"q":"x","n":3.0,"mode":1.0}"#, true),
        (plain, r#"{}"#, false),
        (plain, r#"{"q":1}"#, false),
        (plain, r#"{"q":"x","n":3.5}"#, false),
        (plain, r#"{"q":"x","n":10}"#, false),
        (plain, r#"{"q":"x","n":0}"#, false),
        (plain, r#"{"q":"x","mode":"c"}"#, false),
        (plain, r#"{"q":"x","sidenote":"y"}"#, false),
        (plain, r#"{"q":"x","list":[{"x":1,"y":2}]}"#, false),
        (plain, r#"{"q":"x","list":[{}]}"#, false),
        (plain, r#"{"q":"x","list":[{"x":1},{"x":1},{"x":1}]}"#, false),
        (plain, r#"{"q":"x","maybe":1}"#, false),
        (plain, r#"["q"]"#, false),
        (open, r#"{"q":"x","other":1}"#, true),
        (typed, r#"{"a":"x"}"#, true),
        (typed, r#"{"a":1}"#, false),
        (by_pattern, r#"{"x-a":"1"}"#, true),
        (by_pattern, r#"{"x-a":1}"#, false),
        (by_pattern, r#"{"y":"1"}"#, false),
        (reference, r#"{"a":{"next":{"next":{"v":1}}}}"#, true),
        (reference, r#"{"a":{"next":{"next":{"v":"x"}}}}"#, false),
        (reference, r#"{"a":{"next":{"next":{"w":1}}}}"#, false),
        (any, r#"{"a":"x"}"#, true),
        (any, r#"{"b":1}"#, true),
        (any, r#"{"a":1}"#, false),
        (any, r#"{"a":"x","c":1}"#, false),
        (all, r#"{"a":1,"b":7}"#, true),
        (all, r#"{"a":1,"b":8}"#, false),
        (all, r#"{"c":1}"#, false),
        (conditional, r#"{"k":"x","only":1}"#, true),
        (conditional, r#"{"k":"x"}"#, false),
        (conditional, r#"{"k":"y"}"#, true),
        (text, r#"{"t":"éa"}"#, true),
        (text, r#"{"t":"é"}"#, false),
        (text, r#"{"t":"éaaa"}"#, false),
        (text, r#"{"t":"aa"}"#, false),
        (r#"{"type":"object"}"#, r#"{}"#, true),
        // A schema without properties allows no arguments.
        (r#"{"type":"object"}"#, r#"{"ssh_key":"x"}"#, false),
        (r#"{"type":"object","properties":{}}"#, r#"{"ssh_key":"x"}"#, false),
        ("true", r#"{"a":1}"#, false),
        ("true", "{}", true),
        ("false", "{}", false),
        (r#"{"type":"object","not":{"required":["a"]},"properties":{"a":{},"b":{}}}"#, r#"{"a":1}"#, false),
        (r#"{"type":"object","not":{"required":["a"]},"properties":{"a":{},"b":{}}}"#, r#"{"b":1}"#, true),
        // External schemas and unsupported patterns allow everything.
        (r#"{"$ref":"https://e.example/schema"}"#, r#"{"a":1}"#, true),
        (r#"{"properties":{"a":{"pattern":"(?<=x)y"}}}"#, r#"{"a":"z"}"#, true),
        (r#"{"properties":{"a":{"minimum":1,"exclusiveMinimum":true}}}"#, r#"{"a":1}"#, false),
        (r#"{"properties":{"a":{"exclusiveMaximum":5}}}"#, r#"{"a":5}"#, false),
        (
            r#"{"properties":{"a":{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}}}"#,
            r#"{"a":["x",1]}"#,
            true,
        ),
        (
            r#"{"properties":{"a":{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}}}"#,
            r#"{"a":["x","y"]}"#,
            false,
        ),
        (r#"{"properties":{"a":{"type":"string","nullable":true}}}"#, r#"{"a":null}"#, true),
        (one, r#"{"a":1}"#, true),
        (one, r#"{"b":1}"#, true),
        (one, r#"{"a":1,"b":1}"#, false),
        (one, r#"{}"#, false),
        (r#"{"oneOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}"#, r#"{"a":1}"#, false),
        (names, r#"{"a":1,"b":2}"#, true),
        (names, r#"{"a":1,"B":2}"#, false),
        (names, r#"{"a":1}"#, false),
        (names, r#"{"a":1,"b":2,"c":3,"d":4}"#, false),
        (depends, r#"{"b":1}"#, true),
        (depends, r#"{"a":1}"#, false),
        (depends, r#"{"a":1,"b":1}"#, true),
        (depends, r#"{"old":1}"#, false),
        (depends, r#"{"older":1,"b":"x"}"#, false),
        (depends, r#"{"c":1,"only":1}"#, true),
        (depends, r#"{"c":1}"#, false),
        // `additionalProperties: false` in one part also excludes properties of other parts.
        (
            r#"{"allOf":[{"properties":{"a":{}},"additionalProperties":false}],"properties":{"b":{}}}"#,
            r#"{"b":1}"#,
            false,
        ),
        (lists, r#"{"set":[1,2,"1"],"some":["x",7]}"#, true),
        (lists, r#"{"set":[{"a":1,"b":2},{"b":2.0,"a":1}]}"#, false),
        (lists, r#"{"set":[12345678901234567890,12345678901234567890]}"#, false),
        (lists, r#"{"some":["x"]}"#, false),
        (lists, r#"{"some":[1,2,3]}"#, false),
        (lists, r#"{"two":["x"]}"#, true),
        (lists, r#"{"two":["x",1]}"#, false),
        (steps, r#"{"a":0.3,"b":21}"#, true),
        (steps, r#"{"a":0.35}"#, false),
        (steps, r#"{"b":20}"#, false),
        (steps, r#"{"b":9007199254740993}"#, false),
        (r#"{"properties":{"a":{"const":9007199254740992}}}"#, r#"{"a":9007199254740993}"#, false),
        (r#"{"properties":{"a":{"const":{"x":[1]}}}}"#, r#"{"a":{"x":[1.0]}}"#, true),
    ] {
        assert_eq!(fits(schema, arguments).is_ok(), fine, "{schema} {arguments} {:?}", fits(schema, arguments));
    }
}

#[test]
fn the_argument_is_named() {
    let schema = r#"{"properties":{"a":{"properties":{"b":{"type":"string"}}}}}"#;
    let named = |arguments: &str| fits(schema, arguments).unwrap_err().split(':').next().unwrap().to_owned();
    assert_eq!(named(r#"{"a":{"b":1}}"#), "a");
    assert_eq!(named(r#"{"z":1}"#), "z");
}

#[test]
fn recursive_schemas_exceed_the_budget() {
    for schema in [
        r##"{"$ref":"#"}"##.to_owned(),
        r##"{"allOf":[{"$ref":"#"},{"$ref":"#"}]}"##.to_owned(),
        r##"{"anyOf":[{"$ref":"#/anyOf/1"},{"$ref":"#/anyOf/0"}]}"##.to_owned(),
        format!("{}{{}}{}", r#"{"anyOf":["#.repeat(40), "]}".repeat(40)),
        r##"{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}"##.to_owned(),
    ] {
        fits(&schema, r#"{"a":{"a":{"a":1}}}"#).ok();
    }
    let wide = r##"{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"},{"type":"string"}"##;
    for schema in [
        r##"{"$ref":"#"}"##.to_owned(),
        // Below a `not`, exceeding the budget must not count as a match of the whole.
        r##"{"not":{"$ref":"#/not"}}"##.to_owned(),
        format!(r#"{{"not":{{"anyOf":[{wide}]}},"$defs":{{"a":{{"anyOf":[{wide}]}}}}}}"#),
        r##"{"if":{"$ref":"#/if"},"then":false}"##.to_owned(),
        r##"{"properties":{"a":{"contains":{"$ref":"#/properties/a/contains"},"minContains":0}}}"##.to_owned(),
    ] {
        let arguments = if schema.contains("contains") { r#"{"a":[1]}"# } else { "{}" };
        assert!(fits(&schema, arguments).is_err(), "what cannot be checked does not fit: {schema}");
    }
}

#[test]
fn formats_are_checked_leniently() {
    for (format, good, bad) in [
        ("date", &["2026-01-31"][..], &["", "yesterday", "2026-13-01", "31.01.2026", "2026-01-31T00:00:00Z"][..]),
        ("time", &["10:15", "10:15:30.25", "23:59:60Z", "10:15:30+02:00"], &["", "10", "quarter past", "10:75:00"]),
        ("date-time", &["2026-01-31T10:15:30Z", "2026-01-31 10:15", "2026-01-31"], &["", "now", "2026-01-31Tnoon"]),
        ("email", &["a@b.example", "\"a b\"@c"], &["a", "@b", "a@", "a@b\nBcc: c"]),
        ("ipv4", &["127.0.0.1"], &["127.0.0", "::1", "localhost"]),
        ("ipv6", &["::1"], &["127.0.0.1", "x"]),
        ("uri", &["https://a.example/b?c#d", "mailto:a@b"], &["a.example/b", "https://a b", "", ":x"]),
        ("uuid", &["f81d4fae-7dec-11d0-a765-00a0c91e6bf6"], &["f81d4fae", "x81d4fae-7dec-11d0-a765-00a0c91e6bf6"]),
        ("a-format-of-tomorrow", &["anything", ""], &[]),
    ] {
        let schema = format!(r#"{{"properties":{{"a":{{"format":"{format}"}}}}}}"#);
        let is_fine = |text: &str| fits(&schema, &serde_json::json!({"a": text}).to_string()).is_ok();
        assert!(good.iter().all(|text| is_fine(text)), "{format}");
        assert!(!bad.iter().any(|text| is_fine(text)), "{format}");
    }
}

#[test]
fn an_expensive_pattern_exceeds_the_budget() {
    let long = serde_json::json!({"a": "a".repeat(100_000)}).to_string();
    let short = r#"{"a":"aaaa"}"#;
    for (pattern, arguments, fine) in [
        ("^a+$", &*long, true),
        ("^[A-Za-z0-9+/=]*$", &long, true),
        ("^(a{2}){2}$", short, true),
        ("^(a{2}){2}$", r#"{"a":"aaa"}"#, false),
        (r"(\\w{50}){50}x", &long, false),
        ("((((a?){50}){50}){8})", &long, false),
        ("(((((a?){50}){50}){50}){50})", short, false),
    ] {
        let schema = format!(r#"{{"properties":{{"a":{{"pattern":"{pattern}"}}}}}}"#);
        assert_eq!(fits(&schema, arguments).is_ok(), fine, "{pattern} {:?}", fits(&schema, arguments));
    }
    // Many patterns share one budget.
    let names: Vec<String> = (0..300).map(|nth| format!(r#""n{nth}":1"#)).collect();
    let patterns: Vec<String> = (0..300).map(|nth| format!(r#""^(x{{90}}){{90}}{nth}$":{{}}"#)).collect();
    let schema = format!(r#"{{"patternProperties":{{{}}},"additionalProperties":true}}"#, patterns.join(","));
    assert!(fits(&schema, &format!("{{{}}}", names.join(","))).is_err());
}
