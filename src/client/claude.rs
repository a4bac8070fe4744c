//! Claude Code: its payloads and its answers, as measured on the real client.

pub mod drift;
pub mod locate;
pub mod register;
pub mod rewrap;
pub mod server;
pub mod settings;

use super::{Answer, Client, context, nudges, reasons};
use crate::encoding::json;
use crate::encoding::json::{Fields, Text};
use crate::encoding::label::Label;
use crate::event::{Action, Change, Dialect, EventError, Field, Header, Message, Server, Shows};
use crate::quarantined::{ContentSource, Quarantined};
use crate::verdict::Phase;
use crate::verdict::failure::Failure;
use crate::verdict::{Effect, Verdict};
use serde::Serialize;
use serde_json::value::RawValue;

/// The moments that we have a part in.
const MOMENTS: [(&str, Phase); 6] = [
    ("PreToolUse", Phase::Before),
    ("PostToolUse", Phase::After),
    ("PostToolUseFailure", Phase::Failed),
    ("ConfigChange", Phase::Settings),
    ("SessionStart", Phase::Start),
    ("SessionEnd", Phase::End),
];

/// The client's other moments. A name that is in neither list is not an event that we can read.
const OTHER_MOMENTS: [&str; 27] = [
    "CwdChanged", "DirectoryAdded", "Elicitation", "ElicitationResult", "FileChanged", "InstructionsLoaded",
    "MessageDisplay", "Notification", "PermissionDenied", "PermissionRequest", "PostCompact", "PostModelSwitch",
    "PostToolBatch", "PreCompact", "PreModelSwitch", "Setup", "Stop", "StopFailure", "SubagentStart", "SubagentStop",
    "TaskCompleted", "TaskCreated", "TeammateIdle", "UserPromptExpansion", "UserPromptSubmit", "WorktreeCreate",
    "WorktreeRemove",
];

/// Claude Code.
#[derive(Debug)]
pub struct Claude;

impl Client for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn parse<'a>(&self, input: &'a Quarantined<Vec<u8>>) -> Result<Message<'a>, EventError> {
        parse(input)
    }

    fn header(&self, phase: Option<Phase>) -> Header {
        header(phase)
    }

    fn answer(&self, header: &Header, verdict: &Verdict) -> Answer {
        answer(header, verdict)
    }
}

fn phase(moment: &str) -> Option<Phase> {
    let known = MOMENTS.iter().find(|(name, _)| *name == moment).map(|(_, phase)| *phase);
    known.or_else(|| OTHER_MOMENTS.contains(&moment).then_some(Phase::Other))
}

fn header(phase: Option<Phase>) -> Header {
    let moment = MOMENTS.iter().find(|(_, known)| Some(*known) == phase).map_or("", |(name, _)| name);
    Header { phase, moment: Label::new(moment), ..Header::default() }
}

