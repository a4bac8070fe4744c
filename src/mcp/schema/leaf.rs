//! What a schema says of a value that has no parts.

use super::{OffSchema, Spot, format};
use crate::encoding::canonical::canonical_of;
use serde_json::{Map, Number, Value};
use std::collections::HashSet;

/// A number in a schema.
pub(super) fn bound(schema: &Map<String, Value>, name: &str) -> Option<f64> {
    schema.get(name).and_then(Value::as_f64)
}

/// `type`, `enum` and `const`.
pub(super) fn kind(schema: &Map<String, Value>, value: &Value, spot: Spot<'_>) -> Result<(), OffSchema> {
    let is = |name: &str| match (name, value) {
        ("null", Value::Null)
        | ("boolean", Value::Bool(_))
        | ("number", Value::Number(_))
        | ("string", Value::String(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_)) => true,
        ("integer", Value::Number(number)) => {
            number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        ("null" | "boolean" | "number" | "string" | "array" | "object" | "integer", _) => false,
        // A type that we do not know rules nothing out.
        _ => true,
    };
    let fits = match schema.get("type") {
        Some(Value::String(name)) => is(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    };
    if !fits {
        return spot.off("an argument is of another type than the approved schema takes");
    }
    let same = |known: &Value| same(known, value);
    let listed = schema.get("enum").and_then(Value::as_array).is_none_or(|known| known.iter().any(same));
    if listed && schema.get("const").is_none_or(same) {
        return Ok(());
    }
    spot.off("an argument has a value that the approved schema does not list")
}

/// Length and format.
pub(super) fn string(schema: &Map<String, Value>, text: &str, spot: Spot<'_>) -> Result<(), OffSchema> {
    let length = text.chars().count() as f64;
    if bound(schema, "minLength").is_some_and(|least| length < least) {
        return spot.off("a text is shorter than the approved schema asks for");
    }
    if bound(schema, "maxLength").is_some_and(|most| length > most) {
        return spot.off("a text is longer than the approved schema takes");
    }
    let format = schema.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| !format::fits(format, text)) {
        return spot.off("a text is not in the format that the approved schema names");
    }
    Ok(())
}

/// Limits, and what a number has to be a multiple of.
pub(super) fn number(schema: &Map<String, Value>, exact: &Number, spot: Spot<'_>) -> Result<(), OffSchema> {
    let number = exact.as_f64().unwrap_or_default();
    let strict = |name: &str, limit: &str| {
        // In older drafts these only said how the limit is meant.
        match schema.get(name) {
            Some(Value::Bool(true)) => bound(schema, limit),
            other => other.and_then(Value::as_f64),
        }
    };
    let low = bound(schema, "minimum").is_some_and(|least| number < least)
        || strict("exclusiveMinimum", "minimum").is_some_and(|limit| number <= limit);
    let high = bound(schema, "maximum").is_some_and(|most| number > most)
        || strict("exclusiveMaximum", "maximum").is_some_and(|limit| number >= limit);
    if low || high {
        return spot.off("a number is out of the range that the approved schema takes");
    }
    let Some(Value::Number(step)) = schema.get("multipleOf") else { return Ok(()) };
    if is_multiple(exact, step) {
        Ok(())
    } else {
        spot.off("a number is not a multiple of what the approved schema names")
    }
}

fn is_multiple(number: &Number, step: &Number) -> bool {
    if let (Some(number), Some(step)) = (number.as_i128(), step.as_i128()) {
        return step == 0 || number % step == 0;
    }
    let ratio = number.as_f64().unwrap_or_default() / step.as_f64().unwrap_or_default();
    // 0.3 is a multiple of 0.1, whatever binary fractions say.
    !ratio.is_finite() || (ratio - ratio.round()).abs() <= 1e-9 * ratio.abs().max(1.0)
}

/// Whether two values are equal: numbers by their value.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (one.as_i128(), other.as_i128()) {
            (Some(one), Some(other)) => one == other,
            _ => one.as_f64() == other.as_f64(),
        },
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, one)| other.get(name).is_some_and(|other| same(one, other)))
        }
        _ => one == other,
    }
}

/// Whether no item is there twice. Numbers are equal by their value, and objects whatever the order of their names.
pub(super) fn differ(items: &[Value]) -> bool {
    let mut seen = HashSet::new();
    items.iter().all(|item| seen.insert(canonical_of(item).unwrap_or_else(|_| item.to_string())))
}
