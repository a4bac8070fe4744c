//! The dialogue with one server: `initialize`, then its lists, by whichever wire.

use rune::mcp::protocol::{ListPage, Listing, MAX_SERVED_BYTES, RpcMessage, Served};
use serde_json::{Value, json};
use std::time::Instant;

/// A way to speak to a server, until its deadline.
pub trait Wire {
    /// Sends one message.
    fn send(&mut self, message: &Value) -> Result<(), String>;
    /// Waits for the next message.
    fn receive(&mut self) -> Result<Vec<u8>, String>;
    /// The version of the protocol that both speak now.
    fn agree(&mut self, _version: &str) {}
}

/// What a server says that does not answer in time.
pub const LATE: &str = "it did not answer in time";

/// What is said of a server whose lines are no messages.
const GARBAGE: &str = "it answers what is no message of the protocol";

/// Messages that a server may send besides the one that it was asked for.
const MOST_MESSAGES: usize = 10_000;

/// The version of the protocol that the client offers first.
const PROTOCOL: &str = "2025-11-25";

/// The client as it introduces itself: a server may show others another list.
fn client() -> Value {
    json!({"name": "claude-code", "title": "Claude Code", "version": "2.1.325",
        "description": "Anthropic's agentic coding tool", "websiteUrl": "https://claude.com/claude-code"})
}

/// What the client can do: some servers serve more to those who can do more.
pub fn capabilities() -> Value {
    json!({"roots": {"listChanged": true}, "elicitation": {"form": {}, "url": {}}})
}

/// Asks a server for all that it serves.
pub fn learn(wire: &mut dyn Wire, root: &str) -> Result<Served, String> {
    let mut dialogue = Dialogue { wire, root, next: 0, bytes: 0 };
    let params = json!({"protocolVersion": PROTOCOL, "clientInfo": client(),
        "capabilities": capabilities()});
    let first = dialogue.ask("initialize", &params)?;
    let mut served = Served::default();
    served.set_introduction(&first);
    let introduction: Value =
        serde_json::from_slice(&first).map_err(|_| "its first answer cannot be read".to_owned())?;
    dialogue.wire.agree(served.protocol.as_deref().unwrap_or(PROTOCOL));
    dialogue.wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
    // A server that does not say that it has tools is not asked for them by the client either.
    let offers = |what: &str| introduction.pointer(&format!("/capabilities/{what}")).is_some_and(Value::is_object);
    if offers("tools") {
        served.tools = dialogue.list("tools")?;
    }
    if offers("prompts") {
        served.prompts = dialogue.list("prompts")?;
    }
    Ok(served)
}

struct Dialogue<'a> {
    wire: &'a mut dyn Wire,
    root: &'a str,
    next: u64,
    bytes: usize,
}

impl Dialogue<'_> {
    fn list(&mut self, name: &str) -> Result<Vec<Vec<u8>>, String> {
        let mut listing = Listing::default();
        let mut params = json!({});
        loop {
            let result = self.ask(&format!("{name}/list"), &params)?;
            let page =
                ListPage::read(&result, name).map_err(|what| format!("its list of {name} cannot be read: {what}"))?;
            match listing.add(&page)? {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return Ok(listing.items),
            }
        }
    }

    /// Asks and waits for the answer; what the server asks meanwhile is answered as the client would.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Vec<u8>, String> {
        let id = self.next;
        self.next += 1;
        self.wire.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let mut garbage = false;
        for _ in 0..MOST_MESSAGES {
            // The client looks past what is no message, and so does not see an answer either.
            let line = self.wire.receive().map_err(|what| if garbage { GARBAGE.to_owned() } else { what })?;
            self.bytes += line.len();
            if self.bytes > MAX_SERVED_BYTES {
                return Err(too_much());
            }
            let message = RpcMessage::read(&line);
            if !message.is_valid() {
                garbage = true;
            } else if let Some(asked) = message.method() {
                self.answer(&asked, message.raw_id())?;
            } else if message.id() == Some(id.to_string()) {
                return match (message.result(), message.error()) {
                    (Some(result), _) => Ok(result.to_vec()),
                    (None, Some(code)) => Err(format!("it answers `{method}` with the error {code}")),
                    (None, None) => Err(format!("its answer to `{method}` holds nothing")),
                };
            }
        }
        Err(if garbage { GARBAGE.to_owned() } else { "it says much, and does not answer".to_owned() })
    }

    fn answer(&mut self, method: &str, id: Option<&[u8]>) -> Result<(), String> {
        let Some(id) = id.and_then(|raw| serde_json::from_slice::<Value>(raw).ok()) else { return Ok(()) };
        let uri = format!("file://{}", self.root);
        self.wire.send(&match method {
            "ping" => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
            "roots/list" => json!({"jsonrpc": "2.0", "id": id, "result": {"roots": [{"uri": uri}]}}),
            _ => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}}),
        })
    }
}

/// What is said of a server that sends more than anybody reads.
pub fn too_much() -> String {
    format!("it serves more than {} MB", MAX_SERVED_BYTES >> 20)
}

/// How long there is until a deadline.
pub fn left(deadline: Instant) -> std::time::Duration {
    deadline.saturating_duration_since(Instant::now())
}
