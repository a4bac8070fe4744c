//! Checks arguments against the approved input schema. An argument that the schema does not declare is a mismatch: it
//! means that the model was shown another schema.
//!
//! The check has a step budget, because the server wrote the schema; the `jsonschema` crate has none. Unknown keywords
//! are ignored, and a check that exceeds the budget is a mismatch. The tests compare the result with that of
//! `jsonschema`: wherever both decide, this check is at least as strict.

mod format;
mod keyword;
mod scalar;
mod pattern;

use keyword::{branches, forbids_others, has_external_ref, members, patterns, property, require};
use pattern::{PatternBudget, PatternMatch};
use scalar::{all_distinct, bound};
use serde_json::{Map, Value};
use std::fmt;

/// Schemas that one check visits.
const MAX_STEPS: usize = 20_000;

/// Nested schemas that one check follows.
const MAX_DEPTH: usize = 96;

/// Why arguments do not match a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaMismatch {
    what: &'static str,
    /// The top-level argument, as written in the call.
    pub name: String,
}

impl fmt::Display for SchemaMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }
}

/// Checks the arguments of a call against the input schema of the approved tool.
pub fn check(schema: &Value, arguments: &Value) -> Result<(), SchemaMismatch> {
    let mut checker = SchemaChecker::new(schema);
    let at = Location { name: "", depth: 0, closed: true, standard: false };
    checker.check_value(schema, arguments, at)?;
    // INVARIANT: an exceeded budget is a mismatch, also below a `not`, which inverts the result.
    if checker.exceeded { at.mismatch(BUDGET_EXCEEDED) } else { Ok(()) }
}

const BUDGET_EXCEEDED: &str = "checking it against the approved schema takes too many steps";
const UNKNOWN_ARGUMENT: &str = "an argument that the approved schema does not know";

/// A position in the arguments, and how undeclared properties are treated there.
#[derive(Clone, Copy)]
struct Location<'a> {
    /// The top-level argument.
    name: &'a str,
    depth: usize,
    /// Whether a schema that declares no properties allows none.
    closed: bool,
    /// Whether undeclared properties are allowed by default, as in the standard. This applies below `not`, `if`,
    /// `oneOf` and `contains`, where a stricter check of a part would make the whole check weaker.
    standard: bool,
}

impl<'a> Location<'a> {
    fn mismatch(self, what: &'static str) -> Result<(), SchemaMismatch> {
        Err(SchemaMismatch { what, name: self.name.to_owned() })
    }

    fn member(self, name: &'a str) -> Self {
        let name = if self.name.is_empty() { name } else { self.name };
        Location { name, depth: self.depth + 1, closed: false, ..self }
    }

    fn deeper(self) -> Self {
        Location { depth: self.depth + 1, ..self }
    }

    fn by_standard(self) -> Self {
        Location { standard: true, ..self.deeper() }
    }
}

struct SchemaChecker<'s> {
    root: &'s Value,
    steps: usize,
    patterns: PatternBudget,
    /// The budget was exceeded.
    exceeded: bool,
}

impl<'s> SchemaChecker<'s> {
    fn new(root: &'s Value) -> Self {
        SchemaChecker { root, steps: 0, patterns: PatternBudget::new(), exceeded: false }
    }

    fn check_value(&mut self, schema: &'s Value, value: &Value, at: Location<'_>) -> Result<(), SchemaMismatch> {
        self.check_shape(schema, value, at)?;
        if let Value::Object(fields) = value
            && !at.standard
        {
            self.check_unknown_properties(schema, fields, at)?;
        }
        Ok(())
    }

    /// Counts a step, and returns whether the budget is exceeded.
    fn exceeds_budget(&mut self, depth: usize) -> bool {
        self.steps += 1;
        self.exceeded |= self.steps > MAX_STEPS || depth > MAX_DEPTH;
        self.exceeded
    }

    /// Whether a text matches a pattern. A pattern in unsupported syntax matches everything.
    fn matches_pattern(&mut self, pattern: &str, text: &str) -> bool {
        let result = self.patterns.match_pattern(pattern, text);
        self.exceeded |= result == PatternMatch::TooExpensive;
        result != PatternMatch::Differs
    }

    /// Whether a value matches by the standard, which allows undeclared properties by default.
    fn matches_by_standard(&mut self, schema: &'s Value, value: &Value, at: Location<'_>) -> bool {
        self.check_shape(schema, value, at.by_standard()).is_ok()
    }

