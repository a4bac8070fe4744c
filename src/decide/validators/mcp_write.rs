//! MCP tools that write, in a session that has read untrusted content from another source.

use super::{Context, suspicious_if};
use crate::decide::subject::Subject;
use crate::event::Action;
use crate::programs::words;
use crate::quarantine::Namespace;
use crate::rules::Match;

pub(super) fn find(_subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let Action::Mcp { server, .. } = &context.event.action else { return None };
    let name = context.event.tool.inspect("does it write");
    let namespace = Namespace::of_tool(name, server.as_ref(), context.event, context.config);
    // Data from a server may go back to it.
    if !context.event.facts.taint.has_other_source(&namespace.source(context.event)) {
        return None;
    }
    let tool = name.get("mcp__".len() + namespace.as_str().len()..).unwrap_or_default();
    suspicious_if(is_write(&split_name(tool)), "the tool sends or changes something")
}

/// Whether a tool whose name consists of these words writes.
fn is_write(words: &[String]) -> bool {
    let is_in = |list: &[&str], word: &String| list.contains(&word.as_str());
    let prefixes = words.iter().take_while(|word| is_in(&words::MCP_PREFIXES, word)).count();
    let words = words.get(prefixes..).unwrap_or_default();
    let Some((first, rest)) = words.split_first() else { return false };
    if is_in(&words::MCP_READ_VERBS, first) {
        let is_description = |at: usize| {
            rest.get(at..).unwrap_or_default().iter().any(|word| is_in(&words::MCP_DESCRIPTION_NOUNS, word))
        };
        return rest
            .iter()
            .enumerate()
            .any(|(at, word)| is_in(&words::MCP_CLEAR_WRITE_VERBS, word) && !is_description(at));
    }
    // `resolve_library_id` is a lookup.
    let is_lookup = rest.last().is_some_and(|last| matches!(last.as_str(), "id" | "ids" | "name" | "path" | "url"));
    let leading = is_in(&words::MCP_LEADING_WRITE_VERBS, first) && !(first == "resolve" && is_lookup);
    // `sendmessage`: verb and noun without a separator.
    let fused = rest.is_empty() && words::MCP_WRITE_VERBS.iter().any(|verb| verb.len() >= 4 && first.starts_with(verb));
    leading || fused || words.iter().any(|word| is_in(&words::MCP_WRITE_VERBS, word))
}

/// Splits a name in snake case, kebab case or camel case into words.
fn split_name(name: &str) -> Vec<String> {
    let mut split = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            split.push(' ');
        }
        split.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' });
    }
    split.split_whitespace().map(str::to_owned).collect()
}
