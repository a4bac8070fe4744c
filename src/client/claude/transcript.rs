//! Transcripts of Claude Code: one JSON object per line, with the calls of a message in its `content`.

use super::super::RecordedCall;
use crate::encoding::json::{self, Fields};
use crate::path::{AbsPath, Place};
use crate::quarantined::{ContentSource, Quarantined};
use serde_json::Value;

/// The fields that say what a call does, most telling first.
const MAIN_FIELDS: [&str; 8] = ["command", "file_path", "notebook_path", "url", "query", "uri", "pattern", "path"];

/// The fields that the client turns into absolute paths before the hook runs.
const PATH_FIELDS: [&str; 2] = ["file_path", "notebook_path"];

pub(super) fn calls(line: &Quarantined<Vec<u8>>, home: Option<&str>) -> Vec<RecordedCall> {
    let fields = Fields::read(line.inspect("a transcript is searched for calls"));
    let text = |fields: &Fields<'_>, name: &str| fields.string(name).map(|text| text.text).unwrap_or_default();
    let cwd = text(&fields, "cwd");
    let message = fields.object("message").unwrap_or_default();
    let parts = message.get("content").map(json::items).unwrap_or_default();
    let call = |part: &[u8]| {
        let part = Fields::read(part);
        let input = part.get("input").filter(|_| text(&part, "type") == "tool_use")?;
        let tool = text(&part, "name");
        let inputs = [Some(input.to_vec()), completed(&tool, input, &cwd, home)].into_iter().flatten();
        let seal = |input: Vec<u8>| line.derive(input, ContentSource::ModelOutput);
        Some(RecordedCall {
            id: text(&part, "id"),
            text: line.derive(main_text(input), ContentSource::ModelOutput),
            inputs: inputs.map(seal).collect(),
            cwd: cwd.clone(),
            tool,
        })
    };
    parts.into_iter().filter_map(call).collect()
}

/// The main field of an input, or else all of it.
fn main_text(input: &[u8]) -> String {
    let fields = Fields::read(input);
    let main = MAIN_FIELDS.iter().find_map(|name| fields.string(name));
    main.map_or_else(|| String::from_utf8_lossy(input).into_owned(), |text| text.text)
}

/// The input as the client completes it for the hook, if that differs: paths are absolute, and an edit says whether it
/// replaces all occurrences.
fn completed(tool: &str, input: &[u8], cwd: &str, home: Option<&str>) -> Option<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(input).ok()?;
    let object = value.as_object_mut()?;
    let place = Place { cwd: cwd.to_owned(), home: home.map(str::to_owned), project: None };
    for name in PATH_FIELDS {
        if let Some(Value::String(path)) = object.get_mut(name) {
            *path = AbsPath::resolve(path, &place).to_string();
        }
    }
    if tool == "Edit" {
        object.entry("replace_all").or_insert(Value::Bool(false));
    }
    serde_json::to_vec(&value).ok()
}
