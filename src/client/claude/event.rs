//! Events of Claude Code, as measured on the real client.

use crate::client::{Outcome, Payload, RecordedCall, RecordedEvent, RecordedPlace, SampleEvent};
use crate::encoding::json::{self, Fields, Text};
use crate::encoding::label::Label;
use crate::event::{Action, Answers, Change, Dialect, EventError, Field, Header, Message, Replaces, Server, Shows};
use crate::quarantined::{ContentSource, Quarantined};
use crate::verdict::Phase;
use crate::verdict::failure::Failure;
use serde_json::json;

/// The events that the guard handles.
const EVENTS: [(&str, Phase); 7] = [
    ("PreToolUse", Phase::Before),
    ("PostToolUse", Phase::After),
    ("PostToolUseFailure", Phase::Failed),
    ("ConfigChange", Phase::Settings),
    ("UserPromptSubmit", Phase::Prompt),
    ("SessionStart", Phase::Start),
    ("SessionEnd", Phase::End),
];

/// The other events of the client. An event that is in neither list cannot be read.
const OTHER_EVENTS: [&str; 26] = [
    "CwdChanged", "DirectoryAdded", "Elicitation", "ElicitationResult", "FileChanged", "InstructionsLoaded",
    "MessageDisplay", "Notification", "PermissionDenied", "PermissionRequest", "PostCompact", "PostModelSwitch",
    "PostToolBatch", "PreCompact", "PreModelSwitch", "Setup", "Stop", "StopFailure", "SubagentStart", "SubagentStop",
    "TaskCompleted", "TaskCreated", "TeammateIdle", "UserPromptExpansion", "WorktreeCreate", "WorktreeRemove",
];

/// The tools whose input is read, under the names that the client has for them now or had before.
pub(super) const TOOLS: [&str; 19] = [
    "Bash", "PowerShell", "Monitor", "Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch", "Read",
    "NotebookRead", "Grep", "Glob", "LS", "WebFetch", "WebSearch", "ReadMcpResourceTool", "ListMcpResourcesTool",
    "Agent", "Task",
];

/// The phase of an event that the guard handles.
pub(super) fn handled_phase(event: &str) -> Option<Phase> {
    EVENTS.iter().find(|(name, _)| *name == event).map(|(_, phase)| *phase)
}

/// The client's name of a phase.
fn event_name(phase: Option<Phase>) -> &'static str {
    EVENTS.iter().find(|(_, known)| Some(*known) == phase).map_or("", |(name, _)| name)
}

pub(super) fn header(phase: Option<Phase>) -> Header {
    Header { phase, moment: Label::new(event_name(phase)), ..Header::default() }
}

/// Renders an event as the client sends it.
pub(super) fn sample(sample: &SampleEvent<'_>) -> String {
    let mut event = json!({
        "session_id": sample.session,
        "transcript_path": "/dev/null",
        "cwd": sample.cwd,
        "hook_event_name": event_name(Some(sample.phase)),
    });
    if let Some(event) = event.as_object_mut().filter(|_| sample.phase == Phase::Before || sample.phase.is_after()) {
        event.insert("tool_name".to_owned(), json!(sample.tool));
        event.insert("tool_input".to_owned(), sample.input.clone());
        event.extend(sample.result.iter().map(|result| ("tool_response".to_owned(), result.clone())));
    }
    event.to_string()
}

