//! Registration in Claude Code: the entries that the guard writes into a settings file, and how those in a file differ
//! from them. The rest of the file keeps its bytes.

use super::settings::{HookEntry, SettingsJson, command};
use crate::client::edit::{array, edit, input, object};
use crate::client::registration::{
    Difference, Drift, EntryDefect, MIN_TIMEOUT_SECONDS, REGISTERED_IN, Registration, preset_and_rest,
};
use crate::client::settings::{FileError, HookCommand};
use jsonc_parser::cst::{CstInputValue, CstNode};
use serde_json::{Value, json};

/// The tools whose results may be untrusted. The pattern needs anchors: without special characters the client would
/// read it as a name, and without anchors it would match within names.
const SURFACES: &str = "^(mcp__.*|WebFetch|WebSearch|ReadMcpResource(Dir)?(Tool)?|ListMcpResources(Tool)?|Read|Grep|Glob|Bash|PowerShell|Monitor|Agent|Task|AgentOutput(Tool)?|BashOutput|TaskOutput)$";

/// Seconds that the client waits for an answer; the guard answers within five.
const TIMEOUT_SECONDS: u64 = 10;

/// The events that the guard is registered for: `(event, argument of the hook, tools)`.
const HANDLED_EVENTS: [(&str, Option<&str>, Option<&str>); 7] = [
    ("PreToolUse", Some("pre"), None),
    ("PostToolUse", Some("post"), Some(SURFACES)),
    ("PostToolUseFailure", Some("post"), Some(SURFACES)),
    ("ConfigChange", None, None),
    ("UserPromptSubmit", None, None),
    ("SessionStart", None, None),
    ("SessionEnd", None, None),
];

/// The events without which the guard is off, or could be switched off unnoticed.
const REQUIRED_EVENTS: [&str; 4] = ["PreToolUse", "PostToolUse", "PostToolUseFailure", "ConfigChange"];

/// The fields of an entry, in the order in which they are written.
const FIELDS: [&str; 7] = ["matcher", "hooks", "type", "command", "args", "timeout", "onFailure"];

/// The groups of a registration: `(event, group)`.
fn groups(registration: &Registration) -> Vec<(&'static str, Value)> {
    let group = |(event, word, matcher): (&'static str, Option<&str>, Option<&str>)| {
        let words = ["hook"].into_iter().chain(word).chain(registration.words.iter().map(String::as_str));
        let file = registration.file.iter().filter(|_| word.is_none());
        let args: Vec<&str> = words.chain(file.flat_map(|file| [REGISTERED_IN, file.as_str()])).collect();
        let mut entry =
            json!({"type": "command", "command": registration.program, "args": args, "timeout": TIMEOUT_SECONDS});
        let mut group = json!({});
        if let (Some("pre"), Some(entry)) = (word, entry.as_object_mut()) {
            entry.insert("onFailure".to_owned(), json!("block"));
        }
        if let Some(group) = group.as_object_mut() {
            group.extend(matcher.map(|matcher| ("matcher".to_owned(), json!(matcher))));
            group.insert("hooks".to_owned(), json!([entry]));
        }
        (event, group)
    };
    HANDLED_EVENTS.into_iter().map(group).collect()
}

/// The text of a settings file with the entries of a registration in place of older ones. `before` is the text that it
/// had before the first entry was added, if it is known.
pub(super) fn install(registration: &Registration, text: &str, before: Option<&str>) -> Result<String, FileError> {
    if drift(registration, &SettingsJson::read(text)?).is_empty() {
        return Ok(text.to_owned());
    }
    let installed = insert(registration, &remove(text, before)?.unwrap_or_default())?;
    if !has_status_line(&SettingsJson::read(text)?) {
        return Ok(installed);
    }
    Ok(with_status_line(registration, &installed)?.unwrap_or(installed))
}

/// The field of the client's settings for its status bar.
const STATUS_LINE: &str = "statusLine";

/// The command of the guard's line.
fn status_line(registration: &Registration) -> String {
    format!("{} statusline", crate::shell::quote_word(&registration.program))
}

