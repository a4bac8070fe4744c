//! How the call of an MCP tool stands to what a person has approved. One reason for each call, in a fixed order.

use super::status::{self, Part, Status};
use super::tool::fold;
use super::{Hash, Identity, Invalid, Marks, Observed, ObservedHead, Pin, PinHead, Resolved, file, schema};
use crate::encoding::label::Label;
use crate::verdict::RuleId;
use serde_json::Value;
use std::collections::BTreeSet;

/// What the shell has looked up about the server of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The server and the tool that are called.
    resolved: Resolved,
    /// How the client's configuration, as it is now, starts or reaches the server.
    live: Live,
    /// The pin of the server.
    pin: Record,
    /// What the server was last seen to serve.
    observed: Record,
    told: Told,
}

/// What the first lines of both records tell of the called tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// The hash of the approved definition.
    pub pin: Option<Hash>,
    /// The hash of the one that was last seen.
    pub observed: Option<Hash>,
    /// The approved tool, where everything is plainly as approved.
    approved: Option<Value>,
}

/// How a server is configured now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Live {
    /// No configuration that we can read names it.
    Nowhere,
    /// Like this.
    Entry(Identity),
    /// Its entry, or the file that it may stand in, cannot be read.
    Unreadable,
}

/// The file of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// There is none.
    Missing,
    /// There is something that is no file of ours.
    Unreadable,
    /// Its beginning; the rest has not been read.
    Start(Vec<u8>),
    /// Its bytes.
    Bytes(Vec<u8>),
}

/// Why a call does not go on, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// A record cannot be relied upon.
    LockInvalid,
    /// Two servers have one name.
    NameCollision,
    /// Nobody knows the server.
    ServerUnknown,
    /// The server is blocked.
    ServerBlocked,
    /// The server is not started, reached or introduced as it was approved.
    ServerConfigChanged,
    /// The tool is blocked.
    ToolBlocked,
    /// The tool is not the approved one.
    ToolChanged,
    /// Nobody has approved the tool.
    ToolUnpinned,
    /// The arguments do not fit the approved schema.
    ArgsOffSchema,
    /// What the server serves now is not known.
    PinStale,
}

impl Code {
    /// Every code, the strongest first.
    pub const ALL: [Code; 10] = [
        Code::LockInvalid,
        Code::NameCollision,
        Code::ServerUnknown,
        Code::ServerBlocked,
        Code::ServerConfigChanged,
        Code::ToolBlocked,
        Code::ToolChanged,
        Code::ToolUnpinned,
        Code::ArgsOffSchema,
        Code::PinStale,
    ];

    /// The code in answers and receipts.
    pub fn word(self) -> &'static str {
        match self {
            Code::LockInvalid => "MCP_LOCK_INVALID",
            Code::NameCollision => "MCP_NAME_COLLISION",
            Code::ServerUnknown => "MCP_SERVER_UNKNOWN",
            Code::ServerBlocked => "MCP_SERVER_BLOCKED",
            Code::ServerConfigChanged => "MCP_SERVER_CONFIG_CHANGED",
            Code::ToolBlocked => "MCP_TOOL_BLOCKED",
            Code::ToolChanged => "MCP_TOOL_CHANGED",
            Code::ToolUnpinned => "MCP_TOOL_UNPINNED",
            Code::ArgsOffSchema => "MCP_ARGS_OFF_SCHEMA",
            Code::PinStale => "MCP_PIN_STALE",
        }
    }

    /// The rule that answers with it.
    pub fn rule(self) -> RuleId {
        RuleId::known(match self {
            Code::LockInvalid => "mcp-pin-lock-invalid",
            Code::NameCollision => "mcp-pin-name-collision",
            Code::ServerUnknown => "mcp-pin-server-unknown",
            Code::ServerBlocked => "mcp-pin-server-blocked",
            Code::ServerConfigChanged => "mcp-pin-server-changed",
            Code::ToolBlocked => "mcp-pin-tool-blocked",
            Code::ToolChanged => "mcp-pin-tool-changed",
            Code::ToolUnpinned => "mcp-pin-tool-unpinned",
            Code::ArgsOffSchema => "mcp-pin-args",
            Code::PinStale => "mcp-pin-stale",
        })
    }
}

/// Whether a tool of an MCP server has to be pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pins {
    /// It has to.
    Required,
    /// Where there is a pin, it counts.
    WhenPresent,
    /// Pins do not count.
    Off,
}

/// How a call stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is not about pins.
    Silent,
    /// The tool is the approved one, and the arguments fit it.
    Approved,
    /// It does not go on.
    Stopped(Code, String),
}

struct Objection(Code, String);

impl Objection {
    fn new(code: Code, what: impl Into<String>) -> Self {
        Objection(code, what.into())
    }
}

impl Lookup {
    /// What was found.
    pub fn new(resolved: Resolved, live: Live, pin: Record, observed: Record) -> Self {
        let told = tell(&resolved, &live, &pin, &observed);
        Lookup { resolved, live, pin, observed, told }
    }

