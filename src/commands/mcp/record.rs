//! Records what a server serves, and filters tools by what is approved.

use crate::runtime::environment::{Environment, now};
use crate::runtime::mcp::records::{RecordOutcome, Store};
use rune::encoding::canonical::Value;
use rune::mcp::protocol::{Served, ServedFilter};
use rune::mcp::{Identity, Instructions, Observation, Observed, Pin, Source, Tool};
use std::cell::OnceCell;

/// What a server served, and how that is known.
pub struct ServerSnapshot<'a> {
    pub server: &'a str,
    pub source: Source,
    /// How the client's configuration starts or reaches the server, if it is configured.
    pub identity: Option<Identity>,
    pub served: &'a Served,
    pub provenance: Provenance,
}

/// Whether a snapshot is known to come from the configured server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// A person asked for it, or the client's configuration contains this very command line of the wrap.
    Trusted,
    /// An agent may have started the wrap, with any program behind it.
    Unverified,
}

/// Records a snapshot, and returns a description of the outcome. A record approves nothing.
pub fn record(environment: &Environment, snapshot: &ServerSnapshot<'_>) -> Result<String, String> {
    let ServerSnapshot { server, source, identity, served, provenance } = snapshot;
    let declared = (*source == Source::Probe).then(|| environment.client.introduction().capabilities.to_string());
    let observed = Observed::new(Observation {
        server,
        source: *source,
        at: now(),
        identity: identity.clone(),
        served,
        capabilities: declared.as_deref(),
    });
    let failed = |error: anyhow::Error| format!("cannot write the record: {error:#}");
    let store = Store::of(environment).map_err(failed)?;
    if *provenance == Provenance::Unverified && restores_approval(&store, &observed) {
        return Err("not recorded: this command line is not in the client's configuration".to_owned());
    }
    match store.record(&observed).map_err(failed)? {
        RecordOutcome::Kept(stronger) => Ok(format!("not recorded: there is a better record, made by `{stronger}`")),
        RecordOutcome::Written => {
            let flawed = observed.tools().iter().filter(|tool| tool.body().is_err()).count();
            Ok(if flawed == 0 {
                "recorded".to_owned()
            } else {
                format!("recorded; {flawed} of them cannot be approved")
            })
        }
    }
}

/// Whether a record would make anything look approved that does not look approved now. Without this check, an agent
/// could hide that a server has changed by replaying its old list.
fn restores_approval(store: &Store, new: &Observed) -> bool {
    let Ok(Some(pin)) = store.pin(new.server()) else { return false };
    let known = store.observed(new.server()).ok().flatten();
    let same_tool =
        |seen: &Observed, name: &str, body: &Value| seen.tool(name).and_then(|tool| tool.body().ok()) == Some(body);
    let same_instructions = |seen: &Observed| match seen.instructions() {
        Instructions::None => pin.instructions().is_none(),
        Instructions::Text(text) => pin.instructions() == Some(text),
        Instructions::Unreadable(_) => false,
    };
    let same_identity = |seen: &Observed| seen.identity() == pin.identity();
    let restored = |is_same: &dyn Fn(&Observed) -> bool| is_same(new) && !known.as_ref().is_some_and(is_same);
    restored(&same_instructions)
        || restored(&same_identity)
        || pin.tools().any(|(name, body)| restored(&|seen| same_tool(seen, name, body)))
}

pub struct ApprovedTools {
    store: Option<Store>,
    server: String,
}

impl ApprovedTools {
    pub fn new(environment: &Environment, server: &str) -> ApprovedTools {
        ApprovedTools { store: Store::of(environment).ok(), server: server.to_owned() }
    }

    /// The filter for one line of the server. It reads the pin once, when it is first needed.
    pub fn filter(&self) -> ApprovedFilter<'_> {
        ApprovedFilter { approved: self, pin: OnceCell::new() }
    }
}

/// Keeps exactly what is approved.
pub struct ApprovedFilter<'a> {
    approved: &'a ApprovedTools,
    pin: OnceCell<Option<Pin>>,
}

impl ApprovedFilter<'_> {
    /// The pin. Nothing is approved if it cannot be read.
    fn pin(&self) -> Option<&Pin> {
        let ApprovedTools { store, server } = self.approved;
        self.pin.get_or_init(|| store.as_ref()?.pin(server).ok()?).as_ref()
    }
}

impl ServedFilter for ApprovedFilter<'_> {
    fn keeps_tool(&self, tool: &[u8]) -> bool {
        let tool = Tool::read(tool);
        let Some(pin) = self.pin().filter(|pin| !pin.blocks(tool.name())) else { return false };
        tool.body().is_ok_and(|body| pin.tool(tool.name()) == Some(body))
    }

    fn keeps_instructions(&self, instructions: &[u8]) -> bool {
        let Ok(Value::String(text)) = Value::read(instructions) else { return false };
        self.pin().is_some_and(|pin| !pin.is_blocked() && pin.instructions() == Some(&text))
    }
}
