//! Unit tests of `src/runtime/mcp/servers.rs`.

use super::*;
use crate::runtime::options::Dirs;

/// The servers of a user's file with this text.
fn servers(text: &str) -> Servers {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(".claude.json"), text).unwrap();
    let environment = Environment {
        home: Some(home.path().to_owned()),
        client_dir: Some(home.path().join(".claude")),
        project: None,
        ..Environment::read(&Dirs::default())
    };
    Servers::for_call(&environment, home.path().to_str().unwrap())
}

#[test]
fn a_file_that_repeats_a_name_or_is_no_object_is_unreadable() {
    let one = servers(r#"{"mcpServers":{"a":{"command":"x"}},"other":["\ud800"]}"#);
    assert!(matches!(one.identity("a", None), ConfiguredIdentity::Known(_)), "{one:?}");
    assert_eq!(one.identity("b", None), ConfiguredIdentity::Missing);
    assert_eq!(servers("").identity("a", None), ConfiguredIdentity::Missing);
    for text in [
        r#"{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}"#,
        r#"{"mcpServers":{"a":{"command":"x"}},"mcpServers":{}}"#,
        r#"{"mcpServers":{"a":{"command":"x","command":"y"}}}"#,
        r#"[{"a":{"command":"x"}}]"#,
        r#"{"mcpServers":{"a":{"command":"x"}}"#,
    ] {
        assert_eq!(servers(text).identity("a", None), ConfiguredIdentity::Unreadable, "{text}");
    }
}
