//! Cline CLI, as measured on 3.0.65.

use super::Locations;
use super::described::{Can, Described, Does, Form, McpNames, Names, Place, Servers, Unsupported};
use crate::event::Shows;
use crate::verdict::Phase;

/// Cline CLI.
pub static CLINE: Described = Described {
    name: "cline",
    title: "Cline",
    locations: &LOCATIONS,
    names: &[
        Names { tool: "tool_call/name", input: "tool_call/input", call: "tool_call/id", ..CALLS },
        Names { tool: "tool_result/name", input: "tool_result/input", call: "tool_result/id", ..CALLS },
    ],
    events: &[
        ("tool_call", Phase::Before),
        // The client also sends this event after a failed call.
        ("tool_result", Phase::After),
    ],
    tools: &[
        ("run_commands", Does::Shell { command: "commands[]", dir: "" }),
        ("editor", Does::Edit { path: "path", old: "old_text", new: "new_text" }),
        ("read_files", Does::Read("files[].path")),
        ("search_codebase", Does::Search { path: "", names: "", shows: Shows::Lines }),
        ("fetch_web_content", Does::Fetch("requests[].url")),
        ("web_search", Does::WebSearch),
        ("spawn_agent team_run_task team_await_runs team_read_mailbox", Does::Agent),
    ],
    mcp: McpNames { prefix: "", joint: "__", context: "", own: &[] },
    // `cancel` ends the run without showing the reason, so a shell call is replaced by one that prints the reason and fails.
    can: Can {
        deny: r#"{"cancel":true,"errorMessage":%}"#,
        deny_shell: Some(("run_commands", r#"{"overrideInput":{"commands":[%]}}"#)),
        advise: Some(r#"{"contextModification":%}"#),
        note: Some(r#"{"contextModification":%}"#),
        ..Can::NOTHING
    },
    unsupported: &[
        Unsupported::ASK,
        Unsupported::REPLACE,
        Unsupported {
            what: "a call that is not a shell command can be stopped only together with the run",
            instead: "the run ends",
        },
    ],
    place: Place {
        user: "hooks/PreToolUse",
        project: ".clinerules/hooks/PreToolUse",
        form: Form::Script { text: "#!/bin/sh\nexec %\n", list: false, executable: true },
        events: &[("PreToolUse", "pre"), ("PostToolUse", "post")],
        switch: None,
    },
    obstacle: None,
    transcript: None,
    servers: Servers { file: "data/settings/cline_mcp_settings.json", member: "mcpServers" },
    sample: r#"{"clineVersion":""}"#,
};

const CALLS: Names = Names {
    event: "hookName",
    session: "taskId",
    result: "tool_result/output",
    error: "",
    cwd: "workspaceInfo/rootPath",
    ..Names::COMMON
};

static LOCATIONS: Locations = Locations {
    default_dir: ".cline",
    settings_names: &["hooks/PreToolUse", "hooks/PostToolUse"],
    settings_format: "scripts",
    enabling_command: "cline",
    program: "cline",
    minimum_version: [3, 0, 65],
    ..Locations::NONE
};
