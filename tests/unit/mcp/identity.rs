//! Unit tests of `src/mcp/identity.rs`.

use super::*;

fn entry(text: &str) -> Option<Identity> {
    Identity::of_entry(&Value::read(text.as_bytes()).unwrap())
}

#[test]
fn an_entry_is_read_without_its_secrets() {
    let identity =
        entry(r#"{"command":"npx","args":["-y","x"],"env":{"TOKEN":"hunter2"},"headers":{"Authorization":"hunter2"}}"#);
    let identity = identity.unwrap();
    assert_eq!((identity.transport, identity.command.as_deref()), (Transport::Stdio, Some("npx")));
    let written = serde_json::to_string(&identity).unwrap();
    assert!(written.contains("TOKEN") && written.contains("Authorization") && !written.contains("hunter2"));
    assert_eq!(serde_json::from_str::<Identity>(&written).unwrap(), identity);
}

#[test]
fn every_member_of_an_entry_counts_except_values_of_secrets() {
    let base = r#"{"command":"a","args":["b"],"env":{"K":"1"},"cwd":"/x","headers":{"H":"1"},"headersHelper":"h"}"#;
    let known = entry(base).unwrap();
    for (from, to, differs) in [
        ("\"a\"", "\"z\"", true),
        ("[\"b\"]", "[\"b\",\"c\"]", true),
        ("\"K\"", "\"L\"", true),
        ("\"/x\"", "\"/y\"", true),
        ("\"H\"", "\"I\"", true),
        ("\"h\"", "\"i\"", true),
        ("{\"K\":\"1\"}", "{\"K\":\"2\"}", false),
    ] {
        let changed = entry(&base.replace(from, to)).unwrap();
        assert_eq!(known != changed, differs, "{from} {to}");
    }
}

#[test]
fn invalid_entries_are_rejected() {
    for text in ["[]", "{}", r#"{"command":1}"#, r#"{"type":"x","url":"u"}"#, r#"{"command":"a","args":[1]}"#] {
        assert!(entry(text).is_none(), "{text}");
    }
    for (text, transport) in [
        (r#"{"url":"https://e.example/mcp"}"#, Transport::Http),
        (r#"{"type":"sse","url":"u"}"#, Transport::Sse),
        (r#"{"type":"http","url":"u"}"#, Transport::Http),
    ] {
        assert_eq!(entry(text).unwrap().transport, transport, "{text}");
    }
}
