//! Arguments against the approved input schema, by our own walk: an argument that the schema does not know means that
//! the model was shown another one.
//!
//! The walk is bounded, needs no network and builds nothing. What it does not know of a schema does not count against
//! the arguments; what it cannot finish does. Where both have an opinion, it is no milder than the `jsonschema` crate,
//! which the tests ask; that one has no bounds, and a schema is a stranger's.

mod format;
mod keyword;
mod leaf;
mod pattern;

use keyword::{branches, closes, leads_away, members, patterns, property, require};
use leaf::{bound, differ};
use pattern::{Fit, Patterns};
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
    let mut walk = Walk::new(schema);
    let spot = Spot { name: "", depth: 0, closed: true, plain: false };
    walk.value(schema, arguments, spot)?;
    // What was given up below a `not` looks as if it did not fit there.
    if walk.lost { spot.off(ENDLESS) } else { Ok(()) }
}

const ENDLESS: &str = "it cannot be checked against the approved schema, which goes on without end";
const STRANGER: &str = "an argument that the approved schema does not know";

/// Where a walk is.
#[derive(Clone, Copy)]
struct Spot<'a> {
    /// The argument that it is about.
    name: &'a str,
    depth: usize,
    /// Whether a schema that names no properties at all has none.
    closed: bool,
    /// Whether properties that no schema names are fine unless it says otherwise, as the standard has it: where fitting
    /// counts against the arguments, being stricter would be milder.
    plain: bool,
}

impl<'a> Spot<'a> {
    fn off(self, what: &'static str) -> Result<(), OffSchema> {
        Err(OffSchema { what, name: self.name.to_owned() })
    }

    fn below(self, name: &'a str) -> Self {
        let name = if self.name.is_empty() { name } else { self.name };
        Spot { name, depth: self.depth + 1, closed: false, ..self }
    }

    fn deeper(self) -> Self {
        Spot { depth: self.depth + 1, ..self }
    }

    fn plainly(self) -> Self {
        Spot { plain: true, ..self.deeper() }
    }
}

struct Walk<'s> {
    root: &'s Value,
    steps: usize,
    patterns: Patterns,
    /// Something was given up.
    lost: bool,
}

impl<'s> Walk<'s> {
    fn new(root: &'s Value) -> Self {
        Walk { root, steps: 0, patterns: Patterns::new(), lost: false }
    }

    fn value(&mut self, schema: &'s Value, value: &Value, spot: Spot<'_>) -> Result<(), OffSchema> {
        self.shape(schema, value, spot)?;
        if let Value::Object(fields) = value
            && !spot.plain
        {
            self.strangers(schema, fields, spot)?;
        }
        Ok(())
    }

    /// Takes a step, unless there were too many.
    fn gives_up(&mut self, depth: usize) -> bool {
        self.steps += 1;
        self.lost |= self.steps > MOST_STEPS || depth > DEEPEST;
        self.lost
    }

    /// Whether a text fits a pattern. What is written for another engine rules nothing out.
    fn matches(&mut self, pattern: &str, text: &str) -> bool {
        let fit = self.patterns.fit(pattern, text);
        self.lost |= fit == Fit::TooMuch;
        fit != Fit::No
    }

    /// Whether a value fits by the standard alone.
    fn fits(&mut self, schema: &'s Value, value: &Value, spot: Spot<'_>) -> bool {
        self.shape(schema, value, spot.plainly()).is_ok()
    }

