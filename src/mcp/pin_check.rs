//! Checks the call of an MCP tool against what a person approved. A call is refused for one reason: the first
//! [`RefusalCode`] that applies.

use super::record_file::{ObservedFile, ObservedHead, PinFile, PinHead, UniqueMap};
use super::status::{self, ChangedPart, Status};
use super::tool::{sanitize_name, sanitized};
use super::{CallTarget, Hash, Identity, InvalidRecord, InvalidTool, Observed, Pin, Tool, ToolHash, schema};
use crate::encoding::label::Label;
use crate::verdict::RuleId;
use serde_json::Value;
use std::collections::BTreeSet;

/// What the runtime has looked up about the server of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinFacts {
    target: CallTarget,
    configured: ConfiguredIdentity,
    pin: RecordFile,
    observed: RecordFile,
    pin_hash: Option<Hash>,
    observed_hash: Option<Hash>,
    /// The approved tool, if the heads of both records show that nothing has changed.
    unchanged_tool: Option<Value>,
    /// Whether a person has approved the server, and not blocked it since.
    server_approved: bool,
}

/// How the client's configuration, as it is now, starts or reaches a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfiguredIdentity {
    /// No configuration names the server.
    Missing,
    /// The identity in its entry.
    Known(Identity),
    /// Its entry, or a file that may contain it, cannot be read.
    Unreadable,
}

/// The file of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordFile {
    /// There is no file.
    Missing,
    /// The file cannot be read, or is not a regular file.
    Unreadable,
    /// No receipt says that a command of this program wrote the file.
    Unauthenticated,
    /// The content of the file.
    Bytes(Vec<u8>),
}

/// Why a call is refused, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefusalCode {
    /// A record cannot be read or was edited.
    LockInvalid,
    /// Two servers have the same name in calls.
    NameCollision,
    /// No configuration and no record names the server.
    ServerUnknown,
    /// The server is blocked.
    ServerBlocked,
    /// The server's configuration or instructions are not the approved ones.
    ServerConfigChanged,
    /// The tool is blocked.
    ToolBlocked,
    /// The tool is not the approved one.
    ToolChanged,
    /// The tool is not approved.
    ToolUnpinned,
    /// The arguments do not match the approved schema.
    ArgsOffSchema,
    /// It is not known what the server serves now.
    PinStale,
}

impl RefusalCode {
    /// Every code, in order of precedence.
    pub const ALL: [RefusalCode; 10] = [
        RefusalCode::LockInvalid,
        RefusalCode::NameCollision,
        RefusalCode::ServerUnknown,
        RefusalCode::ServerBlocked,
        RefusalCode::ServerConfigChanged,
        RefusalCode::ToolBlocked,
        RefusalCode::ToolChanged,
        RefusalCode::ToolUnpinned,
        RefusalCode::ArgsOffSchema,
        RefusalCode::PinStale,
    ];

    /// The code in answers and receipts.
    pub fn as_str(self) -> &'static str {
        self.names().0
    }

    /// The rule that answers with it.
    pub fn rule(self) -> RuleId {
        RuleId::known(self.names().1)
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            RefusalCode::LockInvalid => ("MCP_LOCK_INVALID", "mcp-pin-lock-invalid"),
            RefusalCode::NameCollision => ("MCP_NAME_COLLISION", "mcp-pin-name-collision"),
            RefusalCode::ServerUnknown => ("MCP_SERVER_UNKNOWN", "mcp-pin-server-unknown"),
            RefusalCode::ServerBlocked => ("MCP_SERVER_BLOCKED", "mcp-pin-server-blocked"),
            RefusalCode::ServerConfigChanged => ("MCP_SERVER_CONFIG_CHANGED", "mcp-pin-server-changed"),
            RefusalCode::ToolBlocked => ("MCP_TOOL_BLOCKED", "mcp-pin-tool-blocked"),
            RefusalCode::ToolChanged => ("MCP_TOOL_CHANGED", "mcp-pin-tool-changed"),
            RefusalCode::ToolUnpinned => ("MCP_TOOL_UNPINNED", "mcp-pin-tool-unpinned"),
            RefusalCode::ArgsOffSchema => ("MCP_ARGS_OFF_SCHEMA", "mcp-pin-args"),
            RefusalCode::PinStale => ("MCP_PIN_STALE", "mcp-pin-stale"),
        }
    }
}

