//! Warnings that are shown to a person before they approve a tool, in addition to matches of the content rules. They
//! never decide anything.

use crate::encoding::canonical::Value;
use crate::encoding::escape::is_hidden;
use regex_lite::Regex;

/// Phrases that address the model instead of describing a tool: the pattern and the warning.
const PHRASES: [(&str, &str); 5] = [
    (
        r"(?i)\b(before|prior to|after|whenever|instead of)\b.{0,30}\b(using|calling|running|invoking)\b.{0,30}\b(any|this|other|another)\b.{0,20}\b(tool|function)",
        "it says when other tools are to be called",
    ),
    (
        r"(?i)(~/\.ssh|id_rsa|\.aws/credentials|\.netrc|\.env\b|mcp\.json|/etc/passwd)",
        "it names files that hold secrets",
    ),
    (
        r"(?i)\b(api[ _-]?key|password|private key|access token|credential)s?\b.{0,40}\b(pass|send|include|provide|put|copy)\b|\b(pass|send|include|provide|put|copy)\b.{0,40}\b(api[ _-]?key|password|private key|access token|credential)s?\b",
        "it asks for secrets",
    ),
    (r"(?i)\b(you must|you are required to|always call|must always|must first)\b", "it gives orders"),
    (r"[A-Za-z0-9+/]{120,}={0,2}", "it holds a long run of encoded text"),
];

/// Warnings about a text.
pub fn text(text: &str) -> Vec<String> {
    let count = text.chars().filter(|c| is_hidden(*c)).count();
    let invisible = (count > 0).then(|| format!("it has {count} characters that cannot be seen"));
    // Hidden characters may separate the letters of a word, and line ends may separate words.
    let plain: String =
        text.chars().filter(|c| !is_hidden(*c)).map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let found = |(pattern, what): &(&str, &str)| {
        let found = Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(&plain));
        found.then(|| (*what).to_owned())
    };
    invisible.into_iter().chain(PHRASES.iter().filter_map(found)).collect()
}

/// Warnings about a tool, given the tools of other servers: `(server, tool)`.
pub fn tool(body: &Value, others: &[(String, String)]) -> Vec<String> {
    let all = all_text(body);
    let mut warnings = text(&all);
    let own_name = body.get("name").and_then(Value::text).unwrap_or_default();
    for (server, name) in others {
        if name == own_name {
            warnings.push(format!("the server `{server}` has a tool of the same name"));
        } else if name.len() >= MIN_MENTION_LENGTH && mentions(&all, name) {
            warnings.push(format!("it speaks of `{name}`, a tool of the server `{server}`"));
        }
    }
    warnings
}

/// All strings of a tool, separated by blank lines.
pub fn all_text(body: &Value) -> String {
    let mut texts = Vec::new();
    collect(body, &mut texts);
    texts.join("\n\n")
}

/// Shorter names of tools are often ordinary words.
const MIN_MENTION_LENGTH: usize = 6;

/// Whether a text contains a name as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = text.split_at_checked(at).unwrap_or_default();
        let after = after.get(name.len()..).unwrap_or_default();
        !before.chars().next_back().is_some_and(is_word) && !after.chars().next().is_some_and(is_word)
    })
}

/// Collects every string of a value, including the names of fields.
fn collect<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(fields) => {
            for (name, value) in fields {
                texts.push(name);
                collect(value, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/scan.rs"]
mod tests;
