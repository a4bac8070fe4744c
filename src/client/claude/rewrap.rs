//! Wrapping of MCP servers: edits the text of a configuration so that another program runs in front of a server, and
//! undoes that to the byte.

use crate::client::settings::FileError;
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// The start of an added list of arguments. The unusual spacing tells it from a list that was there before.
const ADDED: &str = ", \"args\":[";

/// The text with `program` as the command of the server that `steps` lead to, and `words` before its arguments.
pub(super) fn wrap(text: &str, steps: &[&str], program: &str, words: &[String]) -> Result<String, FileError> {
    let entry = Entry::find(text, steps)?;
    let words = words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(", ");
    let mut edits = vec![(entry.command.start, entry.command.end, quote(program))];
    edits.push(match (&entry.args, entry.elements.is_empty()) {
        (None, _) => (entry.command.end, entry.command.end, format!("{ADDED}{words}]")),
        (Some(args), true) => (args.start + 1, args.start + 1, words),
        (Some(args), false) => (args.start + 1, args.start + 1, format!("{words},")),
    });
    Ok(splice(text, edits))
}

/// The text with `program` as the command again, and without the first `count` arguments.
pub(super) fn unwrap(text: &str, steps: &[&str], program: &str, count: usize) -> Result<String, FileError> {
    let entry = Entry::find(text, steps)?;
    let (Some(args), Some(last)) = (&entry.args, entry.elements.get(count.saturating_sub(1))) else {
        return Err(FileError::new("the server is not wrapped"));
    };
    let mut edits = vec![(entry.command.start, entry.command.end, quote(program))];
    let before = text.get(entry.command.end..args.start + 1);
    edits.push(match entry.elements.get(count) {
        None if before == Some(ADDED) => (entry.command.end, args.end, String::new()),
        None => (args.start + 1, last.end, String::new()),
        Some(next) => {
            // Up to the comma after the last added word.
            let between = text.get(last.end..next.start).unwrap_or_default();
            (args.start + 1, last.end + between.find(',').map_or(0, |at| at + 1), String::new())
        }
    });
    Ok(splice(text, edits))
}

/// The positions of the parts of an entry in the text.
struct Entry {
    command: Range,
    args: Option<Range>,
    elements: Vec<Range>,
}

impl Entry {
    fn find(text: &str, steps: &[&str]) -> Result<Entry, FileError> {
        let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let body = text.get(mark..).unwrap_or_default();
        let parsed = parse_to_ast(body, &CollectOptions::default(), &ParseOptions::default());
        let root = parsed.map_err(|error| FileError::new(error.to_string()))?.value;
        let mut object = match &root {
            Some(Value::Object(object)) => object,
            _ => return Err(FileError::new("it is not a JSON object")),
        };
        for step in steps {
            object = match member(object, step) {
                Some(Value::Object(inner)) => inner,
                _ => return Err(FileError::new("the server is not there any more")),
            };
        }
        let moved = |range: Range| Range { start: range.start + mark, end: range.end + mark };
        let command = match member(object, "command") {
            Some(Value::StringLit(command)) => moved(command.range()),
            _ => return Err(FileError::new("the server has no `command`")),
        };
        match member(object, "args") {
            None => Ok(Entry { command, args: None, elements: Vec::new() }),
            Some(Value::Array(args)) => {
                let elements = args.elements.iter().map(|element| moved(element.range())).collect();
                Ok(Entry { command, args: Some(moved(args.range())), elements })
            }
            Some(_) => Err(FileError::new("`args` is not a list")),
        }
    }
}

/// Of several members with one name the client uses the last.
fn member<'a, 'b>(object: &'b Object<'a>, name: &str) -> Option<&'b Value<'a>> {
    object.properties.iter().rfind(|member| member.name.as_str() == name).map(|member| &member.value)
}

fn splice(text: &str, mut edits: Vec<(usize, usize, String)>) -> String {
    edits.sort_by_key(|(start, ..)| std::cmp::Reverse(*start));
    let mut text = text.to_owned();
    for (start, end, new) in edits {
        text.replace_range(start..end, &new);
    }
    text
}

fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
#[path = "../../../tests/unit/client/claude/rewrap.rs"]
mod tests;
