//! What requests to the API of a forge do: `gh api`, `glab api`.

use super::super::Command;
use crate::programs::Does;
use crate::programs::code::{FORGE_ENDPOINTS, FORGE_MUTATIONS, lists};

/// The effect of a request, by method, endpoint and query.
pub(super) fn effect(command: &Command, method: Option<&str>) -> Option<Does> {
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let has_fields = words.iter().any(|word| {
        ["-f", "-F", "--field", "--raw-field", "--input"].iter().any(|name| word.starts_with(name))
            && !word.starts_with("--format")
    });
    if words.contains(&"graphql") {
        let query = command.args.iter().find_map(|arg| arg.text.split_once("query=").map(|(_, query)| (query, arg)));
        let works = query.is_some_and(|(query, arg)| arg.is_known() && only_works(query));
        let effect = graphql_effect(query.map(|(query, _)| query), has_fields);
        return if works && effect == Some(Does::Change) { Some(Does::Work) } else { effect };
    }
    // Behind an option that the catalogue does not list, a value looks like an operand: all of them must be for work.
    let endpoints = command.operands();
    let is_work = !endpoints.is_empty() && endpoints.iter().all(|endpoint| is_work(&endpoint.text));
    match method.map(str::to_ascii_uppercase).as_deref() {
        Some("GET" | "HEAD") => Some(Does::Look),
        None if !has_fields => Some(Does::Look),
        Some("DELETE") => Some(Does::Destroy),
        _ if is_work => Some(Does::Work),
        _ => Some(Does::Change),
    }
}

/// Whether people work on issues and pull requests by an endpoint. Its path is compared part by part, without the query.
fn is_work(endpoint: &str) -> bool {
    let path = endpoint.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
    let path = path.trim_start_matches('/');
    let path = ["api/v3/", "api/v4/"].iter().find_map(|start| path.strip_prefix(start)).unwrap_or(path);
    let parts: Vec<&str> = path.split('/').collect();
    let is_plain = |part: &&str| !part.is_empty() && !matches!(*part, "." | "..");
    parts.iter().all(is_plain) && FORGE_ENDPOINTS.iter().any(|known| fits(known, &parts))
}

/// Whether the parts of a path fit a pattern: `*` is one part, `**` the rest.
fn fits(pattern: &str, parts: &[&str]) -> bool {
    let mut parts = parts.iter();
    for wanted in pattern.split('/') {
        match (wanted, parts.next()) {
            ("**", Some(_)) => return true,
            ("*", Some(_)) => {}
            (wanted, Some(part)) if wanted == *part => {}
            (_, _) => return false,
        }
    }
    parts.next().is_none()
}

/// A query looks, a mutation changes or deletes. Without fields the query is on the standard input.
fn graphql_effect(query: Option<&str>, has_fields: bool) -> Option<Does> {
    match query {
        Some(query) if !query.contains("mutation") => Some(Does::Look),
        Some(query) if query.to_ascii_lowercase().contains("delete") => Some(Does::Destroy),
        Some(_) => Some(Does::Change),
        None => (!has_fields).then_some(Does::Change),
    }
}

/// Whether each mutation of a query is listed as work. Only the fields of the outermost selection are mutations.
///
/// Names in texts, comments and arguments are left out, and a text that is not read with certainty is not work.
fn only_works(query: &str) -> bool {
    // Block strings, comments, fragments and a file (`query=@file`) are left to a person.
    if query.contains("\"\"\"") || query.contains(['#', '$', '@', '\\']) && !is_plain(query) || query.contains("...") {
        return false;
    }
    let (mut braces, mut parentheses, mut in_text) = (0_usize, 0_usize, false);
    let mut fields: Vec<String> = Vec::new();
    let mut name = String::new();
    for c in query.chars().chain([' ']) {
        let is_field = braces == 1 && parentheses == 0 && !in_text;
        if is_field && (c.is_alphanumeric() || c == '_') {
            name.push(c);
            continue;
        }
        if !name.is_empty() {
            // `alias: field`
            let word = std::mem::take(&mut name);
            if c != ':' {
                fields.push(word);
            }
        }
        match c {
            '"' => in_text = !in_text,
            _ if in_text => {}
            '(' => parentheses += 1,
            ')' => parentheses = parentheses.saturating_sub(1),
            '{' if parentheses == 0 => braces += 1,
            '}' if parentheses == 0 => braces = braces.saturating_sub(1),
            _ => {}
        }
    }
    let is_closed = braces == 0 && parentheses == 0 && !in_text;
    is_closed && !fields.is_empty() && fields.iter().all(|field| lists(&FORGE_MUTATIONS, field))
}

/// Whether each `$` begins the name of a variable of the query, and there are no comments, files and escapes.
fn is_plain(query: &str) -> bool {
    let begins_name = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    !query.contains(['#', '@', '\\']) && query.split('$').skip(1).all(begins_name)
}
