//! Kimi Code, as measured on 2.1.0.

use super::Locations;
use super::described::{Can, Described, Does, Form, McpNames, Names, Place, Servers, Transcript, Unsupported};
use crate::event::Shows;
use crate::verdict::Phase;

/// Kimi Code.
pub static KIMI: Described = Described {
    name: "kimi",
    title: "Kimi Code",
    locations: &LOCATIONS,
    names: &[Names { call: "tool_call_id", result: "tool_output", error: "error/message", ..Names::COMMON }],
    events: &[
        ("PreToolUse", Phase::Before),
        ("PostToolUse", Phase::After),
        ("PostToolUseFailure", Phase::Failed),
        ("UserPromptSubmit", Phase::Prompt),
        ("SessionEnd", Phase::End),
    ],
    tools: &[
        ("Bash", Does::Shell { command: "command", dir: "cwd" }),
        ("Write", Does::Write { path: "path", content: "content" }),
        ("Edit", Does::Edit { path: "path", old: "old_string", new: "new_string" }),
        ("Read ReadMediaFile", Does::Read("path")),
        ("Grep", Does::Search { path: "path", names: "glob", shows: Shows::Lines }),
        ("Glob", Does::Search { path: "path", names: "pattern", shows: Shows::Names }),
        ("FetchURL", Does::Fetch("url")),
        ("SearchWeb WebSearch", Does::WebSearch),
        ("Agent AgentSwarm TaskOutput", Does::Agent),
    ],
    mcp: McpNames::COMMON,
    // The client does not wait for hooks after a call.
    can: Can {
        deny: r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":%}}"#,
        ..Can::NOTHING
    },
    unsupported: &[Unsupported::ASK, Unsupported::ADVISE, Unsupported::NOTE, Unsupported::REPLACE],
    place: Place {
        user: "config.toml",
        project: "",
        form: Form::Tables,
        events: &[
            ("PreToolUse", "pre"),
            ("PostToolUse", "post"),
            ("PostToolUseFailure", "post"),
            ("UserPromptSubmit", ""),
        ],
        switch: None,
    },
    obstacle: None,
    transcript: Some(Transcript {
        calls: "event",
        id: "toolCallId",
        tool: "name",
        input: "args",
        other_input: "",
        as_sent: None,
    }),
    servers: Servers { file: "mcp.json", member: "mcpServers" },
    sample: r#"{"client_type":"kimi_code_cli"}"#,
};

static LOCATIONS: Locations = Locations {
    dir_variable: "KIMI_CODE_HOME",
    default_dir: ".kimi-code",
    project_servers: ".mcp.json",
    settings_names: &["config.toml", "mcp.json"],
    settings_format: "TOML",
    enabling_command: "kimi",
    program: "kimi",
    minimum_version: [2, 1, 0],
    transcripts: &["sessions/*/{session}/agents/*/wire.jsonl"],
    transcript_marks: &["tool.call"],
    ..Locations::NONE
};
