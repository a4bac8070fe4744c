//! Tools as they are served: the whole object, and its hash.

use super::{Hash, Subject};
use crate::encoding::canonical::{CanonicalError, Value};
use crate::encoding::json::Fields;
use std::fmt;

/// One tool of a server, or one that cannot be pinned.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    name: String,
    body: Result<Value, InvalidTool>,
    /// What could not be read, as far as it is text.
    raw: String,
}

/// Why a tool cannot be pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InvalidTool {
    /// Its text has no canonical form.
    Form(CanonicalError),
    /// It is no object with a name.
    Nameless,
    /// The server has another one of the same name, as clients write names.
    Twice,
}

/// Characters of an unreadable tool that are kept to be shown.
const MOST_RAW: usize = 64 << 10;

impl Tool {
    /// The tool in one element of a `tools/list` answer.
    pub fn read(raw: &[u8]) -> Tool {
        let body = Value::read(raw).map_err(InvalidTool::Form);
        let name = body.as_ref().ok().and_then(|value| value.get("name")?.text().map(str::to_owned));
        match (body, name.filter(|name| !name.is_empty())) {
            (Ok(body), Some(name)) => Tool { name, body: Ok(body), raw: String::new() },
            (Ok(_), None) => Tool::flawed(raw, InvalidTool::Nameless),
            (Err(flaw), _) => Tool::flawed(raw, flaw),
        }
    }

    fn flawed(raw: &[u8], flaw: InvalidTool) -> Tool {
        let fields = Fields::read(raw);
        // Which one of two names counts is the client's secret: the first one is as good as any to tell it by.
        let name =
            fields.iter().find(|(name, _)| *name == "name").and_then(|(_, raw)| crate::encoding::json::Text::read(raw));
        let name = name.map(|name| name.text).unwrap_or_default();
        Tool { name, body: Err(flaw), raw: String::from_utf8_lossy(raw).chars().take(MOST_RAW).collect() }
    }

    /// The tool of a record.
    pub(super) fn recorded(name: String, body: Result<Value, InvalidTool>, raw: String) -> Tool {
        Tool { name, body, raw }
    }

    /// The same name is there once more.
    pub(super) fn doubled(&mut self) {
        if let Ok(body) = &self.body {
            self.raw = body.to_string().chars().take(MOST_RAW).collect();
        }
        self.body = Err(InvalidTool::Twice);
    }

    /// Its name, as the server writes it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name, as it stands behind the server's in the name that a client calls it by.
    pub fn folded(&self) -> String {
        fold(&self.name)
    }

    /// The whole object as it is served.
    pub fn body(&self) -> Result<&Value, InvalidTool> {
        self.body.as_ref().map_err(|flaw| *flaw)
    }

    /// What could not be read of it, to be shown to a person after it was made harmless.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The hash of the whole object.
    pub fn hash(&self) -> Result<Hash, InvalidTool> {
        self.body().map(|body| Hash::of(Subject::Tool, body))
    }
}

/// The client turns what a tool name may not hold into `_`.
pub(crate) fn fold(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect()
}

impl InvalidTool {
    /// Every flaw, for tables and tests.
    pub fn all() -> impl Iterator<Item = InvalidTool> {
        CanonicalError::ALL.into_iter().map(InvalidTool::Form).chain([InvalidTool::Nameless, InvalidTool::Twice])
    }

    /// Its name in records.
    pub fn word(self) -> &'static str {
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
        }
    }

    /// The flaw of this name.
    pub fn named(word: &str) -> Option<InvalidTool> {
        InvalidTool::all().find(|flaw| flaw.word() == word)
    }
}

impl fmt::Display for InvalidTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidTool::Form(fault) => fault.fmt(f),
            InvalidTool::Nameless => f.write_str("it has no name"),
            InvalidTool::Twice => f.write_str("the server has two tools of this name"),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/tool.rs"]
mod tests;
