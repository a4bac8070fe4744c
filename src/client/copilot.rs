//! GitHub Copilot CLI, as measured on 1.0.102. The name under which a hook is registered decides the payload: `preToolUse`
//! gets fields in camel case, and Claude Code's `PreToolUse` gets fields in snake case.

use super::Locations;
use super::described::{Can, Described, Does, Form, McpNames, Names, Place, Servers, Transcript};
use crate::event::Shows;
use crate::verdict::Phase;

/// GitHub Copilot CLI.
pub static COPILOT: Described = Described {
    name: "copilot",
    title: "Copilot CLI",
    locations: &LOCATIONS,
    names: &[
        // These payloads name their event only if it is a request for a permission.
        Names {
            event: "hookName",
            session: "sessionId",
            call: "",
            tool: "toolName",
            input: "toolArgs",
            result: "toolResult/textResultForLlm",
            ..Names::COMMON
        },
        Names { call: "", result: "tool_result/text_result_for_llm", ..Names::COMMON },
    ],
    events: &[
        ("preToolUse", Phase::Before),
        ("postToolUse", Phase::After),
        ("postToolUseFailure", Phase::Failed),
        ("userPromptSubmitted", Phase::Prompt),
        ("PreToolUse", Phase::Before),
        ("PostToolUse", Phase::After),
        ("PostToolUseFailure", Phase::Failed),
        ("UserPromptSubmit", Phase::Prompt),
        ("SessionEnd", Phase::End),
        ("permissionRequest", Phase::Other),
    ],
    tools: &[
        ("bash", Does::Shell { command: "command", dir: "" }),
        ("create write", Does::Write { path: "path", content: "file_text" }),
        ("edit", Does::Edit { path: "path", old: "old_str", new: "new_str" }),
        ("view read", Does::Read("path")),
        ("grep", Does::Search { path: "paths[]", names: "glob", shows: Shows::Lines }),
        ("glob", Does::Search { path: "paths[]", names: "pattern", shows: Shows::Names }),
        ("web_fetch WebFetch", Does::Fetch("url")),
        ("web_search", Does::WebSearch),
        ("task agent read_agent write_agent", Does::Agent),
        ("apply_patch", Does::Patch("patch")),
        // Text for a program that a call before has started.
        ("write_bash", Does::Shell { command: "input", dir: "" }),
    ],
    mcp: McpNames { prefix: "", joint: "-", context: "", own: &["github-mcp-server"] },
    // Of one registration the client reads the outer keys and of the other the inner ones. With exit code 2 the reason is
    // lost.
    can: Can {
        deny: r#"{"permissionDecision":"deny","permissionDecisionReason":%,"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":%}}"#,
        ask: Some(
            r#"{"permissionDecision":"ask","permissionDecisionReason":%,"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":%}}"#,
        ),
        advise: Some(r#"{"additionalContext":%}"#),
        note: Some(r#"{"additionalContext":%}"#),
        replace: Some(r#"{"modifiedResult":{"resultType":"success","textResultForLlm":%}}"#),
        ..Can::NOTHING
    },
    unsupported: &[],
    place: Place {
        user: "hooks/rune.json",
        project: ".github/hooks/rune.json",
        form: Form::Entries,
        events: &[
            ("preToolUse", "pre"),
            ("postToolUse", "post"),
            ("postToolUseFailure", "post"),
            ("userPromptSubmitted", ""),
        ],
        switch: Some("/disableAllHooks"),
    },
    obstacle: None,
    transcript: Some(Transcript {
        calls: "data/toolRequests[]",
        id: "toolCallId",
        tool: "name",
        input: "arguments",
        other_input: "",
        as_sent: None,
    }),
    servers: Servers { file: "mcp-config.json", member: "mcpServers" },
    sample: r#"{"timestamp":1760000000000}"#,
};

static LOCATIONS: Locations = Locations {
    dir_variable: "COPILOT_HOME",
    default_dir: ".copilot",
    project_variable: Some("COPILOT_PROJECT_DIR"),
    session_variable: Some("COPILOT_AGENT_SESSION_ID"),
    project_servers: ".mcp.json",
    settings_names: &["config.json", "settings.json", "mcp-config.json", "hooks/rune.json"],
    settings_format: "JSON",
    enabling_command: "copilot",
    program: "copilot",
    minimum_version: [1, 0, 102],
    transcripts: &["session-state/{session}/events.jsonl"],
    transcript_marks: &["toolRequests"],
    ..Locations::NONE
};
