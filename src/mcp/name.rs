//! Names: which server and which tool a call is about, as far as the name of the call tells.

use super::tool::fold;

/// What the name of a call leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// A server and one of its tools.
    Tool {
        /// The server's configured name; where none is configured, what stands in the call.
        server: String,
        /// The tool, as it stands in the call.
        tool: String,
    },
    /// Two servers that the client calls by one name.
    Collision,
}

/// Finds the server of a call named `mcp__<server>__<tool>` among the configured ones.
///
/// The client's own word counts first; else the longest configured name that fits, because a server's name may itself
/// hold `__`; else what stands before the next `__`.
pub fn resolve(call: &str, told: Option<&str>, configured: &[String]) -> Resolved {
    let rest = call.get("mcp__".len()..).unwrap_or_default();
    let tool_of = |name: &str| rest.strip_prefix(&*fold_server(name))?.strip_prefix("__").filter(|_| !name.is_empty());
    let told = told.and_then(|name| Some((name, tool_of(name)?)));
    let known = configured.iter().filter_map(|name| Some((name.as_str(), tool_of(name)?)));
    // The longer the server's name, the shorter what is left of the call.
    let Some((server, tool)) = told.or_else(|| known.min_by_key(|(_, tool)| tool.len())) else {
        let (server, tool) = rest.split_once("__").unwrap_or((rest, ""));
        return Resolved::Tool { server: server.to_owned(), tool: tool.to_owned() };
    };
    let folded = fold_server(server);
    if configured.iter().any(|name| name != server && fold_server(name) == folded) {
        return Resolved::Collision;
    }
    Resolved::Tool { server: server.to_owned(), tool: tool.to_owned() }
}

/// A server's name as it stands in the names of its tools.
pub fn fold_server(name: &str) -> String {
    let folded = fold(name);
    if !name.starts_with("claude.ai ") {
        return folded;
    }
    // Of connectors, the client also makes one `_` of several.
    folded.split('_').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/name.rs"]
mod tests;
