//! OpenCode, as measured on 1.18.33. It has no hooks that run programs: a plugin of ours calls the guard.

use super::Locations;
use super::described::{Can, Described, Does, Form, McpNames, Names, Place, Servers, Unsupported};
use crate::event::Shows;
use crate::verdict::Phase;

/// OpenCode.
pub static OPENCODE: Described = Described {
    name: "opencode",
    title: "OpenCode",
    locations: &LOCATIONS,
    names: &[Names::COMMON],
    events: &[("PreToolUse", Phase::Before), ("PostToolUse", Phase::After), ("UserPromptSubmit", Phase::Prompt)],
    tools: &[
        ("bash", Does::Shell { command: "command", dir: "workdir" }),
        ("write", Does::Write { path: "filePath", content: "content" }),
        ("edit", Does::Edit { path: "filePath", old: "oldString", new: "newString" }),
        ("apply_patch patch", Does::Patch("patchText")),
        ("read", Does::Read("filePath")),
        ("grep", Does::Search { path: "path", names: "include", shows: Shows::Lines }),
        ("glob", Does::Search { path: "path", names: "pattern", shows: Shows::Names }),
        ("list", Does::Search { path: "path", names: "", shows: Shows::Names }),
        ("webfetch", Does::Fetch("url")),
        ("websearch codesearch", Does::WebSearch),
        (
            "read_mcp_resource list_mcp_resources list_mcp_resource_templates",
            Does::Resource { server: "server", uri: "uri" },
        ),
        ("task", Does::Agent),
        ("plan_enter plan_exit todo_write todo_read", Does::Nothing),
    ],
    // The plugin names the server, because `_` is part of the names of tools.
    mcp: McpNames { prefix: "", joint: "_", context: "mcp_context", own: &[] },
    // The plugin `opencode/plugin.js` takes these.
    can: Can { deny: r#"{"deny":%}"#, note: Some(r#"{"note":%}"#), replace: Some(r#"{"replace":%}"#), ..Can::NOTHING },
    unsupported: &[
        Unsupported::ASK,
        Unsupported::ADVISE,
        Unsupported {
            what: "results of failed calls other than shell commands reach the model without a hook",
            instead: "they are not marked",
        },
    ],
    place: Place {
        user: "plugin/rune.js",
        project: ".opencode/plugin/rune.js",
        form: Form::Script { text: include_str!("opencode/plugin.js"), list: true, executable: false },
        events: &[("PreToolUse", "pre"), ("PostToolUse", "post")],
        switch: None,
    },
    obstacle: None,
    transcript: None,
    servers: Servers { file: "opencode.json", member: "mcp" },
    sample: r#"{"hook_source":"opencode"}"#,
};

static LOCATIONS: Locations = Locations {
    dir_variable: "OPENCODE_CONFIG_DIR",
    default_dir: ".config/opencode",
    project_servers: "opencode.json",
    settings_names: &["opencode.json", "opencode.jsonc", "plugin/rune.js"],
    settings_format: "a plugin",
    enabling_command: "opencode",
    program: "opencode",
    minimum_version: [1, 18, 33],
    ..Locations::NONE
};
