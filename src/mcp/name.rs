//! Resolves the name of a call to a server and a tool.

/// The target of a call, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallTarget {
    /// A server and one of its tools.
    Tool {
        /// The server's configured name; for a server that is not configured, the name in the call.
        server: String,
        /// The tool's name in the call.
        tool: String,
    },
    /// Two configured servers have the same name in calls.
    Collision,
}

/// Finds the server of a call named `mcp__<server>__<tool>` among the configured ones. `name_in_calls` maps the name of a
/// server to its name in calls.
///
/// The server is the one that the client names in the event; else the longest configured name that matches, because
/// names may contain `__`; else the text before the next `__`.
pub fn resolve_call(
    call: &str,
    named: Option<&str>,
    configured: &[String],
    name_in_calls: impl Fn(&str) -> String,
) -> CallTarget {
    let rest = call.get("mcp__".len()..).unwrap_or_default();
    let tool_of =
        |name: &str| rest.strip_prefix(&*name_in_calls(name))?.strip_prefix("__").filter(|_| !name.is_empty());
    let named = named.and_then(|name| Some((name, tool_of(name)?)));
    let matching = configured.iter().filter_map(|name| Some((name.as_str(), tool_of(name)?)));
    // The longest server name leaves the shortest tool name.
    let Some((server, tool)) = named.or_else(|| matching.min_by_key(|(_, tool)| tool.len())) else {
        let (server, tool) = rest.split_once("__").unwrap_or((rest, ""));
        return CallTarget::Tool { server: server.to_owned(), tool: tool.to_owned() };
    };
    let in_calls = name_in_calls(server);
    if configured.iter().any(|name| name != server && name_in_calls(name) == in_calls) {
        return CallTarget::Collision;
    }
    CallTarget::Tool { server: server.to_owned(), tool: tool.to_owned() }
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/name.rs"]
mod tests;
