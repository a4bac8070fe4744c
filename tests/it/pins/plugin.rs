//! Pins of servers that a plugin configures.

use super::*;

/// A home in which the client has a plugin with one server.
fn with_plugin() -> PinnedHome {
    let pinned = PinnedHome::new();
    pinned.configure(json!({}));
    pinned.home.write(".claude/settings.json", &json!({"enabledPlugins": {"p@m": true}}).to_string());
    let installed =
        json!({"version": 2, "plugins": {"p@m": [{"scope": "user", "installPath": pinned.home.path("p")}]}});
    pinned.home.write(".claude/plugins/installed_plugins.json", &installed.to_string());
    plugin_starts(&pinned, "serve");
    pinned
}

fn plugin_starts(pinned: &PinnedHome, command: &str) {
    let entry = json!({"command": command, "args": ["${CLAUDE_PLUGIN_ROOT}/x"]});
    let manifest = json!({"name": "p", "mcpServers": {"s.t": entry}});
    pinned.home.write("p/.claude-plugin/plugin.json", &manifest.to_string());
}

#[test]
fn the_server_of_a_plugin_is_found_with_and_without_its_name_in_the_event() {
    const SERVER: &str = "plugin:p:s.t";
    let record = |pinned: &PinnedHome, folder: &str| {
        pinned.home.path(".local/share/rune").join(folder).join(rune::mcp::file_name(SERVER))
    };
    // Claude Code 2.1.325 sends the name, 2.1.197 does not.
    for sent in [json!({"name": SERVER, "source": "plugin"}), Value::Null] {
        let pinned = with_plugin();
        let call = |preset, input: &Value| pinned.call_of(preset, "mcp__plugin_p_s_t__echo", input, sent.clone());
        let both = |code: &str| {
            for preset in [GENTLE, STRICT] {
                assert_eq!(call(preset, &text()), pair("deny", code), "{preset} {sent}");
            }
        };
        pinned.record_as(SERVER, &json!([echo("Says it again")]));
        assert_eq!(call(STRICT, &text()), pair("deny", "MCP_TOOL_UNPINNED"), "{sent}");
        assert_eq!(call(GENTLE, &text()), pair("", ""), "{sent}");
        pinned.approve(&[SERVER]);
        for preset in [GENTLE, STRICT] {
            assert_eq!(call(preset, &text()), pair("", ""), "{sent}");
        }
        assert_eq!(call(GENTLE, &json!({"text": 1})), pair("ask", "MCP_ARGS_OFF_SCHEMA"), "{sent}");
        pinned.record_as(SERVER, &json!([echo("Evil")]));
        both("MCP_TOOL_CHANGED");
        pinned.record_as(SERVER, &json!([echo("Says it again")]));
        assert_eq!(call(STRICT, &text()), pair("", ""), "{sent}");
        plugin_starts(&pinned, "evil");
        both("MCP_SERVER_CONFIG_CHANGED");
        plugin_starts(&pinned, "serve");
        assert_eq!(call(STRICT, &text()), pair("", ""), "{sent}");
        // A plugin of the same name from another marketplace is a different plugin.
        let copy = json!([{"scope": "user", "installPath": pinned.home.path("p")}]);
        let installed = json!({"version": 2, "plugins": {"p@m": copy, "p@evil": copy}});
        pinned.home.write(".claude/plugins/installed_plugins.json", &installed.to_string());
        let switch =
            |on: Value| drop(pinned.home.write(".claude/settings.json", &json!({"enabledPlugins": on}).to_string()));
        switch(json!({"p@evil": true}));
        both("MCP_SERVER_CONFIG_CHANGED");
        switch(json!({"p@m": true, "p@evil": false}));
        assert_eq!(call(STRICT, &text()), pair("", ""), "{sent}");
        std::fs::write(record(&pinned, "pins"), "{}").unwrap();
        both("MCP_LOCK_INVALID");
        std::fs::write(record(&pinned, "observed"), "{}").unwrap();
        both("MCP_LOCK_INVALID");
        assert_eq!(pinned.call_of(GENTLE, "mcp__demo__echo", &text(), json!({"name": "demo", "source": "user"})).0, "");
    }
}
