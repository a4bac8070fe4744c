//! Observed: what a server was last seen to serve, and by whom.

use super::{Hash, Identity, InvalidTool, Subject, Tool};
use crate::encoding::canonical::{CanonicalError, Value};
use serde::{Deserialize, Serialize};
use std::fmt;
use time::OffsetDateTime;

/// How we know what a server serves, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Somebody handed in a list.
    Import,
    /// We asked the server ourselves; it may tell us other things than it tells the client.
    Probe,
    /// We passed on what the client itself was served.
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

/// The instructions that a server gives to every session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// It gives none.
    None,
    /// These.
    Text(String),
    /// They have no canonical form, so they cannot be pinned.
    Unreadable(CanonicalError),
}

impl Instructions {
    fn read(raw: Option<&[u8]>) -> Instructions {
        match raw.map(Value::read) {
            None | Some(Ok(Value::Null)) => Instructions::None,
            Some(Ok(Value::String(text))) => Instructions::Text(text),
            Some(Ok(_)) => Instructions::Unreadable(CanonicalError::Broken),
            Some(Err(fault)) => Instructions::Unreadable(fault),
        }
    }

    /// Their hash, where there are any.
    pub fn hash(&self) -> Result<Option<Hash>, CanonicalError> {
        match self {
            Instructions::None => Ok(None),
            Instructions::Text(text) => Ok(Some(Hash::of(Subject::Instructions, &Value::String(text.clone())))),
            Instructions::Unreadable(fault) => Err(*fault),
        }
    }
}

/// What a server served, as bytes: each text is JSON as it came over the wire.
#[derive(Clone, Debug)]
pub struct Served<'a> {
    /// The server's configured name, before the client folds it into tool names.
    pub server: &'a str,
    /// How we know.
    pub source: Source,
    /// When it was seen.
    pub at: OffsetDateTime,
    /// How the client starts or reaches it; `None` where no configuration of it is known.
    pub identity: Option<Identity>,
    /// `instructions` of the answer to `initialize`: a JSON string.
    pub instructions: Option<&'a [u8]>,
    /// `serverInfo` of the same answer.
    pub info: Option<&'a [u8]>,
    /// `protocolVersion` of the same answer, as text.
    pub protocol: Option<&'a str>,
    /// The client capabilities that were declared to the server: some serve more tools to those who can do more.
    pub capabilities: Option<&'a [u8]>,
    /// The elements of all pages of `tools/list`.
    pub tools: &'a [&'a [u8]],
    /// The elements of all pages of `prompts/list`.
    pub prompts: &'a [&'a [u8]],
}

/// What a server was last seen to serve. It is only ever made from bytes, so its hashes are those of what it holds.
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
    /// The record of what was served. It never fails: what cannot be pinned is recorded as such.
    pub fn from_served(served: &Served<'_>) -> Observed {
        // What only informs is kept where it can be read.
        let inform = |raw: Option<&[u8]>| raw.and_then(|raw| Value::read(raw).ok());
        Observed {
            server: served.server.to_owned(),
            source: served.source,
            // Records tell seconds.
            at: served.at.replace_nanosecond(0).unwrap_or(served.at),
            identity: served.identity.clone(),
            instructions: Instructions::read(served.instructions),
            info: inform(served.info),
            protocol: served.protocol.map(str::to_owned),
            capabilities: inform(served.capabilities),
            tools: distinct(served.tools.iter().map(|raw| Tool::read(raw)).collect()),
            prompts: served.prompts.iter().filter_map(|raw| Value::read(raw).ok()).collect(),
        }
    }

    /// Whether this record may take the place of a known one: what a stronger source saw stays, as long as it is the
    /// same server that was seen.
    pub fn replaces(&self, known: &Observed) -> bool {
        self.source >= known.source || self.identity.is_some() && self.identity != known.identity
    }

    /// The server's configured name.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// How we know.
    pub fn source(&self) -> Source {
        self.source
    }

    /// When it was seen.
    pub fn at(&self) -> OffsetDateTime {
        self.at
    }

    /// How the client starts or reaches it.
    pub fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }

    /// What it tells every session.
    pub fn instructions(&self) -> &Instructions {
        &self.instructions
    }

    /// Its name and version, in its own words.
    pub fn info(&self) -> Option<&Value> {
        self.info.as_ref()
    }

    /// The version of the protocol that it speaks.
    pub fn protocol(&self) -> Option<&str> {
        self.protocol.as_deref()
    }

    /// The client capabilities that were declared to it.
    pub fn capabilities(&self) -> Option<&Value> {
        self.capabilities.as_ref()
    }

    /// Its tools, by name.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// Its prompts, as far as they can be read.
    pub fn prompts(&self) -> &[Value] {
        &self.prompts
    }
}

/// The tools by name. Those that a client cannot tell apart cannot be pinned.
fn distinct(mut tools: Vec<Tool>) -> Vec<Tool> {
    tools.sort_by(|one, other| one.name().cmp(other.name()));
    let mut apart: Vec<Tool> = Vec::with_capacity(tools.len());
    for tool in tools {
        match apart.last_mut() {
            Some(known) if known.name() == tool.name() && tool.body() == Err(InvalidTool::Nameless) => {}
            Some(known) if known.name() == tool.name() => known.doubled(),
            _ => apart.push(tool),
        }
    }
    let mut folded: Vec<(String, usize)> = apart.iter().enumerate().map(|(at, tool)| (tool.folded(), at)).collect();
    folded.sort();
    let alike = folded.chunk_by(|(one, _), (other, _)| one == other).filter(|group| group.len() > 1);
    for (_, at) in alike.flatten() {
        if let Some(tool) = apart.get_mut(*at) {
            tool.doubled();
        }
    }
    apart
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/observed.rs"]
mod tests;
