//! Codex CLI, as measured on 0.169.0.

use super::Locations;
use super::described::{Can, Described, Does, Form, McpNames, Names, Place, Servers, Transcript, Unsupported};
use crate::verdict::Phase;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;
use toml_edit::{DocumentMut, Item};

/// Codex CLI.
pub static CODEX: Described = Described {
    name: "codex",
    title: "Codex CLI",
    locations: &LOCATIONS,
    names: &[Names::COMMON],
    events: &[
        ("PreToolUse", Phase::Before),
        ("PostToolUse", Phase::After),
        ("UserPromptSubmit", Phase::Prompt),
        ("SessionEnd", Phase::End),
        ("PermissionRequest", Phase::Other),
    ],
    tools: &[
        ("Bash shell exec_command", Does::Shell { command: "command", dir: "workdir" }),
        ("apply_patch", Does::Patch("command")),
        ("view_image", Does::Read("path")),
        (
            "read_mcp_resource list_mcp_resources list_mcp_resource_templates",
            Does::Resource { server: "server", uri: "uri" },
        ),
        ("spawn_agent", Does::Agent),
    ],
    mcp: McpNames::COMMON,
    // The client ignores an answer with a key that it does not know, and an ask.
    can: Can {
        deny: r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":%}}"#,
        advise: Some(r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":%}}"#),
        note: Some(r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":%}}"#),
        replace: Some(r#"{"decision":"block","reason":%}"#),
        ..Can::NOTHING
    },
    unsupported: &[
        Unsupported::ASK,
        Unsupported {
            what: "`write_stdin` runs no hook, so what is typed into a program that is running is not judged",
            instead: "only the start of the program is judged",
        },
        Unsupported { what: "results of failed calls reach the model without a hook", instead: "they are not marked" },
    ],
    place: Place {
        user: "hooks.json",
        project: ".codex/hooks.json",
        form: Form::Groups { units: 1 },
        events: &[("PreToolUse", "pre"), ("PostToolUse", "post"), ("UserPromptSubmit", ""), ("SessionEnd", "")],
        switch: None,
    },
    obstacle: Some(untrusted),
    transcript: Some(Transcript {
        calls: "payload",
        id: "call_id",
        tool: "name",
        input: "arguments",
        other_input: "input",
        as_sent: Some(as_sent),
    }),
    servers: Servers { file: "config.toml", member: "mcp_servers" },
    sample: r#"{"turn_id":"rune","model":"rune","permission_mode":"default","tool_use_id":"rune"}"#,
};

static LOCATIONS: Locations = Locations {
    dir_variable: "CODEX_HOME",
    default_dir: ".codex",
    session_variable: Some("CODEX_SESSION_ID"),
    project_servers: ".codex/config.toml",
    settings_names: &["config.toml", "hooks.json"],
    settings_format: "JSON",
    enabling_command: "codex",
    program: "codex",
    minimum_version: [0, 169, 0],
    transcripts: &["sessions/*/*/*/rollout-*-{session}.jsonl"],
    transcript_marks: &["call_id"],
    ..Locations::NONE
};

/// The input of a call as hooks get it: always `command`.
fn as_sent(tool: &str, recorded: &[u8]) -> Option<Vec<u8>> {
    let command = match tool {
        "exec_command" => serde_json::from_slice::<Value>(recorded).ok()?.get_mut("cmd")?.take(),
        "apply_patch" => Value::from(String::from_utf8_lossy(recorded)),
        _ => return None,
    };
    serde_json::to_vec(&json!({"command": command})).ok()
}

/// Finds hooks that the client skips because the user has not confirmed them as they are. It keeps a hash of each in
/// `config.toml`, and says nothing about those that it skips.
fn untrusted(file: &Path, text: &str, read: &mut dyn FnMut(&Path) -> Option<String>) -> Option<(String, &'static str)> {
    let hooks = super::edit::read(text).ok()?;
    let config = read(&file.with_file_name("config.toml")).unwrap_or_default();
    let config: DocumentMut = config.parse().unwrap_or_default();
    let state = config.get("hooks").and_then(|hooks| hooks.get("state"));
    let is_trusted = |key: &str, hash: &str| {
        let trusted = state.and_then(|state| state.get(key)?.get("trusted_hash")).and_then(Item::as_str);
        trusted == Some(hash)
    };
    let settings = CODEX.summary(text).ok()?;
    let skipped = settings.guard_hooks().filter(|hook| {
        let steps: Vec<&str> = hook.pointer.split('/').collect();
        let [_, _, event, group, _, index] = steps.as_slice() else { return true };
        let key = format!("{}:{}:{group}:{index}", file.display(), snake_case(event));
        let group = hooks.pointer(&format!("/hooks/{event}/{group}"));
        group
            .zip(hooks.pointer(&hook.pointer))
            .is_none_or(|(group, entry)| !is_trusted(&key, &hash(event, group, entry)))
    });
    let events: Vec<&str> = skipped.map(|hook| hook.event.as_str()).collect();
    let what = format!("{}: the client skips hooks that you have not confirmed: {}", file.display(), events.join(", "));
    (!events.is_empty()).then_some((what, "start codex, type /hooks, and confirm those of rune"))
}

/// The hash by which the client knows a hook: of its fields, defaults included, as JSON with sorted names.
fn hash(event: &str, group: &Value, entry: &Value) -> String {
    let mut hook = json!({"async": false, "timeout": 600});
    if let (Some(hook), Some(entry)) = (hook.as_object_mut(), entry.as_object()) {
        hook.extend(entry.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    let mut whole = json!({"event_name": snake_case(event), "hooks": [hook]});
    if let (Some(whole), Some(matcher)) = (whole.as_object_mut(), group.get("matcher")) {
        whole.insert("matcher".to_owned(), matcher.clone());
    }
    // The names of the objects are sorted: the map of `serde_json` is a tree.
    let digest = Sha256::digest(whole.to_string());
    format!("sha256:{}", digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// `PreToolUse` as `pre_tool_use`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