/// Renders the event that the client sent for a recorded step. Parts of the transcript are not parsed, so that they keep
/// what only the guard's own reader accepts.
pub(super) fn recorded(place: &RecordedPlace<'_>, step: RecordedEvent<'_>) -> Quarantined<Vec<u8>> {
    let (source, phase) = match step {
        RecordedEvent::Prompt(_) => (ContentSource::UserInput, Phase::Prompt),
        RecordedEvent::Before(_) => (ContentSource::ModelOutput, Phase::Before),
        RecordedEvent::After(_, result) if result.outcome == Outcome::Failed => {
            (ContentSource::ToolOutput, Phase::Failed)
        }
        RecordedEvent::After(..) => (ContentSource::ToolOutput, Phase::After),
    };
    let mut event = json!({
        "session_id": place.session,
        "transcript_path": "/dev/null",
        "cwd": place.cwd,
        "hook_event_name": event_name(Some(phase)),
    });
    if let Some(event) = event.as_object_mut() {
        let mut add = |name: &str, value: &str| {
            if !value.is_empty() {
                event.insert(name.to_owned(), json!(value));
            }
        };
        add("permission_mode", place.mode);
        if let RecordedEvent::Before(call) | RecordedEvent::After(call, _) = step {
            add("tool_use_id", &call.id);
            add("tool_name", &call.tool);
        }
    }
    let mut text = event.to_string().into_bytes();
    text.pop();
    let mut add = |name: &str, json: &[u8]| {
        text.extend(format!(",\"{name}\":").into_bytes());
        text.extend(json);
    };
    // The last input is the one that the client has completed for the hook.
    let input = |call: &RecordedCall| {
        call.inputs.last().map_or_else(|| b"{}".to_vec(), |input| input.inspect("a call is judged again").clone())
    };
    let reason = "a call is judged again";
    match step {
        RecordedEvent::Prompt(prompt) => add("prompt", json!(prompt.inspect(reason)).to_string().as_bytes()),
        RecordedEvent::Before(call) => add("tool_input", &input(call)),
        RecordedEvent::After(call, result) => {
            add("tool_input", &input(call));
            add(if phase == Phase::Failed { "error" } else { "tool_response" }, result.content.inspect(reason));
        }
    }
    text.push(b'}');
    match step {
        RecordedEvent::Prompt(prompt) => prompt.derive(text, source),
        RecordedEvent::Before(call) => call.text.derive(text, source),
        RecordedEvent::After(_, result) => result.content.derive(text, source),
    }
}

/// A longer input has no HMAC in the log: its canonical form would take several times the memory of the event.
const MAX_HASHED_BYTES: usize = 1 << 20;

/// The input of the tool, as the event has it; `None` if it is long.
pub(super) fn tool_input(event: &Quarantined<Vec<u8>>) -> Option<Quarantined<Vec<u8>>> {
    let fields = Fields::read(event.inspect("the log holds the HMAC of the input"));
    let input = fields.get("tool_input").filter(|input| input.len() <= MAX_HASHED_BYTES)?;
    Some(event.derive(input.to_vec(), ContentSource::ModelOutput))
}

pub(super) fn parse<'a>(payload: &Payload<'a>) -> Result<Message<'a>, EventError> {
    let Payload { input, fields } = payload;
    let bytes = input.inspect("an event is read");
    let text = |name: &str| fields.string(name).unwrap_or(Text { text: String::new(), error: None });
    let moment = text("hook_event_name").text;
    let tool = fields.string("tool_name");
    let header = Header {
        phase: handled_phase(&moment).or_else(|| OTHER_EVENTS.contains(&moment.as_str()).then_some(Phase::Other)),
        moment: Label::new(&moment),
        tool: tool.as_ref().map_or_else(Label::default, |tool| Label::tool(&tool.text)),
        session: Label::new(&text("session_id").text),
        call: Label::tool(&text("tool_use_id").text),
        is_attended: true,
    };
    let unread = |what: String| EventError { header: Box::new(header.clone()), failure: Failure::Event(what) };

    // After a call only one field of the input is used, and checking a large result takes time.
    let unchecked = header.phase.is_some_and(Phase::is_after);
    let flaw = fields.error().or_else(|| if unchecked { None } else { json::check(bytes).err() });
    let flaw = flaw.map(|flaw| flaw.to_string());
    let not_string =
        ["cwd", "session_id"].iter().find(|name| fields.get(name).is_some() && fields.string(name).is_none());
    let flaw = flaw.or_else(|| not_string.map(|name| format!("its `{name}` is not a string")));
    let Some(phase) = header.phase else {
        return Err(unread(flaw.unwrap_or_else(|| "it does not name a known moment".to_owned())));
    };
    let reading = match phase {
        Phase::Before | Phase::After | Phase::Failed => call(fields, tool, input),
        Phase::Settings => {
            let file = fields.string("file_path").map(|file| input.derive(file.text, ContentSource::ToolOutput));
            Ok((Action::Settings { file }, None))
        }
        Phase::Prompt => {
            let text = fields.string("prompt").filter(|_| fields.get("agent_id").is_none());
            let text = text.filter(|text| !is_of_client(&text.text));
            Ok((Action::Prompt { text: text.map(|text| input.derive(text.text, ContentSource::UserInput)) }, None))
        }
        Phase::Start | Phase::End | Phase::Other => Ok((Action::Other, None)),
    };
    let (action, flaw) = match reading {
        Ok((action, inner)) => (action, flaw.or(inner)),
        Err(what) => return Err(unread(flaw.unwrap_or(what))),
    };
    // A flawed event after a call is still judged: the model has seen the result. Any other is rejected.
    if let Some(what) = flaw.as_ref().filter(|_| !phase.is_after()) {
        return Err(unread(what.clone()));
    }
    Ok(Message {
        phase,
        tool: input.derive(text("tool_name").text, ContentSource::ModelOutput),
        // A failed call has a text in place of a result.
        result: fields
            .get(if phase == Phase::Failed { "error" } else { "tool_response" })
            .map(|raw| input.derive(raw, result_source(&action))),
        action,
        cwd: text("cwd").text,
        is_spilled: super::spill::is_spilled,
        answers: answers(fields),
        replaces: Replaces::InShape,
        failure: flaw.map(Failure::Event),
        header,
    })
}

