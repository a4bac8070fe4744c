//! Edits of JSON files of which the guard writes only a part: the rest keeps its bytes.

use super::settings::FileError;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

/// The object that a file holds, in which comments may stand; an empty file is an empty object.
pub(super) fn read(text: &str) -> Result<Value, FileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| FileError::new(error.to_string()))?;
    let object = root.object_value().and_then(|object| object.to_serde_value());
    object.ok_or_else(|| FileError::new("expected a JSON object"))
}

/// Edits the text of a settings file; a byte-order mark is kept.
pub(super) fn edit(text: &str, change: impl FnOnce(&CstObject) -> Result<(), FileError>) -> Result<String, FileError> {
    let (mark, body) = text.strip_prefix('\u{feff}').map_or(("", text), |body| ("\u{feff}", body));
    let body = if body.trim().is_empty() { "{}\n" } else { body };
    let root = CstRootNode::parse(body, &ParseOptions::default()).map_err(|error| FileError::new(error.to_string()))?;
    let object = root.object_value().ok_or_else(|| FileError::new("settings are a JSON object"))?;
    change(&object)?;
    Ok(format!("{mark}{root}"))
}

/// The object that is a member, which is added if it is missing.
pub(super) fn object(of: &CstObject, name: &str) -> Result<CstObject, FileError> {
    check_unique(of, name)?;
    of.object_value_or_create(name).ok_or_else(|| FileError::new(format!("`{name}` is not an object")))
}

/// The list that is a member, which is added if it is missing.
pub(super) fn array(of: &CstObject, name: &str) -> Result<CstArray, FileError> {
    check_unique(of, name)?;
    of.array_value_or_create(name).ok_or_else(|| FileError::new(format!("`{name}` is not a list")))
}

/// Rejects several members with one name: the client uses the last, and an editor the first.
fn check_unique(of: &CstObject, name: &str) -> Result<(), FileError> {
    match of.properties().iter().filter(|member| member.decoded_name().as_deref() == Some(name)).count() {
        0 | 1 => Ok(()),
        times => Err(FileError::new(format!("`{name}` stands there {times} times"))),
    }
}

/// A value to add; the members of objects have the order of `fields`.
pub(super) fn input(value: &Value, fields: &[&str]) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(|value| input(value, fields)).collect()),
        Value::Object(members) => {
            let mut members: Vec<_> =
                members.iter().map(|(name, value)| (name.clone(), input(value, fields))).collect();
            members.sort_by_key(|(name, _)| fields.iter().position(|field| field == name));
            CstInputValue::Object(members)
        }
    }
}
