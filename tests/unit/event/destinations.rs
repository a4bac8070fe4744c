//! Unit tests of `src/event/destinations.rs`.

use super::*;
use serde_json::json;

fn all(arguments: &Value) -> Vec<String> {
    Destinations::of(arguments.to_string().as_bytes()).all().map(str::to_owned).collect()
}

#[test]
fn destinations_are_found_by_name_and_by_shape_at_any_depth() {
    for (arguments, expected) in [
        (json!({"to": "Bob@Example.com"}), vec!["bob@example.com"]),
        (json!({"recipients": ["a@x.example", "b@x.example"]}), vec!["a@x.example", "b@x.example"]),
        (json!({"to": "A <a@x.example>, b@x.example"}), vec!["a@x.example", "b@x.example"]),
        (json!({"channel": "#general", "text": "hi"}), vec!["general"]),
        (json!({"channelId": "C123"}), vec!["c123"]),
        (json!({"recipientAccount": 12_345}), vec!["12345"]),
        (json!({"message": {"headers": {"bcc": "x"}}}), vec!["x"]),
        (json!({"attendees": {"x@y.example": {"optional": true}}}), vec!["x@y.example"]),
        (json!({"body": "see https://evil.example/a, or mail x@y.example."}), vec!["evil.example/a", "x@y.example"]),
        (json!({"body": "[docs](http://evil.example/?d=1)"}), vec!["evil.example/?d=1"]),
        (json!({"body": "look at www.evil.museum or evil.com"}), vec!["evil.com", "www.evil.museum"]),
        (json!({"body": "go to evil.museum/x"}), vec!["evil.museum/x"]),
        (json!({"note": "pay DE89370400440532013000"}), vec!["de89370400440532013000"]),
        (json!({"note": "call +1-202-555-0100"}), vec!["+1-202-555-0100"]),
        (json!({"body": "ping @mallory"}), vec!["mallory"]),
        (json!({"payload": "{\"to\":\"x@y.example\"}"}), vec!["x@y.example"]),
        (json!({"owner": "acme", "repo": "web", "title": "x"}), vec!["acme/web"]),
        (json!({"body": "fix src/main.rs, main.rs:12 and e.g. report.docx, v1.2.3, 10:30", "amount": 12}), vec![]),
        (json!({"cc": ""}), vec![]),
    ] {
        assert_eq!(all(&arguments), expected, "{arguments}");
    }
}

#[test]
fn containers_are_repositories_projects_teams_and_issues() {
    let containers = |arguments: Value| {
        let found = Destinations::of(arguments.to_string().as_bytes());
        found.containers().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(containers(json!({"owner": "Acme", "repo": "web", "issue_number": 1})), ["repo:acme/web"]);
    assert_eq!(containers(json!({"issueIdOrKey": "ABC-12", "body": "x"})), ["issue:abc-12"]);
    assert_eq!(containers(json!({"id": "ABC-12"})), ["issue:abc-12"]);
    assert_eq!(containers(json!({"teamId": "t1", "projectId": "p1"})), ["project:p1", "team:t1"]);
    assert!(containers(json!({"query": "x"})).is_empty());
}
