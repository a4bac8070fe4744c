//! Pins: what a person has approved of a server, and the proposal that adds to it.

use super::{Hash, HashSubject, Identity, Instructions, InvalidTool, Observed};
use crate::encoding::canonical::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use time::OffsetDateTime;

/// What a person has approved and blocked of one server.
///
/// Only [`Pin::approve`] adds approvals. It takes an [`Approval`], which only [`Proposal::confirm`] creates.
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
    /// Creates a pin that approves nothing.
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

    /// When something was last approved.
    pub fn at(&self) -> Option<OffsetDateTime> {
        self.approved.as_ref().map(|approved| approved.at)
    }

    /// The approved way to start or reach the server.
    pub fn identity(&self) -> Option<&Identity> {
        self.approved.as_ref()?.identity.as_ref()
    }

    /// The approved instructions.
    pub fn instructions(&self) -> Option<&str> {
        self.approved.as_ref()?.instructions.as_deref()
    }

    /// The hash of the approved instructions.
    pub fn instructions_hash(&self) -> Option<Hash> {
        self.instructions().map(|text| Hash::of(HashSubject::Instructions, &Value::String(text.to_owned())))
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

    /// The blocked tools.
    pub fn blocked_tools(&self) -> impl Iterator<Item = &str> {
        self.blocked_tools.iter().map(String::as_str)
    }

    /// Whether a tool or its whole server is blocked.
    pub fn blocks(&self, tool: &str) -> bool {
        self.blocked || self.blocked_tools.contains(tool)
    }

    /// Blocks a tool, or the whole server if `tool` is `None`.
    pub fn block(&mut self, tool: Option<&str>) {
        match tool {
            Some(tool) => drop(self.blocked_tools.insert(tool.to_owned())),
            None => self.blocked = true,
        }
    }

    /// Removes a block. Earlier approvals take effect again.
    pub fn unblock(&mut self, tool: Option<&str>) {
        match tool {
            Some(tool) => drop(self.blocked_tools.remove(tool)),
            None => self.blocked = false,
        }
    }

    /// Adds what a person has confirmed.
    pub fn approve(&mut self, approval: Approval, at: OffsetDateTime) {
        let Proposal { server: _, identity, instructions, tools } = approval.0;
        let at = at.replace_nanosecond(0).unwrap_or(at);
        self.approved = Some(Approved { at, identity, instructions });
        self.tools.extend(tools);
    }
}

/// What a person is asked to approve. It is complete: nothing is looked up between showing and pinning it.
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

/// Why a server or tool cannot be approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposalError {
    /// The server or the tool is blocked.
    Blocked,
    /// The server has no such tool.
    NoTool,
    /// The tool cannot be pinned.
    Tool(InvalidTool),
    /// The instructions cannot be pinned.
    Instructions(InvalidTool),
    /// The server itself has changed, so a single tool of it cannot be approved.
    ServerChanged,
}

impl fmt::Display for ProposalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProposalError::Blocked => f.write_str("it is blocked"),
            ProposalError::NoTool => f.write_str("the server has no tool of this name"),
            ProposalError::Tool(invalid) => write!(f, "it cannot be pinned: {invalid}"),
            ProposalError::Instructions(fault) => write!(f, "the server's instructions cannot be pinned: {fault}"),
            ProposalError::ServerChanged => f.write_str("the server itself has changed; approve the whole server"),
        }
    }
}

impl std::error::Error for ProposalError {}

impl Proposal {
    /// Proposes one tool of a server, or all tools that can be pinned and are not blocked.
    ///
    /// `configured` is how the client starts or reaches the server now; without it, the observed identity is used.
    pub fn of(
        pin: Option<&Pin>,
        observed: &Observed,
        configured: Option<&Identity>,
        tool: Option<&str>,
    ) -> Result<Proposal, ProposalError> {
        let blocks = |name: &str| pin.is_some_and(|pin| pin.blocks(name));
        if pin.is_some_and(Pin::is_blocked) {
            return Err(ProposalError::Blocked);
        }
        let instructions = match observed.instructions() {
            Instructions::None => None,
            Instructions::Text(text) => Some(text.clone()),
            Instructions::Unreadable(fault) => return Err(ProposalError::Instructions(*fault)),
        };
        let identity = configured.or(observed.identity()).cloned();
        let tools = match tool {
            None => {
                let allowed = observed.tools().iter().filter(|tool| !blocks(tool.name()));
                allowed.filter_map(|tool| Some((tool.name().to_owned(), tool.body().ok()?.clone()))).collect()
            }
            Some(name) => {
                let tool = observed.tool(name).ok_or(ProposalError::NoTool)?;
                if blocks(name) {
                    return Err(ProposalError::Blocked);
                }
                let is_same_server =
                    |pin: &Pin| pin.identity() == identity.as_ref() && pin.instructions() == instructions.as_deref();
                if pin.is_some_and(|pin| pin.is_approved() && !is_same_server(pin)) {
                    return Err(ProposalError::ServerChanged);
                }
                BTreeMap::from([(name.to_owned(), tool.body().map_err(ProposalError::Tool)?.clone())])
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

    /// The hash over everything that would be approved.
    pub fn hash(&self) -> Hash {
        let text = |text: &Option<String>| text.clone().map_or(Value::Null, Value::String);
        let hash = |body: &Value| Value::String(Hash::of(HashSubject::Tool, body).to_string());
        let tools = self.tools.iter().map(|(name, body)| (name.clone(), hash(body)));
        // An identity consists of strings, so it always has a canonical form.
        let identity = self.identity.as_ref().map(Value::of).transpose().ok().flatten().unwrap_or(Value::Null);
        let all = [
            ("server".to_owned(), Value::String(self.server.clone())),
            ("identity".to_owned(), identity),
            ("instructions".to_owned(), text(&self.instructions)),
            ("tools".to_owned(), Value::object(tools)),
        ];
        Hash::of(HashSubject::Proposal, &Value::object(all))
    }

    /// Approves the proposal if `typed` is its hash, in short or full form.
    pub fn confirm(self, typed: &str) -> Option<Approval> {
        let (hash, typed) = (self.hash(), typed.trim());
        (typed == hash.short() || typed == hash.to_string()).then_some(Approval(self))
    }
}
