//! Unit tests of `src/mcp/status.rs`.

use super::*;

fn value(text: &str) -> Value {
    Value::read(text.as_bytes()).unwrap()
}

#[test]
fn every_change_of_a_tool_is_named() {
    let base = r#"{"name":"a","description":"d","title":"t","inputSchema":{"type":"object"},
        "outputSchema":{},"annotations":{"readOnlyHint":true,"title":"A"},"_meta":{"x":1}}"#;
    for (from, to, parts) in [
        ("\"d\"", "\"D\"", vec![ChangedPart::Text]),
        ("\"t\"", "\"T\"", vec![ChangedPart::Text]),
        ("\"object\"", "\"object\",\"properties\":{}", vec![ChangedPart::Input]),
        ("\"outputSchema\":{}", "\"outputSchema\":{\"x\":1}", vec![ChangedPart::Output]),
        ("\"readOnlyHint\":true", "\"readOnlyHint\":false", vec![ChangedPart::Annotations]),
        ("\"readOnlyHint\":true", "\"destructiveHint\":true", vec![ChangedPart::Annotations]),
        ("\"x\":1", "\"x\":2", vec![ChangedPart::Rest]),
        ("\"_meta\"", "\"icons\"", vec![ChangedPart::Rest]),
        ("\"description\":\"d\",", "", vec![ChangedPart::Text]),
    ] {
        let status = compare(&value(base), &value(&base.replace(from, to)));
        assert_eq!(status, Status::Changed(parts), "{from} {to}");
    }
    assert_eq!(compare(&value(base), &value(&base.replace(' ', ""))), Status::Approved(Annotations::Same));
}

#[test]
fn annotations_that_come_or_go_warn_unless_they_promise_something() {
    let bare = r#"{"name":"a"}"#;
    let with = |text: &str| format!(r#"{{"name":"a","annotations":{text}}}"#);
    let promise = Status::Changed(vec![ChangedPart::Annotations]);
    for (annotations, appears) in [
        ("{}", Status::Approved(Annotations::Appeared)),
        (r#"{"title":"A","openWorldHint":true}"#, Status::Approved(Annotations::Appeared)),
        (r#"{"readOnlyHint":false,"destructiveHint":true}"#, Status::Approved(Annotations::Appeared)),
        (r#"{"readOnlyHint":true}"#, promise.clone()),
        (r#"{"destructiveHint":false}"#, promise.clone()),
        (r#"{"readOnlyHint":"yes"}"#, promise.clone()),
        ("[]", promise),
    ] {
        assert_eq!(compare(&value(bare), &value(&with(annotations))), appears, "{annotations}");
        let vanishes = compare(&value(&with(annotations)), &value(bare));
        assert_eq!(vanishes, Status::Approved(Annotations::Vanished), "{annotations}");
    }
}
