//! Namespaces: the MCP server of a tool, and whether the operator trusts it.

use crate::encoding::label::Label;
use crate::event::{Action, Event, Server};
use crate::mcp::PinCheck;
use crate::mcp::tool::sanitize_name;
use crate::policy::{Config, Trust};

/// The name of an MCP server as it is written in tool names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace(String);

impl Namespace {
    /// The namespace of a tool called `mcp__<namespace>__<tool>`.
    ///
    /// It is the server that the client names in the event; else the longest known server that matches, because names
    /// may contain `__`; else the text before the next `__`.
    pub fn of_tool(tool: &str, server: Option<&Server>, event: &Event<'_>, config: &Config) -> Self {
        let rest = tool.get("mcp__".len()..).unwrap_or_default();
        if let Some(named) = server.map(|server| sanitize_name(&server.name)).filter(|name| is_prefix(name, rest)) {
            return Namespace(named);
        }
        let registered = config.servers.iter().map(|server| server.name.as_str());
        let known =
            config.trust.names().chain(event.facts.project_servers.iter().map(String::as_str)).chain(registered);
        known
            .map(sanitize_name)
            .filter(|name| is_prefix(name, rest))
            .max_by_key(String::len)
            .map_or_else(|| Namespace(rest.split("__").next().unwrap_or_default().to_owned()), Namespace)
    }

    /// The namespace of a server by its configured name.
    pub fn of_server(name: &str) -> Self {
        Namespace(sanitize_name(name))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the operator trusts it. A server that the project configures is trusted by its name only if a person has
    /// approved its tool, because a project can give any server a trusted name.
    pub fn is_trusted(&self, event: &Event<'_>, config: &Config) -> bool {
        // A truncated event may lack the server that the client named.
        event.failure.is_none()
            && self.contradicting(event).is_none()
            && config.trust.contains(&self.0)
            && (!self.is_of_project(event) || self.is_approved(event, config))
    }

    /// Whether the tool of the event is the approved one.
    pub fn is_approved(&self, event: &Event<'_>, config: &Config) -> bool {
        event.check_pins(config.pins) == PinCheck::Approved
    }

    /// The server that the client names, if it contradicts the tool's name.
    pub fn contradicting(&self, event: &Event<'_>) -> Option<Namespace> {
        let Action::Mcp { server: Some(server), .. } = &event.action else { return None };
        Some(Namespace::of_server(&server.name)).filter(|named| named != self)
    }

    /// Its label as a source: the server that the client names, because a tool's name can imitate another server.
    pub fn source(&self, event: &Event<'_>) -> Label {
        Label::of("mcp", self.contradicting(event).as_ref().unwrap_or(self).as_str())
    }

    /// Whether the project configures it.
    pub fn is_of_project(&self, event: &Event<'_>) -> bool {
        let is_named = matches!(&event.action, Action::Mcp { server: Some(server), .. } if server.source == "project");
        is_named || event.facts.project_servers.iter().any(|name| sanitize_name(name) == self.0)
    }
}

/// Whether `rest`, a tool's name without `mcp__`, is a tool of the server `name`.
fn is_prefix(name: &str, rest: &str) -> bool {
    !name.is_empty() && rest.strip_prefix(name).is_some_and(|tool| tool.starts_with("__"))
}

impl Trust {
    fn contains(&self, namespace: &str) -> bool {
        self.names().any(|name| name == namespace)
    }
}
