//! Unit tests of `src/mcp/protocol/watch.rs`.

use super::*;

fn texts(watch: &Watch) -> Vec<String> {
    watch.served().tools.into_iter().map(|tool| String::from_utf8(tool).unwrap()).collect()
}

#[test]
fn lists_are_matched_with_what_was_asked() {
    let mut watch = Watch::default();
    watch.sent(br#"{"id":0,"method":"initialize"}"#);
    assert_eq!(watch.heard(br#"{"id":0,"result":{"instructions":"do","serverInfo":{"name":"x"}}}"#), Heard::Nothing);
    watch.sent(br#"{"id":1,"method":"tools/list"}"#);
    watch.sent(br#"{"id":2,"method":"tools/call","params":{"name":"a"}}"#);
    assert_eq!(watch.heard(br#"{"id":2,"result":{"content":[]}}"#), Heard::Nothing);
    assert_eq!(watch.heard(br#"{"id":1,"result":{"tools":[{"name":"a"}],"nextCursor":"p2"}}"#), Heard::Part);
    assert_eq!(texts(&watch), [r#"{"name":"a"}"#]);
    watch.sent(br#"{"id":3,"method":"tools/list","params":{"cursor":"p2"}}"#);
    assert_eq!(watch.heard(br#"{"id":3,"result":{"tools":[{"name":"b"}]}}"#), Heard::Whole);
    assert_eq!(texts(&watch), [r#"{"name":"a"}"#, r#"{"name":"b"}"#]);
    assert_eq!(watch.heard(br#"{"method":"notifications/tools/list_changed"}"#), Heard::Nothing);
    watch.sent(br#"{"id":4,"method":"tools/list"}"#);
    assert_eq!(watch.heard(br#"{"id":4,"result":{"tools":[{"name":"c"}]}}"#), Heard::Whole);
    assert_eq!(texts(&watch), [r#"{"name":"c"}"#]);
    assert_eq!(watch.served().instructions.as_deref(), Some(&br#""do""#[..]));
}

#[test]
fn what_is_served_besides_the_answer_counts_too() {
    let asked = || {
        let mut watch = Watch::default();
        watch.sent(br#"{"id":1,"method":"tools/list"}"#);
        watch
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
            let mut watch = asked();
            assert_eq!((watch.heard(one), watch.heard(other)), (Heard::Whole, Heard::Whole), "{name}");
            assert_eq!(texts(&watch), [r#"{"name":"a"}"#, r#"{"name":"a","description":"evil"}"#], "{name}");
            watch.sent(br#"{"id":2,"method":"tools/list"}"#);
            watch.heard(br#"{"id":2,"result":{"tools":[{"name":"a"}]}}"#);
            assert_eq!(texts(&watch), [r#"{"name":"a"}"#], "{name}");
        }
    }
    let mut watch = asked();
    watch.heard(br#"{"id":"1.0","result":{"tools":[{"name":"z"}]}}"#);
    assert_eq!(texts(&watch), [r#"{"name":"z"}"#], "one id in another spelling");
}

#[test]
fn nobody_knows_what_a_list_past_the_limits_holds() {
    let mut watch = Watch::default();
    watch.sent(br#"{"id":1,"method":"tools/list"}"#);
    watch.heard(br#"{"id":1,"result":{"tools":[{"name":"a"}]}}"#);
    assert_eq!(watch.missed(), Heard::Nothing);
    watch.sent(br#"{"id":2,"method":"tools/list"}"#);
    assert_eq!((watch.missed(), texts(&watch).len()), (Heard::Whole, 0));
}

#[test]
fn only_what_is_not_known_is_taken_out() {
    let keep = |tool: &[u8]| tool == br#"{"name":"a"}"#;
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
    ] {
        let found = strip(line.as_bytes(), &keep).map(|line| String::from_utf8(line).unwrap());
        assert_eq!(found.as_deref(), stripped, "{line}");
    }
    for line in [
        r#"{"id":1,"result":{},"result":{"tools":[{"name":"b"}]}}"#,
        r#"{"id":1,"result":{"tools":[],"tools":[{"name":"b"}]}}"#,
    ] {
        let found = String::from_utf8(strip(line.as_bytes(), &keep).unwrap()).unwrap();
        assert!(found.starts_with(r#"{"jsonrpc":"2.0","id":1,"error""#), "{found}");
    }
}
