//! Examples: the calls that a rule carries as its proof.

use super::RuleKind;
use super::syntax::Expected;
use serde_json::{Value, json};
use std::borrow::Cow;

/// One line behind `hits` or `misses`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub(super) expected: Expected,
    /// Its line in the file.
    pub line: usize,
    pub(super) text: Cow<'static, str>,
}

impl Example {
    /// As it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The result that the line stands for, in `post.rules`: `\n` and `\u{200b}` are what they are in code.
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

    /// The call that the line stands for: the tool's name and its input.
    ///
    /// A command line in `bash.rules`; elsewhere a file, a page or a tool, with the rest of the input as JSON behind
    /// it where it matters. A line that starts with `$ ` is a command line in every file.
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
