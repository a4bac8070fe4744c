//! Servers that are known without an approval: those of the user's own configuration in gentle, and the client's own.

use super::*;

/// A home without exceptions from `mcp-unregistered`.
fn home() -> PinnedHome {
    let pinned = PinnedHome::new();
    pinned.home.write(".config/rune/config.toml", "");
    pinned
}

fn start(pinned: &PinnedHome, session: &str) {
    let event = json!({"session_id": session, "cwd": pinned.home.home.path(), "hook_event_name": "SessionStart", "source": "startup"});
    pinned.home.run(&["hook", "--preset", "gentle"], event.to_string());
}

/// The session reads a page of somebody else.
fn taint(pinned: &PinnedHome) {
    let event = json!({"session_id": "s1", "cwd": pinned.home.home.path(), "hook_event_name": "PostToolUse",
        "tool_name": "WebFetch", "tool_input": {"url": "https://e.example/", "prompt": "x"}, "tool_response": {"result": "x"}});
    pinned.home.run(&["hook", "post", "--preset", "gentle"], event.to_string());
}

#[test]
fn in_gentle_the_servers_of_the_users_own_configuration_are_known() {
    let pinned = home();
    assert_eq!(pinned.call(GENTLE, "echo", &text()).0, "");
    // A client that does not say where the server is from.
    assert_eq!(pinned.call_of(GENTLE, "mcp__demo__echo", &text(), Value::Null).0, "");
    assert_eq!(pinned.call(STRICT, "echo", &text()).0, "deny");
    // Not those of another place.
    let entry = json!({"command": "x"});
    pinned.home.write(".mcp.json", &json!({"mcpServers": {"shared": entry, "demo": entry}}).to_string());
    let project = pinned.home.home.path().to_str().unwrap();
    let servers = json!({"demo": {"command": "demo-server"}});
    let all = json!({"mcpServers": servers, "projects": {project: {"mcpServers": {"local": entry}}}});
    pinned.home.write(".claude.json", &all.to_string());
    for (server, source) in
        [("shared", "project"), ("local", "local"), ("demo", "project"), ("stranger", "dynamic"), ("p", "plugin")]
    {
        let tool = format!("mcp__{server}__echo");
        let answer = pinned.call_of(GENTLE, &tool, &text(), json!({"name": server, "source": source}));
        assert_eq!(answer.0, "ask", "{server} of {source}");
        assert_eq!(pinned.call_of(GENTLE, &tool, &text(), Value::Null).0, "ask", "{server}");
    }
    assert_eq!(pinned.call(GENTLE, "echo", &text()).0, "", "the client names the user's entry");
}

#[test]
fn a_server_that_is_first_seen_after_taint_is_asked_about() {
    let pinned = home();
    let later = json!({"demo": {"command": "demo-server"}, "later": {"command": "x"}});
    let call = |server: &str| {
        pinned
            .call_of(GENTLE, &format!("mcp__{server}__get_text"), &text(), json!({"name": server, "source": "user"}))
            .0
    };
    start(&pinned, "s1");
    taint(&pinned);
    assert_eq!(call("demo"), "", "it was there when the session started");
    pinned.configure(later);
    assert_eq!((call("later").as_str(), call("later").as_str()), ("ask", "ask"));
    assert_eq!(call("demo"), "ask", "its entry has changed since");
    // A new session has not read anything.
    start(&pinned, "s2");
    assert_eq!((call("later").as_str(), call("demo").as_str()), ("", ""));
}

#[test]
fn the_clients_own_server_is_known_unless_a_file_names_one_like_it() {
    let pinned = home();
    let call = |preset: &str, tool: &str, sent: Value| {
        pinned.call_of(preset, &format!("mcp__ide__{tool}"), &json!({}), sent).0
    };
    let own = json!({"name": "ide", "source": "dynamic"});
    for preset in [GENTLE, STRICT] {
        assert_eq!(call(preset, "getDiagnostics", own.clone()), "", "{preset}");
        assert_eq!(call(preset, "getDiagnostics", Value::Null), "", "{preset}");
        assert_ne!(call(preset, "executeCode", own.clone()), "", "{preset}: no rule reads the code");
        assert_ne!(call(preset, "getDiagnostics", json!({"name": "ide", "source": "project"})), "", "{preset}");
    }
    pinned.home.write(".mcp.json", &json!({"mcpServers": {"ide": {"command": "x"}}}).to_string());
    for preset in [GENTLE, STRICT] {
        for sent in [own.clone(), Value::Null] {
            assert_ne!(call(preset, "getDiagnostics", sent), "", "{preset}");
        }
    }
}

#[test]
fn an_approved_server_is_registered() {
    let pinned = home();
    pinned.configure(json!({}));
    pinned.home.write(".mcp.json", &json!({"mcpServers": {"demo": {"command": "/usr/bin/server"}}}).to_string());
    let call =
        |preset| pinned.call_of(preset, "mcp__demo__echo", &text(), json!({"name": "demo", "source": "project"}));
    assert_eq!((call(GENTLE).0, call(STRICT).0), ("ask".to_owned(), "deny".to_owned()));
    pinned.record(&json!([echo("Says it again")]));
    pinned.approve(&["demo"]);
    assert_eq!((call(GENTLE), call(STRICT)), (pair("", ""), pair("", "")));
    pinned.run_as_person(&["mcp", "block", "demo"]);
    assert_eq!((call(GENTLE).0, call(STRICT).0), ("deny".to_owned(), "deny".to_owned()));
}

#[test]
fn agents_cannot_add_servers_to_the_users_configuration() {
    let pinned = home();
    let file = pinned.home.path(".claude.json");
    let mut calls: Vec<(&str, Value)> = [
        "claude mcp add evil -- npx evil",
        "claude mcp add --scope user evil -- npx evil",
        "claude mcp add-json evil '{\"command\":\"x\"}'",
        "claude mcp add-from-claude-desktop",
        "env -u CLAUDECODE claude mcp add evil x",
        "claude --debug mcp add evil x",
        "npx @anthropic-ai/claude-code mcp add evil x",
        "jq '.mcpServers.evil={command:\"x\"}' ~/.claude.json > /tmp/x && cp /tmp/x ~/.claude.json",
        "echo '{}' > ~/.claude.json",
    ]
    .map(|line| ("Bash", json!({"command": line})))
    .to_vec();
    calls.push(("Write", json!({"file_path": file, "content": "{}"})));
    calls.push(("Edit", json!({"file_path": file, "old_string": "a", "new_string": "b"})));
    for preset in [GENTLE, STRICT] {
        for (tool, input) in &calls {
            assert_eq!(pinned.call_of(preset, tool, input, Value::Null).0, "deny", "{preset} {input}");
        }
    }
    let listed = pinned.call_of(STRICT, "Bash", &json!({"command": "claude mcp list"}), Value::Null);
    assert_ne!(listed.0, "deny");
}
