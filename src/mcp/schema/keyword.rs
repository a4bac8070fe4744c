//! Accessors for the keywords of a schema.

use super::{Location, SchemaMismatch};
use serde_json::{Map, Value};

/// Whether a schema refers to one outside of it, which is not loaded.
pub(super) fn has_external_ref(schema: &Map<String, Value>) -> bool {
    let reference = schema.get("$ref").and_then(Value::as_str);
    reference.is_some_and(|reference| !(reference == "#" || reference.starts_with("#/")))
        || schema.contains_key("$dynamicRef")
}

/// Checks that all names are present.
pub(super) fn require<'s>(
    names: impl Iterator<Item = &'s Value>,
    fields: &Map<String, Value>,
    at: Location<'_>,
) -> Result<(), SchemaMismatch> {
    match names.filter_map(Value::as_str).find(|name| !fields.contains_key(*name)) {
        Some(name) => at.member(name).mismatch("an argument that the approved schema requires is missing"),
        None => Ok(()),
    }
}

/// Whether a schema explicitly forbids undeclared properties.
pub(super) fn forbids_others(schema: &Map<String, Value>) -> bool {
    let says = |name: &str| schema.get(name) == Some(&Value::Bool(false));
    says("additionalProperties") || says("unevaluatedProperties")
}

pub(super) fn property<'s>(schema: &'s Map<String, Value>, name: &str) -> Option<&'s Value> {
    schema.get("properties")?.get(name)
}

pub(super) fn patterns(schema: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    members(schema, "patternProperties")
}

pub(super) fn members<'s>(
    schema: &'s Map<String, Value>,
    name: &str,
) -> impl Iterator<Item = (&'s str, &'s Value)> + use<'s> {
    let members = schema.get(name).and_then(Value::as_object);
    members.into_iter().flatten().map(|(name, member)| (name.as_str(), member))
}

pub(super) fn branches<'s>(schema: &'s Map<String, Value>, name: &str) -> impl Iterator<Item = &'s Value> + use<'s> {
    schema.get(name).and_then(Value::as_array).into_iter().flatten()
}
