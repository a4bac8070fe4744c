//! Pins: what a person has approved of a server, and the one way to approve it.

use super::{Hash, Identity, Instructions, InvalidTool, Observed, Subject};
use crate::encoding::canonical::{CanonicalError, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use time::OffsetDateTime;

/// What a person has approved of one server, and what is blocked of it.
///
/// Approvals come in by [`Pin::approve`] alone, which takes an [`Approval`], which only a confirmed [`Proposal`] is.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    pub(super) server: String,
    pub(super) approved: Option<Approved>,
    pub(super) blocked: bool,
    /// The approved objects by the name of the tool.
    pub(super) tools: BTreeMap<String, Value>,
    pub(super) blocked_tools: BTreeSet<String>,
}

/// What was approved of the server itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Approved {
    pub(super) at: OffsetDateTime,
    pub(super) identity: Option<Identity>,
    pub(super) instructions: Option<String>,
}

impl Pin {
    /// A pin that approves nothing.
    pub fn new(server: &str) -> Pin {
        Pin {
            server: server.to_owned(),
            approved: None,
            blocked: false,
            tools: BTreeMap::new(),
            blocked_tools: BTreeSet::new(),
        }
    }

    /// The server's configured name.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Whether a person has ever approved the server itself.
    pub fn is_approved(&self) -> bool {
        self.approved.is_some()
    }

    /// When something was approved last.
    pub fn at(&self) -> Option<OffsetDateTime> {
        self.approved.as_ref().map(|approved| approved.at)
    }

    /// How the server is started or reached, as approved.
    pub fn identity(&self) -> Option<&Identity> {
        self.approved.as_ref()?.identity.as_ref()
    }

    /// The approved instructions.
    pub fn instructions(&self) -> Option<&str> {
        self.approved.as_ref()?.instructions.as_deref()
    }

    /// The hash of the approved instructions.
    pub fn instructions_hash(&self) -> Option<Hash> {
        self.instructions().map(|text| Hash::of(Subject::Instructions, &Value::String(text.to_owned())))
    }

    /// The approved tools: names and whole objects.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.tools.iter().map(|(name, body)| (name.as_str(), body))
    }

    /// The approved object of a tool.
    pub fn tool(&self, name: &str) -> Option<&Value> {
        self.tools.get(name)
    }

    /// Whether the whole server is blocked.
    pub fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// The tools that are blocked.
    pub fn blocked_tools(&self) -> impl Iterator<Item = &str> {
        self.blocked_tools.iter().map(String::as_str)
    }

    /// Whether a tool is blocked, by itself or with its server.
    pub fn blocks(&self, tool: &str) -> bool {
        self.blocked || self.blocked_tools.contains(tool)
    }

    /// Blocks a tool, or the server where none is named.
    pub fn block(&mut self, tool: Option<&str>) {
        match tool {
            Some(tool) => drop(self.blocked_tools.insert(tool.to_owned())),
            None => self.blocked = true,
        }
    }

    /// Takes a block back; what was approved before is approved as before.
    pub fn unblock(&mut self, tool: Option<&str>) {
        match tool {
            Some(tool) => drop(self.blocked_tools.remove(tool)),
            None => self.blocked = false,
        }
    }

    /// Takes in what a person has confirmed.
    pub fn approve(&mut self, approval: Approval, at: OffsetDateTime) {
        let Proposal { server: _, identity, instructions, tools } = approval.0;
        let at = at.replace_nanosecond(0).unwrap_or(at);
        self.approved = Some(Approved { at, identity, instructions });
        self.tools.extend(tools);
    }
}

/// What a person is asked to approve: exactly what will be pinned, and nothing that is looked up later.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    server: String,
    identity: Option<Identity>,
    instructions: Option<String>,
    tools: BTreeMap<String, Value>,
}

/// A proposal that a person has confirmed.
#[derive(Debug)]
pub struct Approval(Proposal);

/// What was typed is not the hash of what was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch;

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("that is not the hash of what was shown")
    }
}

impl std::error::Error for Mismatch {}