/// Whether tools of MCP servers have to be pinned, strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PinPolicy {
    /// Every tool needs a pin.
    Required,
    /// A pin is enforced where there is one.
    WhenPresent,
    /// Pins are ignored.
    Off,
}

/// The result of checking a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinCheck {
    /// No pin applies to the call.
    NotApplicable,
    /// The tool is the approved one, and the arguments match its schema.
    Approved,
    /// The call is refused, for this reason.
    Refused(RefusalCode, String),
}

/// A refusal, as the error of a check.
struct Refusal(RefusalCode, String);

impl Refusal {
    fn new(code: RefusalCode, reason: impl Into<String>) -> Self {
        Refusal(code, reason.into())
    }
}

impl PinFacts {
    /// Builds the facts from what was looked up.
    pub fn new(target: CallTarget, configured: ConfiguredIdentity, pin: RecordFile, observed: RecordFile) -> Self {
        let facts = PinFacts {
            target,
            configured,
            pin,
            observed,
            pin_hash: None,
            observed_hash: None,
            unchanged_tool: None,
            server_approved: false,
        };
        let CallTarget::Tool { server, tool } = &facts.target else { return facts };
        let pin = facts.pin.bytes().and_then(|bytes| PinFile::parse(bytes).ok());
        let observed = facts.observed.bytes().and_then(|bytes| ObservedFile::parse(bytes).ok());
        let first_hash = |tools: &UniqueMap<ToolHash>| tools_called(tools, tool).next().and_then(|(_, hash)| hash.ok());
        let pin_hash = pin.as_ref().and_then(|file| first_hash(&file.head.tools));
        let observed_hash = observed.as_ref().and_then(|file| first_hash(&file.head.tools));
        let is_approved = |head: &PinHead| head.server == *server && head.approved.is_some() && !head.blocked;
        let server_approved = pin.as_ref().is_some_and(|file| is_approved(&file.head));
        let unchanged_tool = pin.zip(observed).and_then(|(pin, observed)| {
            let (name, hash) = unchanged_hash(&pin.head, &observed.head, &facts.configured, server, tool)?;
            pin.tool(name, hash)
        });
        PinFacts { pin_hash, observed_hash, unchanged_tool, server_approved, ..facts }
    }

    /// The approved definition of the called tool, if the server still serves it.
    pub(crate) fn approved_tool(&self) -> Option<&Value> {
        self.unchanged_tool.as_ref()
    }

    /// The hash of the approved definition of the called tool.
    pub(crate) fn pin_hash(&self) -> Option<Hash> {
        self.pin_hash
    }

    /// The hash of the last observed definition of the called tool.
    pub(crate) fn observed_hash(&self) -> Option<Hash> {
        self.observed_hash
    }

    /// Whether a person has approved the server of the call. Whether the call is one of what was approved is for
    /// [`PinFacts::check`].
    pub(crate) fn is_server_approved(&self) -> bool {
        self.server_approved
    }

    /// Checks a call with these arguments.
    pub fn check(&self, policy: PinPolicy, arguments: &[u8]) -> PinCheck {
        self.try_check(policy, arguments).unwrap_or_else(|Refusal(code, reason)| PinCheck::Refused(code, reason))
    }

    fn try_check(&self, policy: PinPolicy, arguments: &[u8]) -> Result<PinCheck, Refusal> {
        for (record, name) in [(&self.pin, "pin"), (&self.observed, "record of what the server serves")] {
            let what = match record {
                RecordFile::Unreadable => "cannot be read",
                RecordFile::Unauthenticated => "is not the one that `rune mcp` wrote last",
                RecordFile::Missing | RecordFile::Bytes(_) => continue,
            };
            return Err(Refusal(RefusalCode::LockInvalid, format!("the {name} of this server {what}")));
        }
        let CallTarget::Tool { server, tool } = &self.target else {
            let reason = "two servers are called by this name, and it cannot be told which one was approved";
            return Err(Refusal::new(RefusalCode::NameCollision, reason));
        };
        if let Some(approved) = &self.unchanged_tool {
            return check_arguments(approved, arguments).map(|()| PinCheck::Approved);
        }
        let pin = self.pin.read(Pin::read, |pin| pin.server() == server)?;
        let observed = self.observed.read(Observed::read, |observed| observed.server() == server)?;
        let blocks = |pin: &Pin| pin.blocks(tool) || pin.blocked_tools().any(|name| sanitize_name(name) == *tool);
        let Some(pin) = pin.filter(|pin| pin.is_approved() || blocks(pin)) else {
            return self.check_unpinned(policy, observed.as_ref());
        };
        self.check_records(&pin, observed.as_ref(), tool, policy, arguments)
    }