    /// Whether what was read of both records is enough, because everything is plainly as approved.
    pub fn is_plain(&self) -> bool {
        self.told().approved.is_some()
    }

    /// The same with all of both records.
    #[must_use]
    pub fn with_all(self, pin: Record, observed: Record) -> Self {
        Lookup::new(self.resolved, self.live, pin, observed)
    }

    /// How a call with these arguments stands.
    pub fn standing(&self, pins: Pins, arguments: &[u8]) -> Standing {
        self.check(pins, arguments).unwrap_or_else(|Objection(code, what)| Standing::Stopped(code, what))
    }

    fn check(&self, pins: Pins, arguments: &[u8]) -> Result<Standing, Objection> {
        for (record, name) in [(&self.pin, "pin"), (&self.observed, "record of what the server serves")] {
            if *record == Record::Unreadable {
                return Err(Objection::new(Code::LockInvalid, format!("the {name} of this server cannot be read")));
            }
        }
        let Resolved::Tool { server, tool } = &self.resolved else {
            let what = "two servers are called by this name, and it cannot be told which one was approved";
            return Err(Objection::new(Code::NameCollision, what));
        };
        if let Some(approved) = &self.told().approved {
            return fits(approved, arguments).map(|()| Standing::Approved);
        }
        let pin = self.pin.read(Pin::read, |pin| pin.server() == server)?;
        let observed = self.observed.read(Observed::read, |observed| observed.server() == server)?;
        let Some(pin) = pin.filter(|pin| pin.is_approved() || pin.blocks(tool) || blocks_folded(pin, tool)) else {
            return self.without_pin(pins, observed.is_some());
        };
        self.by_records(&pin, observed.as_ref(), tool, pins, arguments)
    }

    /// Nobody has approved anything of the server.
    fn without_pin(&self, pins: Pins, observed: bool) -> Result<Standing, Objection> {
        match pins {
            Pins::Off | Pins::WhenPresent => Ok(Standing::Silent),
            Pins::Required if !observed && self.live == Live::Nowhere => {
                Err(Objection::new(Code::ServerUnknown, "no configuration and no record names this server"))
            }
            Pins::Required => Err(Objection::new(Code::ToolUnpinned, "nobody has approved this server")),
        }
    }

    fn by_records(
        &self,
        pin: &Pin,
        observed: Option<&Observed>,
        tool: &str,
        pins: Pins,
        arguments: &[u8],
    ) -> Result<Standing, Objection> {
        if pin.is_blocked() {
            return Err(Objection::new(Code::ServerBlocked, "the user has blocked this server"));
        }
        if pin.is_approved() {
            self.check_server(pin, observed)?;
        }
        let served = observed.into_iter().flat_map(Observed::tools).map(crate::mcp::Tool::name);
        let names = pin.tools().map(|(name, _)| name).chain(pin.blocked_tools()).chain(served);
        let names: BTreeSet<&str> = names.filter(|name| fold(name) == tool).collect();
        let blocked = names.iter().any(|name| pin.blocks(name)) || pin.blocks(tool);
        if blocked {
            return Err(Objection::new(Code::ToolBlocked, "the user has blocked this tool"));
        }
        if !pin.is_approved() {
            return self.without_pin(pins, observed.is_some());
        }
        if names.len() > 1 {
            return Err(Objection::new(
                Code::ToolChanged,
                "the server has had several tools that are called like this",
            ));
        }
        let name = names.into_iter().next().unwrap_or(tool);
        let status = status::tool(Some(pin), observed, name);
        match &status {
            Status::Blocked => return Err(Objection::new(Code::ToolBlocked, "the user has blocked this tool")),
            Status::Unpinnable(flaw) => {
                let what = format!("what is served as this tool can be no approved one: {flaw}");
                return Err(Objection::new(Code::ToolChanged, what));
            }
            Status::Changed(parts) => {
                let what = format!("the tool has changed since the user approved it: {}", list(parts));
                return Err(Objection::new(Code::ToolChanged, what));
            }
            Status::Pending => {
                return Err(Objection::new(Code::ToolUnpinned, "the user has approved this server, and not this tool"));
            }
            Status::Approved(_) | Status::Removed => {}
        }
        let body: Value = pin
            .tool(name)
            .and_then(|body| serde_json::from_str(&body.to_string()).ok())
            .ok_or_else(|| Objection::new(Code::LockInvalid, "the approved tool cannot be read"))?;
        fits(&body, arguments)?;
        match (status, observed) {
            (Status::Removed, Some(_)) => {
                Err(Objection::new(Code::PinStale, "the server was last seen without this tool"))
            }
            (_, None) => Err(Objection::new(Code::PinStale, "there is no record of what the server serves now")),
            _ => Ok(Standing::Approved),
        }
    }

