//! Checks of `type`, `enum`, `const`, strings, numbers and equality.

use super::{Location, SchemaMismatch, format};
use crate::encoding::canonical::canonical_of;
use serde_json::{Map, Number, Value};
use std::collections::HashSet;

/// The number of a keyword.
pub(super) fn bound(schema: &Map<String, Value>, name: &str) -> Option<f64> {
    schema.get(name).and_then(Value::as_f64)
}

/// Checks `type`, `enum` and `const`.
pub(super) fn check_type(schema: &Map<String, Value>, value: &Value, at: Location<'_>) -> Result<(), SchemaMismatch> {
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
        // An unknown type allows everything.
        _ => true,
    };
    let fits = match schema.get("type") {
        Some(Value::String(name)) => is(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    };
    if !fits {
        return at.mismatch("an argument is of another type than the approved schema takes");
    }
    let is_equal = |known: &Value| are_equal(known, value);
    let listed = schema.get("enum").and_then(Value::as_array).is_none_or(|known| known.iter().any(is_equal));
    if listed && schema.get("const").is_none_or(is_equal) {
        return Ok(());
    }
    at.mismatch("an argument has a value that the approved schema does not list")
}

/// Checks length and format.
pub(super) fn check_string(schema: &Map<String, Value>, text: &str, at: Location<'_>) -> Result<(), SchemaMismatch> {
    let length = text.chars().count() as f64;
    if bound(schema, "minLength").is_some_and(|min| length < min) {
        return at.mismatch("a text is shorter than the approved schema asks for");
    }
    if bound(schema, "maxLength").is_some_and(|max| length > max) {
        return at.mismatch("a text is longer than the approved schema takes");
    }
    let format = schema.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| !format::matches(format, text)) {
        return at.mismatch("a text is not in the format that the approved schema names");
    }
    Ok(())
}

/// Checks the range and `multipleOf`.
pub(super) fn check_number(
    schema: &Map<String, Value>,
    exact: &Number,
    at: Location<'_>,
) -> Result<(), SchemaMismatch> {
    let number = exact.as_f64().unwrap_or_default();
    let strict = |name: &str, limit: &str| {
        // In draft 4 these were booleans that made `minimum` and `maximum` exclusive.
        match schema.get(name) {
            Some(Value::Bool(true)) => bound(schema, limit),
            other => other.and_then(Value::as_f64),
        }
    };
    let low = bound(schema, "minimum").is_some_and(|min| number < min)
        || strict("exclusiveMinimum", "minimum").is_some_and(|limit| number <= limit);
    let high = bound(schema, "maximum").is_some_and(|max| number > max)
        || strict("exclusiveMaximum", "maximum").is_some_and(|limit| number >= limit);
    if low || high {
        return at.mismatch("a number is out of the range that the approved schema takes");
    }
    let Some(Value::Number(step)) = schema.get("multipleOf") else { return Ok(()) };
    if is_multiple(exact, step) {
        Ok(())
    } else {
        at.mismatch("a number is not a multiple of what the approved schema names")
    }
}

fn is_multiple(number: &Number, step: &Number) -> bool {
    if let (Some(number), Some(step)) = (number.as_i128(), step.as_i128()) {
        return step == 0 || number % step == 0;
    }
    let ratio = number.as_f64().unwrap_or_default() / step.as_f64().unwrap_or_default();
    // Binary fractions are inexact: 0.3 must be a multiple of 0.1.
    !ratio.is_finite() || (ratio - ratio.round()).abs() <= 1e-9 * ratio.abs().max(1.0)
}

/// Whether two values are equal; numbers are compared by value, so that `1` equals `1.0`.
fn are_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (one.as_i128(), other.as_i128()) {
            (Some(one), Some(other)) => one == other,
            _ => one.as_f64() == other.as_f64(),
        },
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, one)| other.get(name).is_some_and(|other| are_equal(one, other)))
        }
        _ => one == other,
    }
}

/// Whether no two items are equal.
pub(super) fn all_distinct(items: &[Value]) -> bool {
    let mut seen = HashSet::new();
    items.iter().all(|item| seen.insert(canonical_of(item).unwrap_or_else(|_| item.to_string())))
}