/// Why something cannot be proposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The server, or the tool, is blocked.
    Blocked,
    /// The server does not serve such a tool.
    NoTool,
    /// The tool cannot be pinned.
    Tool(InvalidTool),
    /// The instructions cannot be pinned.
    Instructions(CanonicalError),
    /// The server itself has changed: one of its tools cannot be approved without it.
    ServerChanged,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Blocked => f.write_str("it is blocked"),
            Unfit::NoTool => f.write_str("the server has no tool of this name"),
            Unfit::Tool(flaw) => write!(f, "it cannot be pinned: {flaw}"),
            Unfit::Instructions(fault) => write!(f, "the server's instructions cannot be pinned: {fault}"),
            Unfit::ServerChanged => f.write_str("the server itself has changed, and is approved as a whole"),
        }
    }
}

impl std::error::Error for Unfit {}

impl Proposal {
    /// What would be approved of a server as it was observed: one tool, or all that can be pinned and are not blocked.
    ///
    /// `live` is how the client starts or reaches the server now; where that is not known, what was observed counts.
    pub fn of(
        pin: Option<&Pin>,
        observed: &Observed,
        live: Option<&Identity>,
        tool: Option<&str>,
    ) -> Result<Proposal, Unfit> {
        let blocks = |name: &str| pin.is_some_and(|pin| pin.blocks(name));
        if pin.is_some_and(Pin::is_blocked) {
            return Err(Unfit::Blocked);
        }
        let instructions = match observed.instructions() {
            Instructions::None => None,
            Instructions::Text(text) => Some(text.clone()),
            Instructions::Unreadable(fault) => return Err(Unfit::Instructions(*fault)),
        };
        let identity = live.or(observed.identity()).cloned();
        let tools = match tool {
            None => {
                let fit = observed.tools().iter().filter(|tool| !blocks(tool.name()));
                fit.filter_map(|tool| Some((tool.name().to_owned(), tool.body().ok()?.clone()))).collect()
            }
            Some(name) => {
                let tool = observed.tool(name).ok_or(Unfit::NoTool)?;
                if blocks(name) {
                    return Err(Unfit::Blocked);
                }
                let same =
                    |pin: &Pin| pin.identity() == identity.as_ref() && pin.instructions() == instructions.as_deref();
                if pin.is_some_and(|pin| pin.is_approved() && !same(pin)) {
                    return Err(Unfit::ServerChanged);
                }
                BTreeMap::from([(name.to_owned(), tool.body().map_err(Unfit::Tool)?.clone())])
            }
        };
        Ok(Proposal { server: observed.server().to_owned(), identity, instructions, tools })
    }

    /// The tools that would be approved: names and whole objects.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.tools.iter().map(|(name, body)| (name.as_str(), body))
    }

    /// How the server is started or reached.
    pub fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }

    /// The instructions that would be approved.
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// The hash of everything that would be approved.
    pub fn hash(&self) -> Hash {
        let text = |text: &Option<String>| text.clone().map_or(Value::Null, Value::String);
        let hash = |body: &Value| Value::String(Hash::of(Subject::Tool, body).to_string());
        let tools = self.tools.iter().map(|(name, body)| (name.clone(), hash(body)));
        // What we write ourselves can be read: an identity has texts only.
        let identity = self.identity.as_ref().map(Value::of).transpose().ok().flatten().unwrap_or(Value::Null);
        let all = [
            ("server".to_owned(), Value::String(self.server.clone())),
            ("identity".to_owned(), identity),
            ("instructions".to_owned(), text(&self.instructions)),
            ("tools".to_owned(), Value::object(tools)),
        ];
        Hash::of(Subject::Proposal, &Value::object(all))
    }

    /// Approves it, if what was typed is the hash of it, short or whole.
    pub fn confirm(self, typed: &str) -> Result<Approval, Mismatch> {
        let (hash, typed) = (self.hash(), typed.trim());
        if typed == hash.short() || typed == hash.to_string() { Ok(Approval(self)) } else { Err(Mismatch) }
    }
}