    /// Checks a call to a server that is not approved.
    fn check_unpinned(&self, policy: PinPolicy, observed: Option<&Observed>) -> Result<PinCheck, Refusal> {
        match policy {
            PinPolicy::Off | PinPolicy::WhenPresent => Ok(PinCheck::NotApplicable),
            PinPolicy::Required if observed.is_none() && self.configured == ConfiguredIdentity::Missing => {
                Err(Refusal::new(RefusalCode::ServerUnknown, "no configuration and no record names this server"))
            }
            PinPolicy::Required => Err(Refusal::new(RefusalCode::ToolUnpinned, "this server is not approved")),
        }
    }

    /// Checks a call against both records in full.
    fn check_records(
        &self,
        pin: &Pin,
        observed: Option<&Observed>,
        tool: &str,
        policy: PinPolicy,
        arguments: &[u8],
    ) -> Result<PinCheck, Refusal> {
        if pin.is_blocked() {
            return Err(Refusal::new(RefusalCode::ServerBlocked, "the user has blocked this server"));
        }
        if pin.is_approved() {
            self.check_server(pin, observed)?;
        }
        let served = observed.into_iter().flat_map(Observed::tools).map(Tool::name);
        let names = pin.tools().map(|(name, _)| name).chain(pin.blocked_tools()).chain(served);
        let names: BTreeSet<&str> = names.filter(|name| sanitize_name(name) == tool).collect();
        if pin.blocks(tool) || names.iter().any(|name| pin.blocks(name)) {
            return Err(Refusal::new(RefusalCode::ToolBlocked, "the user has blocked this tool"));
        }
        if !pin.is_approved() {
            return self.check_unpinned(policy, observed);
        }
        if names.len() > 1 {
            let reason = "the server has had several tools that are called like this";
            return Err(Refusal::new(RefusalCode::ToolChanged, reason));
        }
        let name = names.into_iter().next().unwrap_or(tool);
        let status = status::tool(Some(pin), observed, name);
        let refusal = match &status {
            Status::Blocked => Some((RefusalCode::ToolBlocked, "the user has blocked this tool".to_owned())),
            Status::Unpinnable(invalid) => {
                Some((RefusalCode::ToolChanged, format!("what the server serves as this tool is invalid: {invalid}")))
            }
            Status::Changed(parts) => {
                let parts = ChangedPart::join(parts);
                Some((RefusalCode::ToolChanged, format!("the tool has changed since the user approved it: {parts}")))
            }
            Status::Pending => {
                Some((RefusalCode::ToolUnpinned, "the user has approved this server, and not this tool".to_owned()))
            }
            Status::Approved(_) | Status::Removed => None,
        };
        if let Some((code, reason)) = refusal {
            return Err(Refusal(code, reason));
        }
        let body: Value = pin
            .tool(name)
            .and_then(|body| serde_json::from_str(&body.to_string()).ok())
            .ok_or_else(|| Refusal::new(RefusalCode::LockInvalid, "the approved tool cannot be read"))?;
        check_arguments(&body, arguments)?;
        match (status, observed) {
            (Status::Removed, Some(_)) => {
                Err(Refusal::new(RefusalCode::PinStale, "the server was last seen without this tool"))
            }
            (_, None) => Err(Refusal::new(RefusalCode::PinStale, "there is no record of what the server serves now")),
            _ => Ok(PinCheck::Approved),
        }
    }

