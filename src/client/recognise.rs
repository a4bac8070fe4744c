//! Recognises the client from the payload that it sends. A mark of the payload overrides `--client`, because several
//! clients read the settings files of others.

use super::{Client, Payload, claude, cline, codex, copilot, droid, gemini, kimi, opencode, qwen};
use crate::encoding::json::Fields;

/// One row: what the payload has, and the client that sends such payloads, if it is one that the guard knows.
type Row = (fn(&Marks<'_>) -> bool, Option<&'static dyn Client>);

/// The marks, most certain first; the first row that fits counts. Each holds for all payloads that were captured from the
/// versions in `tests/fixtures/`; those of clients that are not known are taken from their documentation.
static ROWS: [Row; 19] = [
    // Windsurf, Devin
    (|marks| marks.has("agent_action_name"), None),
    (|marks| marks.has("clineVersion"), Some(&cline::CLINE)),
    (|marks| marks.text("client_type") == "kimi_code_cli", Some(&kimi::KIMI)),
    (|marks| marks.text("hook_source") == "opencode", Some(&opencode::OPENCODE)),
    // Antigravity
    (|marks| marks.fields.object("toolCall").is_some(), None),
    // Cursor
    (|marks| marks.has("cursor_version") || (marks.has("conversation_id") && marks.has("generation_id")), None),
    (|marks| marks.has("turn_id") && marks.has("model"), Some(&codex::CODEX)),
    (|marks| GEMINI_EVENTS.contains(&&*marks.event), Some(&gemini::GEMINI)),
    // Grok
    (|marks| marks.has("toolInput") && (marks.has("workspaceRoot") || marks.has("hookEventName")), None),
    (
        |marks| marks.event.is_empty() && marks.has("sessionId") && marks.has_number("timestamp"),
        Some(&copilot::COPILOT),
    ),
    // Augment
    (|marks| marks.has("is_mcp_tool"), None),
    // Goose; Kiro and Amazon Q
    (|marks| marks.has("matcher_context") || KIRO_EVENTS.contains(&&*marks.event), None),
    (|marks| marks.has("timestamp") && marks.has("permission_mode"), Some(&qwen::QWEN)),
    // The local agent of VS Code
    (|marks| marks.has("timestamp") && marks.has("tool_use_id"), None),
    (
        |marks| marks.has("timestamp") && marks.has("transcript_path") && !marks.has("stop_reason"),
        Some(&gemini::GEMINI),
    ),
    (|marks| marks.has("timestamp") && !marks.event.is_empty(), Some(&copilot::COPILOT)),
    (
        |marks| {
            let is_call = matches!(&*marks.event, "PreToolUse" | "PostToolUse");
            let has_mode = DROID_MODES.iter().any(|mode| marks.text("permission_mode").starts_with(mode));
            marks.text("transcript_path").contains("/.factory/") || (is_call && has_mode && !marks.has("tool_use_id"))
        },
        Some(&droid::DROID),
    ),
    (|marks| marks.text("transcript_path").contains("/.codex/"), Some(&codex::CODEX)),
    (|marks| !marks.event.is_empty(), Some(&claude::Claude)),
];

const GEMINI_EVENTS: [&str; 8] = [
    "BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection",
    "PreCompress",
];

const KIRO_EVENTS: [&str; 5] = ["preToolUse", "postToolUse", "agentSpawn", "userPromptSubmit", "stop"];

/// The modes that only Droid has.
const DROID_MODES: [&str; 4] = ["auto-", "normal", "off", "spec"];

/// Who sends a payload.
#[derive(Clone, Copy, Debug)]
pub enum Caller {
    /// A client that the guard knows.
    Known(&'static dyn Client),
    /// A client that the guard does not know.
    Foreign,
    /// The payload has no mark.
    Unmarked,
}

/// Recognises who sends a payload.
pub fn recognise(payload: &Payload<'_>) -> Caller {
    let fields = &payload.fields;
    let event = fields.string("hook_event_name").map(|text| text.text).unwrap_or_default();
    let marks = Marks { fields, event };
    match ROWS.iter().find(|(test, _)| test(&marks)) {
        Some((_, Some(client))) => Caller::Known(*client),
        Some((_, None)) => Caller::Foreign,
        None => Caller::Unmarked,
    }
}

/// The fields of a payload.
struct Marks<'a> {
    fields: &'a Fields<'a>,
    /// The name of the event; empty if there is none.
    event: String,
}

impl Marks<'_> {
    fn has(&self, name: &str) -> bool {
        self.fields.names().any(|known| known == name)
    }

    fn has_number(&self, name: &str) -> bool {
        self.fields.get(name).and_then(|raw| raw.first()).is_some_and(u8::is_ascii_digit)
    }

    /// The text of a field; empty if it is not a string.
    fn text(&self, name: &str) -> String {
        self.fields.string(name).map(|text| text.text).unwrap_or_default()
    }
}
