//! Gemini CLI, as measured on 0.61.0.

use super::Locations;
use super::described::{Can, Described, Does, Form, McpNames, Names, Place, Servers, Transcript, Unsupported};
use crate::event::Shows;
use crate::verdict::Phase;

/// Gemini CLI.
pub static GEMINI: Described = Described {
    name: "gemini",
    title: "Gemini CLI",
    locations: &LOCATIONS,
    names: &[Names { call: "", result: "tool_response/llmContent", ..Names::COMMON }],
    events: &[
        ("BeforeTool", Phase::Before),
        // The client also sends this event after a failed call.
        ("AfterTool", Phase::After),
        ("BeforeAgent", Phase::Prompt),
        ("SessionEnd", Phase::End),
    ],
    tools: &TOOLS,
    mcp: McpNames { prefix: "mcp_", joint: "_", context: "mcp_context", own: &[] },
    // An ask ends the run where nobody can answer it.
    can: Can {
        deny: r#"{"decision":"deny","reason":%}"#,
        note: Some(r#"{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":%}}"#),
        replace: Some(r#"{"decision":"deny","reason":%}"#),
        ..Can::NOTHING
    },
    unsupported: &[Unsupported::ASK, Unsupported::ADVISE],
    place: Place {
        user: "settings.json",
        project: ".gemini/settings.json",
        form: Form::Groups { units: 1000 },
        events: &[("BeforeTool", "pre"), ("AfterTool", "post"), ("BeforeAgent", ""), ("SessionEnd", "")],
        switch: Some("/hooksConfig/enabled"),
    },
    obstacle: None,
    transcript: Some(Transcript {
        calls: "toolCalls[]",
        id: "id",
        tool: "name",
        input: "args",
        other_input: "",
        as_sent: None,
    }),
    servers: Servers { file: "settings.json", member: "mcpServers" },
    sample: r#"{"timestamp":"2026-01-01T00:00:00Z","transcript_path":"/dev/null"}"#,
};

static TOOLS: [(&str, Does); 14] = [
    ("run_shell_command", Does::Shell { command: "command", dir: "dir_path" }),
    ("write_file", Does::Write { path: "file_path", content: "content" }),
    ("replace", Does::Edit { path: "file_path", old: "old_string", new: "new_string" }),
    ("read_file", Does::Read("file_path")),
    ("read_many_files", Does::Search { path: "", names: "include[]", shows: Shows::Lines }),
    ("grep_search", Does::Search { path: "dir_path", names: "include_pattern", shows: Shows::Lines }),
    ("glob", Does::Search { path: "dir_path", names: "pattern", shows: Shows::Names }),
    ("list_directory", Does::Search { path: "dir_path", names: "", shows: Shows::Names }),
    ("web_fetch", Does::FetchFrom("prompt")),
    ("google_web_search", Does::WebSearch),
    ("read_mcp_resource list_mcp_resources", Does::Resource { server: "server", uri: "uri" }),
    ("invoke_agent", Does::Agent),
    ("read_background_output", Does::Agent),
    ("activate_skill update_topic write_todos enter_plan_mode list_background_processes", Does::Nothing),
];

static LOCATIONS: Locations = Locations {
    default_dir: ".gemini",
    project_variable: Some("GEMINI_PROJECT_DIR"),
    project_servers: ".gemini/settings.json",
    settings_names: &["settings.json", "trustedFolders.json"],
    settings_format: "JSON",
    enabling_command: "gemini",
    program: "gemini",
    minimum_version: [0, 61, 0],
    // Transcripts are named by the first characters of the session.
    transcripts: &["tmp/*/chats/session-*-{start}.jsonl"],
    transcript_marks: &["toolCalls"],
    ..Locations::NONE
};
