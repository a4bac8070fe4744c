//! Recording what was seen of a server, and telling from the records what a client may see.

use super::dialogue::capabilities;
use crate::runtime::environment::{Environment, now};
use crate::runtime::mcp::records::{Recorded, Store};
use rune::encoding::canonical::Value;
use rune::mcp::protocol::Served;
use rune::mcp::{Identity, Instructions, Observed, Pin, ServedBytes, Source, Tool};
use std::cell::OnceCell;

/// What was seen of a server, and how.
pub struct Sighting<'a> {
    pub server: &'a str,
    pub source: Source,
    /// How the client's configuration starts or reaches it, where that names it.
    pub identity: Option<Identity>,
    pub served: &'a Served,
    /// Who vouches for it.
    pub voucher: Voucher,
}

/// Who vouches for a sighting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voucher {
    /// A person has asked for it, or the client's configuration starts the wrap just like this.
    Known,
    /// Anybody may have started the wrap, also an agent, with any program.
    Nobody,
}

/// Records a sighting; what became of it, in words. It approves nothing, whoever asks for it.
pub fn record(environment: &Environment, sighting: &Sighting<'_>) -> Result<String, String> {
    let Sighting { server, source, identity, served, voucher } = sighting;
    let declared = (*source == Source::Probe).then(|| capabilities().to_string());
    let tools: Vec<&[u8]> = served.tools.iter().map(Vec::as_slice).collect();
    let prompts: Vec<&[u8]> = served.prompts.iter().map(Vec::as_slice).collect();
    let observed = Observed::from_served(&ServedBytes {
        server,
        source: *source,
        at: now(),
        identity: identity.clone(),
        instructions: served.instructions.as_deref(),
        info: served.info.as_deref(),
        protocol: served.protocol.as_deref(),
        capabilities: declared.as_deref().map(str::as_bytes),
        tools: &tools,
        prompts: &prompts,
    });
    let failed = |error: anyhow::Error| format!("it cannot be recorded: {error:#}");
    let store = Store::of(environment).map_err(failed)?;
    if *voucher == Voucher::Nobody && mends(&store, &observed) {
        return Err("not recorded, because the client's configuration does not start it like this".to_owned());
    }
    match store.record(&observed).map_err(failed)? {
        Recorded::Kept(stronger) => Ok(format!("not recorded, because `{stronger}` has seen it better")),
        Recorded::Written => {
            let flawed = observed.tools().iter().filter(|tool| tool.body().is_err()).count();
            Ok(if flawed == 0 { "recorded".to_owned() } else { format!("recorded; {flawed} of them cannot be pinned") })
        }
    }
}

/// Whether a record would make anything look approved that does not look so now. Who has changed a server could
/// otherwise have an agent show us the old list once more.
fn mends(store: &Store, new: &Observed) -> bool {
    let Ok(Some(pin)) = store.pin(new.server()) else { return false };
    let known = store.observed(new.server()).ok().flatten();
    let tool =
        |seen: &Observed, name: &str, body: &Value| seen.tool(name).and_then(|tool| tool.body().ok()) == Some(body);
    let told = |seen: &Observed| match seen.instructions() {
        Instructions::None => pin.instructions().is_none(),
        Instructions::Text(text) => pin.instructions() == Some(text),
        Instructions::Unreadable(_) => false,
    };
    let started = |seen: &Observed| seen.identity() == pin.identity();
    let better = |fits: &dyn Fn(&Observed) -> bool| fits(new) && !known.as_ref().is_some_and(fits);
    better(&told) || better(&started) || pin.tools().any(|(name, body)| better(&|seen| tool(seen, name, body)))
}

/// What a client may see of a server.
pub struct Strip {
    store: Option<Store>,
    server: String,
}

impl Strip {
    pub fn new(environment: &Environment, server: &str) -> Strip {
        Strip { store: Store::of(environment).ok(), server: server.to_owned() }
    }

    /// Whether a tool is the very one that a person has approved; what is approved is looked up when it is asked for.
    pub fn keep(&self) -> impl Fn(&[u8]) -> bool {
        let pin = OnceCell::new();
        move |raw| {
            // Where it cannot be told what is approved, nothing is.
            let pin: &Option<Pin> = pin.get_or_init(|| self.store.as_ref()?.pin(&self.server).ok()?);
            let tool = Tool::read(raw);
            let Some(pin) = pin.as_ref().filter(|pin| !pin.blocks(tool.name())) else { return false };
            tool.body().is_ok_and(|body| pin.tool(tool.name()) == Some(body))
        }
    }
}
