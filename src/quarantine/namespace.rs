//! Namespaces: which MCP server a tool belongs to, and whether the operator trusts it.

use crate::encoding::label::Label;
use crate::event::{Action, Event, Server};
use crate::mcp::PinCheck;
use crate::policy::{Config, Trust};

/// The name of an MCP server as it stands in tool names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace(String);

impl Namespace {
    /// The namespace of a tool called `mcp__<namespace>__<tool>`.
    ///
    /// The client's own word counts first; else the longest known server that fits, because a server's name may
    /// itself hold `__`; else what stands before the next `__`.
    pub fn of_tool(tool: &str, server: Option<&Server>, event: &Event<'_>, config: &Config) -> Self {
        let rest = tool.get("mcp__".len()..).unwrap_or_default();
        if let Some(told) = server.map(|server| fold(&server.name)).filter(|name| fits(name, rest)) {
            return Namespace(told);
        }
        let registered = config.servers.iter().map(|server| server.name.as_str());
        let known =
            config.trust.names().chain(event.facts.project_servers.iter().map(String::as_str)).chain(registered);
        known
            .map(fold)
            .filter(|name| fits(name, rest))
            .max_by_key(String::len)
            .map_or_else(|| Namespace(rest.split("__").next().unwrap_or_default().to_owned()), Namespace)
    }

    /// The namespace of a server by its configured name.
    pub fn of_server(name: &str) -> Self {
        Namespace(fold(name))
    }

    /// The characters of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the operator trusts it. A trusted name that the project itself configures is anybody's server, unless a
    /// person has approved what is behind it.
    pub fn is_trusted(&self, event: &Event<'_>, config: &Config) -> bool {
        // An event that breaks off may have said more about its server.
        event.flaw.is_none()
            && self.told_otherwise(event).is_none()
            && config.trust.contains(&self.0)
            && (!self.is_of_project(event) || self.is_approved(event, config))
    }

    /// Whether the tool of the event is the one of this server that a person has approved.
    pub fn is_approved(&self, event: &Event<'_>, config: &Config) -> bool {
        event.check_pins(config.pins) == PinCheck::Approved
    }

    /// The server that the client says it is, where that is another than the tool's name says.
    pub fn told_otherwise(&self, event: &Event<'_>) -> Option<Namespace> {
        let Action::Mcp { server: Some(server), .. } = &event.action else { return None };
        Some(Namespace::of_server(&server.name)).filter(|told| told != self)
    }

    /// Its label as a source. What the client says counts more than a name that somebody may have chosen to be taken
    /// for another.
    pub fn source(&self, event: &Event<'_>) -> Label {
        Label::of("mcp", self.told_otherwise(event).as_ref().unwrap_or(self).as_str())
    }

    /// Whether the project itself configures it.
    pub fn is_of_project(&self, event: &Event<'_>) -> bool {
        let told = matches!(&event.action, Action::Mcp { server: Some(server), .. } if server.source == "project");
        told || event.facts.project_servers.iter().any(|name| fold(name) == self.0)
    }
}

/// Whether `rest` (a tool's name without `mcp__`) is a tool of the server `name`.
fn fits(name: &str, rest: &str) -> bool {
    !name.is_empty() && rest.strip_prefix(name).is_some_and(|tool| tool.starts_with("__"))
}

/// The client turns what a tool name may not hold into `_`.
fn fold(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect()
}

impl Trust {
    fn contains(&self, namespace: &str) -> bool {
        self.names().any(|name| name == namespace)
    }
}
