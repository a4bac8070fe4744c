//! Unit tests of `src/client/claude/servers.rs`.

use super::*;

#[test]
fn entries_are_read_leniently_and_one_by_one() {
    let text = r#"{"mcpServers": {
        "a": {"command": "npx", "args": ["-y", "x"], "env": {"N": 1}, "timeout": 5},
        "b": {"type": "http", "url": "https://e.example/mcp", "headers": {"X": "y"}},
        "c": {"type": "sse", "url": "https://e.example/sse"},
        "d": {"command": 3},
        "e": {"type": "ws", "url": "wss://e.example"},
        "f": [],
        "g": {"url": "https://e.example/mcp"},
        "h": {"type": "stdio"}
    }, "other": 1}"#;
    let servers = read(text, &[]).all;
    let described: Vec<String> = servers
        .iter()
        .map(|server| match &server.launch {
            Ok(Launch::Stdio { command, args, env, .. }) => format!("{command} {args:?} {env:?}"),
            Ok(Launch::Http { url, sse, headers }) => format!("{url} {sse} {}", headers.len()),
            Err(error) => error.what.lines().next().unwrap().to_owned(),
        })
        .collect();
    assert_eq!(
        described,
        [
            r#"npx ["-y", "x"] {"N": "1"}"#,
            "https://e.example/mcp false 1",
            "https://e.example/sse true 0",
            "`command` is not a text",
            "its `type` is none that can be probed",
            "the entry is not an object",
            "https://e.example/mcp false 0",
            "`command` is missing",
        ]
    );
    assert_eq!(servers[0].steps, ["mcpServers", "a"]);
}

#[test]
fn a_users_file_names_servers_of_one_project_too() {
    let text = r#"{"projects": {"/p": {"mcpServers": {"a": {"command": "x"}}}}}"#;
    let file = read(text, &["/q", "/p"]);
    let names: Vec<&str> = file.projects.iter().map(|server| server.name.as_str()).collect();
    assert_eq!((names.as_slice(), file.all.len(), file.errors.len()), (["a"].as_slice(), 0, 0));
    assert_eq!(file.projects[0].steps, ["projects", "/p", "mcpServers", "a"]);
    assert_eq!(read(text, &[]), ServerFile::default());
    assert_eq!(read_plugin_file(r#"{"a": {"command": "x"}}"#).all.len(), 1);
    let manifest = r#"{"name": "p", "mcpServers": ["./one.json", "two.json"]}"#;
    assert_eq!(server_files(manifest), ["./one.json", "two.json"]);
    assert_eq!(read_plugin_file(manifest), ServerFile::default());
}

#[test]
fn an_error_has_the_place_in_the_file() {
    let place = |text: &str| {
        let file = read(text, &["/p"]);
        assert_eq!(file.all, [], "{text}");
        file.errors.iter().map(|error| (error.line, error.column)).collect::<Vec<_>>()
    };
    assert_eq!(place("{\n  \"mcpServers\": {,}\n}"), [(2, 18)]);
    assert_eq!(place("[]"), [(1, 1)]);
    assert_eq!(place("{\n  \"mcpServers\": {\"a\": {}, \"a\": {}}\n}"), [(2, 3)]);
    assert_eq!(place("{\n  \"projects\": {\"/p\": {},\n \"/p\": {}}\n}"), [(2, 3)]);
    assert_eq!(place("{\"projects\": {\n\"/p\": {\"mcpServers\": {}, \"mcpServers\": {}}}}"), [(2, 1)]);
    assert!(document("[]").is_err());
}

#[test]
fn variables_are_filled_in_as_the_client_does() {
    let known = |name: &str| (name == "HOME").then(|| "/h".to_owned());
    for (text, filled) in [
        ("${HOME}/x", "/h/x"),
        ("${NONE}/x", "${NONE}/x"),
        ("${NONE:-y}/x", "y/x"),
        ("${HOME:-y}${HOME}", "/h/h"),
        ("${NONE:-}", ""),
        ("$HOME ${HOME", "$HOME ${HOME"),
    ] {
        assert_eq!(expand_text(text, &known), filled, "{text}");
    }
}
