//! MCP servers and tools that are not registered.

use super::{Context, block};
use crate::decide::subject::Subject;
use crate::event::{Action, ServerProvider};
use crate::mcp::PinFacts;
use crate::quarantine::Namespace;
use crate::rules::Match;

pub(super) fn find(_subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let Action::Mcp { server, .. } = &context.event.action else { return None };
    let name = context.event.tool.inspect("is its server known");
    let namespace = Namespace::of_tool(name, server.as_ref(), context.event, context.config);
    let tool = name.strip_prefix("mcp__").and_then(|rest| rest.strip_prefix(namespace.as_str())?.strip_prefix("__"));
    let Some(tool) = tool.filter(|tool| !tool.is_empty() && !namespace.as_str().is_empty()) else {
        return block("has a name that does not tell a server and a tool");
    };
    // With another `__`, the end of the server's name is ambiguous.
    if server.is_none() && tool.contains("__") {
        return block("has a name that can be read as that of more than one server");
    }
    if namespace.contradicting(context.event).is_some() {
        return block("has another server in its name than the client says");
    }
    let by_project = namespace.is_of_project(context.event);
    let registered = context.config.servers.iter().find(|known| known.name == namespace.as_str());
    match registered {
        Some(known) if known.tools.as_ref().is_none_or(|tools| tools.iter().any(|known| known == tool)) => None,
        Some(_) => block("is not among the registered tools of `{server_name}`"),
        None if is_known(context) => None,
        None if context.event.facts.server_provider == ServerProvider::UserSinceTaint
            && context.config.knows_user_servers =>
        {
            block("is a tool of a server that was added after the session had read untrusted content")
        }
        // A trusted name does not count if the project configures the server of that name.
        None if by_project && !namespace.is_approved(context.event, context.config) => {
            block("is a tool of a server that the project itself configures, and that is not registered")
        }
        None if namespace.is_trusted(context.event, context.config) => None,
        None => block(""),
    }
}

/// Whether the server is known without an entry in the policy: the client provides it, the user has configured it, or a
/// person has approved it. Whether the tool is the approved one is judged by its pin.
fn is_known(context: &Context<'_>) -> bool {
    let facts = &context.event.facts;
    match facts.server_provider {
        ServerProvider::Client => true,
        ServerProvider::User if context.config.knows_user_servers => true,
        ServerProvider::Other | ServerProvider::User | ServerProvider::UserSinceTaint => {
            facts.pins.as_ref().is_some_and(PinFacts::is_server_approved)
        }
    }
}
