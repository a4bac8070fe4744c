//! The observed record: what a server last served, and how it was observed.

use super::protocol::Served;
use super::tool::sanitize_name;
use super::{Hash, HashSubject, Identity, InvalidTool, Tool};
use crate::encoding::canonical::{CanonicalError, Value};
use crate::verdict::limits::MCP_TOOL_BYTES;
use serde::{Deserialize, Serialize};
use std::fmt;
use time::OffsetDateTime;

/// How an observation was made, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A list was imported from a file.
    Import,
    /// `rune mcp probe` asked the server, which may answer differently than to the client.
    Probe,
    /// `rune mcp wrap` relayed what the client was served.
    Wrap,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Import => "import",
            Source::Probe => "probe",
            Source::Wrap => "wrap",
        })
    }
}

/// The instructions that a server adds to every session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// There are none.
    None,
    /// Their text.
    Text(String),
    /// They have no canonical form, or are too long, and cannot be pinned.
    Unreadable(InvalidTool),
}

impl Instructions {
    fn read(raw: Option<&[u8]>) -> Instructions {
        match raw.map(Value::read) {
            None | Some(Ok(Value::Null)) => Instructions::None,
            Some(Ok(Value::String(text))) if text.len() > MCP_TOOL_BYTES.most => {
                Instructions::Unreadable(InvalidTool::TooLarge)
            }
            Some(Ok(Value::String(text))) => Instructions::Text(text),
            Some(Ok(_)) => Instructions::Unreadable(InvalidTool::Form(CanonicalError::Broken)),
            Some(Err(fault)) => Instructions::Unreadable(InvalidTool::Form(fault)),
        }
    }

    /// Their hash, if there are any.
    pub fn hash(&self) -> Result<Option<Hash>, InvalidTool> {
        match self {
            Instructions::None => Ok(None),
            Instructions::Text(text) => Ok(Some(Hash::of(HashSubject::Instructions, &Value::String(text.clone())))),
            Instructions::Unreadable(fault) => Err(*fault),
        }
    }
}

/// What a server served, and how it was observed.
#[derive(Clone, Debug)]
pub struct Observation<'a> {
    /// The server's configured name.
    pub server: &'a str,
    /// How the observation was made.
    pub source: Source,
    /// When the server was observed.
    pub at: OffsetDateTime,
    /// How the client starts or reaches it; `None` if it is not configured.
    pub identity: Option<Identity>,
    /// What it served.
    pub served: &'a Served,
    /// The client capabilities that were declared to the server, as JSON; some servers list tools depending on them.
    pub capabilities: Option<&'a str>,
}

/// What a server last served. It is only built from the served bytes, so its hashes always match its content.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    pub(super) server: String,
    pub(super) source: Source,
    pub(super) at: OffsetDateTime,
    pub(super) identity: Option<Identity>,
    pub(super) instructions: Instructions,
    pub(super) info: Option<Value>,
    pub(super) protocol: Option<String>,
    pub(super) capabilities: Option<Value>,
    pub(super) tools: Vec<Tool>,
    pub(super) prompts: Vec<Value>,
}

impl Observed {
    /// Builds the record. It never fails: what cannot be pinned is recorded as unpinnable.
    pub fn new(observation: Observation<'_>) -> Observed {
        let Observation { server, source, at, identity, served, capabilities } = observation;
        // These members are only shown, so they are dropped if they have no canonical form or are too large.
        let is_small = |raw: &&[u8]| raw.len() <= MCP_TOOL_BYTES.most;
        let informative = |raw: Option<&[u8]>| raw.filter(is_small).and_then(|raw| Value::read(raw).ok());
        let prompt_bytes: usize = served.prompts.iter().map(Vec::len).sum();
        let prompts = served.prompts.iter().filter(|_| prompt_bytes <= MCP_TOOL_BYTES.most);
        Observed {
            server: server.to_owned(),
            source,
            // Records have a resolution of one second.
            at: at.replace_nanosecond(0).unwrap_or(at),
            identity,
            instructions: Instructions::read(served.instructions.as_deref()),
            info: informative(served.info.as_deref()),
            protocol: served.protocol.clone(),
            capabilities: informative(capabilities.map(str::as_bytes)),
            tools: distinct(served.tools.iter().map(|raw| Tool::read(raw)).collect()),
            prompts: prompts.filter_map(|raw| Value::read(raw).ok()).collect(),
        }
    }

    /// Whether this record may replace a known one: a weaker source replaces a stronger one only if the server's
    /// identity has changed.
    pub fn replaces(&self, known: &Observed) -> bool {
        self.source >= known.source || self.identity.is_some() && self.identity != known.identity
    }

    /// Whether another observation by the same source differs in nothing but its time.
    pub fn is_same_as(&self, other: &Observed) -> bool {
        *self == Observed { at: self.at, ..other.clone() }
    }

    /// The server's configured name.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// How the observation was made.
    pub fn source(&self) -> Source {
        self.source
    }

    /// When the server was observed.
    pub fn at(&self) -> OffsetDateTime {
        self.at
    }

    /// How the client starts or reaches it.
    pub fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }

    /// Its instructions.
    pub fn instructions(&self) -> &Instructions {
        &self.instructions
    }

    /// Its tools, sorted by name.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name() == name)
    }
}

/// Sorts tools by name, and marks those that a client cannot distinguish as unpinnable.
fn distinct(mut tools: Vec<Tool>) -> Vec<Tool> {
    tools.sort_by(|one, other| one.name().cmp(other.name()));
    let mut unique: Vec<Tool> = Vec::with_capacity(tools.len());
    for tool in tools {
        match unique.last_mut() {
            Some(known) if known.name() == tool.name() && tool.body() == Err(InvalidTool::Nameless) => {}
            Some(known) if known.name() == tool.name() => known.mark_duplicate(),
            _ => unique.push(tool),
        }
    }
    let mut names: Vec<(String, usize)> =
        unique.iter().enumerate().map(|(index, tool)| (sanitize_name(tool.name()), index)).collect();
    names.sort();
    let duplicates = names.chunk_by(|(one, _), (other, _)| one == other).filter(|group| group.len() > 1);
    for (_, index) in duplicates.flatten() {
        if let Some(tool) = unique.get_mut(*index) {
            tool.mark_duplicate();
        }
    }
    unique
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/observed.rs"]
mod tests;
