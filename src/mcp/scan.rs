//! What a person should look at before they approve a tool, beside what the rules about content say. It points out and
//! never decides: whoever approves has read the text.

use crate::encoding::canonical::Value;
use crate::encoding::escape::is_hidden;
use regex_lite::Regex;

/// Words that speak to the model instead of describing a tool: the pattern, and what it is.
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

/// What is odd about a text.
pub fn text(text: &str) -> Vec<String> {
    let count = text.chars().filter(|c| is_hidden(*c)).count();
    let invisible = (count > 0).then(|| format!("it has {count} characters that cannot be seen"));
    // Hidden characters may stand between the letters of a word, and line ends between words.
    let plain: String =
        text.chars().filter(|c| !is_hidden(*c)).map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let found = |(pattern, what): &(&str, &str)| {
        let found = Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(&plain));
        found.then(|| (*what).to_owned())
    };
    invisible.into_iter().chain(PHRASES.iter().filter_map(found)).collect()
}

/// What is odd about a tool, given the names of the tools of others: `(server, tool)`.
pub fn tool(body: &Value, others: &[(String, String)]) -> Vec<String> {
    let all = words(body);
    let mut points = text(&all);
    let own = body.get("name").and_then(Value::text).unwrap_or_default();
    for (server, name) in others {
        // Short names are words.
        if name == own {
            points.push(format!("the server `{server}` has a tool of the same name"));
        } else if name.len() > 5 && names(&all, name) {
            points.push(format!("it speaks of `{name}`, a tool of the server `{server}`"));
        }
    }
    points
}

/// All that a tool says.
pub fn words(body: &Value) -> String {
    let mut texts = Vec::new();
    collect(body, &mut texts);
    texts.join("\n\n")
}

/// Whether a text has a name as a word of its own.
fn names(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(name).any(|(at, _)| {
        let (before, behind) = text.split_at_checked(at).unwrap_or_default();
        let behind = behind.get(name.len()..).unwrap_or_default();
        !before.chars().next_back().is_some_and(is_word) && !behind.chars().next().is_some_and(is_word)
    })
}

/// Every text of a value, names of fields included.
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
