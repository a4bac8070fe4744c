//! Tools as served: the whole object and its hash.

use super::{Hash, HashSubject};
use crate::encoding::canonical::{CanonicalError, Value};
use crate::encoding::json::{Fields, Text};
use crate::verdict::limits::MCP_TOOL_BYTES;
use std::fmt;

/// One tool of a server, which may be one that cannot be pinned.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    name: String,
    body: Result<Value, InvalidTool>,
    /// The served text of a tool that cannot be pinned, lossily decoded.
    raw: String,
}

/// Why a tool cannot be pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InvalidTool {
    /// It has no canonical form.
    Form(CanonicalError),
    /// It is not an object with a name.
    Nameless,
    /// The server has another tool with the same name in calls.
    Twice,
    /// It is larger than [`MCP_TOOL_BYTES`].
    TooLarge,
}

/// Characters of an unpinnable tool that are kept to be shown.
const MAX_RAW_CHARS: usize = 64 << 10;

impl Tool {
    /// Reads one element of a `tools/list` result.
    pub fn read(raw: &[u8]) -> Tool {
        if raw.len() > MCP_TOOL_BYTES.most {
            return Tool::unpinnable(raw, InvalidTool::TooLarge);
        }
        let body = Value::read(raw).map_err(InvalidTool::Form);
        let name = body.as_ref().ok().and_then(|value| value.get("name")?.text().map(str::to_owned));
        match (body, name.filter(|name| !name.is_empty())) {
            (Ok(body), Some(name)) => Tool { name, body: Ok(body), raw: String::new() },
            (Ok(_), None) => Tool::unpinnable(raw, InvalidTool::Nameless),
            (Err(invalid), _) => Tool::unpinnable(raw, invalid),
        }
    }

    fn unpinnable(raw: &[u8], invalid: InvalidTool) -> Tool {
        let fields = Fields::read(raw);
        // If the name occurs twice, it is unknown which one the client uses; the first only identifies the tool here.
        let name = fields.iter().find(|(name, _)| *name == "name").and_then(|(_, raw)| Text::read(raw));
        let name = name.map(|name| name.text).unwrap_or_default();
        Tool { name, body: Err(invalid), raw: String::from_utf8_lossy(raw).chars().take(MAX_RAW_CHARS).collect() }
    }

    /// Builds a tool from a record.
    pub(super) fn recorded(name: String, body: Result<Value, InvalidTool>, raw: String) -> Tool {
        Tool { name, body, raw }
    }

    /// Marks a tool whose name occurs more than once as unpinnable.
    pub(super) fn mark_duplicate(&mut self) {
        if let Ok(body) = &self.body {
            self.raw = body.to_string().chars().take(MAX_RAW_CHARS).collect();
        }
        self.body = Err(InvalidTool::Twice);
    }

    /// Its name as served.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole object as served.
    pub fn body(&self) -> Result<&Value, InvalidTool> {
        self.body.as_ref().map_err(|invalid| *invalid)
    }

    /// The served text of an unpinnable tool; it has to be escaped before it is shown.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The hash of the whole object.
    pub fn hash(&self) -> Result<Hash, InvalidTool> {
        self.body().map(|body| Hash::of(HashSubject::Tool, body))
    }
}

/// A name as clients write it in calls: characters other than ASCII letters, digits, `_` and `-` become `_`.
pub(crate) fn sanitize_name(name: &str) -> String {
    sanitized(name).collect()
}

/// The characters of [`sanitize_name`].
pub(crate) fn sanitized(name: &str) -> impl Iterator<Item = char> {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' })
}

impl InvalidTool {
    /// Every value.
    pub fn all() -> impl Iterator<Item = InvalidTool> {
        CanonicalError::ALL.into_iter().map(InvalidTool::Form).chain([
            InvalidTool::Nameless,
            InvalidTool::Twice,
            InvalidTool::TooLarge,
        ])
    }

    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            InvalidTool::Form(CanonicalError::Broken) => "broken",
            InvalidTool::Form(CanonicalError::Trailing) => "trailing",
            InvalidTool::Form(CanonicalError::Duplicate) => "duplicate",
            InvalidTool::Form(CanonicalError::Surrogate) => "surrogate",
            InvalidTool::Form(CanonicalError::Number) => "number",
            InvalidTool::Form(CanonicalError::Encoding) => "encoding",
            InvalidTool::Form(CanonicalError::Deep) => "deep",
            InvalidTool::Nameless => "nameless",
            InvalidTool::Twice => "twice",
            InvalidTool::TooLarge => "too-large",
        }
    }

    /// The value of a name in records.
    pub fn from_name(name: &str) -> Option<InvalidTool> {
        InvalidTool::all().find(|invalid| invalid.as_str() == name)
    }
}

impl fmt::Display for InvalidTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidTool::Form(fault) => fault.fmt(f),
            InvalidTool::Nameless => f.write_str("it has no name"),
            InvalidTool::Twice => f.write_str("the server has two tools with this name"),
            InvalidTool::TooLarge => write!(f, "it is larger than {} KB", MCP_TOOL_BYTES.most >> 10),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/tool.rs"]
mod tests;
