//! Canonical JSON (RFC 8785): equal values have equal bytes and equal hashes.
//!
//! Parsing is strict: a text that two parsers could read differently has no canonical form and is a [`CanonicalError`].
//!
//! ```
//! use rune::encoding::canonical::{CanonicalError, Value};
//! let value = Value::read(br#"{ "b": [1.0, "\u00e9"], "a": 1E3 }"#)?;
//! assert_eq!(value.to_string(), r#"{"a":1000,"b":[1,"é"]}"#);
//! assert_eq!(Value::read(br#"{"a":1,"\u0061":2}"#), Err(CanonicalError::Duplicate));
//! # Ok::<(), CanonicalError>(())
//! ```

mod read;

use serde::Serialize;
use std::cmp::Ordering;
use std::fmt::{self, Write};

/// The maximum nesting depth.
pub const MAX_DEPTH: usize = 128;

/// A JSON value with a canonical form.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A finite number.
    Number(f64),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// The fields of an object in canonical order, without duplicates.
    Object(Vec<(String, Value)>),
}

/// Why a text has no canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CanonicalError {
    /// It is not valid JSON.
    Broken,
    /// There is text after its end.
    Trailing,
    /// A field occurs twice.
    Duplicate,
    /// It escapes half of a surrogate pair.
    Surrogate,
    /// It contains a number that parsers may round differently.
    Number,
    /// It is not UTF-8.
    Encoding,
    /// It nests deeper than 128 levels.
    Deep,
}

impl CanonicalError {
    /// Every error, for tables and tests.
    pub const ALL: [CanonicalError; 7] = [
        CanonicalError::Broken,
        CanonicalError::Trailing,
        CanonicalError::Duplicate,
        CanonicalError::Surrogate,
        CanonicalError::Number,
        CanonicalError::Encoding,
        CanonicalError::Deep,
    ];
}

impl fmt::Display for CanonicalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CanonicalError::Broken => "it is not valid JSON",
            CanonicalError::Trailing => "there is text after its end",
            CanonicalError::Duplicate => "it names a field twice",
            CanonicalError::Surrogate => "it escapes half of a surrogate pair",
            CanonicalError::Number => "it has a number that cannot be kept exactly",
            CanonicalError::Encoding => "it is not UTF-8",
            CanonicalError::Deep => "it nests deeper than 128 levels",
        })
    }
}

impl std::error::Error for CanonicalError {}

impl Value {
    /// Parses a JSON text.
    pub fn read(text: &[u8]) -> Result<Value, CanonicalError> {
        read::read(text)
    }

    /// The canonical value of a serialisable value.
    pub fn of(value: &impl Serialize) -> Result<Value, CanonicalError> {
        Value::read(&serde_json::to_vec(value).map_err(|_| CanonicalError::Broken)?)
    }

    /// The field of this name; `None` if there is none or the value is not an object.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.fields().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The fields of an object; empty for any other value.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        let fields = if let Value::Object(fields) = self { fields.as_slice() } else { &[] };
        fields.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The items of an array; empty for any other value.
    pub fn items(&self) -> &[Value] {
        if let Value::Array(items) = self { items } else { &[] }
    }

    /// The text; `None` if the value is not a string.
    pub fn text(&self) -> Option<&str> {
        if let Value::String(text) = self { Some(text) } else { None }
    }

    /// Builds an object. Of duplicate fields, the last one counts.
    pub fn object(fields: impl IntoIterator<Item = (String, Value)>) -> Value {
        let mut sorted: Vec<(String, Value)> = Vec::new();
        for (name, value) in fields {
            match sorted.binary_search_by(|(known, _)| order(known, &name)) {
                Ok(at) => {
                    if let Some(known) = sorted.get_mut(at) {
                        known.1 = value;
                    }
                }
                Err(at) => sorted.insert(at, (name, value)),
            }
        }
        Value::Object(sorted)
    }
}

/// The canonical form of a JSON text.
pub fn canonical(text: &[u8]) -> Result<String, CanonicalError> {
    Value::read(text).map(|value| value.to_string())
}

/// The canonical form of a serialisable value.
pub fn canonical_of(value: &impl Serialize) -> Result<String, CanonicalError> {
    Value::of(value).map(|value| value.to_string())
}

/// RFC 8785, 3.2.3: names are ordered by their UTF-16 code units.
fn order(one: &str, other: &str) -> Ordering {
    one.encode_utf16().cmp(other.encode_utf16())
}

// INVARIANT: a value has at most `MAX_DEPTH` levels, so that the recursion cannot overflow the stack.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Number(number) => f.write_str(ryu_js::Buffer::new().format(*number)),
            Value::String(text) => quote(text, f),
            Value::Array(items) => {
                f.write_char('[')?;
                for (nth, item) in items.iter().enumerate() {
                    if nth > 0 {
                        f.write_char(',')?;
                    }
                    item.fmt(f)?;
                }
                f.write_char(']')
            }
            Value::Object(fields) => {
                f.write_char('{')?;
                for (nth, (name, value)) in fields.iter().enumerate() {
                    if nth > 0 {
                        f.write_char(',')?;
                    }
                    quote(name, f)?;
                    f.write_char(':')?;
                    value.fmt(f)?;
                }
                f.write_char('}')
            }
        }
    }
}

/// RFC 8785, 3.2.2.2: only necessary escapes, in their shortest form.
fn quote(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c < ' ' || matches!(c, '"' | '\\')) {
        let (plain, special) = rest.split_at(at);
        f.write_str(plain)?;
        let mut chars = special.chars();
        match chars.next().unwrap_or_default() {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\u{8}' => f.write_str("\\b")?,
            '\t' => f.write_str("\\t")?,
            '\n' => f.write_str("\\n")?,
            '\u{c}' => f.write_str("\\f")?,
            '\r' => f.write_str("\\r")?,
            control => write!(f, "\\u{:04x}", u32::from(control))?,
        }
        rest = chars.as_str();
    }
    f.write_str(rest)?;
    f.write_char('"')
}

#[cfg(test)]
#[path = "../../tests/unit/encoding/canonical.rs"]
mod tests;
