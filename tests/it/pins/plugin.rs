//! Servers that come with a plugin.

use super::*;

/// A desk whose client has a plugin with one server.
fn with_plugin() -> Desk {
    let desk = Desk::new();
    desk.configure(json!({}));
    desk.home.write(".claude/settings.json", &json!({"enabledPlugins": {"p@m": true}}).to_string());
    let installed = json!({"version": 2, "plugins": {"p@m": [{"scope": "user", "installPath": desk.home.path("p")}]}});
    desk.home.write(".claude/plugins/installed_plugins.json", &installed.to_string());
    plugin_starts(&desk, "serve");
    desk
}

fn plugin_starts(desk: &Desk, command: &str) {
    let entry = json!({"command": command, "args": ["${CLAUDE_PLUGIN_ROOT}/x"]});
    let manifest = json!({"name": "p", "mcpServers": {"s.t": entry}});
    desk.home.write("p/.claude-plugin/plugin.json", &manifest.to_string());
}

#[test]
fn the_servers_of_plugins_are_known_also_where_the_client_does_not_say_whose_they_are() {
    const SERVER: &str = "plugin:p:s.t";
    let record =
        |desk: &Desk, folder: &str| desk.home.path(".local/share/rune").join(folder).join(rune::mcp::file_name(SERVER));
    // As 2.1.325 says it, and as 2.1.197 does not.
    for told in [json!({"name": SERVER, "source": "plugin"}), Value::Null] {
        let desk = with_plugin();
        let call = |preset, input: &Value| desk.call_of(preset, "mcp__plugin_p_s_t__echo", input, told.clone());
        let both = |code: &str| {
            for preset in [GENTLE, STRICT] {
                assert_eq!(call(preset, &text()), pair("deny", code), "{preset} {told}");
            }
        };
        desk.serve_as(SERVER, &json!([echo("Says it again")]));
        assert_eq!(call(STRICT, &text()), pair("deny", "MCP_TOOL_UNPINNED"), "{told}");
        assert_eq!(call(GENTLE, &text()), pair("", ""), "{told}");
        desk.approve(&[SERVER]);
        for preset in [GENTLE, STRICT] {
            assert_eq!(call(preset, &text()), pair("", ""), "{told}");
        }
        assert_eq!(call(GENTLE, &json!({"text": 1})), pair("ask", "MCP_ARGS_OFF_SCHEMA"), "{told}");
        desk.serve_as(SERVER, &json!([echo("Evil")]));
        both("MCP_TOOL_CHANGED");
        desk.serve_as(SERVER, &json!([echo("Says it again")]));
        assert_eq!(call(STRICT, &text()), pair("", ""), "{told}");
        plugin_starts(&desk, "evil");
        both("MCP_SERVER_CONFIG_CHANGED");
        plugin_starts(&desk, "serve");
        assert_eq!(call(STRICT, &text()), pair("", ""), "{told}");
        // The plugin of this name from another marketplace is another one.
        let copy = json!([{"scope": "user", "installPath": desk.home.path("p")}]);
        let installed = json!({"version": 2, "plugins": {"p@m": copy, "p@evil": copy}});
        desk.home.write(".claude/plugins/installed_plugins.json", &installed.to_string());
        let switch =
            |on: Value| drop(desk.home.write(".claude/settings.json", &json!({"enabledPlugins": on}).to_string()));
        switch(json!({"p@evil": true}));
        both("MCP_SERVER_CONFIG_CHANGED");
        switch(json!({"p@m": true, "p@evil": false}));
        assert_eq!(call(STRICT, &text()), pair("", ""), "{told}");
        std::fs::write(record(&desk, "pins"), "{}").unwrap();
        both("MCP_LOCK_INVALID");
        std::fs::write(record(&desk, "observed"), "{}").unwrap();
        both("MCP_LOCK_INVALID");
        assert_eq!(desk.call_of(GENTLE, "mcp__demo__echo", &text(), json!({"name": "demo", "source": "user"})).0, "");
    }
}
