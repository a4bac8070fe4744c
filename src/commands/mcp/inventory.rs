//! The MCP servers that are configured or have a record, with their status.

use crate::commands::current_dir;
use crate::runtime::environment::Environment;
use crate::runtime::mcp::records::{PinChangeRequest, RecordError, Store};
use crate::runtime::mcp::servers::{Configured, Servers};
use crate::runtime::options::Dirs;
use anyhow::bail;
use rune::encoding::nearest;
use rune::mcp::status::Annotations;
use rune::mcp::{ChangedPart, Identity, Observed, Pin, Status, Tool, status};
use rune::quarantine::visible;
use rune::receipt::ReceiptKind;
use std::collections::BTreeSet;

/// The records of all servers, and the client's configuration.
pub struct Inventory {
    pub store: Store,
    pub servers: Servers,
    recorded: BTreeSet<String>,
    pub unreadable: Vec<RecordError>,
}

/// A server or one of its tools, as `SERVER[:TOOL]` on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSelector {
    pub server: String,
    pub tool: Option<String>,
}

/// A server's records, configuration and status.
pub struct ServerState {
    pub name: String,
    pub pin: Option<Pin>,
    pub observed: Option<Observed>,
    pub is_configured: bool,
    /// How the client's configuration starts or reaches it, if its entry is valid.
    pub configured: Option<Identity>,
    pub status: Status,
    /// The tools that are served, approved or blocked, by name.
    pub tools: Vec<(String, Status)>,
}

impl ToolSelector {
    /// The change of its pin, for the receipt.
    pub fn change(&self, kind: ReceiptKind, shown: Option<String>) -> PinChangeRequest<'_> {
        PinChangeRequest { kind, server: &self.server, tool: self.tool.as_deref(), shown, at: None }
    }
}

impl ServerState {
    /// The worst status of the server and its tools. If the server is blocked, the status is always blocked.
    pub fn worst(&self) -> &Status {
        if self.status == Status::Blocked {
            return &self.status;
        }
        let all = std::iter::once(&self.status).chain(self.tools.iter().map(|(_, status)| status));
        all.rev().max_by_key(|status| severity(status)).unwrap_or(&self.status)
    }
}

fn severity(status: &Status) -> u8 {
    match status {
        // What a person has blocked needs no attention.
        Status::Blocked => 0,
        Status::Approved(_) => 1,
        Status::Removed => 2,
        Status::Pending => 3,
        Status::Unpinnable(_) => 4,
        Status::Changed(_) => 5,
    }
}

impl Inventory {
    pub fn load() -> anyhow::Result<Inventory> {
        let environment = Environment::read(&Dirs::default());
        let store = Store::of(&environment)?;
        let (recorded, unreadable) = store.servers();
        Ok(Inventory { store, servers: Servers::for_directory(&environment, &current_dir()?), recorded, unreadable })
    }

    /// Names of all servers that are configured here or have a record.
    pub fn names(&self) -> BTreeSet<String> {
        self.servers.effective().map(|server| server.name.clone()).chain(self.recorded.iter().cloned()).collect()
    }

    /// Parses `SERVER` or `SERVER:TOOL`. Both names may contain colons; the longest known server name wins.
    pub fn parse_selector(&self, text: &str) -> anyhow::Result<ToolSelector> {
        let names = self.names();
        if names.contains(text) {
            return Ok(ToolSelector { server: text.to_owned(), tool: None });
        }
        let mut splits = text.match_indices(':').filter_map(|(at, _)| text.split_at_checked(at));
        let known = splits.rfind(|(server, _)| names.contains(*server));
        if let Some((server, tool)) = known {
            return Ok(ToolSelector { server: server.to_owned(), tool: tool.strip_prefix(':').map(str::to_owned) });
        }
        let wrong = text.split(':').next().unwrap_or_default();
        let near = nearest(wrong, names.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
        let help = near.unwrap_or_else(|| "`rune mcp status` lists the servers".to_owned());
        bail!("unknown server `{}`: neither configured here nor recorded\n  help: {help}", visible(text))
    }

    pub fn server_state(&self, name: &str) -> Result<ServerState, RecordError> {
        self.state_with(name, self.store.pin(name)?)
    }

    /// The state for an approval, for which an invalid pin approves nothing.
    pub fn state_to_approve(&self, name: &str) -> Result<ServerState, RecordError> {
        let is_missing = matches!(self.store.pin(name), Ok(None));
        self.state_with(name, (!is_missing).then(|| self.store.pin_to_change(name)))
    }

    fn state_with(&self, name: &str, pin: Option<Pin>) -> Result<ServerState, RecordError> {
        let observed = self.store.observed(name)?;
        let server = self.servers.named(name);
        let (is_configured, configured) = (server.is_some(), server.and_then(Configured::identity));
        let status = status::server(pin.as_ref(), observed.as_ref(), configured.as_ref());
        let served = observed.iter().flat_map(|observed| observed.tools().iter().map(Tool::name));
        let pinned = pin.iter().flat_map(|pin| pin.tools().map(|(name, _)| name).chain(pin.blocked_tools()));
        let names: BTreeSet<String> = served.chain(pinned).map(str::to_owned).collect();
        let status_of = |tool: &str| status::tool(pin.as_ref(), observed.as_ref(), tool);
        let tools = names.into_iter().map(|tool| (tool.clone(), status_of(&tool))).collect();
        Ok(ServerState { name: name.to_owned(), status, tools, pin, observed, is_configured, configured })
    }
}

/// A status with its details.
pub fn describe_status(status: &Status) -> String {
    match status {
        Status::Changed(parts) => format!("changed: {}", ChangedPart::join(parts)),
        Status::Unpinnable(flaw) => format!("unpinnable: {flaw}"),
        Status::Approved(Annotations::Appeared) => "approved; annotations were added since".to_owned(),
        Status::Approved(Annotations::Vanished) => "approved; annotations were removed since".to_owned(),
        Status::Blocked | Status::Pending | Status::Removed | Status::Approved(Annotations::Same) => {
            status.as_str().to_owned()
        }
    }
}
