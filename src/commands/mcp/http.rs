//! MCP servers at an address: streamable HTTP, and the older HTTP+SSE transport.

use super::discovery::{Connection, ENDED, TIMED_OUT, remaining, too_large};
use rune::mcp::protocol::MAX_SERVED_BYTES;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::time::{Duration, Instant};
use ureq::http::{HeaderMap, Response};
use ureq::{Agent, Body, BodyReader, Error, RequestBuilder};

/// How long the DELETE request that ends a session may take.
const DELETE_TIMEOUT: Duration = Duration::from_millis(500);

/// A session with a server at an address.
pub struct HttpServer {
    agent: Agent,
    url: String,
    headers: BTreeMap<String, String>,
    /// The session id that the server has assigned.
    session: Option<String>,
    protocol_version: Option<String>,
    /// Messages that are received but not read yet.
    unread: Vec<Vec<u8>>,
    events: Option<EventStream>,
    /// Where the HTTP+SSE transport sends messages; their responses come by `events`.
    sse_endpoint: Option<String>,
    is_first_message: bool,
    deadline: Instant,
}

impl HttpServer {
    pub fn new(url: &str, headers: BTreeMap<String, String>, deadline: Instant) -> HttpServer {
        HttpServer {
            // A redirect could send the headers, and the secrets in them, to another host.
            agent: Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into(),
            url: url.to_owned(),
            headers,
            session: None,
            protocol_version: None,
            unread: Vec::new(),
            events: None,
            sse_endpoint: None,
            is_first_message: true,
            deadline,
        }
    }

    fn post(&self, url: &str, message: &Value) -> Result<Response<Body>, String> {
        let request = self.agent.post(url).header("Content-Type", "application/json");
        let request = self.with_headers(request.header("Accept", "application/json, text/event-stream"));
        let request = request.config().timeout_global(Some(self.time_left()?)).build();
        request.send(message.to_string().into_bytes()).map_err(describe_error)
    }

    /// Adds the configured headers, and those of the session.
    fn with_headers<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        let protocol = [("Mcp-Session-Id", &self.session), ("MCP-Protocol-Version", &self.protocol_version)];
        let protocol = protocol.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        let headers = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(protocol);
        headers.fold(request, |request, (name, value)| request.header(name, value))
    }

    fn time_left(&self) -> Result<Duration, String> {
        Some(remaining(self.deadline)).filter(|left| !left.is_zero()).ok_or_else(|| TIMED_OUT.to_owned())
    }

    /// Opens the event stream of the HTTP+SSE transport (MCP 2024-11-05), and reads where to send messages.
    pub fn open_sse(&mut self) -> Result<(), String> {
        let request = self.with_headers(self.agent.get(&self.url).header("Accept", "text/event-stream"));
        let answer = request.config().timeout_global(Some(self.time_left()?)).build().call().map_err(describe_error)?;
        if !answer.status().is_success() || !is_event_stream(answer.headers()) {
            return Err(describe_http_status(answer.status().as_u16()));
        }
        let mut events = EventStream::new(answer);
        let endpoint = loop {
            let (kind, data) = events.next()?;
            if kind == "endpoint" {
                break data;
            }
        };
        self.sse_endpoint = Some(resolve_endpoint(&self.url, &String::from_utf8_lossy(&endpoint))?);
        self.events = Some(events);
        Ok(())
    }
}

