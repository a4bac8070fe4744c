//! Asks an MCP server what it serves: `initialize`, then its lists of tools and prompts.

use rune::client::server::Introduction;
use rune::mcp::protocol::{ListPage, Listing, MAX_SERVED_BYTES, RpcMessage, Served};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A connection to a server, which fails after its deadline.
pub trait Connection {
    fn send(&mut self, message: &Value) -> Result<(), String>;
    fn receive(&mut self) -> Result<Vec<u8>, String>;
    /// Called with the protocol version that the server has chosen.
    fn set_protocol_version(&mut self, _version: &str) {}
    /// Closes the connection, and ends the server if the connection started it.
    fn shut_down(self: Box<Self>);
}

pub const TIMED_OUT: &str = "no answer in time";
pub const ENDED: &str = "the connection ended before the answer";
const NO_VALID_MESSAGE: &str = "the server sends no valid MCP messages";

/// Messages that a server may send before the response to a request.
const MAX_MESSAGES: usize = 10_000;

/// Asks a server for everything that it serves to a client in the directory `root`.
pub fn discover(connection: &mut dyn Connection, root: &str, introduction: &Introduction) -> Result<Served, String> {
    let mut client = RpcClient { connection, root, next_id: 0, received_bytes: 0 };
    let result = client.request("initialize", &introduction.params())?;
    let mut served = Served::default();
    served.set_introduction(&result);
    let result: Value =
        serde_json::from_slice(&result).map_err(|_| "the answer to `initialize` is invalid".to_owned())?;
    client.connection.set_protocol_version(served.protocol.as_deref().unwrap_or(introduction.protocol_version));
    client.connection.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
    // The client does not ask for lists that the server does not announce.
    let offers = |what: &str| result.pointer(&format!("/capabilities/{what}")).is_some_and(Value::is_object);
    if offers("tools") {
        served.tools = client.list("tools")?;
    }
    if offers("prompts") {
        served.prompts = client.list("prompts")?;
    }
    Ok(served)
}

/// A JSON-RPC client on a connection.
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
                ListPage::read(&result, name).map_err(|what| format!("the list of {name} is invalid: {what}"))?;
            match listing.add(&page)? {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return Ok(listing.items),
            }
        }
    }

    /// Sends a request and waits for its result. Requests of the server are answered as the client would.
    fn request(&mut self, method: &str, params: &Value) -> Result<Vec<u8>, String> {
        let id = self.next_id;
        self.next_id += 1;
        self.connection.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let mut invalid = false;
        for _ in 0..MAX_MESSAGES {
            // The client skips invalid messages, so to the client a server that sends nothing else does not answer.
            let line =
                self.connection.receive().map_err(|what| if invalid { NO_VALID_MESSAGE.to_owned() } else { what })?;
            self.received_bytes += line.len();
            if self.received_bytes > MAX_SERVED_BYTES {
                return Err(too_large());
            }
            let message = RpcMessage::read(&line);
            if !message.is_valid() {
                invalid = true;
            } else if let Some(requested) = message.method() {
                self.answer(&requested, message.raw_id())?;
            } else if message.id() == Some(id.to_string()) {
                return match (message.result(), message.error()) {
                    (Some(result), _) => Ok(result.to_vec()),
                    (None, Some(code)) => Err(format!("`{method}` failed with error {code}")),
                    (None, None) => Err(format!("the answer to `{method}` has neither a result nor an error")),
                };
            }
        }
        Err(if invalid { NO_VALID_MESSAGE.to_owned() } else { format!("{MAX_MESSAGES} messages and no answer") })
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

pub fn too_large() -> String {
    format!("the server sends more than {} MB", MAX_SERVED_BYTES >> 20)
}

pub fn remaining(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}