/// Whether the status bar shows the guard's line.
fn has_status_line(settings: &SettingsJson) -> bool {
    let command = settings.field(STATUS_LINE).and_then(|line| line.get("command")).and_then(Value::as_str);
    let program = settings.summary().registration().map(|registration| status_line(&registration));
    command.is_some_and(|command| command.ends_with("/rune statusline") || program.as_deref() == Some(command))
}

/// The text of a settings file with the guard's line in the status bar; `None` if there is another one.
pub(super) fn with_status_line(registration: &Registration, text: &str) -> Result<Option<String>, FileError> {
    let settings = SettingsJson::read(text)?;
    if settings.field(STATUS_LINE).is_some() {
        return Ok(has_status_line(&settings).then(|| text.to_owned()));
    }
    let line = CstInputValue::Object(vec![
        ("type".to_owned(), CstInputValue::String("command".to_owned())),
        ("command".to_owned(), CstInputValue::String(status_line(registration))),
    ]);
    edit(text, |root| {
        root.append(STATUS_LINE, line);
        Ok(())
    })
    .map(Some)
}

/// Adds the entries to the text of a settings file that has none.
fn insert(registration: &Registration, text: &str) -> Result<String, FileError> {
    edit(text, |root| {
        let hooks = object(root, "hooks")?;
        for (event, group) in groups(registration) {
            array(&hooks, event)?.append(input(&group, &FIELDS));
        }
        Ok(())
    })
}

/// The differences between a settings file and the entries of a registration.
pub(super) fn drift(wanted: &Registration, settings: &SettingsJson) -> Vec<Drift> {
    let guard_hooks = settings.guard_hooks();
    let new = |event: &str, hook: Option<&HookEntry<'_>>, difference| Drift {
        event: event.to_owned(),
        pointer: hook.map(|hook| hook.pointer.clone()),
        difference,
    };
    let mut drift = Vec::new();
    for (event, group) in groups(wanted) {
        let hooks: Vec<&HookEntry<'_>> = guard_hooks.iter().filter(|hook| hook.event == event).collect();
        match hooks.as_slice() {
            [] => drift.push(new(event, None, Difference::Missing)),
            [hook] => {
                let names = differing_fields(hook, &group);
                if !names.is_empty() {
                    let defect = defect(hook, &names);
                    drift.push(new(event, Some(hook), Difference::Fields { names, defect }));
                }
            }
            [first, ..] => drift.push(new(event, Some(first), Difference::Repeated(hooks.len()))),
        }
    }
    let is_needless = |hook: &&HookEntry<'_>| !HANDLED_EVENTS.iter().any(|(event, ..)| *event == hook.event);
    let needless = guard_hooks.iter().filter(is_needless);
    drift.extend(needless.map(|hook| new(hook.event, Some(hook), Difference::Needless)));
    drift
}

/// The fields in which an entry differs from the one in the group; fields that the guard does not write come last.
fn differing_fields(hook: &HookEntry<'_>, group: &Value) -> Vec<String> {
    let wanted = group.pointer("/hooks/0");
    let value = |field: &str| wanted.and_then(|wanted| wanted.get(field));
    let matcher = (hook.matcher != group.get("matcher").and_then(Value::as_str)).then_some("matcher");
    let known = FIELDS.into_iter().filter(|field| hook.entry.get(field) != value(field));
    let others = hook.entry.as_object().into_iter().flatten().map(|(field, _)| field.as_str());
    let others = others.filter(|field| !FIELDS.contains(field));
    matcher.into_iter().chain(known).chain(others).map(str::to_owned).collect()
}

fn defect(hook: &HookEntry<'_>, fields: &[String]) -> Option<EntryDefect> {
    let differs = |name: &str| fields.iter().any(|field| field == name);
    match hook.timeout() {
        Some(seconds) if differs("timeout") && seconds < MIN_TIMEOUT_SECONDS => {
            Some(EntryDefect::ShortTimeout(seconds))
        }
        _ if differs("matcher") && hook.matches("Read").is_none() => Some(EntryDefect::NeverRuns),
        _ => differs("onFailure").then_some(EntryDefect::FailsOpen),
    }
}

