//! Whether a call of an MCP tool writes.

use super::validators::{MIN_ARGUMENT_CHARS, MIN_OPAQUE_CHARS, MIN_QUERY_CHARS, carries_data, is_data};
use crate::event::{Action, Event};
use crate::mcp::{self, Holds};
use crate::policy::Config;
use crate::quarantine::Namespace;

/// Whether the call writes, or its arguments hold an address that carries data.
pub(super) fn is_write(event: &Event<'_>, config: &Config) -> bool {
    let Action::Mcp { input, .. } = &event.action else { return false };
    let (server, tool) = name(event, config);
    let arguments = input.inspect("does it write");
    mcp::is_write(&server, tool, arguments, event.hints()) || carries(arguments)
}

/// Whether the arguments of a call carry data, in an address or in words to search for.
pub(super) fn carries(arguments: &[u8]) -> bool {
    let is_carried = |(holds, text): &(Holds, String)| {
        let least = match holds {
            Holds::Query => MIN_QUERY_CHARS,
            Holds::Other => MIN_ARGUMENT_CHARS,
            Holds::Opaque => MIN_OPAQUE_CHARS,
        };
        is_data(text, least)
    };
    mcp::addresses(arguments).iter().any(|address| carries_data(address))
        || mcp::texts(arguments).iter().any(is_carried)
}

/// Whether the call creates something in the user's own account and does not share it.
pub(super) fn creates_privately(event: &Event<'_>, config: &Config) -> bool {
    let (server, tool) = name(event, config);
    mcp::creates_privately(&server, tool)
}

/// The server and the name of the tool.
fn name<'e>(event: &'e Event<'_>, config: &Config) -> (String, &'e str) {
    let Action::Mcp { server, .. } = &event.action else { return (String::new(), "") };
    let name = event.tool.inspect("does it write");
    let namespace = Namespace::of_tool(name, server.as_ref(), event, config);
    let tool = name.get("mcp__".len() + namespace.as_str().len()..).unwrap_or_default();
    (namespace.as_str().to_owned(), tool.strip_prefix("__").unwrap_or(tool))
}
