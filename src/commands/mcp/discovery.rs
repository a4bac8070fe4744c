//! The discovery with one server: `initialize`, then its lists, by whichever connection.

use rune::mcp::protocol::{Listing, MOST_BYTES, Message, Page, Served};
use serde_json::{Value, json};
use std::time::Instant;

/// A way to speak to a server, until its deadline.
pub trait Connection {
    /// Sends one message.
    fn send(&mut self, message: &Value) -> Result<(), String>;
    /// Waits for the next message.
    fn receive(&mut self) -> Result<Vec<u8>, String>;
    /// The version of the protocol that both speak now.
    fn set_protocol_version(&mut self, _version: &str) {}
}

/// What a server says that does not answer in time.
pub const TIMED_OUT: &str = "it did not answer in time";

/// What is said of a server whose lines are no messages.
const NO_VALID_MESSAGE: &str = "it answers what is no message of the protocol";

/// Messages that a server may send besides the one that it was requested for.
const MAX_MESSAGES: usize = 10_000;

/// The version of the protocol that the client offers first.
const PROTOCOL_VERSION: &str = "2025-11-25";

/// The client as it introduces itself: a server may show others another list.
fn client_info() -> Value {
    json!({"name": "claude-code", "title": "Claude Code", "version": "2.1.325",
        "description": "Anthropic's agentic coding tool", "websiteUrl": "https://claude.com/claude-code"})
}

/// What the client can do: some servers serve more to those who can do more.
pub fn client_capabilities() -> Value {
    json!({"roots": {"listChanged": true}, "elicitation": {"form": {}, "url": {}}})
}

/// Asks a server for all that it serves.
pub fn discover(connection: &mut dyn Connection, root: &str) -> Result<Served, String> {
    let mut client = RpcClient { connection, root, next_id: 0, received_bytes: 0 };
    let params = json!({"protocolVersion": PROTOCOL_VERSION, "clientInfo": client_info(),
        "capabilities": client_capabilities()});
    let first = client.request("initialize", &params)?;
    let mut served = Served::default();
    served.introduce(&first);
    let initialize_result: Value =
        serde_json::from_slice(&first).map_err(|_| "its first answer cannot be read".to_owned())?;
    client.connection.set_protocol_version(served.protocol.as_deref().unwrap_or(PROTOCOL_VERSION));
    client.connection.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
    // A server that does not say that it has tools is not requested for them by the client either.
    let offers = |what: &str| initialize_result.pointer(&format!("/capabilities/{what}")).is_some_and(Value::is_object);
    if offers("tools") {
        served.tools = client.list("tools")?;
    }
    if offers("prompts") {
        served.prompts = client.list("prompts")?;
    }
    Ok(served)
}

struct RpcClient<'a> {
    connection: &'a mut dyn Connection,
    root: &'a str,
    next_id: u64,
    received_bytes: usize,
}

impl RpcClient<'_> {
    fn list(&mut self, name: &str) -> Result<Vec<Vec<u8>>, String> {
        let mut listing = Listing::default();
        let mut params = json!({});
        loop {
            let result = self.request(&format!("{name}/list"), &params)?;
            let page =
                Page::read(&result, name).map_err(|what| format!("its list of {name} cannot be read: {what}"))?;
            match listing.add(&page)? {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return Ok(listing.items),
            }
        }
    }

    /// Asks and waits for the answer; what the server asks meanwhile is answered as the client would.
    fn request(&mut self, method: &str, params: &Value) -> Result<Vec<u8>, String> {
        let id = self.next_id;
        self.next_id += 1;
        self.connection.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let mut invalid = false;
        for _ in 0..MAX_MESSAGES {
            // The client looks past what is no message, and so does not see an answer either.
            let line =
                self.connection.receive().map_err(|what| if invalid { NO_VALID_MESSAGE.to_owned() } else { what })?;
            self.received_bytes += line.len();
            if self.received_bytes > MOST_BYTES {
                return Err(too_large());
            }
            let message = Message::read(&line);
            if !message.is_sound() {
                invalid = true;
            } else if let Some(requested) = message.method() {
                self.answer(&requested, message.raw_id())?;
            } else if message.id() == Some(id.to_string()) {
                return match (message.result(), message.error()) {
                    (Some(result), _) => Ok(result.to_vec()),
                    (None, Some(code)) => Err(format!("it answers `{method}` with the error {code}")),
                    (None, None) => Err(format!("its answer to `{method}` holds nothing")),
                };
            }
        }
        Err(if invalid { NO_VALID_MESSAGE.to_owned() } else { "it says much, and does not answer".to_owned() })
    }

    fn answer(&mut self, method: &str, id: Option<&[u8]>) -> Result<(), String> {
        let Some(id) = id.and_then(|raw| serde_json::from_slice::<Value>(raw).ok()) else { return Ok(()) };
        let uri = format!("file://{}", self.root);
        self.connection.send(&match method {
            "ping" => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
            "roots/list" => json!({"jsonrpc": "2.0", "id": id, "result": {"roots": [{"uri": uri}]}}),
            _ => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}}),
        })
    }
}

/// What is said of a server that sends more than anybody reads.
pub fn too_large() -> String {
    format!("it serves more than {} MB", MOST_BYTES >> 20)
}

/// How long there is until a deadline.
pub fn remaining(deadline: Instant) -> std::time::Duration {
    deadline.saturating_duration_since(Instant::now())
}