/// The modes in which the client shows every ask to the person.
const ASKING_MODES: [&str; 3] = ["default", "plan", "acceptEdits"];

fn answers(fields: &Fields<'_>) -> Answers {
    match fields.string("permission_mode").map(|mode| mode.text).as_deref() {
        Some(mode) if ASKING_MODES.contains(&mode) => Answers::Person,
        // A classifier may answer in place of the person. The client was seen to show an ask of a hook to the person in this
        // mode, but that is not documented.
        Some("auto") => Answers::Classifier,
        _ => Answers::Other,
    }
}

/// Marks of prompts that the client itself sends, for example when a background task has ended.
const CLIENT_MARKS: [&str; 5] = ["<task-", "<system-", "<teammate-", "<agent-", "<channel"];

fn is_of_client(prompt: &str) -> bool {
    CLIENT_MARKS.iter().any(|mark| prompt.contains(mark))
}

/// The action of a call, and the flaw of an event whose action is known all the same.
fn call(
    fields: &Fields<'_>,
    tool: Option<Text>,
    whole: &Quarantined<Vec<u8>>,
) -> Result<(Action, Option<String>), String> {
    let tool = tool.ok_or("it does not name a tool")?;
    let mut flaw = tool.error.map(|flaw| flaw.to_string());
    if !tool.text.bytes().all(|byte| byte.is_ascii_graphic()) || tool.text.is_empty() {
        flaw = flaw.or(Some("its tool name holds characters that no tool name has".to_owned()));
    }
    let input = fields.object("tool_input");
    flaw = flaw.or_else(|| match fields.get("tool_input") {
        Some(_) if input.is_none() => Some("its `tool_input` is not an object".to_owned()),
        None => Some("it has no `tool_input`".to_owned()),
        Some(_) => None,
    });
    let input = input.unwrap_or_default();
    let mut key = |name: &str| -> Field {
        let field = input.string(name).map(|text| whole.derive(text.text, ContentSource::ModelOutput));
        if field.is_none() && flaw.is_none() {
            flaw = Some(format!("its `tool_input` has no `{name}` that is a string"));
        }
        field
    };
    let action = match fold(&tool.text).as_str() {
        "bash" => Action::Shell { command: key("command"), dialect: Dialect::Bash },
        "powershell" => Action::Shell { command: key("command"), dialect: Dialect::PowerShell },
        // Without a command, a monitor watches a socket.
        "monitor" if input.get("command").is_some() => {
            Action::Shell { command: key("command"), dialect: Dialect::Bash }
        }
        "edit" | "write" | "multiedit" => Action::Edit { path: key("file_path"), changes: changes(&input, whole) },
        "notebookedit" => Action::Edit { path: key("notebook_path"), changes: cell(&input, whole) },
        "applypatch" => Action::Patch {
            text: key(["input", "patch", "command"]
                .into_iter()
                .find(|name| input.get(name).is_some())
                .unwrap_or("input")),
        },
        "read" => Action::Read { paths: key("file_path").into_iter().collect() },
        "notebookread" => Action::Read { paths: key("notebook_path").into_iter().collect() },
        "grep" => {
            let text = key("pattern");
            let mut given = |name: &str| if is_given(&input, name) { key(name) } else { None };
            let (path, glob, kind, mode) = (given("path"), given("glob"), given("type"), given("output_mode"));
            // A type of files is matched by its extension; `all` is every type.
            let is_all = |kind: &Quarantined<String>| kind.inspect("which files are searched") == "all";
            let of_kind = |kind: &Quarantined<String>| {
                let name = format!("*.{}", kind.inspect("which files are searched"));
                whole.derive(name, ContentSource::ModelOutput)
            };
            let shows = match mode.as_ref().map(|mode| mode.inspect("what is shown of files").as_str()) {
                None | Some("files_with_matches" | "count") => Shows::Matches,
                Some(_) => Shows::Lines,
            };
            Action::Files {
                paths: path.into_iter().collect(),
                patterns: glob.or_else(|| kind.as_ref().filter(|kind| !is_all(kind)).map(of_kind)),
                text,
                shows,
            }
        }
        "glob" => {
            let patterns = key("pattern");
            let path = if is_given(&input, "path") { key("path") } else { None };
            Action::Files { paths: path.into_iter().collect(), patterns, text: None, shows: Shows::Names }
        }
        "ls" => {
            let path = if is_given(&input, "path") { key("path") } else { None };
            Action::Files { paths: path.into_iter().collect(), patterns: None, text: None, shows: Shows::Names }
        }
        "webfetch" => Action::Fetch { urls: key("url").into_iter().collect() },
        "websearch" => {
            key("query");
            let raw = fields.get("tool_input").unwrap_or_default().to_vec();
            Action::Search { input: whole.derive(raw, ContentSource::ModelOutput) }
        }
        "readmcpresource" | "readmcpresourcetool" | "readmcpresourcedir" | "readmcpresourcedirtool" => {
            let uri = input.string("uri").map(|uri| whole.derive(uri.text, ContentSource::ModelOutput));
            Action::Resource { server: key("server"), uri }
        }
        "listmcpresources" | "listmcpresourcestool" if input.get("server").is_some() => {
            Action::Resource { server: key("server"), uri: None }
        }
        "listmcpresources" | "listmcpresourcestool" => Action::Resource { server: None, uri: None },
        "agent" | "task" => {
            key("prompt");
            Action::Agent { mode: input.string("mode").map(|mode| whole.derive(mode.text, ContentSource::ModelOutput)) }
        }
        // The output of a background task.
        "agentoutput" | "agentoutputtool" | "bashoutput" | "taskoutput" => Action::Agent { mode: None },
        _ if is_mcp(&tool.text) => {
            let raw = fields.get("tool_input").unwrap_or_default().to_vec();
            Action::Mcp { server: server(fields), input: whole.derive(raw, ContentSource::ModelOutput) }
        }
        _ => Action::Other,
    };
    Ok((action, flaw))
}