impl Connection for HttpServer {
    fn send(&mut self, message: &Value) -> Result<(), String> {
        if let Some(url) = &self.sse_endpoint {
            let status = self.post(url, message)?.status();
            return if status.is_success() { Ok(()) } else { Err(describe_http_status(status.as_u16())) };
        }
        let answer = self.post(&self.url, message)?;
        let status = answer.status();
        if std::mem::take(&mut self.is_first_message) && matches!(status.as_u16(), 400 | 404 | 405) {
            // By these codes a client detects a server that only speaks HTTP+SSE (MCP 2025-11-25, transports).
            self.open_sse().map_err(|_| describe_http_status(status.as_u16()))?;
            return self.send(message);
        }
        if !status.is_success() {
            return Err(describe_http_status(status.as_u16()));
        }
        let session = answer.headers().get("mcp-session-id").and_then(|value| value.to_str().ok());
        self.session = session.map(str::to_owned).or_else(|| self.session.take());
        if is_event_stream(answer.headers()) {
            self.events = Some(EventStream::new(answer));
            return Ok(());
        }
        let mut body = Vec::new();
        let mut reader = answer.into_body().into_reader().take(MAX_SERVED_BYTES as u64 + 1);
        reader.read_to_end(&mut body).map_err(|error| describe_io_error(&error))?;
        if body.len() > MAX_SERVED_BYTES {
            return Err(too_large());
        }
        if !body.trim_ascii().is_empty() {
            self.unread.push(body);
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Vec<u8>, String> {
        if let Some(message) = self.unread.pop() {
            return Ok(message);
        }
        let Some(events) = &mut self.events else { return Err(ENDED.to_owned()) };
        loop {
            let (kind, data) = events.next()?;
            if kind == "message" && !data.trim_ascii().is_empty() {
                return Ok(data);
            }
        }
    }

    fn set_protocol_version(&mut self, version: &str) {
        // The server chooses this text, and it becomes a header.
        let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        self.protocol_version =
            Some(version).filter(|version| version.len() < 32 && version.bytes().all(is_valid)).map(str::to_owned);
    }

    /// Ends the session, if the server has assigned one.
    fn shut_down(self: Box<Self>) {
        if let Some(session) = self.session.as_ref().filter(|_| self.sse_endpoint.is_none()) {
            let request = self.agent.delete(&self.url).header("Mcp-Session-Id", session);
            let request = self.headers.iter().fold(request, |request, (name, value)| request.header(name, value));
            request.config().timeout_global(Some(DELETE_TIMEOUT)).build().call().ok();
        }
    }
}

/// A stream of server-sent events.
struct EventStream(std::io::Take<BufReader<BodyReader<'static>>>);

impl EventStream {
    fn new(answer: Response<Body>) -> EventStream {
        EventStream(BufReader::new(answer.into_body().into_reader()).take(MAX_SERVED_BYTES as u64 + 1))
    }

    /// Reads the next event: its type and its data.
    fn next(&mut self) -> Result<(String, Vec<u8>), String> {
        let (mut kind, mut data) = ("message".to_owned(), None::<Vec<u8>>);
        loop {
            let mut line = Vec::new();
            let read = self.0.read_until(b'\n', &mut line).map_err(|error| describe_io_error(&error))?;
            if self.0.limit() == 0 {
                return Err(too_large());
            }
            if read == 0 {
                return Err(ENDED.to_owned());
            }
            let line = line.trim_ascii_end();
            if let Some(value) = line.strip_prefix(b"data:") {
                let value = value.strip_prefix(b" ").unwrap_or(value);
                match &mut data {
                    Some(data) => {
                        data.push(b'\n');
                        data.extend_from_slice(value);
                    }
                    None => data = Some(value.to_vec()),
                }
            } else if let Some(value) = line.strip_prefix(b"event:") {
                kind = String::from_utf8_lossy(value.trim_ascii()).into_owned();
            } else if line.is_empty()
                && let Some(data) = data.take()
            {
                return Ok((kind, data));
            }
        }
    }
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
}

fn describe_http_status(status: u16) -> String {
    match status {
        401 | 403 => {
            format!(
                "the server requires a login (HTTP {status})\n  help: log in with the client, and use `rune mcp import`"
            )
        }
        300..=399 => {
            format!("the server redirects (HTTP {status})\n  help: configure the address that it redirects to")
        }
        _ => format!("the server answers with HTTP {status}"),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the library marks the enum as non-exhaustive")]
fn describe_error(error: Error) -> String {
    match error {
        Error::Timeout(_) => TIMED_OUT.to_owned(),
        // The error text is not printed: the address may contain the value of a variable.
        Error::BadUri(_) | Error::Http(_) => "invalid address or header".to_owned(),
        Error::Io(error) => describe_io_error(&error),
        Error::HostNotFound => "unknown host".to_owned(),
        Error::ConnectionFailed => "cannot connect".to_owned(),
        Error::Tls(_) | Error::Rustls(_) => "TLS failed".to_owned(),
        _ => "the request failed".to_owned(),
    }
}

fn describe_io_error(error: &std::io::Error) -> String {
    let timed_out = error.kind() == std::io::ErrorKind::TimedOut
        || error
            .get_ref()
            .and_then(|error| error.downcast_ref())
            .is_some_and(|error| matches!(error, Error::Timeout(_)));
    if timed_out { TIMED_OUT.to_owned() } else { format!("the connection failed: {}", error.kind()) }
}

/// Resolves the endpoint that a server names against the configured address. It must have the same origin.
fn resolve_endpoint(url: &str, endpoint: &str) -> Result<String, String> {
    let scheme = url.find("://").map_or(0, |at| at + 3);
    let end = url.get(scheme..).and_then(|rest| rest.find(['/', '?', '#'])).map_or(url.len(), |at| at + scheme);
    let (origin, path) = url.split_at_checked(end).unwrap_or((url, ""));
    let other_origin = || "the server names an endpoint on another host".to_owned();
    if endpoint.contains("://") {
        let rest = endpoint.strip_prefix(origin).ok_or_else(other_origin)?;
        return if rest.starts_with(['/', '?']) { Ok(endpoint.to_owned()) } else { Err(other_origin()) };
    }
    if endpoint.starts_with("//") {
        return Err(other_origin());
    }
    if endpoint.starts_with('/') {
        return Ok(format!("{origin}{endpoint}"));
    }
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    Ok(format!("{origin}{folder}/{endpoint}"))
}

#[cfg(test)]
#[path = "../../../tests/unit/commands/mcp/http.rs"]
mod tests;
