//! Resolves the name of a call to a server and a tool.

use super::tool::sanitize_name;

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

/// Finds the server of a call named `mcp__<server>__<tool>` among the configured ones.
///
/// The server is the one that the client names in the event; else the longest configured name that matches, because
/// names may contain `__`; else the text before the next `__`.
pub fn resolve_call(call: &str, named: Option<&str>, configured: &[String]) -> CallTarget {
    let rest = call.get("mcp__".len()..).unwrap_or_default();
    let tool_of =
        |name: &str| rest.strip_prefix(&*sanitize_server_name(name))?.strip_prefix("__").filter(|_| !name.is_empty());
    let named = named.and_then(|name| Some((name, tool_of(name)?)));
    let matching = configured.iter().filter_map(|name| Some((name.as_str(), tool_of(name)?)));
    // The longest server name leaves the shortest tool name.
    let Some((server, tool)) = named.or_else(|| matching.min_by_key(|(_, tool)| tool.len())) else {
        let (server, tool) = rest.split_once("__").unwrap_or((rest, ""));
        return CallTarget::Tool { server: server.to_owned(), tool: tool.to_owned() };
    };
    let sanitized = sanitize_server_name(server);
    if configured.iter().any(|name| name != server && sanitize_server_name(name) == sanitized) {
        return CallTarget::Collision;
    }
    CallTarget::Tool { server: server.to_owned(), tool: tool.to_owned() }
}

/// A server's name as clients write it in the names of calls.
pub fn sanitize_server_name(name: &str) -> String {
    let sanitized = sanitize_name(name);
    if !name.starts_with("claude.ai ") {
        return sanitized;
    }
    // For connectors the client also merges runs of `_`.
    sanitized.split('_').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/name.rs"]
mod tests;
