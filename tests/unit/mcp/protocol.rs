//! Unit tests of `src/mcp/protocol.rs`.

use super::*;

#[test]
fn dumps_of_three_shapes_are_read() {
    let list = r#"[{"name":"a"},{"name":"b"}]"#;
    for text in [
        list.to_owned(),
        format!("{{\"tools\":{list}}}"),
        format!("\u{feff} {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"tools\":{list}}}}}\n"),
    ] {
        let served = Served::import(text.as_bytes()).unwrap();
        assert_eq!(served.tools, [br#"{"name":"a"}"#.to_vec(), br#"{"name":"b"}"#.to_vec()], "{text}");
    }
    for (text, what) in [
        ("", "it is empty"),
        ("{", "it is not valid JSON"),
        ("[1,", "it is not valid JSON"),
        ("{\"tools\":{}}", "it has no list `tools`"),
        ("{\"error\":{\"code\":1}}", "it has no list `tools`"),
        ("{\"tools\":[],\"nextCursor\":\"x\"}", "it is one page of several"),
        ("{\"tools\":[],\"tools\":[]}", "it names a field twice"),
    ] {
        let error = Served::import(text.as_bytes()).unwrap_err();
        assert_eq!(error.lines().next(), Some(what), "{text}");
    }
}

#[test]
fn ids_are_compared_as_clients_do() {
    for (line, id) in [
        (r#"{"id":1}"#, Some("1")),
        (r#"{"id":1.0}"#, Some("1")),
        (r#"{"id":"1"}"#, Some("1")),
        (r#"{"id":"a"}"#, Some("a")),
        (r#"{}"#, None),
    ] {
        assert_eq!(RpcMessage::read(line.as_bytes()).id().as_deref(), id, "{line}");
    }
}

#[test]
fn endless_lists_exceed_a_limit() {
    let page = |next: String| ListPage { items: vec![b"{}"], next: Some(next) };
    let mut circle = Listing::default();
    assert_eq!(circle.add(&page("x".to_owned())), Ok(Some("x".to_owned())));
    assert!(circle.add(&page("x".to_owned())).unwrap_err().contains("repeat"));
    let mut endless = Listing::default();
    let error = (0..).find_map(|nth| endless.add(&page(nth.to_string())).err()).unwrap();
    assert!(error.contains("100 pages"), "{error}");
    let many = ListPage { items: vec![b"{}"; MAX_LIST_ITEMS + 1], next: None };
    assert!(Listing::default().add(&many).unwrap_err().contains("5000 entries"));
    let large = vec![b'x'; MAX_SERVED_BYTES];
    let large = ListPage { items: vec![&large, b"x"], next: None };
    assert!(Listing::default().add(&large).unwrap_err().contains("16 MB"));
}
