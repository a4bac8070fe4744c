//! Unit tests of `src/client/claude/rewrap.rs`.

use super::*;

#[test]
fn what_goes_in_comes_out_again_to_the_byte() {
    let words: Vec<String> = ["mcp", "wrap", "--server", "a", "--", "npx"].map(str::to_owned).to_vec();
    for entry in [
        r#"{"command":"npx"}"#,
        r#"{"command": "npx", "args": []}"#,
        r#"{"args": [ ], "command": "npx"}"#,
        r#"{"command":"npx","args":["-y","x"],"env":{}}"#,
        "{\r\n\t\"args\" : [\r\n\t\t\"-y\" ,\r\n\t\t\"x\"\r\n\t],\r\n\t\"command\" : \"npx\"\r\n}",
        "{\n  \"type\": \"stdio\",\n  \"command\": \"npx\",\n  \"args\": [\n    \"--\"\n  ],\n  \"env\": {}\n}",
    ] {
        for text in [
            format!("{{\"é\":1,\"mcpServers\": {{\"a\": {entry} }}, \"z\": [1,2 ]}}\n"),
            format!("\u{feff}{{\"mcpServers\":{{\"b\":{{\"command\":\"y\"}},\"a\":{entry}}}}}"),
        ] {
            let steps = ["mcpServers", "a"];
            let wrapped = wrap(&text, &steps, "/opt/rune", &words).unwrap();
            let value: serde_json::Value = serde_json::from_str(wrapped.trim_start_matches('\u{feff}')).unwrap();
            let found = &value["mcpServers"]["a"];
            assert_eq!(found["command"], "/opt/rune", "{wrapped}");
            let args: Vec<&str> = found["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
            assert_eq!(args[..words.len()], words.iter().map(String::as_str).collect::<Vec<_>>(), "{wrapped}");
            assert_eq!(unwrap(&wrapped, &steps, "npx", words.len()).unwrap(), text);
        }
    }
    assert!(wrap("{}", &["mcpServers", "a"], "x", &words).is_err());
    assert!(unwrap(r#"{"a":{"command":"x"}}"#, &["a"], "x", 6).is_err());
}
