//! Transcripts of Claude Code: one JSON object per line, with the calls of a message in its `content`.

use super::super::{Outcome, RecordedCall, RecordedLine, RecordedResult, RecordedStep};
use crate::encoding::json::{self, Fields};
use crate::path::{AbsPath, Place};
use crate::quarantined::{ContentSource, Quarantined};
use serde_json::Value;

/// The fields that say what a call does, most telling first.
const MAIN_FIELDS: [&str; 8] = ["command", "file_path", "notebook_path", "url", "query", "uri", "pattern", "path"];

/// The fields that the client turns into absolute paths before the hook runs.
const PATH_FIELDS: [&str; 2] = ["file_path", "notebook_path"];

/// How the text of a prompt begins that the client wrote itself: output of commands that the user ran with `!` or `/`.
const CLIENT_TEXTS: [&str; 4] = ["<command-", "<local-command", "<bash-", "Caveat: "];

/// How the result of a call begins that was refused, in clients before `toolDenialKind`.
const REFUSALS: [&str; 4] =
    ["The user doesn't want to ", "Permission to use ", "PreToolUse:", "User rejected tool use"];

pub(super) fn read(line: &Quarantined<Vec<u8>>, home: Option<&str>) -> RecordedLine {
    let fields = Fields::read(line.inspect("a transcript is searched for calls"));
    let text = |fields: &Fields<'_>, name: &str| fields.string(name).map(|text| text.text).unwrap_or_default();
    let kind = text(&fields, "type");
    let mut recorded = RecordedLine {
        time: text(&fields, "timestamp"),
        cwd: text(&fields, "cwd"),
        mode: text(&fields, "permissionMode"),
        is_copy: fields.get("forkedFrom").is_some(),
        steps: Vec::new(),
    };
    // Lines of other types hold copies of messages.
    if kind != "user" && kind != "assistant" {
        return recorded;
    }
    let message = fields.object("message").unwrap_or_default();
    let parts = message.get("content").map(json::items).unwrap_or_default();
    let is_typed =
        || !["isMeta", "isSidechain", "isCompactSummary"].iter().any(|name| fields.get(name) == Some(b"true"));
    let typed = |text: String| {
        let is_prompt = kind == "user" && is_typed() && !CLIENT_TEXTS.iter().any(|start| text.starts_with(start));
        is_prompt.then(|| RecordedStep::Prompt(line.derive(text, ContentSource::UserInput)))
    };
    let is_alone = parts.len() == 1;
    let step = |part: &[u8]| {
        let part = Fields::read(part);
        match text(&part, "type").as_str() {
            "tool_use" => call(&part, &recorded.cwd, line, home).map(RecordedStep::Call),
            "tool_result" => Some(RecordedStep::Result(result(&part, &fields, is_alone, line))),
            "text" => typed(text(&part, "text")),
            _ => None,
        }
    };
    let steps: Vec<RecordedStep> = parts.into_iter().filter_map(step).collect();
    recorded.steps = steps;
    recorded.steps.extend(message.string("content").and_then(|prompt| typed(prompt.text)));
    recorded
}

fn call(part: &Fields<'_>, cwd: &str, line: &Quarantined<Vec<u8>>, home: Option<&str>) -> Option<RecordedCall> {
    let text = |name: &str| part.string(name).map(|text| text.text).unwrap_or_default();
    let input = part.get("input")?;
    let tool = text("name");
    let inputs = [Some(input.to_vec()), completed(&tool, input, cwd, home)].into_iter().flatten();
    let seal = |input: Vec<u8>| line.derive(input, ContentSource::ModelOutput);
    Some(RecordedCall {
        id: text("id"),
        text: line.derive(main_text(input), ContentSource::ModelOutput),
        inputs: inputs.map(seal).collect(),
        cwd: cwd.to_owned(),
        tool,
    })
}

/// A result: as the hook got it, if the line has it and only one result, or else as the model got it.
fn result(part: &Fields<'_>, fields: &Fields<'_>, is_alone: bool, line: &Quarantined<Vec<u8>>) -> RecordedResult {
    let content = part.get("content").unwrap_or(b"null");
    let is_error = part.get("is_error") == Some(b"true");
    let for_hook = fields.get("toolUseResult").filter(|_| is_alone && !is_error);
    let is_rejected = fields.object("permissionDecision").and_then(|decision| decision.string("decision"));
    let begins = |start: &&str| json::strings(content).into_texts().next().is_some_and(|text| text.starts_with(start));
    let is_refused = fields.get("toolDenialKind").is_some()
        || is_rejected.is_some_and(|decision| decision.text == "reject")
        || is_error && REFUSALS.iter().any(begins);
    let outcome = match is_error {
        _ if is_refused => Outcome::Refused,
        true => Outcome::Failed,
        false => Outcome::Done,
    };
    let content = for_hook.unwrap_or(content).to_vec();
    RecordedResult {
        call: part.string("tool_use_id").map(|id| id.text).unwrap_or_default(),
        outcome,
        content: line.derive(content, ContentSource::ToolOutput),
    }
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