    /// Whether the server itself is the approved one.
    fn check_server(&self, pin: &Pin, observed: Option<&Observed>) -> Result<(), Objection> {
        let live = match &self.live {
            Live::Unreadable => {
                let what = "the client's configuration cannot be read, so it cannot be told what the server is";
                return Err(Objection::new(Code::ServerConfigChanged, what));
            }
            Live::Nowhere if pin.identity().is_some() => {
                let what = "the configuration that the user approved this server with is gone";
                return Err(Objection::new(Code::ServerConfigChanged, what));
            }
            Live::Nowhere => None,
            Live::Entry(identity) => Some(identity),
        };
        match status::server(Some(pin), observed, live) {
            Status::Changed(parts) => {
                let what = format!("the server has changed since the user approved it: {}", list(&parts));
                Err(Objection::new(Code::ServerConfigChanged, what))
            }
            Status::Unpinnable(flaw) => {
                let what = format!("the server's instructions can be no approved ones: {flaw}");
                Err(Objection::new(Code::ServerConfigChanged, what))
            }
            Status::Blocked | Status::Pending | Status::Approved(_) | Status::Removed => Ok(()),
        }
    }

    /// What the first lines of both records tell of the called tool.
    pub(crate) fn told(&self) -> &Told {
        &self.told
    }
}

fn tell(resolved: &Resolved, live: &Live, pin: &Record, observed: &Record) -> Told {
    let Resolved::Tool { server, tool } = resolved else { return Told::default() };
    let pin_head = pin.start().and_then(PinHead::read).and_then(Result::ok);
    let observed = observed.start().and_then(ObservedHead::read).and_then(Result::ok);
    let hash = |tools: &Marks<'_>| tools.called(tool).next().and_then(|(_, hash)| hash.ok());
    Told {
        pin: pin_head.as_ref().and_then(|head| hash(&head.tools)),
        observed: observed.as_ref().and_then(|head| hash(&head.tools)),
        approved: pin_head.zip(observed).and_then(|(head, observed)| {
            let name = plainly_approved(&head, &observed, live, server, tool)?;
            file::tool_line(pin.start()?, name).and_then(|line| serde_json::from_slice(line).ok())
        }),
    }
}

/// The name of the approved tool, where the first lines of both records tell that everything is as approved. Nobody is stopped
/// here: what is not plainly equal is compared in full.
fn plainly_approved<'a>(
    pin: &'a PinHead<'_>,
    seen: &ObservedHead<'_>,
    live: &Live,
    server: &str,
    tool: &'a str,
) -> Option<&'a str> {
    let approved = pin.approved.as_ref()?;
    let live = match live {
        Live::Unreadable => return None,
        Live::Nowhere => None,
        Live::Entry(identity) => Some(identity),
    };
    let same = pin.server == *server
        && seen.server == *server
        && !pin.blocked
        && !pin.blocked_tools.iter().any(|name| fold(name) == tool)
        && approved.identity.as_ref() == live
        && (seen.identity.is_none() || seen.identity == approved.identity)
        && approved.instructions.map(Ok) == seen.instructions.map(|mark| mark.0);
    let (name, hash) = only(pin.tools.called(tool)).filter(|_| same)?;
    let (as_served, served) = only(seen.tools.called(tool))?;
    if name != as_served || hash.ok()? != served.ok()? {
        return None;
    }
    Some(name)
}

/// The one that there is; `None` where there are others.
fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    all.next().filter(|_| all.next().is_none())
}

impl Record {
    /// What is known of its beginning.
    fn start(&self) -> Option<&[u8]> {
        match self {
            Record::Start(bytes) | Record::Bytes(bytes) => Some(bytes),
            Record::Missing | Record::Unreadable => None,
        }
    }

    fn read<T>(
        &self,
        read: impl FnOnce(&[u8]) -> Result<T, Invalid>,
        fits: impl FnOnce(&T) -> bool,
    ) -> Result<Option<T>, Objection> {
        let bytes = match self {
            Record::Bytes(bytes) => bytes,
            Record::Missing => return Ok(None),
            Record::Start(_) | Record::Unreadable => {
                return Err(Objection::new(Code::LockInvalid, "a record of this server was not read"));
            }
        };
        match read(bytes) {
            Ok(record) if fits(&record) => Ok(Some(record)),
            Ok(_) => Err(Objection::new(Code::LockInvalid, "a record of this server is that of another one")),
            Err(invalid) => Err(Objection::new(Code::LockInvalid, format!("a record of this server: {invalid}"))),
        }
    }
}

fn blocks_folded(pin: &Pin, tool: &str) -> bool {
    pin.blocked_tools().any(|name| fold(name) == tool)
}

/// Checks the arguments against the approved tool.
fn fits(tool: &Value, arguments: &[u8]) -> Result<(), Objection> {
    let Ok(arguments) = serde_json::from_slice::<Value>(arguments) else {
        return Err(Objection::new(Code::ArgsOffSchema, "the arguments cannot be read"));
    };
    let Some(schema) = tool.get("inputSchema") else { return Ok(()) };
    schema::check(schema, &arguments).map_err(|off| {
        let name = Label::new(&off.name);
        let named = if name.is_empty() { String::new() } else { format!(": `{name}`") };
        Objection::new(Code::ArgsOffSchema, format!("{off}{named}"))
    })
}

fn list(parts: &[Part]) -> String {
    parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
