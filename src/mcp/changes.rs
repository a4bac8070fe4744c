//! What has changed in a tool since it was approved, in words for a person.

use super::status::{ChangedPart, part_of};
use crate::encoding::canonical::Value;
use crate::encoding::escape::one_line;
use std::collections::BTreeMap;

/// Characters of a quoted text of a server. A cut text ends in `…`.
const MAX_QUOTED_CHARS: usize = 160;

/// The differences between the approved and the served object of a tool. Texts of the server are escaped.
pub fn describe(approved: &Value, served: &Value) -> Vec<String> {
    let texts = ["title", "description"].into_iter();
    let mut changes: Vec<String> =
        texts.filter_map(|name| describe_text(name, approved.get(name), served.get(name))).collect();
    changes.extend(describe_input(approved.get("inputSchema"), served.get("inputSchema")));
    if part_of(approved, ChangedPart::Output) != part_of(served, ChangedPart::Output) {
        changes.push("the schema of its results changed".to_owned());
    }
    changes.extend(describe_annotations(approved.get("annotations"), served.get("annotations")));
    let rest = |tool| part_of(tool, ChangedPart::Rest).into_iter().collect::<BTreeMap<_, _>>();
    let changed = differing(&rest(approved), &rest(served));
    changes.extend(changed.into_iter().map(|name| format!("`{}` changed", quoted(name))));
    changes
}

/// What a tool says and takes: the beginning of its description, and the names of its arguments.
pub fn introduce(tool: &Value) -> String {
    let description = tool.get("description").and_then(Value::text).unwrap_or_default();
    let properties = properties(tool.get("inputSchema"));
    let arguments: Vec<String> = properties.keys().map(|name| quoted(name)).collect();
    let says =
        if description.is_empty() { "no description".to_owned() } else { format!("“{}”", quoted(description)) };
    format!("{says} ({})", arguments.join(", "))
}

/// The difference between two texts: what was added and what was removed between the words that are the same.
fn describe_text(name: &str, before: Option<&Value>, after: Option<&Value>) -> Option<String> {
    if before == after {
        return None;
    }
    let (before, after) = match (before.map(Value::text), after.map(Value::text)) {
        (Some(Some(before)), Some(Some(after))) => (before, after),
        (None, Some(Some(after))) => return Some(format!("new {name} “{}”", quoted(after))),
        (Some(Some(before)), None) => return Some(format!("no {name} any more, it was “{}”", quoted(before))),
        _ => return Some(format!("the {name} changed")),
    };
    let (before, after) = differing_middle(before, after);
    Some(match (before.trim(), after.trim()) {
        ("", added) => format!("the {name} adds “{}”", quoted(added)),
        (removed, "") => format!("the {name} drops “{}”", quoted(removed)),
        (removed, added) => format!("in the {name} “{}” became “{}”", quoted(removed), quoted(added)),
    })
}

/// The parts of two texts between their common beginning and their common end, which are cut at blanks.
fn differing_middle<'a>(one: &'a str, other: &'a str) -> (&'a str, &'a str) {
    let ends_word = |text: &str, at: usize| text.get(..at).is_some_and(|text| text.ends_with(char::is_whitespace));
    let equal = one.char_indices().zip(other.chars()).take_while(|((_, a), b)| a == b);
    let starts = equal.map(|((at, c), _)| at + c.len_utf8()).filter(|at| ends_word(one, *at));
    let start = starts.last().unwrap_or_default();
    let (one, other) = (one.get(start..).unwrap_or_default(), other.get(start..).unwrap_or_default());
    let mut length = 0;
    let mut end = 0;
    for (a, b) in one.chars().rev().zip(other.chars().rev()) {
        if a != b {
            break;
        }
        length += a.len_utf8();
        if a.is_whitespace() {
            end = length;
        }
    }
    // One text may end, or begin, where the other has more words.
    let longer = if one.len() < other.len() { other } else { one };
    let shorter = one.len().min(other.len());
    let starts_word = longer.get(..longer.len() - shorter).is_some_and(|rest| rest.ends_with(char::is_whitespace));
    if length == shorter && starts_word {
        end = length;
    }
    let middle = |text: &'a str| text.get(..text.len() - end).unwrap_or_default();
    (middle(one), middle(other))
}

fn describe_input(approved: Option<&Value>, served: Option<&Value>) -> Vec<String> {
    if approved == served {
        return Vec::new();
    }
    let (before, after) = (properties(approved), properties(served));
    let mut changes = Vec::new();
    for name in differing(&before, &after) {
        changes.push(match (before.get(name), after.get(name)) {
            (None, _) => format!("new argument `{}`", quoted(name)),
            (_, None) => format!("no argument `{}` any more", quoted(name)),
            _ => format!("the argument `{}` changed", quoted(name)),
        });
    }
    let (was, is) = (required(approved), required(served));
    changes.extend(is.iter().filter(|name| !was.contains(name)).map(|name| format!("`{}` is required", quoted(name))));
    changes.extend(
        was.iter().filter(|name| !is.contains(name)).map(|name| format!("`{}` is not required any more", quoted(name))),
    );
    if changes.is_empty() {
        changes.push("the schema of its arguments changed".to_owned());
    }
    changes
}

fn describe_annotations(approved: Option<&Value>, served: Option<&Value>) -> Option<String> {
    if approved == served {
        return None;
    }
    let claims = |hint: &str, value: bool| {
        let says = |all: Option<&Value>| all.and_then(|all| all.get(hint)) == Some(&Value::Bool(value));
        says(served) && !says(approved)
    };
    Some(if claims("readOnlyHint", true) {
        "it now claims that it only reads".to_owned()
    } else if claims("destructiveHint", false) {
        "it now claims that it destroys nothing".to_owned()
    } else {
        "its annotations changed".to_owned()
    })
}

fn properties(schema: Option<&Value>) -> BTreeMap<&str, &Value> {
    schema.and_then(|schema| schema.get("properties")).into_iter().flat_map(Value::fields).collect()
}

fn required(schema: Option<&Value>) -> Vec<&str> {
    let names = schema.and_then(|schema| schema.get("required")).map(Value::items).unwrap_or_default();
    names.iter().filter_map(Value::text).collect()
}

/// The names whose values differ.
fn differing<'a>(one: &BTreeMap<&'a str, &Value>, other: &BTreeMap<&'a str, &Value>) -> Vec<&'a str> {
    let names: std::collections::BTreeSet<&str> = one.keys().chain(other.keys()).copied().collect();
    names.into_iter().filter(|name| one.get(name) != other.get(name)).collect()
}

fn quoted(text: &str) -> String {
    one_line(text, MAX_QUOTED_CHARS).into_owned()
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/changes.rs"]
mod tests;
