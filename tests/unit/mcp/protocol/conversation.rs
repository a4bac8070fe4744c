//! Unit tests of `src/mcp/protocol/conversation.rs`.

use super::*;

fn texts(conversation: &Conversation) -> Vec<String> {
    conversation.served().tools.into_iter().map(|tool| String::from_utf8(tool).unwrap()).collect()
}

#[test]
fn lists_are_matched_with_their_requests() {
    let mut conversation = Conversation::default();
    conversation.record_request(br#"{"id":0,"method":"initialize"}"#);
    assert_eq!(
        conversation.record_response(br#"{"id":0,"result":{"instructions":"do","serverInfo":{"name":"x"}}}"#),
        ListUpdate::Unchanged
    );
    conversation.record_request(br#"{"id":1,"method":"tools/list"}"#);
    conversation.record_request(br#"{"id":2,"method":"tools/call","params":{"name":"a"}}"#);
    assert_eq!(conversation.record_response(br#"{"id":2,"result":{"content":[]}}"#), ListUpdate::Unchanged);
    assert_eq!(
        conversation.record_response(br#"{"id":1,"result":{"tools":[{"name":"a"}],"nextCursor":"p2"}}"#),
        ListUpdate::Partial
    );
    assert_eq!(texts(&conversation), [r#"{"name":"a"}"#]);
    conversation.record_request(br#"{"id":3,"method":"tools/list","params":{"cursor":"p2"}}"#);
    assert_eq!(conversation.record_response(br#"{"id":3,"result":{"tools":[{"name":"b"}]}}"#), ListUpdate::Complete);
    assert_eq!(texts(&conversation), [r#"{"name":"a"}"#, r#"{"name":"b"}"#]);
    assert_eq!(
        conversation.record_response(br#"{"method":"notifications/tools/list_changed"}"#),
        ListUpdate::Unchanged
    );
    conversation.record_request(br#"{"id":4,"method":"tools/list"}"#);
    assert_eq!(conversation.record_response(br#"{"id":4,"result":{"tools":[{"name":"c"}]}}"#), ListUpdate::Complete);
    assert_eq!(texts(&conversation), [r#"{"name":"c"}"#]);
    assert_eq!(conversation.served().instructions.as_deref(), Some(&br#""do""#[..]));
}

#[test]
fn unrequested_tools_count_as_served() {
    let asked = || {
        let mut conversation = Conversation::default();
        conversation.record_request(br#"{"id":1,"method":"tools/list"}"#);
        conversation
    };
    let good = br#"{"id":1,"result":{"tools":[{"name":"a"}]}}"#;
    for evil in [
        &br#"{"id":7,"result":{"tools":[{"name":"a","description":"evil"}]}}"#[..],
        br#"{"result":{"tools":[{"name":"a","description":"evil"}]}}"#,
        br#"{"id":7,"result":{},"result":{"\u0074ools":[{"name":"a","description":"evil"}]}}"#,
        br#"[{"id":7,"result":{"tools":[{"name":"a","description":"evil"}]}}]"#,
    ] {
        let name = String::from_utf8_lossy(evil);
        for (one, other) in [(&good[..], evil), (evil, good)] {
            let mut conversation = asked();
            assert_eq!(
                (conversation.record_response(one), conversation.record_response(other)),
                (ListUpdate::Complete, ListUpdate::Complete),
                "{name}"
            );
            assert_eq!(texts(&conversation), [r#"{"name":"a"}"#, r#"{"name":"a","description":"evil"}"#], "{name}");
            conversation.record_request(br#"{"id":2,"method":"tools/list"}"#);
            conversation.record_response(br#"{"id":2,"result":{"tools":[{"name":"a"}]}}"#);
            assert_eq!(texts(&conversation), [r#"{"name":"a"}"#], "{name}");
        }
    }
    let mut conversation = asked();
    conversation.record_response(br#"{"id":"1.0","result":{"tools":[{"name":"z"}]}}"#);
    assert_eq!(texts(&conversation), [r#"{"name":"z"}"#], "one id in another spelling");
}

#[test]
fn a_list_beyond_the_limits_counts_as_empty() {
    let mut conversation = Conversation::default();
    conversation.record_request(br#"{"id":1,"method":"tools/list"}"#);
    conversation.record_response(br#"{"id":1,"result":{"tools":[{"name":"a"}]}}"#);
    assert_eq!(conversation.record_oversized_line(), ListUpdate::Unchanged);
    conversation.record_request(br#"{"id":2,"method":"tools/list"}"#);
    assert_eq!((conversation.record_oversized_line(), texts(&conversation).len()), (ListUpdate::Complete, 0));
}

/// Keeps the tool `a` and the instructions `x`.
struct KeepsA;

impl ServedFilter for KeepsA {
    fn keeps_tool(&self, tool: &[u8]) -> bool {
        tool == br#"{"name":"a"}"#
    }

    fn keeps_instructions(&self, instructions: &[u8]) -> bool {
        instructions == br#""x""#
    }
}

#[test]
fn only_rejected_tools_and_instructions_are_removed() {
    for (line, stripped) in [
        (r#"{"id":1,"result":{"tools":[{"name":"a"}]}}"#, None),
        (r#"{"id":1,"result":{"content":[{"tools":1}]}}"#, None),
        ("not json, and no list", None),
        (
            "{ \"id\":1, \"result\" : {\"tools\": [ {\"name\":\"b\"} , {\"name\":\"a\"} ], \"nextCursor\":\"x\"} }\r\n",
            Some("{ \"id\":1, \"result\" : {\"tools\": [{\"name\":\"a\"}], \"nextCursor\":\"x\"} }\r\n"),
        ),
        (r#"{"id":1,"result":{"tools":[{"name":"b"}]}}"#, Some(r#"{"id":1,"result":{"tools":[]}}"#)),
        (r#"[{"id":1,"result":{"tools":[{"name":"b"}]}}]"#, Some("")),
        (r#"{"id":1,"result":{"instructions":"x"}}"#, None),
        (r#"{"id":1,"result":{"instructions":null}}"#, None),
        (
            r#"{"id":1,"result":{"a":1,"instructions":"y","b":2}}"#,
            Some(r#"{"id":1,"result":{"a":1,"instructions":"","b":2}}"#),
        ),
        (r#"{"id":1,"result":{"instructions":{"x":1}}}"#, Some(r#"{"id":1,"result":{"instructions":""}}"#)),
        (
            r#"{"id":1,"result":{"tools":[{"name":"b"}],"instructions":"y"}}"#,
            Some(r#"{"id":1,"result":{"tools":[],"instructions":""}}"#),
        ),
        (r#"[{"id":1,"result":{"instructions":"y"}}]"#, Some("")),
    ] {
        let found = filter_served(line.as_bytes(), &KeepsA).map(|line| String::from_utf8(line).unwrap());
        assert_eq!(found.as_deref(), stripped, "{line}");
    }
    for line in [
        r#"{"id":1,"result":{},"result":{"tools":[{"name":"b"}]}}"#,
        r#"{"id":1,"result":{"tools":[],"tools":[{"name":"b"}]}}"#,
        r#"{"id":1,"result":{"instructions":"x","instructions":"y"}}"#,
    ] {
        let found = String::from_utf8(filter_served(line.as_bytes(), &KeepsA).unwrap()).unwrap();
        assert!(found.starts_with(r#"{"jsonrpc":"2.0","id":1,"error""#), "{found}");
    }
}
