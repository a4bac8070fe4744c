//! The status of a tool or server, computed from its pin and its observed record and never stored.

use super::{Identity, Instructions, InvalidTool, Observed, Pin, Tool};
use crate::encoding::canonical::Value;
use std::fmt;

/// The status of a tool or a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// A person has blocked it.
    Blocked,
    /// What is served has no canonical form and cannot be approved.
    Unpinnable(InvalidTool),
    /// It is not approved.
    Pending,
    /// It is what a person approved.
    Approved(Annotations),
    /// It was approved, and these parts have changed.
    Changed(Vec<ChangedPart>),
    /// It was approved and is no longer served.
    Removed,
}

/// The annotations of a tool that is otherwise the approved one. Some servers omit them at times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Annotations {
    /// They are the approved ones.
    Same,
    /// There were none, and the new ones promise nothing.
    Appeared,
    /// There were some, and now there are none.
    Vanished,
}

/// A part of a tool or server that has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangedPart {
    /// Title and description.
    Text,
    /// The input schema.
    Input,
    /// The output schema.
    Output,
    /// Claims of the server about the tool's effects.
    Annotations,
    /// Any other field of a tool.
    Rest,
    /// The instructions of the server.
    Instructions,
    /// How the server is started or reached.
    Identity,
}

impl fmt::Display for ChangedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ChangedPart::Text => "description",
            ChangedPart::Input => "input schema",
            ChangedPart::Output => "output schema",
            ChangedPart::Annotations => "annotations",
            ChangedPart::Rest => "other fields",
            ChangedPart::Instructions => "instructions",
            ChangedPart::Identity => "configuration",
        })
    }
}

impl ChangedPart {
    /// The names of some parts, separated by commas.
    pub fn join(parts: &[ChangedPart]) -> String {
        parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }
}

impl Status {
    /// Its name in tables and JSON.
    pub fn as_str(&self) -> &'static str {
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

/// Computes the status of one tool of a server.
pub fn tool(pin: Option<&Pin>, observed: Option<&Observed>, name: &str) -> Status {
    if pin.is_some_and(|pin| pin.blocks(name)) {
        return Status::Blocked;
    }
    let approved = pin.and_then(|pin| pin.tool(name));
    let served = observed.and_then(|observed| observed.tool(name));
    match (approved, served.map(Tool::body)) {
        (_, Some(Err(invalid))) => Status::Unpinnable(invalid),
        (None, _) => Status::Pending,
        (Some(_), None) => Status::Removed,
        (Some(approved), Some(Ok(served))) => compare(approved, served),
    }
}

/// Computes the status of a server itself: its instructions, and how it is started or reached where that is known.
pub fn server(pin: Option<&Pin>, observed: Option<&Observed>, configured: Option<&Identity>) -> Status {
    let Some(pin) = pin else { return Status::Pending };
    if pin.is_blocked() {
        return Status::Blocked;
    }
    if let Some(Instructions::Unreadable(fault)) = observed.map(Observed::instructions) {
        return Status::Unpinnable(*fault);
    }
    if !pin.is_approved() {
        return Status::Pending;
    }
    let identities = [configured, observed.and_then(Observed::identity)];
    let identity_differs = identities.into_iter().flatten().any(|identity| pin.identity() != Some(identity));
    let instructions_differ = observed.is_some_and(|observed| match observed.instructions() {
        Instructions::None => pin.instructions().is_some(),
        Instructions::Text(text) => pin.instructions() != Some(text),
        Instructions::Unreadable(_) => true,
    });
    let parts = [(instructions_differ, ChangedPart::Instructions), (identity_differs, ChangedPart::Identity)];
    let changed: Vec<ChangedPart> = parts.into_iter().filter_map(|(changed, part)| changed.then_some(part)).collect();
    match (changed.is_empty(), observed) {
        (false, _) => Status::Changed(changed),
        (true, None) => Status::Removed,
        (true, Some(_)) => Status::Approved(Annotations::Same),
    }
}

/// Compares a served tool with the approved one. Both are canonical, so equal values have equal bytes.
fn compare(approved: &Value, served: &Value) -> Status {
    let differing: Vec<ChangedPart> =
        TOOL_PARTS.into_iter().filter(|part| part_of(approved, *part) != part_of(served, *part)).collect();
    match differing.as_slice() {
        [] => Status::Approved(Annotations::Same),
        [ChangedPart::Annotations] => match (approved.get("annotations"), served.get("annotations")) {
            (Some(_), None) => Status::Approved(Annotations::Vanished),
            // A tool that newly claims to be harmless has changed.
            (None, Some(served)) if !promise_safety(served) => Status::Approved(Annotations::Appeared),
            _ => Status::Changed(differing),
        },
        _ => Status::Changed(differing),
    }
}

/// Whether annotations promise more than a tool without any: that it only reads, or is not destructive.
fn promise_safety(annotations: &Value) -> bool {
    let deviates = |hint: &str, default: bool| annotations.get(hint).is_some_and(|hint| *hint != Value::Bool(default));
    !matches!(annotations, Value::Object(_)) || deviates("readOnlyHint", false) || deviates("destructiveHint", true)
}

const TOOL_PARTS: [ChangedPart; 5] =
    [ChangedPart::Text, ChangedPart::Input, ChangedPart::Output, ChangedPart::Annotations, ChangedPart::Rest];

/// The fields of a tool that belong to a part.
pub fn part_of(tool: &Value, part: ChangedPart) -> Vec<(&str, &Value)> {
    let part_named = |name: &str| match name {
        "title" | "description" => ChangedPart::Text,
        "inputSchema" => ChangedPart::Input,
        "outputSchema" => ChangedPart::Output,
        "annotations" => ChangedPart::Annotations,
        _ => ChangedPart::Rest,
    };
    tool.fields().filter(|(name, _)| part_named(name) == part).collect()
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/status.rs"]
mod tests;
