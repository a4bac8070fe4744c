//! Drift: how the entries in a settings file differ from those that we would write.

use super::register::{FIELDS, MOMENTS, Registration};
use super::settings::{Hook, Settings};
use serde_json::Value;
use std::fmt;

/// One difference between a settings file and what we would write there.
#[derive(Clone, Debug)]
pub struct Drift<'a> {
    /// The moment that it is about.
    pub event: &'a str,
    /// The entry that differs, where there is one.
    pub hook: Option<Hook<'a>>,
    /// How.
    pub kind: Difference,
}

/// How an entry differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// There is none.
    Missing,
    /// There are several.
    Repeated(usize),
    /// We have no part in the moment.
    Needless,
    /// These fields are others than ours.
    Fields(Vec<String>),
}

impl fmt::Display for Drift<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let event = self.event;
        match &self.kind {
            Difference::Missing => write!(f, "{event}: not registered"),
            Difference::Repeated(times) => write!(f, "{event}: registered {times} times"),
            Difference::Needless => write!(f, "{event}: registered without need"),
            Difference::Fields(fields) => write!(f, "{event}: differs in {}", fields.join(", ")),
        }
    }
}

impl Registration {
    /// What differs between a settings file and what we would write there; nothing where it is the same.
    pub fn drift<'a>(&self, settings: &'a Settings) -> Vec<Drift<'a>> {
        let ours: Vec<Hook<'a>> = settings.hooks().into_iter().filter(Hook::is_ours).collect();
        let mut drift = Vec::new();
        for (event, group) in self.groups() {
            let here: Vec<Hook<'a>> = ours.iter().copied().filter(|hook| hook.event == event).collect();
            let (hook, kind) = match here.as_slice() {
                [] => (None, Difference::Missing),
                [hook] => match fields(hook, &group) {
                    fields if fields.is_empty() => continue,
                    fields => (Some(*hook), Difference::Fields(fields)),
                },
                [first, ..] => (Some(*first), Difference::Repeated(here.len())),
            };
            drift.push(Drift { event, hook, kind });
        }
        let known = |hook: &Hook<'a>| MOMENTS.iter().any(|(event, ..)| *event == hook.event);
        let needless = ours.into_iter().filter(|hook| !known(hook));
        drift.extend(needless.map(|hook| Drift { event: hook.event, hook: Some(hook), kind: Difference::Needless }));
        drift
    }
}

/// The fields in which an entry differs from the one in our group, ours first.
fn fields(hook: &Hook<'_>, group: &Value) -> Vec<String> {
    let wanted = group.pointer("/hooks/0");
    let value = |field: &str| wanted.and_then(|wanted| wanted.get(field));
    let matcher = (hook.matcher != group.get("matcher").and_then(Value::as_str)).then_some("matcher");
    let ours = FIELDS.into_iter().filter(|field| hook.entry().get(field) != value(field));
    let others = hook.entry().as_object().into_iter().flatten().map(|(field, _)| field.as_str());
    let others = others.filter(|field| !FIELDS.contains(field));
    matcher.into_iter().chain(ours).chain(others).map(str::to_owned).collect()
}

#[cfg(test)]
#[path = "../../../tests/unit/client/claude/drift.rs"]
mod tests;
