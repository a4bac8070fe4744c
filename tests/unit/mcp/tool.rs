//! Unit tests of `src/mcp/tool.rs`.

use super::*;

#[test]
fn a_tool_is_its_whole_object() {
    let (one, other) = (
        Tool::read(br#"{"name":"a","description":"x","inputSchema":{"type":"object"}}"#),
        Tool::read(br#"{ "inputSchema": {"type": "object"}, "description":"\u0078", "name": "a" }"#),
    );
    assert_eq!(one.hash(), other.hash());
    for change in [r#""description":"y""#, r#""description":"x","_meta":{}"#, r#""description":"x","title":"t""#] {
        let text = format!(r#"{{"name":"a",{change},"inputSchema":{{"type":"object"}}}}"#);
        assert_ne!(Tool::read(text.as_bytes()).hash(), one.hash(), "{change}");
    }
}

#[test]
fn unpinnable_tools_say_why() {
    for (text, name, flaw) in [
        (&br#"{"name":"a","x":1,"x":2}"#[..], "a", InvalidTool::Form(CanonicalError::Duplicate)),
        (br#"{"name":"a","description":"\ud800"}"#, "a", InvalidTool::Form(CanonicalError::Surrogate)),
        (br#"{"name":"a","n":12345678901234567890}"#, "a", InvalidTool::Form(CanonicalError::Number)),
        (br#"{"description":"x"}"#, "", InvalidTool::Nameless),
        (br#"{"name":""}"#, "", InvalidTool::Nameless),
        (br#"{"name":7}"#, "", InvalidTool::Nameless),
        (br#"[1]"#, "", InvalidTool::Nameless),
    ] {
        let tool = Tool::read(text);
        assert_eq!((tool.name(), tool.hash()), (name, Err(flaw)), "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn every_invalid_tool_has_a_unique_name() {
    for flaw in InvalidTool::all() {
        assert_eq!(InvalidTool::from_name(flaw.as_str()), Some(flaw));
    }
}