    /// Checks everything except undeclared properties.
    fn check_shape(&mut self, schema: &'s Value, value: &Value, at: Location<'_>) -> Result<(), SchemaMismatch> {
        if self.exceeds_budget(at.depth) {
            return at.mismatch(BUDGET_EXCEEDED);
        }
        let object = match schema {
            Value::Bool(false) => return at.mismatch("the approved schema takes nothing here"),
            Value::Object(object) => object,
            Value::Null | Value::Bool(true) | Value::Number(_) | Value::String(_) | Value::Array(_) => return Ok(()),
        };
        if let Some(target) = self.resolve_ref(object) {
            self.check_shape(target, value, at.deeper())?;
        }
        if object.get("nullable") == Some(&Value::Bool(true)) && value.is_null() {
            return Ok(());
        }
        scalar::check_type(object, value, at)?;
        match value {
            Value::String(text) => {
                scalar::check_string(object, text, at)?;
                let pattern = object.get("pattern").and_then(Value::as_str);
                if pattern.is_some_and(|pattern| !self.matches_pattern(pattern, text)) {
                    return at.mismatch("a text is not of the form that the approved schema asks for");
                }
            }
            Value::Number(number) => scalar::check_number(object, number, at)?,
            Value::Array(items) => self.check_array(object, items, at)?,
            Value::Object(fields) => {
                self.check_object(object, fields, at)?;
                self.check_dependencies(object, fields, value, at)?;
            }
            Value::Null | Value::Bool(_) => {}
        }
        self.check_combinators(object, value, at)
    }

