//! MCP tools that write, in a session that has read what others than their own server sent.

use super::{Scene, suspicious};
use crate::event::Action;
use crate::label::Label;
use crate::quarantine::Namespace;
use crate::rule::Found;
use crate::unit::Unit;

/// Words in the names of tools that change something or send it somewhere.
const WRITES: [&str; 38] = [
    "add",
    "append",
    "approve",
    "archive",
    "assign",
    "close",
    "comment",
    "commit",
    "copy",
    "create",
    "delete",
    "deploy",
    "edit",
    "execute",
    "fork",
    "import",
    "insert",
    "invite",
    "merge",
    "modify",
    "move",
    "post",
    "publish",
    "push",
    "put",
    "remove",
    "rename",
    "reply",
    "run",
    "save",
    "send",
    "set",
    "share",
    "submit",
    "transition",
    "update",
    "upload",
    "write",
];

pub(super) fn find(_unit: &Unit<'_>, scene: &Scene<'_>) -> Option<Found> {
    let Action::Mcp { server, .. } = &scene.event.action else { return None };
    let name = scene.event.tool.inspect("does it write");
    let namespace = Namespace::of_tool(name, server.as_ref(), scene.event, scene.config);
    // What came from a server may go back to it.
    if !scene.event.facts.taint.is_by_other_than(&Label::of("mcp", namespace.as_str())) {
        return None;
    }
    let tool = name.get("mcp__".len() + namespace.as_str().len()..).unwrap_or_default();
    words(tool)
        .any(|word| WRITES.contains(&word.as_str()))
        .then(|| suspicious("the tool sends or changes something"))?
}

/// The words of a name, in whatever case it is written.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut split = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            split.push(' ');
        }
        split.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' });
    }
    split.split_whitespace().map(str::to_owned).collect::<Vec<_>>().into_iter()
}