fn parse(input: &Quarantined<Vec<u8>>) -> Result<Message<'_>, EventError> {
    let bytes = input.inspect("an event is read");
    let fields = Fields::read(bytes);
    let text = |name: &str| fields.string(name).unwrap_or(Text { text: String::new(), error: None });
    let moment = text("hook_event_name").text;
    let tool = fields.string("tool_name");
    let header = Header {
        phase: phase(&moment),
        moment: Label::new(&moment),
        tool: tool.as_ref().map_or_else(Label::default, |tool| Label::tool(&tool.text)),
        session: Label::new(&text("session_id").text),
    };
    let unread = |what: String| EventError { header: header.clone(), failure: Failure::Event(what) };

    // After a call nothing but the key field is looked at, and checking a large result costs time.
    let unchecked = header.phase.is_some_and(Phase::is_after);
    let flaw = fields.error().or_else(|| if unchecked { None } else { json::check(bytes).err() });
    let flaw = flaw.map(|flaw| flaw.to_string());
    let ill = ["cwd", "session_id"].iter().find(|name| fields.get(name).is_some() && fields.string(name).is_none());
    let flaw = flaw.or_else(|| ill.map(|name| format!("its `{name}` is not a string")));
    let Some(phase) = header.phase else {
        return Err(unread(flaw.unwrap_or_else(|| "it does not name a known moment".to_owned())));
    };
    let reading = match phase {
        Phase::Before | Phase::After | Phase::Failed => call(&fields, tool, input),
        Phase::Settings => {
            let file = fields.string("file_path").map(|file| input.derive(file.text, ContentSource::ToolOutput));
            Ok((Action::Settings { file }, None))
        }
        Phase::Start | Phase::End | Phase::Other => Ok((Action::Other, None)),
    };
    let (action, flaw) = match reading {
        Ok((action, inner)) => (action, flaw.or(inner)),
        Err(what) => return Err(unread(flaw.unwrap_or(what))),
    };
    // After a call everything that can be told counts; at any other moment an event is whole or not at all.
    if let Some(what) = flaw.as_ref().filter(|_| !phase.is_after()) {
        return Err(unread(what.clone()));
    }
    Ok(Message {
        phase,
        tool: input.derive(text("tool_name").text, ContentSource::ModelOutput),
        // A call that failed says so in a text.
        result: fields
            .get(if phase == Phase::Failed { "error" } else { "tool_response" })
            .map(|raw| input.derive(raw, result_source(&action))),
        action,
        cwd: text("cwd").text,
        failure: flaw.map(Failure::Event),
        header,
    })
}

/// What the call does, and what is wrong with it although that can be told.
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
        // A monitor watches a command or a socket.
        "monitor" if input.get("command").is_some() => {
            Action::Shell { command: key("command"), dialect: Dialect::Bash }
        }
        "edit" | "write" | "multiedit" => Action::Edit { path: key("file_path"), changes: changes(&input, whole) },
        "notebookedit" => Action::Edit { path: key("notebook_path"), changes: Vec::new() },
        "applypatch" => Action::Patch {
            text: key(["input", "patch", "command"]
                .into_iter()
                .find(|name| input.get(name).is_some())
                .unwrap_or("input")),
        },
        "read" => Action::Read { path: key("file_path") },
        "notebookread" => Action::Read { path: key("notebook_path") },
        "grep" => {
            key("pattern");
            let mut given = |name: &str| if is_given(&input, name) { key(name) } else { None };
            let (path, glob, kind, mode) = (given("path"), given("glob"), given("type"), given("output_mode"));
            // A type of files has names of its own, and `all` is every type.
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
                path,
                patterns: glob.or_else(|| kind.as_ref().filter(|kind| !is_all(kind)).map(of_kind)),
                shows,
            }
        }
        "glob" => {
            let patterns = key("pattern");
            let path = if is_given(&input, "path") { key("path") } else { None };
            Action::Files { path, patterns, shows: Shows::Names }
        }
        "ls" => {
            let path = if is_given(&input, "path") { key("path") } else { None };
            Action::Files { path, patterns: None, shows: Shows::Names }
        }
        "webfetch" => Action::Fetch { url: key("url") },
        "websearch" => {
            key("query");
            Action::Search
        }
        "readmcpresource" | "readmcpresourcetool" | "readmcpresourcedir" | "readmcpresourcedirtool" => {
            Action::Resource { server: key("server") }
        }
        "listmcpresources" | "listmcpresourcestool" if input.get("server").is_some() => {
            Action::Resource { server: key("server") }
        }
        "listmcpresources" | "listmcpresourcestool" => Action::Resource { server: None },
        "agent" | "task" => {
            key("prompt");
            Action::Agent { mode: input.string("mode").map(|mode| whole.derive(mode.text, ContentSource::ModelOutput)) }
        }
        // What a task in the background has said since.
        "agentoutput" | "agentoutputtool" | "bashoutput" | "taskoutput" => Action::Agent { mode: None },
        _ if is_mcp(&tool.text) => {
            let raw = fields.get("tool_input").unwrap_or_default().to_vec();
            Action::Mcp { server: server(fields), input: whole.derive(raw, ContentSource::ModelOutput) }
        }
        _ => Action::Other,
    };
    Ok((action, flaw))
}