    fn check_array(
        &mut self,
        schema: &'s Map<String, Value>,
        items: &[Value],
        at: Location<'_>,
    ) -> Result<(), SchemaMismatch> {
        let count = items.len() as f64;
        if bound(schema, "minItems").is_some_and(|least| count < least) {
            return at.mismatch("a list has fewer items than the approved schema asks for");
        }
        if bound(schema, "maxItems").is_some_and(|most| count > most) {
            return at.mismatch("a list has more items than the approved schema takes");
        }
        // Before draft 2020-12, `items` could be a list of schemas, as `prefixItems` is now.
        let (first, rest) = match (schema.get("prefixItems"), schema.get("items")) {
            (Some(Value::Array(first)), rest) => (first.as_slice(), rest),
            (_, Some(Value::Array(first))) => (first.as_slice(), schema.get("additionalItems")),
            (_, rest) => (&[][..], rest),
        };
        for (nth, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(nth).or(rest) {
                self.check_value(schema, item, at.member(""))?;
            }
        }
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) && !all_distinct(items) {
            return at.mismatch("a list has an item twice, and the approved schema takes none twice");
        }
        let Some(contained) = schema.get("contains") else { return Ok(()) };
        let count = items.iter().filter(|item| self.matches_by_standard(contained, item, at)).count() as f64;
        if count < bound(schema, "minContains").unwrap_or(1.0)
            || bound(schema, "maxContains").is_some_and(|most| count > most)
        {
            return at.mismatch("a list does not hold what the approved schema asks for");
        }
        Ok(())
    }

    fn check_object(
        &mut self,
        schema: &'s Map<String, Value>,
        fields: &Map<String, Value>,
        at: Location<'_>,
    ) -> Result<(), SchemaMismatch> {
        let count = fields.len() as f64;
        if bound(schema, "minProperties").is_some_and(|least| count < least)
            || bound(schema, "maxProperties").is_some_and(|most| count > most)
        {
            return at.mismatch("there are fewer or more properties than the approved schema takes");
        }
        require(branches(schema, "required"), fields, at)?;
        for (name, value) in fields {
            if let Some(names) = schema.get("propertyNames")
                && !self.matches_by_standard(names, &Value::String(name.clone()), at)
            {
                return at.member(name).mismatch("an argument has a name that the approved schema does not take");
            }
            let at = at.member(name);
            let mut known = false;
            if let Some(schema) = property(schema, name) {
                known = true;
                self.check_value(schema, value, at)?;
            }
            for (pattern, schema) in patterns(schema) {
                if self.matches_pattern(pattern, name) {
                    known = true;
                    self.check_value(schema, value, at)?;
                }
            }
            match schema.get("additionalProperties").filter(|_| !known) {
                Some(Value::Bool(false)) => return at.mismatch(UNKNOWN_ARGUMENT),
                Some(schema) => self.check_value(schema, value, at)?,
                None => {}
            }
        }
        Ok(())
    }

    /// Checks `dependentRequired`, `dependentSchemas` and `dependencies`.
    fn check_dependencies(
        &mut self,
        schema: &'s Map<String, Value>,
        fields: &Map<String, Value>,
        whole: &Value,
        at: Location<'_>,
    ) -> Result<(), SchemaMismatch> {
        for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
            for (_, asked) in members(schema, keyword).filter(|(name, _)| fields.contains_key(*name)) {
                match asked.as_array() {
                    Some(names) => require(names.iter(), fields, at)?,
                    None => self.check_shape(asked, whole, at.deeper())?,
                }
            }
        }
        Ok(())
    }

    /// `allOf`, `anyOf`, `oneOf`, `not`, and `if`.
    fn check_combinators(
        &mut self,
        schema: &'s Map<String, Value>,
        value: &Value,
        at: Location<'_>,
    ) -> Result<(), SchemaMismatch> {
        for schema in branches(schema, "allOf") {
            self.check_shape(schema, value, at.deeper())?;
        }
        let mut any = branches(schema, "anyOf").peekable();
        if any.peek().is_some() && !any.any(|schema| self.check_shape(schema, value, at.deeper()).is_ok()) {
            return at.mismatch("it fits none of the forms that the approved schema takes");
        }
        if schema.get("oneOf").is_some_and(Value::is_array) {
            let fitting: Vec<_> =
                branches(schema, "oneOf").filter(|form| self.matches_by_standard(form, value, at)).collect();
            match fitting.as_slice() {
                [form] => self.check_shape(form, value, at.deeper())?,
                [] => return at.mismatch("it fits none of the forms that the approved schema takes"),
                _ => return at.mismatch("it fits several of the forms of which the approved schema takes one"),
            }
        }
        if let Some(not) = schema.get("not")
            && self.matches_by_standard(not, value, at)
        {
            return at.mismatch("it is what the approved schema rules out");
        }
        if let Some(condition) = schema.get("if") {
            let then = if self.matches_by_standard(condition, value, at) { "then" } else { "else" };
            if let Some(then) = schema.get(then) {
                self.check_shape(then, value, at.deeper())?;
            }
        }
        Ok(())
    }

    /// Rejects properties that no part of a schema declares, unless the schema explicitly allows others.
    fn check_unknown_properties(
        &mut self,
        schema: &'s Value,
        fields: &Map<String, Value>,
        at: Location<'_>,
    ) -> Result<(), SchemaMismatch> {
        let mut parts = Vec::new();
        self.collect_parts(schema, at.depth, &mut parts);
        let open = |part: &&Map<String, Value>| {
            let says = |name: &str| matches!(part.get(name), Some(Value::Bool(true) | Value::Object(_)));
            says("additionalProperties") || says("unevaluatedProperties") || has_external_ref(part)
        };
        let declares_none = || !parts.iter().any(|part| part.contains_key("properties") || forbids_others(part));
        if parts.iter().any(open) || (!at.closed && declares_none()) {
            return Ok(());
        }
        let mut known = |name: &str| {
            parts.iter().any(|part| {
                property(part, name).is_some() || patterns(part).any(|(pattern, _)| self.matches_pattern(pattern, name))
            })
        };
        match fields.keys().find(|name| !known(name)) {
            Some(name) => at.member(name).mismatch(UNKNOWN_ARGUMENT),
            None => Ok(()),
        }
    }

    /// Collects a schema and everything that it is combined from.
    fn collect_parts(&mut self, schema: &'s Value, depth: usize, parts: &mut Vec<&'s Map<String, Value>>) {
        let Value::Object(object) = schema else { return };
        if parts.iter().any(|part| std::ptr::eq(*part, object)) || self.exceeds_budget(depth) {
            return;
        }
        parts.push(object);
        let listed = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|name| branches(object, name));
        let single = ["if", "then", "else"].into_iter().filter_map(|name| object.get(name));
        let dependent = ["dependentSchemas", "dependencies"].into_iter().flat_map(|name| members(object, name));
        for part in listed.chain(single).chain(dependent.map(|(_, part)| part)).chain(self.resolve_ref(object)) {
            self.collect_parts(part, depth + 1, parts);
        }
    }

    /// The target of a `$ref` within the schema.
    fn resolve_ref(&self, schema: &Map<String, Value>) -> Option<&'s Value> {
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