    /// Everything but whether an object has properties that nobody knows.
    fn shape(&mut self, schema: &'s Value, value: &Value, spot: Spot<'_>) -> Result<(), OffSchema> {
        if self.gives_up(spot.depth) {
            return spot.off(ENDLESS);
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
        leaf::kind(object, value, spot)?;
        match value {
            Value::String(text) => {
                leaf::string(object, text, spot)?;
                let pattern = object.get("pattern").and_then(Value::as_str);
                if pattern.is_some_and(|pattern| !self.matches(pattern, text)) {
                    return spot.off("a text is not of the form that the approved schema asks for");
                }
            }
            Value::Number(number) => leaf::number(object, number, spot)?,
            Value::Array(items) => self.array(object, items, spot)?,
            Value::Object(fields) => {
                self.object(object, fields, spot)?;
                self.dependent(object, fields, value, spot)?;
            }
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
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) && !differ(items) {
            return spot.off("a list has an item twice, and the approved schema takes none twice");
        }
        let Some(contained) = schema.get("contains") else { return Ok(()) };
        let count = items.iter().filter(|item| self.fits(contained, item, spot)).count() as f64;
        if count < bound(schema, "minContains").unwrap_or(1.0)
            || bound(schema, "maxContains").is_some_and(|most| count > most)
        {
            return spot.off("a list does not hold what the approved schema asks for");
        }
        Ok(())
    }

    fn object(
        &mut self,
        schema: &'s Map<String, Value>,
        fields: &Map<String, Value>,
        spot: Spot<'_>,
    ) -> Result<(), OffSchema> {
        let count = fields.len() as f64;
        if bound(schema, "minProperties").is_some_and(|least| count < least)
            || bound(schema, "maxProperties").is_some_and(|most| count > most)
        {
            return spot.off("there are fewer or more properties than the approved schema takes");
        }
        require(branches(schema, "required"), fields, spot)?;
        for (name, value) in fields {
            if let Some(names) = schema.get("propertyNames")
                && !self.fits(names, &Value::String(name.clone()), spot)
            {
                return spot.below(name).off("an argument has a name that the approved schema does not take");
            }
            let spot = spot.below(name);
            let mut known = false;
            if let Some(schema) = property(schema, name) {
                known = true;
                self.value(schema, value, spot)?;
            }
            for (pattern, schema) in patterns(schema) {
                if self.matches(pattern, name) {
                    known = true;
                    self.value(schema, value, spot)?;
                }
            }
            match schema.get("additionalProperties").filter(|_| !known) {
                Some(Value::Bool(false)) => return spot.off(STRANGER),
                Some(schema) => self.value(schema, value, spot)?,
                None => {}
            }
        }
        Ok(())
    }

    /// What the presence of one property asks of the others.
    fn dependent(
        &mut self,
        schema: &'s Map<String, Value>,
        fields: &Map<String, Value>,
        whole: &Value,
        spot: Spot<'_>,
    ) -> Result<(), OffSchema> {
        for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
            for (_, asked) in members(schema, keyword).filter(|(name, _)| fields.contains_key(*name)) {
                match asked.as_array() {
                    Some(names) => require(names.iter(), fields, spot)?,
                    None => self.shape(asked, whole, spot.deeper())?,
                }
            }
        }
        Ok(())
    }

    /// `allOf`, `anyOf`, `oneOf`, `not`, and `if`.
    fn combined(&mut self, schema: &'s Map<String, Value>, value: &Value, spot: Spot<'_>) -> Result<(), OffSchema> {
        for schema in branches(schema, "allOf") {
            self.shape(schema, value, spot.deeper())?;
        }
        let mut any = branches(schema, "anyOf").peekable();
        if any.peek().is_some() && !any.any(|schema| self.shape(schema, value, spot.deeper()).is_ok()) {
            return spot.off("it fits none of the forms that the approved schema takes");
        }
        if schema.get("oneOf").is_some_and(Value::is_array) {
            let fitting: Vec<_> = branches(schema, "oneOf").filter(|form| self.fits(form, value, spot)).collect();
            match fitting.as_slice() {
                [form] => self.shape(form, value, spot.deeper())?,
                [] => return spot.off("it fits none of the forms that the approved schema takes"),
                _ => return spot.off("it fits several of the forms of which the approved schema takes one"),
            }
        }
        if let Some(not) = schema.get("not")
            && self.fits(not, value, spot)
        {
            return spot.off("it is what the approved schema rules out");
        }
        if let Some(condition) = schema.get("if") {
            let then = if self.fits(condition, value, spot) { "then" } else { "else" };
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
        let mut known = |name: &str| {
            parts.iter().any(|part| {
                property(part, name).is_some() || patterns(part).any(|(pattern, _)| self.matches(pattern, name))
            })
        };
        match fields.keys().find(|name| !known(name)) {
            Some(name) => spot.below(name).off(STRANGER),
            None => Ok(()),
        }
    }

    /// A schema and everything that it is combined from.
    fn parts(&mut self, schema: &'s Value, depth: usize, parts: &mut Vec<&'s Map<String, Value>>) {
        let Value::Object(object) = schema else { return };
        if parts.iter().any(|part| std::ptr::eq(*part, object)) || self.gives_up(depth) {
            return;
        }
        parts.push(object);
        let listed = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|name| branches(object, name));
        let single = ["if", "then", "else"].into_iter().filter_map(|name| object.get(name));
        let dependent = ["dependentSchemas", "dependencies"].into_iter().flat_map(|name| members(object, name));
        for part in listed.chain(single).chain(dependent.map(|(_, part)| part)).chain(self.target(object)) {
            self.parts(part, depth + 1, parts);
        }
    }

    /// Where a `$ref` within the schema leads.
    fn target(&self, schema: &Map<String, Value>) -> Option<&'s Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/schema_comparison.rs"]
mod schema_comparison;
#[cfg(test)]
#[path = "../../tests/unit/mcp/schema.rs"]
mod tests;
