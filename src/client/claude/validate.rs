//! Validation: the parts of a settings file that Claude Code rejects.

use super::settings::SettingsJson;
use crate::client::settings::InvalidPart;
use serde_json::Value;

/// The types of hooks.
const HOOK_TYPES: [&str; 5] = ["command", "http", "mcp_tool", "prompt", "agent"];

/// Events whose invalid entry makes the client ignore the whole file (measured).
const STRICT_EVENTS: [&str; 2] = ["PreToolUse", "PermissionRequest"];

/// The permission modes.
const PERMISSION_MODES: [&str; 7] =
    ["acceptEdits", "auto", "bypassPermissions", "default", "delegate", "dontAsk", "plan"];

/// A JSON pointer, the test of the value there, and the fault of another value.
type MemberCheck = (&'static str, fn(&Value) -> bool, &'static str);

/// Members whose type the client checks: if one has another type, it ignores the whole file (measured).
const CHECKED_MEMBERS: [MemberCheck; 11] = [
    ("/model", Value::is_string, "is not a text"),
    ("/permissions", Value::is_object, "is not an object"),
    ("/permissions/allow", Value::is_array, "is not a list"),
    ("/permissions/deny", Value::is_array, "is not a list"),
    ("/permissions/ask", Value::is_array, "is not a list"),
    ("/permissions/defaultMode", is_permission_mode, "is not a mode that we know"),
    // Its values may have any type: the client converts them to strings.
    ("/env", Value::is_object, "is not an object"),
    ("/disableAllHooks", Value::is_boolean, "is neither true nor false"),
    ("/cleanupPeriodDays", Value::is_number, "is not a number"),
    ("/sandbox", Value::is_object, "is not an object"),
    ("/statusLine", Value::is_object, "is not an object"),
];

fn is_permission_mode(value: &Value) -> bool {
    value.as_str().is_some_and(|mode| PERMISSION_MODES.contains(&mode))
}

/// The members and the hooks that the client rejects.
pub(super) fn invalid_parts(settings: &SettingsJson) -> Vec<InvalidPart> {
    let invalid = CHECKED_MEMBERS
        .into_iter()
        .filter(|(pointer, is_valid, _)| settings.value().pointer(pointer).is_some_and(|value| !is_valid(value)));
    let members = invalid.map(|(pointer, _, what)| {
        let name = pointer.trim_start_matches('/').replace('/', ".");
        InvalidPart { name, what, voids_file: true, pointer: pointer.to_owned() }
    });
    members.chain(invalid_hooks(settings)).collect()
}

fn invalid_hooks(settings: &SettingsJson) -> Vec<InvalidPart> {
    let part = |event: &str, place: &str, what| InvalidPart {
        name: event.to_owned(),
        what,
        voids_file: STRICT_EVENTS.contains(&event),
        pointer: format!("/hooks/{event}{place}"),
    };
    let Some(hooks) = settings.value().get("hooks") else { return Vec::new() };
    let Some(events) = hooks.as_object() else {
        let (name, pointer) = ("hooks".to_owned(), "/hooks".to_owned());
        return vec![InvalidPart { name, what: "is not an object", voids_file: true, pointer }];
    };
    let mut invalid = Vec::new();
    for (event, groups) in events {
        match groups.as_array() {
            None => invalid.push(part(event, "", "is not a list")),
            Some(groups) => {
                let faults = groups.iter().enumerate().filter_map(|(at, group)| Some((at, group_fault(group)?)));
                invalid.extend(faults.map(|(at, what)| part(event, &format!("/{at}"), what)));
            }
        }
    }
    invalid
}

fn group_fault(group: &Value) -> Option<&'static str> {
    if !group.is_object() {
        return Some("holds something that is not an object");
    }
    if group.get("matcher").is_some_and(|matcher| !matcher.is_string()) {
        return Some("has a `matcher` that is not text");
    }
    match group.get("hooks").and_then(Value::as_array) {
        None => Some("has an entry without a list of `hooks`"),
        Some(entries) => entries.iter().find_map(entry_fault),
    }
}

fn entry_fault(entry: &Value) -> Option<&'static str> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    let kind = text("type").unwrap_or_default();
    if !HOOK_TYPES.contains(&kind) {
        return Some("has a hook of an unknown `type`");
    }
    let required = match kind {
        "command" => Some(("command", "has a hook without a `command`")),
        "prompt" | "agent" => Some(("prompt", "has a hook without a `prompt`")),
        "http" => Some(("url", "has a hook without a `url`")),
        _ => None,
    };
    if let Some((_, fault)) = required.filter(|(field, _)| text(field).is_none()) {
        return Some(fault);
    }
    let are_strings = |args: &Value| args.as_array().is_some_and(|args| args.iter().all(Value::is_string));
    if entry.get("args").is_some_and(|args| !are_strings(args)) {
        return Some("has a hook whose `args` are not a list of texts");
    }
    if entry.get("timeout").is_some_and(|timeout| timeout.as_f64().is_none_or(|seconds| seconds <= 0.0)) {
        return Some("has a hook whose `timeout` is not a number of seconds");
    }
    let is_known = |value: &Value| matches!(value.as_str(), Some("block" | "continue"));
    let unknown = entry.get("onFailure").is_some_and(|value| !is_known(value));
    unknown.then_some("has a hook whose `onFailure` is neither `block` nor `continue`")
}
