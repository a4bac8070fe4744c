//! Qwen Code, as measured on 0.24.4.

use super::Locations;
use super::described::{Can, Described, Does, Form, McpNames, Names, Place, Servers, Transcript, Unsupported};
use crate::event::Shows;
use crate::verdict::Phase;

/// Qwen Code.
pub static QWEN: Described = Described {
    name: "qwen",
    title: "Qwen Code",
    locations: &LOCATIONS,
    names: &[Names { result: "tool_response/llmContent", ..Names::COMMON }],
    events: &[
        ("PreToolUse", Phase::Before),
        ("PostToolUse", Phase::After),
        ("PostToolUseFailure", Phase::Failed),
        ("UserPromptSubmit", Phase::Prompt),
        ("SessionEnd", Phase::End),
        ("PermissionRequest", Phase::Other),
        ("PermissionDenied", Phase::Other),
        ("PostToolBatch", Phase::Other),
    ],
    tools: &[
        ("run_shell_command", Does::Shell { command: "command", dir: "directory" }),
        ("monitor", Does::Shell { command: "command", dir: "directory" }),
        ("write_file", Does::Write { path: "file_path", content: "content" }),
        ("edit", Does::Edit { path: "file_path", old: "old_string", new: "new_string" }),
        ("notebook_edit", Does::Edit { path: "notebook_path", old: "", new: "new_source" }),
        ("read_file", Does::Read("file_path")),
        ("grep_search", Does::Search { path: "path", names: "glob", shows: Shows::Lines }),
        ("glob", Does::Search { path: "path", names: "pattern", shows: Shows::Names }),
        ("list_directory", Does::Search { path: "path", names: "", shows: Shows::Names }),
        ("web_fetch", Does::Fetch("url")),
        ("web_search", Does::WebSearch),
        ("agent", Does::Agent),
    ],
    mcp: McpNames::COMMON,
    can: Can {
        deny: r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":%}}"#,
        ask: Some(
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":%}}"#,
        ),
        note: Some(r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":%}}"#),
        replace: Some(r#"{"continue":false,"stopReason":%}"#),
        ..Can::NOTHING
    },
    unsupported: &[Unsupported::ADVISE],
    place: Place {
        user: "settings.json",
        project: ".qwen/settings.json",
        form: Form::Groups { units: 1000 },
        events: &[
            ("PreToolUse", "pre"),
            ("PostToolUse", "post"),
            ("PostToolUseFailure", "post"),
            ("UserPromptSubmit", ""),
            ("SessionEnd", ""),
        ],
        switch: Some("/disableAllHooks"),
    },
    obstacle: None,
    transcript: Some(Transcript {
        calls: "message/parts[]",
        id: "functionCall/id",
        tool: "functionCall/name",
        input: "functionCall/args",
        other_input: "",
        as_sent: None,
    }),
    servers: Servers { file: "settings.json", member: "mcpServers" },
    sample: r#"{"timestamp":"2026-01-01T00:00:00Z","permission_mode":"default","tool_use_id":"rune"}"#,
};

static LOCATIONS: Locations = Locations {
    default_dir: ".qwen",
    project_variable: Some("QWEN_PROJECT_DIR"),
    session_variable: Some("QWEN_CODE_SESSION_ID"),
    project_servers: ".qwen/settings.json",
    settings_names: &["settings.json", "trustedFolders.json"],
    settings_format: "JSON",
    enabling_command: "qwen",
    program: "qwen",
    // Older versions do not run hooks for tools.
    minimum_version: [0, 24, 0],
    transcripts: &["projects/*/chats/{session}.jsonl"],
    transcript_marks: &["functionCall"],
    ..Locations::NONE
};
