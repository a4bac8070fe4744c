//! Sample events in the form of a described client.

use super::event::DEFAULT_NAMES;
use super::{Described, Does};
use crate::client::SampleEvent;
use crate::verdict::Phase;
use serde_json::{Value, json};

impl Described {
    /// The client's name of a phase.
    pub(super) fn event_name(&self, phase: Option<Phase>) -> &'static str {
        self.events.iter().find(|(_, known)| Some(*known) == phase).map_or("", |(name, _)| name)
    }

    /// Renders an event as the client sends it, with the tool and the keys that it has for those of the sample.
    pub(super) fn sample(&self, sample: &SampleEvent<'_>) -> String {
        let names = self.names.first().unwrap_or(&DEFAULT_NAMES);
        let mut event = self.sample.parse().unwrap_or_else(|_| json!({}));
        let mut put = |path: &str, value: Value| insert(&mut event, path, value);
        put(names.event, json!(self.event_name(Some(sample.phase))));
        put(names.session, json!(sample.session));
        put(names.cwd, json!(sample.cwd));
        if sample.phase == Phase::Before || sample.phase.is_after() {
            let native = self.native(sample.tool, &sample.input);
            let (tool, input) = native.unwrap_or_else(|| (sample.tool.to_owned(), sample.input.clone()));
            put(names.tool, json!(tool));
            put(names.input, input);
            if let Some(result) = &sample.result {
                put(names.result, result.clone());
            }
        }
        event.to_string()
    }

    /// The client's own tool for one of Claude Code, and its input; `None` if it has none, or if they are its own already.
    pub(super) fn native(&self, tool: &str, input: &Value) -> Option<(String, Value)> {
        let value = |key: &str| input.get(key).cloned().unwrap_or_default();
        let with = |keys: &[(&str, &str)]| {
            // The input has the keys of the client already.
            if keys.iter().any(|(_, known)| input.get(known).is_none()) {
                return None;
            }
            let mut object = json!({});
            for (key, known) in keys.iter().filter(|(key, _)| !key.is_empty()) {
                let (name, inner) = key.split_once("[]").unwrap_or((key, ""));
                let one = match inner.strip_prefix('.') {
                    Some(inner) => json!([{inner: value(known)}]),
                    None if key.ends_with("[]") => json!([value(known)]),
                    None => value(known),
                };
                insert(&mut object, name, one);
            }
            Some(object)
        };
        self.tools.iter().find_map(|(names, does)| {
            let input = match (tool, does) {
                ("Bash", Does::Shell { command, .. }) => with(&[(command, "command")]),
                ("Write", Does::Write { path, content }) => with(&[(path, "file_path"), (content, "content")]),
                ("Write", Does::Edit { path, new, .. }) => with(&[(path, "file_path"), (new, "content")]),
                ("Write", Does::Patch(key)) => with(&[(key, "file_path")]).map(|_| {
                    let file = value("file_path");
                    let file = file.as_str().unwrap_or_default();
                    json!({*key: format!("*** Begin Patch\n*** Add File: {file}\n+\n*** End Patch\n")})
                }),
                ("Read", Does::Read(path)) => with(&[(path, "file_path")]),
                ("WebFetch", Does::Fetch(url) | Does::FetchFrom(url)) => with(&[(url, "url")]),
                _ => return None,
            };
            Some((names.split(' ').next().unwrap_or_default().to_owned(), input?))
        })
    }
}

/// Puts a value at a path of names; nothing at an empty one.
fn insert(object: &mut Value, path: &str, value: Value) {
    let Some(object) = object.as_object_mut().filter(|_| !path.is_empty()) else { return };
    match path.split_once('/') {
        Some((outer, rest)) => insert(object.entry(outer).or_insert_with(|| json!({})), rest, value),
        None => drop(object.insert(path.to_owned(), value)),
    }
}
