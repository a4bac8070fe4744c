//! Drift: how the entries in a settings file differ from those that the guard would write.

use super::register::{FIELDS, HANDLED_EVENTS, groups};
use super::settings::{HookEntry, SettingsJson};
use crate::client::registration::{Difference, Drift, EntryDefect, MIN_TIMEOUT_SECONDS, Registration};
use serde_json::Value;

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

#[cfg(test)]
#[path = "../../../tests/unit/client/claude/drift.rs"]
mod tests;