/// What a settings file takes away from the guard that is registered in it, one line each.
pub(super) fn losses(registration: &Registration, settings: &SettingsJson) -> Vec<String> {
    let summary = settings.summary();
    let mut losses = Vec::new();
    if summary.disables_hooks() {
        losses.push("it switches all hooks off".to_owned());
    }
    if summary.invalid.iter().any(|part| part.voids_file) {
        losses.push("the client drops the whole file for what is invalid in it".to_owned());
    }
    let hooks = settings.guard_hooks();
    let is_kept = |event: &str| hooks.iter().any(|hook| hook.event == event && keeps(registration, hook));
    let lost = REQUIRED_EVENTS.into_iter().filter(|event| !is_kept(event));
    losses.extend(lost.map(|event| format!("our hook for {event} goes")));
    losses
}

/// Whether a hook calls the guard as the registration does, or more strictly.
fn keeps(registration: &Registration, hook: &HookEntry<'_>) -> bool {
    let Some(HookCommand { program, args }) = &hook.command else { return false };
    let is_timely = hook.timeout().is_none_or(|seconds| seconds >= MIN_TIMEOUT_SECONDS);
    let sees_calls = hook.event != "PreToolUse" || (hook.matches_all() && is_timely);
    // Other fields, such as `async` or `if`, could let calls pass unseen.
    let is_known = |field: &String| FIELDS.contains(&field.as_str());
    let is_plain = hook.entry.as_object().is_some_and(|entry| entry.keys().all(is_known));
    // A hook of another type does not start the program.
    let is_command = hook.entry.get("type").and_then(Value::as_str) == Some("command");
    let (preset, rest) = preset_and_rest(args);
    let (wanted_preset, wanted_rest) = preset_and_rest(&registration.words);
    sees_calls
        && is_plain
        && is_command
        && *program == registration.program
        && rest == wanted_rest
        && (preset == wanted_preset || preset == Some("strict"))
}

/// The text of a settings file without the guard's entries and without the lists that only they kept in it; `None` if
/// there was no file before them.
///
/// If adding the entries to the text `before` gives the present text, the result is `before`, to the byte. Otherwise the
/// file was edited since, and only the entries are removed.
pub(super) fn remove(text: &str, before: Option<&str>) -> Result<Option<String>, FileError> {
    let settings = SettingsJson::read(text)?;
    let has_status_line = has_status_line(&settings);
    let Some(registration) = settings.summary().registration() else { return Ok(Some(text.to_owned())) };
    let was = |before: &str| {
        let whole = insert(&registration, before);
        let whole = if has_status_line {
            whole.and_then(|whole| with_status_line(&registration, &whole))
        } else {
            whole.map(Some)
        };
        whole.is_ok_and(|whole| whole.as_deref() == Some(text))
    };
    if let Some(before) = before.filter(|before| was(before)) {
        return Ok(Some(before.to_owned()));
    }
    if was("") {
        return Ok(None);
    }
    let edited = edit(text, |root| {
        let hooks = object(root, "hooks")?;
        for event in hooks.properties() {
            let Some(groups) = event.array_value() else { continue };
            let cleared = groups.elements().iter().filter(|group| clear(group)).count();
            if cleared > 0 && groups.elements().is_empty() {
                event.remove();
            }
        }
        if hooks.properties().is_empty()
            && let Some(hooks) = root.get("hooks")
        {
            hooks.remove();
        }
        if has_status_line && let Some(line) = root.get(STATUS_LINE) {
            line.remove();
        }
        Ok(())
    })?;
    Ok(Some(edited))
}

/// Removes the guard's entries from a group, and returns whether there were any.
fn clear(group: &CstNode) -> bool {
    let Some(entries) = group.as_object().and_then(|group| group.array_value("hooks")) else { return false };
    let is_guard = |entry: &CstNode| {
        let command = entry.to_serde_value().and_then(|entry| command(&entry));
        command.is_some_and(|command| command.is_guard())
    };
    let (found, others): (Vec<_>, Vec<_>) = entries.elements().into_iter().partition(is_guard);
    if found.is_empty() {
        return false;
    }
    if others.is_empty() {
        group.clone().remove();
    } else {
        found.into_iter().for_each(CstNode::remove);
    }
    true
}

#[cfg(test)]
#[path = "../../../tests/unit/client/claude/register.rs"]
mod tests;
