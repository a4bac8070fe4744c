//! Examples: calls that a rule must match, or that no rule may match.

use super::RuleKind;
use super::syntax::Expected;
use serde_json::{Value, json};
use std::borrow::Cow;

/// One line of `hits` or `misses`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub(super) expected: Expected,
    /// The line in the file, from 1.
    pub line: usize,
    pub(super) text: Cow<'static, str>,
}

impl Example {
    /// The text as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The result that a line of `post.rules` describes. It may contain the escapes `\n` and `\u{200b}`.
    pub(crate) fn result(&self) -> Value {
        let mut parts = self.text.split("\\u{");
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (code, rest) = part.split_once('}').unwrap_or((part, ""));
            text.extend(u32::from_str_radix(code, 16).ok().and_then(char::from_u32));
            text.push_str(rest);
        }
        json!({"result": text.replace("\\n", "\n")})
    }

    /// The call that the line describes: the name of a tool and its input.
    ///
    /// In `bash.rules` the line is shell text. In the other files it is a path, URL or tool name, which may be followed
    /// by further input as a JSON object; there a line that starts with `$ ` is shell text.
    pub fn call(&self, kind: RuleKind) -> (String, Value) {
        let text = self.text();
        if let Some(line) = text.strip_prefix("$ ").or((kind == RuleKind::Bash).then_some(text)) {
            return ("Bash".to_owned(), json!({"command": line.replace("\\n", "\n")}));
        }
        let (name, input) = match text.find(" {").map(|at| text.split_at(at)) {
            Some((name, input)) => (name, serde_json::from_str(input).unwrap_or_else(|_| json!({}))),
            None => (text, json!({})),
        };
        let with = |fields: Value| {
            let mut all = fields;
            if let (Some(all), Some(more)) = (all.as_object_mut(), input.as_object()) {
                all.extend(more.clone());
            }
            all
        };
        match kind {
            RuleKind::Mcp => (name.to_owned(), input),
            RuleKind::Post => ("WebFetch".to_owned(), json!({"url": "https://example.com/", "prompt": "x"})),
            RuleKind::Agent => ("Agent".to_owned(), json!({"prompt": "x", "mode": name})),
            RuleKind::Read if name.contains("://") => {
                ("WebFetch".to_owned(), with(json!({"url": name, "prompt": "x"})))
            }
            RuleKind::Read => ("Read".to_owned(), with(json!({"file_path": name}))),
            RuleKind::Edit if input.get("new_string").is_some() => {
                ("Edit".to_owned(), with(json!({"file_path": name, "old_string": ""})))
            }
            RuleKind::Edit | RuleKind::Bash => ("Write".to_owned(), with(json!({"file_path": name, "content": "x"}))),
        }
    }
}
