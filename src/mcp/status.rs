//! Status: what follows from what was approved and what is served. It is computed, and nowhere stored.

use super::{Identity, Instructions, InvalidTool, Observed, Pin, Tool};
use crate::encoding::canonical::Value;
use std::fmt;

/// How a tool, or a server, stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Somebody has blocked it.
    Blocked,
    /// What is served has no canonical form, so nobody can approve it.
    Unpinnable(InvalidTool),
    /// Nobody has approved it.
    Pending,
    /// It is what a person approved.
    Approved(Annotations),
    /// It was approved, and these parts are now others.
    Changed(Vec<Part>),
    /// It was approved and is not served any more.
    Removed,
}

/// What became of the annotations of a tool that is otherwise the approved one. Some servers leave them out at times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Annotations {
    /// They are as approved.
    Same,
    /// There were none, and there are some that promise nothing more.
    Appeared,
    /// There were some, and there are none.
    Vanished,
}

/// A part of a tool or of a server. Parts explain a change; they never excuse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Title and description.
    Text,
    /// The schema of what goes in.
    Input,
    /// The schema of what comes out.
    Output,
    /// What the server says of the tool's effects.
    Annotations,
    /// Anything else of a tool.
    Rest,
    /// What the server tells every session.
    Instructions,
    /// How the server is started or reached.
    Identity,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Text => "description",
            Part::Input => "input schema",
            Part::Output => "output schema",
            Part::Annotations => "annotations",
            Part::Rest => "other fields",
            Part::Instructions => "instructions",
            Part::Identity => "configuration",
        })
    }
}

impl Status {
    /// Its name, for tables.
    pub fn word(&self) -> &'static str {
        match self {
            Status::Blocked => "blocked",
            Status::Unpinnable(_) => "unpinnable",
            Status::Pending => "pending",
            Status::Approved(_) => "approved",
            Status::Changed(_) => "changed",
            Status::Removed => "removed",
        }
    }

    /// Whether it is what a person approved.
    pub fn is_approved(&self) -> bool {
        matches!(self, Status::Approved(_))
    }
}

/// The status of one tool of a server.
pub fn tool(pin: Option<&Pin>, observed: Option<&Observed>, name: &str) -> Status {
    if pin.is_some_and(|pin| pin.blocks(name)) {
        return Status::Blocked;
    }
    let approved = pin.and_then(|pin| pin.tool(name));
    let served = observed.and_then(|observed| observed.tool(name));
    match (approved, served.map(Tool::body)) {
        (_, Some(Err(flaw))) => Status::Unpinnable(flaw),
        (None, _) => Status::Pending,
        (Some(_), None) => Status::Removed,
        (Some(approved), Some(Ok(served))) => compare(approved, served),
    }
}

/// The status of a server itself: its instructions, and how it is started or reached as far as that is known.
pub fn server(pin: Option<&Pin>, observed: Option<&Observed>, live: Option<&Identity>) -> Status {
    let Some(pin) = pin else { return Status::Pending };
    if pin.is_blocked() {
        return Status::Blocked;
    }
    if let Some(Instructions::Unreadable(fault)) = observed.map(Observed::instructions) {
        return Status::Unpinnable(InvalidTool::Form(*fault));
    }
    if !pin.is_approved() {
        return Status::Pending;
    }
    let known = [live, observed.and_then(Observed::identity)];
    let elsewhere = known.into_iter().flatten().any(|identity| pin.identity() != Some(identity));
    let otherwise = observed.is_some_and(|observed| match observed.instructions() {
        Instructions::None => pin.instructions().is_some(),
        Instructions::Text(text) => pin.instructions() != Some(text),
        Instructions::Unreadable(_) => true,
    });
    let parts = [(otherwise, Part::Instructions), (elsewhere, Part::Identity)];
    let changed: Vec<Part> = parts.into_iter().filter_map(|(changed, part)| changed.then_some(part)).collect();
    match (changed.is_empty(), observed) {
        (false, _) => Status::Changed(changed),
        (true, None) => Status::Removed,
        (true, Some(_)) => Status::Approved(Annotations::Same),
    }
}

/// Compares what is served with what was approved: canonical values are equal where their bytes are.
fn compare(approved: &Value, served: &Value) -> Status {
    let differing: Vec<Part> =
        PARTS.into_iter().filter(|part| part_of(approved, *part) != part_of(served, *part)).collect();
    match differing.as_slice() {
        [] => Status::Approved(Annotations::Same),
        [Part::Annotations] => match (approved.get("annotations"), served.get("annotations")) {
            (Some(_), None) => Status::Approved(Annotations::Vanished),
            // A tool that now claims to be harmless is not the one that was approved.
            (None, Some(served)) if !promises(served) => Status::Approved(Annotations::Appeared),
            _ => Status::Changed(differing),
        },
        _ => Status::Changed(differing),
    }
}

/// Whether annotations promise what a tool without any does not: that it only reads, or destroys nothing.
fn promises(annotations: &Value) -> bool {
    let strange = |hint: &str, default: bool| annotations.get(hint).is_some_and(|hint| *hint != Value::Bool(default));
    !matches!(annotations, Value::Object(_)) || strange("readOnlyHint", false) || strange("destructiveHint", true)
}

const PARTS: [Part; 5] = [Part::Text, Part::Input, Part::Output, Part::Annotations, Part::Rest];

/// The fields of a tool that make up a part of it.
pub fn part_of(tool: &Value, part: Part) -> Vec<(&str, &Value)> {
    let belongs = |name: &str| match name {
        "title" | "description" => Part::Text,
        "inputSchema" => Part::Input,
        "outputSchema" => Part::Output,
        "annotations" => Part::Annotations,
        _ => Part::Rest,
    };
    tool.fields().filter(|(name, _)| belongs(name) == part).collect()
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/status.rs"]
mod tests;
