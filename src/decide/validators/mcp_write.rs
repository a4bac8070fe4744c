//! MCP tools that write, in a session that has read untrusted content from another source.

use super::{Context, suspicious_if};
use crate::decide::subject::Subject;
use crate::event::Action;
use crate::quarantine::Namespace;
use crate::rules::Match;

/// First words in names of tools that only read.
const READ_VERBS: [&str; 12] =
    ["check", "count", "describe", "find", "get", "list", "lookup", "query", "read", "search", "show", "view"];

/// Verbs that mean a write even after such a first word.
const CLEAR_WRITE_VERBS: [&str; 7] = ["delete", "execute", "publish", "replace", "send", "upload", "write"];

/// Nouns that turn such a verb into a description: `get_upload_status` uploads nothing.
const DESCRIPTION_NOUNS: [&str; 20] = [
    "config", "count", "date", "history", "info", "limit", "limits", "log", "logs", "metrics", "permission",
    "permissions", "policy", "progress", "quota", "settings", "state", "stats", "status", "time",
];

/// Words that are verbs of a write only at the beginning of a name: `order_pizza`, but not `list_order`.
const LEADING_WRITE_VERBS: [&str; 36] = [
    "accept", "apply", "book", "buy", "call", "cancel", "chat", "cmd", "command", "confirm", "console", "disable",
    "draft", "drag", "email", "enable", "export", "fill", "order", "pay", "press", "purchase", "register", "reject",
    "request", "resolve", "restart", "schedule", "shell", "start", "stop", "sync", "tweet", "type", "webhook",
    "withdraw",
];

/// Prefixes of tool names that only name what the tool works on.
const PREFIXES: [&str; 6] = ["browser", "computer", "page", "playwright", "puppeteer", "tab"];

/// Verbs of a write anywhere in a name.
const WRITE_VERBS: [&str; 67] = [
    "add", "append", "approve", "archive", "assign", "close", "comment", "commit", "copy", "create", "delete",
    "deploy", "edit", "execute", "fork", "import", "insert", "invite", "merge", "modify", "move", "post", "publish",
    "push", "put", "remove", "rename", "reply", "run", "save", "send", "set", "share", "submit", "transition",
    "update", "upload", "write", "attach", "broadcast", "dispatch", "dismiss", "emit", "enqueue", "link", "mark",
    "notify", "patch", "react", "remember", "store", "trigger", "bash", "click", "drop", "eval", "evaluate", "exec",
    "grant", "install", "invoke", "purge", "revoke", "terminal", "transfer", "truncate", "upsert",
];

pub(super) fn find(_subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let Action::Mcp { server, .. } = &context.event.action else { return None };
    let name = context.event.tool.inspect("does it write");
    let namespace = Namespace::of_tool(name, server.as_ref(), context.event, context.config);
    // Data from a server may go back to it.
    if !context.event.facts.taint.has_other_source(&namespace.source(context.event)) {
        return None;
    }
    let tool = name.get("mcp__".len() + namespace.as_str().len()..).unwrap_or_default();
    suspicious_if(is_write(&words(tool)), "the tool sends or changes something")
}

/// Whether a tool whose name consists of these words writes.
fn is_write(words: &[String]) -> bool {
    let is_in = |list: &[&str], word: &String| list.contains(&word.as_str());
    let prefixes = words.iter().take_while(|word| is_in(&PREFIXES, word)).count();
    let words = words.get(prefixes..).unwrap_or_default();
    let Some((first, rest)) = words.split_first() else { return false };
    if is_in(&READ_VERBS, first) {
        let is_description =
            |at: usize| rest.get(at..).unwrap_or_default().iter().any(|word| is_in(&DESCRIPTION_NOUNS, word));
        return rest.iter().enumerate().any(|(at, word)| is_in(&CLEAR_WRITE_VERBS, word) && !is_description(at));
    }
    // `resolve_library_id` is a lookup.
    let is_lookup = rest.last().is_some_and(|last| matches!(last.as_str(), "id" | "ids" | "name" | "path" | "url"));
    let leading = is_in(&LEADING_WRITE_VERBS, first) && !(first == "resolve" && is_lookup);
    // `sendmessage`: verb and noun without a separator.
    let fused = rest.is_empty() && WRITE_VERBS.iter().any(|verb| verb.len() >= 4 && first.starts_with(verb));
    leading || fused || words.iter().any(|word| is_in(&WRITE_VERBS, word))
}

/// Splits a name in snake case, kebab case or camel case into words.
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
