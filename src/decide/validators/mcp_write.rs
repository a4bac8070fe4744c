//! MCP tools that write, in a session that has read what others than their own server sent.

use super::{Context, suspicious};
use crate::decide::subject::Subject;
use crate::event::Action;
use crate::quarantine::Namespace;
use crate::rules::Match;

/// Words that the names of tools begin with that only look.
const READS: [&str; 12] =
    ["check", "count", "describe", "find", "get", "list", "lookup", "query", "read", "search", "show", "view"];

/// Words that say so even there.
const PLAINLY: [&str; 7] = ["delete", "execute", "publish", "replace", "send", "upload", "write"];

/// What such a word is about where one of these follows it: to look at how sending went sends nothing.
const ABOUT: [&str; 20] = [
    "config", "count", "date", "history", "info", "limit", "limits", "log", "logs", "metrics", "permission",
    "permissions", "policy", "progress", "quota", "settings", "state", "stats", "status", "time",
];

/// Words that do something where a name begins with them, and may be a thing elsewhere: `order_pizza`, `list_order`.
const AT_FIRST: [&str; 36] = [
    "accept", "apply", "book", "buy", "call", "cancel", "chat", "cmd", "command", "confirm", "console", "disable",
    "draft", "drag", "email", "enable", "export", "fill", "order", "pay", "press", "purchase", "register", "reject",
    "request", "resolve", "restart", "schedule", "shell", "start", "stop", "sync", "tweet", "type", "webhook",
    "withdraw",
];

/// Words that names of tools begin with that only say what is worked on.
const STAGES: [&str; 6] = ["browser", "computer", "page", "playwright", "puppeteer", "tab"];

/// Words in the names of tools that change something or send it somewhere.
const WRITES: [&str; 67] = [
    "add", "append", "approve", "archive", "assign", "close", "comment", "commit", "copy", "create", "delete",
    "deploy", "edit", "execute", "fork", "import", "insert", "invite", "merge", "modify", "move", "post", "publish",
    "push", "put", "remove", "rename", "reply", "run", "save", "send", "set", "share", "submit", "transition",
    "update", "upload", "write", "attach", "broadcast", "dispatch", "dismiss", "emit", "enqueue", "link", "mark",
    "notify", "patch", "react", "remember", "store", "trigger", "bash", "click", "drop", "eval", "evaluate", "exec",
    "grant", "install", "invoke", "purge", "revoke", "terminal", "transfer", "truncate", "upsert",
];

pub(super) fn find(_unit: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let Action::Mcp { server, .. } = &context.event.action else { return None };
    let name = context.event.tool.inspect("does it write");
    let namespace = Namespace::of_tool(name, server.as_ref(), context.event, context.config);
    // What came from a server may go back to it.
    if !context.event.facts.taint.has_other_source(&namespace.source(context.event)) {
        return None;
    }
    let tool = name.get("mcp__".len() + namespace.as_str().len()..).unwrap_or_default();
    writes(&words(tool)).then(|| suspicious("the tool sends or changes something"))?
}

/// Whether a tool with these words in its name writes.
fn writes(words: &[String]) -> bool {
    let is_in = |list: &[&str], word: &String| list.contains(&word.as_str());
    let staged = words.iter().take_while(|word| is_in(&STAGES, word)).count();
    let words = words.get(staged..).unwrap_or_default();
    let Some((first, rest)) = words.split_first() else { return false };
    if is_in(&READS, first) {
        let about = |at: usize| rest.get(at..).unwrap_or_default().iter().any(|word| is_in(&ABOUT, word));
        return rest.iter().enumerate().any(|(at, word)| is_in(&PLAINLY, word) && !about(at));
    }
    // `resolve_library_id` looks something up.
    let names = rest.last().is_some_and(|last| matches!(last.as_str(), "id" | "ids" | "name" | "path" | "url"));
    let begins = is_in(&AT_FIRST, first) && !(first == "resolve" && names);
    // `sendmessage`: one word that begins like a verb.
    let fused = rest.is_empty() && WRITES.iter().any(|verb| verb.len() >= 4 && first.starts_with(verb));
    begins || fused || words.iter().any(|word| is_in(&WRITES, word))
}

/// The words of a name, in whatever case it is written.
fn words(name: &str) -> Vec<String> {
    let mut split = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            split.push(' ');
        }
        split.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' });
    }
    split.split_whitespace().map(str::to_owned).collect()
}
