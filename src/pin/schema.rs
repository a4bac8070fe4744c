//! Arguments against the approved input schema, by our own walk: an argument that the schema does not know means that
//! the model was shown another one.
//!
//! The walk is bounded, needs no network and builds nothing. What it does not know of a schema does not count against
//! the arguments; what it cannot finish does.

use regex_lite::Regex;
use serde_json::{Map, Value};
use std::fmt;

/// Steps of a walk; a schema that needs more is made to.
const MOST_STEPS: usize = 20_000;

/// Levels of schemas within schemas.
const DEEPEST: usize = 96;

/// What is wrong with the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffSchema {
    what: &'static str,
    /// The argument that it is about, as it was written.
    pub name: String,
}

impl fmt::Display for OffSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }
}

/// Checks the arguments of a call against the input schema of the approved tool.
pub fn check(schema: &Value, arguments: &Value) -> Result<(), OffSchema> {
    let mut walk = Walk { root: schema, steps: 0 };
    walk.value(schema, arguments, Spot { name: "", depth: 0, closed: true })
}

/// Where a walk is.
#[derive(Clone, Copy)]
struct Spot<'a> {
    /// The argument that it is about.
    name: &'a str,
    depth: usize,
    /// Whether a schema that names no properties at all has none.
    closed: bool,
}

impl<'a> Spot<'a> {
    fn off(self, what: &'static str) -> Result<(), OffSchema> {
        Err(OffSchema { what, name: self.name.to_owned() })
    }

    fn below(self, name: &'a str) -> Self {
        let name = if self.name.is_empty() { name } else { self.name };
        Spot { name, depth: self.depth + 1, closed: false }
    }

    fn deeper(self) -> Self {
        Spot { depth: self.depth + 1, ..self }
    }
}

struct Walk<'s> {
    root: &'s Value,
    steps: usize,
}

impl<'s> Walk<'s> {
    fn value(&mut self, schema: &'s Value, value: &Value, spot: Spot<'_>) -> Result<(), OffSchema> {
        self.shape(schema, value, spot)?;
        if let Value::Object(fields) = value {
            self.strangers(schema, fields, spot)?;
        }
        Ok(())
    }

    /// Everything but whether an object has properties that nobody knows.
    fn shape(&mut self, schema: &'s Value, value: &Value, spot: Spot<'_>) -> Result<(), OffSchema> {
        self.steps += 1;
        if self.steps > MOST_STEPS || spot.depth > DEEPEST {
            return spot.off("it cannot be checked against the approved schema, which goes on without end");
        }
        let object = match schema {
            Value::Bool(false) => return spot.off("the approved schema takes nothing here"),
            Value::Object(object) => object,
            Value::Null | Value::Bool(true) | Value::Number(_) | Value::String(_) | Value::Array(_) => return Ok(()),
        };
        if let Some(target) = self.target(object) {
            self.shape(target, value, spot.deeper())?;
        }
        if object.get("nullable") == Some(&Value::Bool(true)) && value.is_null() {
            return Ok(());
        }
        kind(object, value, spot)?;
        match value {
            Value::String(text) => string(object, text, spot)?,
            Value::Number(number) => self::number(object, number.as_f64().unwrap_or_default(), spot)?,
            Value::Array(items) => self.array(object, items, spot)?,
            Value::Object(fields) => self.object(object, fields, spot)?,
            Value::Null | Value::Bool(_) => {}
        }
        self.combined(object, value, spot)
    }

    fn array(&mut self, schema: &'s Map<String, Value>, items: &[Value], spot: Spot<'_>) -> Result<(), OffSchema> {
        let count = items.len() as f64;
        if bound(schema, "minItems").is_some_and(|least| count < least) {
            return spot.off("a list has fewer items than the approved schema asks for");
        }
        if bound(schema, "maxItems").is_some_and(|most| count > most) {
            return spot.off("a list has more items than the approved schema takes");
        }
        // `items` was a list of schemas before `prefixItems` was one.
        let (first, rest) = match (schema.get("prefixItems"), schema.get("items")) {
            (Some(Value::Array(first)), rest) => (first.as_slice(), rest),
            (_, Some(Value::Array(first))) => (first.as_slice(), schema.get("additionalItems")),
            (_, rest) => (&[][..], rest),
        };
        for (nth, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(nth).or(rest) {
                self.value(schema, item, spot.below(""))?;
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        schema: &'s Map<String, Value>,
        fields: &Map<String, Value>,
        spot: Spot<'_>,
    ) -> Result<(), OffSchema> {
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                return spot.below(name).off("an argument that the approved schema requires is missing");
            }
        }
        for (name, value) in fields {
            let spot = spot.below(name);
            let mut known = false;
            if let Some(schema) = property(schema, name) {
                known = true;
                self.value(schema, value, spot)?;
            }
            for (pattern, schema) in patterns(schema) {
                if matches(pattern, name).unwrap_or(true) {
                    known = true;
                    self.value(schema, value, spot)?;
                }
            }
            if let Some(schema @ Value::Object(_)) = schema.get("additionalProperties").filter(|_| !known) {
                self.value(schema, value, spot)?;
            }
        }
        Ok(())
    }