/// Whether an optional field is present.
fn is_given(input: &Fields<'_>, name: &str) -> bool {
    input.get(name).is_some_and(|raw| raw != b"null")
}

/// The changes of an edit; `edits` holds several.
fn changes(input: &Fields<'_>, whole: &Quarantined<Vec<u8>>) -> Vec<Change> {
    let seal = |text: Text| whole.derive(text.text, ContentSource::ModelOutput);
    let one = |fields: &Fields<'_>| {
        let new = fields.string("new_string").map(seal)?;
        let old = fields.string("old_string").map(seal)?;
        Some(Change::Replace { old, new, all: fields.get("replace_all") == Some(b"true") })
    };
    if let Some(content) = input.string("content") {
        return vec![Change::Whole(seal(content))];
    }
    let several = input.get("edits").map(json::items).unwrap_or_default();
    one(input).into_iter().chain(several.into_iter().filter_map(|edit| one(&Fields::read(edit)))).collect()
}

/// The new text of a cell of a notebook, if it runs.
fn cell(input: &Fields<'_>, whole: &Quarantined<Vec<u8>>) -> Vec<Change> {
    let is_text = input.string("cell_type").is_some_and(|kind| kind.text == "markdown");
    let source = input.string("new_source").filter(|_| !is_text);
    source.map(|source| Change::Whole(whole.derive(source.text, ContentSource::ModelOutput))).into_iter().collect()
}

/// Normalises the name of a tool: case and separators do not count.
fn fold(tool: &str) -> String {
    tool.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

fn is_mcp(tool: &str) -> bool {
    tool.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("mcp__"))
}

fn server(fields: &Fields<'_>) -> Option<Server> {
    let server = fields.object("mcp_server")?;
    Some(Server {
        name: server.string("name")?.text,
        source: server.string("source").map(|source| source.text).unwrap_or_default(),
    })
}

fn result_source(action: &Action) -> ContentSource {
    match action {
        Action::Mcp { .. } | Action::Resource { .. } => ContentSource::McpToolOutput,
        Action::Fetch { .. } | Action::Search { .. } => ContentSource::WebContent,
        Action::Agent { .. } => ContentSource::ModelOutput,
        Action::Shell { .. }
        | Action::Edit { .. }
        | Action::Patch { .. }
        | Action::Read { .. }
        | Action::Files { .. }
        | Action::Settings { .. }
        | Action::Prompt { .. }
        | Action::Other => ContentSource::ToolOutput,
    }
}