    /// Checks that the server itself is the approved one.
    fn check_server(&self, pin: &Pin, observed: Option<&Observed>) -> Result<(), Refusal> {
        let changed = |reason: String| Err(Refusal(RefusalCode::ServerConfigChanged, reason));
        let configured = match &self.configured {
            ConfiguredIdentity::Unreadable => {
                return changed("the client's configuration cannot be read, so the server is unknown".to_owned());
            }
            ConfiguredIdentity::Missing if pin.identity().is_some() => {
                return changed("the configuration that the user approved this server with is gone".to_owned());
            }
            ConfiguredIdentity::Missing => None,
            ConfiguredIdentity::Known(identity) => Some(identity),
        };
        match status::server(Some(pin), observed, configured) {
            Status::Changed(parts) => {
                changed(format!("the server has changed since the user approved it: {}", ChangedPart::join(&parts)))
            }
            Status::Unpinnable(invalid) => changed(format!("the server's instructions are invalid: {invalid}")),
            Status::Blocked | Status::Pending | Status::Approved(_) | Status::Removed => Ok(()),
        }
    }
}

/// The tools that a client calls by this name.
fn tools_called<'h>(
    tools: &'h UniqueMap<ToolHash>,
    called: &'h str,
) -> impl Iterator<Item = (&'h str, Result<Hash, InvalidTool>)> {
    let tools = tools.0.iter().filter(move |(name, _)| sanitized(name).eq(called.chars()));
    tools.map(|(name, hash)| (name.as_str(), hash.0))
}

/// The name and hash of the called tool if the heads of both records show that everything is as approved. `None` means
/// that the records have to be compared in full, and not that the call is refused.
fn unchanged_hash<'h>(
    pin: &'h PinHead,
    observed: &ObservedHead,
    configured: &ConfiguredIdentity,
    server: &str,
    tool: &'h str,
) -> Option<(&'h str, Hash)> {
    let approved = pin.approved.as_ref()?;
    let configured = match configured {
        ConfiguredIdentity::Unreadable => return None,
        ConfiguredIdentity::Missing => None,
        ConfiguredIdentity::Known(identity) => Some(identity),
    };
    let is_same_server = pin.server == *server
        && observed.server == *server
        && !pin.blocked
        && !pin.blocked_tools.iter().any(|name| sanitize_name(name) == tool)
        && approved.identity.as_ref() == configured
        && (observed.identity.is_none() || observed.identity == approved.identity)
        && approved.instructions.map(Ok) == observed.instructions.map(|hash| hash.0);
    let (name, hash) = only(tools_called(&pin.tools, tool)).filter(|_| is_same_server)?;
    let (observed_name, observed_hash) = only(tools_called(&observed.tools, tool))?;
    if name == observed_name && hash == observed_hash { Some((name, hash.ok()?)) } else { None }
}

/// The item of an iterator that has exactly one.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

impl RecordFile {
    fn bytes(&self) -> Option<&[u8]> {
        match self {
            RecordFile::Bytes(bytes) => Some(bytes),
            RecordFile::Missing | RecordFile::Unreadable | RecordFile::Unauthenticated => None,
        }
    }

    /// Reads a record that is readable or missing, and checks that it is one of the called server.
    fn read<T>(
        &self,
        read: impl FnOnce(&[u8]) -> Result<T, InvalidRecord>,
        is_of_server: impl FnOnce(&T) -> bool,
    ) -> Result<Option<T>, Refusal> {
        let invalid = |reason: String| Err(Refusal(RefusalCode::LockInvalid, reason));
        match self.bytes().map(read) {
            None => Ok(None),
            Some(Ok(record)) if is_of_server(&record) => Ok(Some(record)),
            Some(Ok(_)) => invalid("a record of this server is that of another one".to_owned()),
            Some(Err(error)) => invalid(format!("a record of this server is invalid: {error}")),
        }
    }
}

/// Checks the arguments of a call against the input schema of the approved tool.
fn check_arguments(tool: &Value, arguments: &[u8]) -> Result<(), Refusal> {
    let Ok(arguments) = serde_json::from_slice::<Value>(arguments) else {
        return Err(Refusal::new(RefusalCode::ArgsOffSchema, "the arguments cannot be read"));
    };
    let Some(schema) = tool.get("inputSchema") else { return Ok(()) };
    schema::check(schema, &arguments).map_err(|mismatch| {
        let name = Label::new(&mismatch.name);
        let named = if name.is_empty() { String::new() } else { format!(": `{name}`") };
        Refusal::new(RefusalCode::ArgsOffSchema, format!("{mismatch}{named}"))
    })
}