/// Whether a field that may be left out is there.
fn is_given(input: &Fields<'_>, name: &str) -> bool {
    input.get(name).is_some_and(|raw| raw != b"null")
}

/// What an edit changes; `edits` holds several.
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

/// A tool's name in other case or with stray characters is still that tool.
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
        Action::Fetch { .. } | Action::Search => ContentSource::WebContent,
        Action::Agent { .. } => ContentSource::ModelOutput,
        Action::Shell { .. }
        | Action::Edit { .. }
        | Action::Patch { .. }
        | Action::Read { .. }
        | Action::Files { .. }
        | Action::Settings { .. }
        | Action::Other => ContentSource::ToolOutput,
    }
}

/// One answer. Fields that say nothing must be absent: the client drops an answer with a `null` in it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reply<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Output<'a>>,
    /// Shown to the person, and not to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    hook_event_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
    /// The result as the model is to see it, in the tool's own shape: the client drops any other in silence.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_tool_output: Option<Box<RawValue>>,
}

fn answer(header: &Header, verdict: &Verdict) -> Answer {
    let effect = verdict.effect();
    let Some(phase) = header.phase else { return Answer::blocked(verdict) };
    let output = |decision: Option<&'static str>, text: Option<String>| Output {
        hook_event_name: header.moment.as_str(),
        permission_decision: decision,
        permission_decision_reason: decision.map(|_| reasons(verdict)),
        additional_context: text,
        updated_tool_output: None,
    };
    // A result that cannot be put into JSON stays as it is, and is marked.
    let replacement = || RawValue::from_string(verdict.replacement()?.clone().into_json()).ok();
    let nudges = || Some(nudges(verdict)).filter(|text| !text.is_empty());
    let specific =
        |output| Reply { decision: None, reason: None, hook_specific_output: Some(output), system_message: None };
    let reply = match (phase, effect) {
        (Phase::Before, Effect::Pass) if verdict.is_explicit() => {
            Some(specific(Output { permission_decision_reason: None, ..output(Some("allow"), None) }))
        }
        (Phase::After, _) if verdict.replacement().is_some() => {
            let said = Some(context(verdict)).filter(|_| effect > Effect::Pass);
            Some(specific(Output { updated_tool_output: replacement(), ..output(None, said) }))
        }
        (_, Effect::Pass) => None,
        (Phase::Before, Effect::Ask) => Some(specific(output(Some("ask"), nudges()))),
        (Phase::Before, Effect::Deny) => Some(specific(output(Some("deny"), nudges()))),
        // The client cannot ask about its settings, so what should be asked is refused.
        (Phase::Settings, Effect::Ask | Effect::Deny) => Some(Reply {
            decision: Some("block"),
            reason: Some(reasons(verdict)),
            hook_specific_output: None,
            system_message: None,
        }),
        // A session begins with one line, whatever is wrong.
        (Phase::Start, _) => {
            let line = context(verdict).replace('\n', " ");
            let system_message = Some(format!("Rune: {line}"));
            Some(Reply { system_message, ..specific(output(None, Some(line))) })
        }
        (Phase::Before | Phase::After | Phase::Failed, _) => Some(specific(output(None, Some(context(verdict))))),
        (Phase::Settings | Phase::End | Phase::Other, _) => None,
    };
    // Nothing can be told to the model about a failure after a call, but somebody may read stderr.
    let unspoken = (phase.is_after() && !verdict.findings().is_empty() && reply.is_none()).then(|| reasons(verdict));
    match reply.map(|reply| serde_json::to_string(&reply)).transpose() {
        Ok(stdout) => Answer { stdout, stderr: unspoken, exit: 0 },
        Err(_) => Answer::blocked(verdict),
    }
}
