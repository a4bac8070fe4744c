//! What stands in a schema, by keyword.

use super::{OffSchema, Spot};
use serde_json::{Map, Value};

/// Whether a `$ref` leads out of the schema: what is there is not known.
pub(super) fn leads_away(schema: &Map<String, Value>) -> bool {
    let reference = schema.get("$ref").and_then(Value::as_str);
    reference.is_some_and(|reference| !(reference == "#" || reference.starts_with("#/")))
        || schema.contains_key("$dynamicRef")
}

pub(super) fn require<'s>(
    names: impl Iterator<Item = &'s Value>,
    fields: &Map<String, Value>,
    spot: Spot<'_>,
) -> Result<(), OffSchema> {
    match names.filter_map(Value::as_str).find(|name| !fields.contains_key(*name)) {
        Some(name) => spot.below(name).off("an argument that the approved schema requires is missing"),
        None => Ok(()),
    }
}

pub(super) fn closes(schema: &Map<String, Value>) -> bool {
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
