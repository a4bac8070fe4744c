//! Factory Droid, as measured on 0.215.0 and 0.225.2.

use super::Locations;
use super::described::{Can, Described, Does, Form, McpNames, Names, Place, Servers, Transcript, Unsupported};
use crate::event::Shows;
use crate::verdict::Phase;

/// Factory Droid.
pub static DROID: Described = Described {
    name: "droid",
    title: "Factory Droid",
    locations: &LOCATIONS,
    names: &[Names { call: "", ..Names::COMMON }],
    events: &[
        ("PreToolUse", Phase::Before),
        ("PostToolUse", Phase::After),
        ("UserPromptSubmit", Phase::Prompt),
        ("SessionEnd", Phase::End),
    ],
    tools: &[
        ("Execute", Does::Shell { command: "command", dir: "" }),
        ("Create", Does::Write { path: "file_path", content: "content" }),
        ("Edit", Does::Edit { path: "file_path", old: "old_str", new: "new_str" }),
        ("ApplyPatch", Does::Patch("input")),
        ("Read", Does::Read("file_path")),
        ("Grep", Does::Search { path: "path", names: "glob_pattern", shows: Shows::Lines }),
        ("Glob", Does::Search { path: "folder", names: "patterns[]", shows: Shows::Names }),
        ("LS", Does::Search { path: "directory_path", names: "", shows: Shows::Names }),
        ("FetchUrl", Does::Fetch("url")),
        ("WebSearch", Does::WebSearch),
        ("Task TaskOutput", Does::Agent),
    ],
    mcp: McpNames { prefix: "", joint: "___", context: "", own: &[] },
    can: Can {
        deny: r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":%}}"#,
        note: Some(r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":%}}"#),
        ..Can::NOTHING
    },
    unsupported: &[
        Unsupported::ASK,
        Unsupported::ADVISE,
        Unsupported::REPLACE,
        Unsupported {
            what: "results of failed calls, such as a command with exit code 3, reach the model without a hook",
            instead: "they are not marked",
        },
    ],
    place: Place {
        user: "settings.json",
        project: ".factory/settings.json",
        form: Form::Groups { units: 1 },
        events: &[("PreToolUse", "pre"), ("PostToolUse", "post"), ("UserPromptSubmit", ""), ("SessionEnd", "")],
        switch: None,
    },
    obstacle: None,
    transcript: Some(Transcript {
        calls: "message/content[]",
        id: "id",
        tool: "name",
        input: "input",
        other_input: "",
        as_sent: None,
    }),
    servers: Servers { file: "mcp.json", member: "mcpServers" },
    sample: r#"{"transcript_path":"/.factory/sessions/rune.jsonl","permission_mode":"auto-low"}"#,
};

static LOCATIONS: Locations = Locations {
    default_dir: ".factory",
    project_variable: Some("FACTORY_PROJECT_DIR"),
    project_servers: ".factory/mcp.json",
    settings_names: &["settings.json", "settings.local.json", "hooks.json", "mcp.json"],
    settings_format: "JSON",
    enabling_command: "droid",
    program: "droid",
    minimum_version: [0, 215, 0],
    transcripts: &["sessions/*/{session}.jsonl"],
    transcript_marks: &["tool_use"],
    ..Locations::NONE
};
