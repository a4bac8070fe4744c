//! Edits of a manifest that change what runs when the project is installed.

use super::dependency_mutation::{SCRIPTS_COMPOSER, SCRIPTS_NPM, apply};
use super::{Context, suspicious_if};
use crate::decide::subject::{Subject, SubjectKind};
use crate::encoding::json::Text;
use crate::encoding::patch;
use crate::event::{Action, Change};
use crate::path::AbsPath;
use crate::rules::Match;
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let SubjectKind::ToolAccess(access) = &subject.kind else { return None };
    let path = access.target.path.as_ref()?;
    let listed = listed_scripts(path.components().last()?.as_str())?;
    let adds = match &context.event.action {
        Action::Edit { changes, .. } => edit_adds_script(path, changes, listed, context),
        // A patch may change many manifests.
        Action::Patch { text: Some(text) } => *context.patch_adds_script.get_or_init(|| {
            let parts = patch::parts(text.inspect("which scripts it names"));
            parts.iter().any(|part| {
                // A part may repeat the name of its file thousands of times.
                let lists = part.names.iter().filter_map(|name| listed_scripts(name.rsplit('/').next()?));
                let lists: BTreeSet<&[&str]> = lists.collect();
                lists.into_iter().any(|listed| adds_script_in_part(&part.before, &part.after, listed))
            })
        }),
        Action::Patch { text: None }
        | Action::Shell { .. }
        | Action::Read { .. }
        | Action::Files { .. }
        | Action::Fetch { .. }
        | Action::Search { .. }
        | Action::Mcp { .. }
        | Action::Resource { .. }
        | Action::Agent { .. }
        | Action::Settings { .. }
        | Action::Prompt { .. }
        | Action::Other => false,
    };
    suspicious_if(adds, "")
}

/// The scripts of a manifest that run when the project is installed; `None` for other files.
fn listed_scripts(file: &str) -> Option<&'static [&'static str]> {
    match file {
        "package.json" => Some(&SCRIPTS_NPM),
        "composer.json" => Some(&SCRIPTS_COMPOSER),
        _ => None,
    }
}

fn edit_adds_script(path: &AbsPath, changes: &[Change], listed: &[&str], context: &Context<'_>) -> bool {
    let current = context.event.facts.contents.iter().find(|(name, _)| *name == path.to_string());
    match current {
        Some((_, before)) => apply(before, changes, context).is_some_and(|after| adds_script(before, &after, listed)),
        None => changes.iter().any(|change| match change {
            Change::Whole(content) => adds_script("", content.inspect("which scripts it names"), listed),
            Change::Replace { old, new, .. } => {
                adds_script_in_part(old.inspect("what is replaced"), new.inspect("what it becomes"), listed)
            }
        }),
    }
}

fn adds_script(before: &str, after: &str, listed: &[&str]) -> bool {
    // Two texts are compared by the same reading.
    let parsed = if before.trim().is_empty() { Some(BTreeSet::new()) } else { scripts(before, listed) };
    let (before, after) = match parsed.zip(scripts(after, listed)) {
        Some(parsed) => parsed,
        None => (scripts_in_part(before, listed), scripts_in_part(after, listed)),
    };
    !after.is_subset(&before)
}

/// Whether a change of a part of a manifest adds a script. A part may look like a whole manifest: `{"postinstall": "x"}` in
/// the place of `{}`.
fn adds_script_in_part(before: &str, after: &str, listed: &[&str]) -> bool {
    !scripts_in_part(after, listed).is_subset(&scripts_in_part(before, listed)) || adds_script(before, after, listed)
}

/// The scripts of a manifest with their values; `None` if the text is not a whole manifest.
fn scripts(manifest: &str, listed: &[&str]) -> Option<BTreeSet<(String, String)>> {
    let value: Value = serde_json::from_str(manifest).ok()?;
    let scripts = value.as_object()?.get("scripts").and_then(Value::as_object);
    let named = scripts.into_iter().flatten().filter(|(name, _)| listed.contains(&name.as_str()));
    Some(named.map(|(name, value)| (name.clone(), value.to_string())).collect())
}

/// The scripts in a part of a manifest with their values: `"postinstall": "node x.js"`, `"post-install-cmd": ["a"]`. A part
/// may begin within a string, so that every quote may be the first of a name.
fn scripts_in_part(text: &str, listed: &[&str]) -> BTreeSet<(String, String)> {
    let quotes = quotes(text);
    let mut found = BTreeSet::new();
    // The end of the last array: one that begins before it is a part of its text.
    let mut end_of_array = 0;
    for (at, pair) in quotes.windows(2).enumerate() {
        let [open, close] = pair else { continue };
        let Some(value) = text.get(close + 1..).and_then(|rest| rest.trim_start().strip_prefix(':')) else { continue };
        let name = text.get(*open..=*close).and_then(|raw| Text::read(raw.as_bytes()));
        let Some(name) = name.map(|name| name.text).filter(|name| listed.contains(&name.as_str())) else { continue };
        let value = value.trim_start();
        let start = text.len() - value.len();
        let next = quotes.get(at + 2..).unwrap_or_default();
        let end = match value.bytes().next() {
            Some(b'"') => next.get(1).map_or(text.len(), |end| end + 1),
            Some(b'[') if start >= end_of_array => {
                end_of_array = end_of_strings(text, start, next);
                end_of_array
            }
            // An object is no script: `"dependencies": {`.
            _ => continue,
        };
        found.insert((name, text.get(start..end).unwrap_or_default().to_owned()));
    }
    found
}

/// The positions of the quotes in a text that no backslash precedes.
fn quotes(text: &str) -> Vec<usize> {
    let mut is_escaped = false;
    let is_quote = |(_, byte): &(usize, u8)| {
        let is_quote = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_quote
    };
    text.bytes().enumerate().filter(is_quote).map(|(at, _)| at).collect()
}

/// Where an array of strings ends that begins at `start`, with the quotes behind it; the end of the text if it stays open.
fn end_of_strings(text: &str, start: usize, quotes: &[usize]) -> usize {
    let mut from = start;
    for string in quotes.chunks(2) {
        let [open, rest @ ..] = string else { continue };
        if let Some(end) = text.get(from..*open).and_then(|between| between.find(']')) {
            return from + end + 1;
        }
        let Some(close) = rest.first() else { return text.len() };
        from = close + 1;
    }
    text.get(from..).and_then(|rest| rest.find(']')).map_or(text.len(), |end| from + end + 1)
}
