//! Examples: the calls that a rule carries as its proof.

use super::Kind;
use serde_json::{Value, json};

/// Whether a call is answered by its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Hits,
    Misses,
}

/// What a line says, if it is an example: the line behind `hits` or `misses`.
pub(super) fn split(line: &str) -> Option<(Says, &str)> {
    let hits = line.strip_prefix("  hits ").map(|text| (Says::Hits, text));
    let said = hits.or_else(|| line.strip_prefix("  misses ").map(|text| (Says::Misses, text)));
    said.filter(|(_, text)| !text.trim_start().is_empty())
}

/// One line behind `hits` or `misses`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example<'a> {
    text: &'a str,
    /// Its line in the file.
    pub line: usize,
}

/// The examples among the lines of a rule that begins on line `first`.
pub(super) fn examples(lines: &str, first: usize, says: Says) -> impl Iterator<Item = Example<'_>> {
    let said = lines.split('\n').enumerate().filter_map(|(at, line)| Some((at, split(line)?)));
    let said = said.filter(move |(_, (said, _))| *said == says);
    said.map(move |(at, (_, text))| Example { text: text.trim_end(), line: first + at })
}

impl Example<'_> {
    /// As it is written.
    pub fn text(&self) -> &str {
        self.text
    }

    /// The result that the line stands for, in `post.rules`: `\n` and `\u{200b}` are what they are in code.
    pub(super) fn result(&self) -> Value {
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
    pub fn call(&self, kind: Kind) -> (String, Value) {
        let text = self.text();
        if let Some(line) = text.strip_prefix("$ ").or((kind == Kind::Bash).then_some(text)) {
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
            Kind::Mcp => (name.to_owned(), input),
            Kind::Post => ("WebFetch".to_owned(), json!({"url": "https://example.com/", "prompt": "x"})),
            Kind::Agent => ("Agent".to_owned(), json!({"prompt": "x", "mode": name})),
            Kind::Read if name.contains("://") => ("WebFetch".to_owned(), with(json!({"url": name, "prompt": "x"}))),
            Kind::Read => ("Read".to_owned(), with(json!({"file_path": name}))),
            Kind::Edit if input.get("new_string").is_some() => {
                ("Edit".to_owned(), with(json!({"file_path": name, "old_string": ""})))
            }
            Kind::Edit | Kind::Bash => ("Write".to_owned(), with(json!({"file_path": name, "content": "x"}))),
        }
    }
}
