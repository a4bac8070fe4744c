//! What a person looks at: the records of all servers beside the client's configuration.

use crate::runtime::environment::Environment;
use crate::runtime::mcp::records::{Store, Unreadable};
use crate::runtime::mcp::servers::Servers;
use crate::runtime::options::Dirs;
use anyhow::{Context, bail};
use rune::encoding::nearest;
use rune::mcp::{Identity, Observed, Pin, Status, status};
use rune::quarantine::visible;
use std::collections::BTreeSet;

/// The records and the configuration.
pub struct View {
    pub store: Store,
    pub servers: Servers,
    /// Names with a record.
    recorded: BTreeSet<String>,
    pub unreadable: Vec<Unreadable>,
}

/// A server, or one of its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub server: String,
    pub tool: Option<String>,
}

/// One server as it stands.
pub struct Row {
    pub name: String,
    pub pin: Option<Pin>,
    pub observed: Option<Observed>,
    pub live: Option<Identity>,
    pub status: Status,
    /// Its tools, by name.
    pub tools: Vec<(String, Status)>,
}

impl View {
    pub fn look() -> anyhow::Result<View> {
        let environment = Environment::look(&Dirs::default());
        let here = std::env::current_dir().context("the current directory cannot be told")?;
        let store = Store::of(&environment)?;
        let (recorded, unreadable) = store.servers();
        Ok(View { store, servers: Servers::for_directory(&environment, &here), recorded, unreadable })
    }

    /// Every server that has a record or is configured here.
    pub fn names(&self) -> BTreeSet<String> {
        self.servers.effective().map(|server| server.name.clone()).chain(self.recorded.iter().cloned()).collect()
    }

    /// The server, and the tool if one is named: `SERVER` or `SERVER:TOOL`. Both may hold colons.
    pub fn target(&self, text: &str) -> anyhow::Result<Target> {
        let names = self.names();
        if names.contains(text) {
            return Ok(Target { server: text.to_owned(), tool: None });
        }
        let mut splits = text.match_indices(':').filter_map(|(at, _)| text.split_at_checked(at));
        // The longest server's name that is known counts.
        let known = splits.rfind(|(server, _)| names.contains(*server));
        if let Some((server, tool)) = known {
            return Ok(Target { server: server.to_owned(), tool: tool.strip_prefix(':').map(str::to_owned) });
        }
        let wrong = text.split(':').next().unwrap_or_default();
        let near = nearest(wrong, names.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
        let help = near.unwrap_or_else(|| "`rune mcp status` shows the servers; `rune mcp probe` asks them".to_owned());
        bail!("`{}` is no server that is configured here or has a record\n  help: {help}", visible(text))
    }

    /// How the client starts or reaches a server.
    pub fn live(&self, name: &str) -> Option<Identity> {
        self.servers.named(name)?.identity()
    }

    pub fn row(&self, name: &str) -> Result<Row, Unreadable> {
        let (pin, observed) = (self.store.pin(name)?, self.store.observed(name)?);
        let live = self.live(name);
        let status = status::server(pin.as_ref(), observed.as_ref(), live.as_ref());
        let served = observed.iter().flat_map(|observed| observed.tools().iter().map(rune::mcp::Tool::name));
        let pinned = pin.iter().flat_map(|pin| pin.tools().map(|(name, _)| name).chain(pin.blocked_tools()));
        let names: BTreeSet<String> = served.chain(pinned).map(str::to_owned).collect();
        let tool = |tool: String| {
            let status = status::tool(pin.as_ref(), observed.as_ref(), &tool);
            (tool, status)
        };
        let tools = names.into_iter().map(tool).collect();
        Ok(Row { name: name.to_owned(), status, tools, pin, observed, live })
    }
}

/// A status in words.
pub fn words(status: &Status) -> String {
    let list = |parts: &[rune::mcp::ChangedPart]| parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match status {
        Status::Changed(parts) => format!("changed: {}", list(parts)),
        Status::Unpinnable(flaw) => format!("unpinnable: {flaw}"),
        Status::Approved(status::Annotations::Appeared) => "approved; annotations have appeared since".to_owned(),
        Status::Approved(status::Annotations::Vanished) => "approved; annotations are gone since".to_owned(),
        Status::Blocked | Status::Pending | Status::Removed | Status::Approved(status::Annotations::Same) => {
            status.as_str().to_owned()
        }
    }
}
