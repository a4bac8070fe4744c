//! MCP tools that write, in a session that has read what others than their own server sent.

use super::{Scene, suspicious};
use crate::event::Action;
use crate::quarantine::Namespace;
use crate::rule::Found;
use crate::unit::Unit;

/// Words that the names of tools begin with that only look.
const READS: [&str; 12] =
    ["check", "count", "describe", "find", "get", "list", "lookup", "query", "read", "search", "show", "view"];

/// Words that say so even there.
const PLAINLY: [&str; 7] = ["delete", "execute", "publish", "replace", "send", "upload", "write"];

/// Words in the names of tools that change something or send it somewhere.
const WRITES: [&str; 52] = [
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
    "attach",
    "broadcast",
    "dispatch",
    "dismiss",
    "emit",
    "enqueue",
    "link",
    "mark",
    "notify",
    "patch",
    "react",
    "remember",
    "store",
    "trigger",
];

pub(super) fn find(_unit: &Unit<'_>, scene: &Scene<'_>) -> Option<Found> {
    let Action::Mcp { server, .. } = &scene.event.action else { return None };
    let name = scene.event.tool.inspect("does it write");
    let namespace = Namespace::of_tool(name, server.as_ref(), scene.event, scene.config);
    // What came from a server may go back to it.
    if !scene.event.facts.taint.is_by_other_than(&namespace.source(scene.event)) {
        return None;
    }
    let tool = name.get("mcp__".len() + namespace.as_str().len()..).unwrap_or_default();
    let mut words = words(tool).peekable();
    let reads = words.peek().is_some_and(|first| READS.contains(&first.as_str()));
    let writes =
        words.any(|word| if reads { PLAINLY.contains(&word.as_str()) } else { WRITES.contains(&word.as_str()) });
    writes.then(|| suspicious("the tool sends or changes something"))?
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