    /// `allOf`, `anyOf`, `oneOf`, `not`, and `if`.
    fn combined(&mut self, schema: &'s Map<String, Value>, value: &Value, spot: Spot<'_>) -> Result<(), OffSchema> {
        for schema in branches(schema, "allOf") {
            self.shape(schema, value, spot.deeper())?;
        }
        for name in ["anyOf", "oneOf"] {
            let mut any = branches(schema, name).peekable();
            if any.peek().is_some() && !any.any(|schema| self.shape(schema, value, spot.deeper()).is_ok()) {
                return spot.off("it fits none of the forms that the approved schema takes");
            }
        }
        if let Some(not) = schema.get("not")
            && self.shape(not, value, spot.deeper()).is_ok()
        {
            return spot.off("it is what the approved schema rules out");
        }
        if let Some(condition) = schema.get("if") {
            let then = if self.shape(condition, value, spot.deeper()).is_ok() { "then" } else { "else" };
            if let Some(then) = schema.get(then) {
                self.shape(then, value, spot.deeper())?;
            }
        }
        Ok(())
    }

    /// Properties that no part of a schema knows. Where the schema says that it takes others too, there are none.
    fn strangers(&mut self, schema: &'s Value, fields: &Map<String, Value>, spot: Spot<'_>) -> Result<(), OffSchema> {
        let mut parts = Vec::new();
        self.parts(schema, spot.depth, &mut parts);
        let open = |part: &&Map<String, Value>| {
            let says = |name: &str| matches!(part.get(name), Some(Value::Bool(true) | Value::Object(_)));
            says("additionalProperties") || says("unevaluatedProperties") || leads_away(part)
        };
        let names_none = || !parts.iter().any(|part| part.contains_key("properties") || closes(part));
        if parts.iter().any(open) || (!spot.closed && names_none()) {
            return Ok(());
        }
        let known = |name: &str| {
            parts.iter().any(|part| {
                property(part, name).is_some()
                    || patterns(part).any(|(pattern, _)| matches(pattern, name).unwrap_or(true))
            })
        };
        match fields.keys().find(|name| !known(name)) {
            Some(name) => spot.below(name).off("an argument that the approved schema does not know"),
            None => Ok(()),
        }
    }

    /// A schema and everything that it is combined from.
    fn parts(&mut self, schema: &'s Value, depth: usize, parts: &mut Vec<&'s Map<String, Value>>) {
        self.steps += 1;
        let Value::Object(object) = schema else { return };
        if self.steps > MOST_STEPS || depth > DEEPEST || parts.iter().any(|part| std::ptr::eq(*part, object)) {
            return;
        }
        parts.push(object);
        let listed = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|name| branches(object, name));
        let single = ["if", "then", "else"].into_iter().filter_map(|name| object.get(name));
        let dependent = object.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values);
        for part in listed.chain(single).chain(dependent).chain(self.target(object)) {
            self.parts(part, depth + 1, parts);
        }
    }

    /// Where a `$ref` within the schema leads.
    fn target(&self, schema: &Map<String, Value>) -> Option<&'s Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer)
    }
}

/// Whether a `$ref` leads out of the schema: what is there is not known.
fn leads_away(schema: &Map<String, Value>) -> bool {
    let reference = schema.get("$ref").and_then(Value::as_str);
    reference.is_some_and(|reference| !(reference == "#" || reference.starts_with("#/")))
        || schema.contains_key("$dynamicRef")
}

fn closes(schema: &Map<String, Value>) -> bool {
    let says = |name: &str| schema.get(name) == Some(&Value::Bool(false));
    says("additionalProperties") || says("unevaluatedProperties")
}

fn property<'s>(schema: &'s Map<String, Value>, name: &str) -> Option<&'s Value> {
    schema.get("properties")?.get(name)
}

fn patterns(schema: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    patterns.into_iter().flatten().map(|(pattern, schema)| (pattern.as_str(), schema))
}

fn branches<'s>(schema: &'s Map<String, Value>, name: &str) -> impl Iterator<Item = &'s Value> + use<'s> {
    schema.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// Whether a text fits a pattern; `None` where the pattern is written for another engine.
fn matches(pattern: &str, text: &str) -> Option<bool> {
    Regex::new(pattern).ok().map(|pattern| pattern.is_match(text))
}

fn bound(schema: &Map<String, Value>, name: &str) -> Option<f64> {
    schema.get(name).and_then(Value::as_f64)
}

/// `type`, `enum` and `const`.
fn kind(schema: &Map<String, Value>, value: &Value, spot: Spot<'_>) -> Result<(), OffSchema> {
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
    let same = |known: &Value| match (known.as_f64(), value.as_f64()) {
        (Some(known), Some(value)) => known == value,
        _ => known == value,
    };
    let listed = schema.get("enum").and_then(Value::as_array).is_none_or(|known| known.iter().any(same));
    if listed && schema.get("const").is_none_or(same) {
        return Ok(());
    }
    spot.off("an argument has a value that the approved schema does not list")
}

fn string(schema: &Map<String, Value>, text: &str, spot: Spot<'_>) -> Result<(), OffSchema> {
    let length = text.chars().count() as f64;
    if bound(schema, "minLength").is_some_and(|least| length < least) {
        return spot.off("a text is shorter than the approved schema asks for");
    }
    if bound(schema, "maxLength").is_some_and(|most| length > most) {
        return spot.off("a text is longer than the approved schema takes");
    }
    let pattern = schema.get("pattern").and_then(Value::as_str);
    if pattern.and_then(|pattern| matches(pattern, text)) == Some(false) {
        return spot.off("a text is not of the form that the approved schema asks for");
    }
    Ok(())
}

fn number(schema: &Map<String, Value>, number: f64, spot: Spot<'_>) -> Result<(), OffSchema> {
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
    Ok(())
}

#[cfg(test)]
mod tests;
