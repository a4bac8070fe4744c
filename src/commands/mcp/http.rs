//! Servers at an address: streamable HTTP, and the transport before it.

use super::dialogue::{LATE, Wire, left, too_much};
use rune::mcp::protocol::MAX_SERVED_BYTES;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::time::{Duration, Instant};
use ureq::http::{HeaderMap, Response};
use ureq::{Agent, Body, BodyReader, Error};

/// How long saying goodbye may take.
const FAREWELL: Duration = Duration::from_millis(500);

/// A session with a server at an address.
pub struct HttpServer {
    agent: Agent,
    url: String,
    headers: BTreeMap<String, String>,
    /// Headers that the server or the protocol asks for.
    session: Option<String>,
    version: Option<String>,
    /// Messages that have come and were not asked for yet.
    waiting: Vec<Vec<u8>>,
    events: Option<Events>,
    /// Where messages are sent by the old transport, whose answers all come by one stream.
    old: Option<String>,
    fresh: bool,
    deadline: Instant,
}

impl HttpServer {
    /// Makes ready to speak; `sse` where only the old transport is spoken.
    pub fn new(
        url: &str,
        headers: BTreeMap<String, String>,
        sse: bool,
        deadline: Instant,
    ) -> Result<HttpServer, String> {
        // A redirect could lead the headers, and the secrets in them, anywhere.
        let agent = Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into();
        let mut server = HttpServer {
            agent,
            url: url.to_owned(),
            headers,
            session: None,
            version: None,
            waiting: Vec::new(),
            events: None,
            old: None,
            fresh: true,
            deadline,
        };
        if sse {
            server.fall_back()?;
        }
        Ok(server)
    }

    /// Says goodbye, where there is a session.
    pub fn end(self) {
        if let Some(session) = self.session.as_ref().filter(|_| self.old.is_none()) {
            let request = self.agent.delete(&self.url).header("Mcp-Session-Id", session);
            let request = self.headers.iter().fold(request, |request, (name, value)| request.header(name, value));
            request.config().timeout_global(Some(FAREWELL)).build().call().ok();
        }
    }

    fn post(&self, url: &str, message: &Value) -> Result<Response<Body>, String> {
        let mut request = self.agent.post(url).header("Content-Type", "application/json");
        request = request.header("Accept", "application/json, text/event-stream");
        for (name, value) in self.extra() {
            request = request.header(name, value);
        }
        let request = request.config().timeout_global(Some(self.left()?)).build();
        request.send(message.to_string().into_bytes()).map_err(told)
    }

    fn extra(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = [("Mcp-Session-Id", &self.session), ("MCP-Protocol-Version", &self.version)];
        let own = own.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(own)
    }

    fn left(&self) -> Result<Duration, String> {
        Some(left(self.deadline)).filter(|left| !left.is_zero()).ok_or_else(|| LATE.to_owned())
    }

    /// Opens the stream of the old transport, and hears where to send messages.
    fn fall_back(&mut self) -> Result<(), String> {
        let mut request = self.agent.get(&self.url).header("Accept", "text/event-stream");
        for (name, value) in self.extra() {
            request = request.header(name, value);
        }
        let answer = request.config().timeout_global(Some(self.left()?)).build().call().map_err(told)?;
        if !answer.status().is_success() || !is_stream(answer.headers()) {
            return Err(refused(answer.status().as_u16()));
        }
        let mut events = Events::new(answer);
        let (_, place) = loop {
            let event = events.next()?;
            if event.0 == "endpoint" {
                break event;
            }
        };
        self.old = Some(resolve(&self.url, &String::from_utf8_lossy(&place))?);
        self.events = Some(events);
        Ok(())
    }
}

impl Wire for HttpServer {
    fn send(&mut self, message: &Value) -> Result<(), String> {
        if let Some(url) = &self.old {
            let status = self.post(url, message)?.status();
            return if status.is_success() { Ok(()) } else { Err(refused(status.as_u16())) };
        }
        let answer = self.post(&self.url, message)?;
        let status = answer.status();
        if std::mem::take(&mut self.fresh) && matches!(status.as_u16(), 400 | 404 | 405) {
            // The specification tells by these that a server speaks the old transport.
            self.fall_back().map_err(|_| refused(status.as_u16()))?;
            return self.send(message);
        }
        if !status.is_success() {
            return Err(refused(status.as_u16()));
        }
        let session = answer.headers().get("mcp-session-id").and_then(|value| value.to_str().ok());
        self.session = session.map(str::to_owned).or_else(|| self.session.take());
        if is_stream(answer.headers()) {
            self.events = Some(Events::new(answer));
            return Ok(());
        }
        let mut body = Vec::new();
        let mut reader = answer.into_body().into_reader().take(MAX_SERVED_BYTES as u64 + 1);
        reader.read_to_end(&mut body).map_err(|error| broken(&error))?;
        if body.len() > MAX_SERVED_BYTES {
            return Err(too_much());
        }
        if !body.trim_ascii().is_empty() {
            self.waiting.push(body);
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Vec<u8>, String> {
        if let Some(message) = self.waiting.pop() {
            return Ok(message);
        }
        let Some(events) = &mut self.events else { return Err("it ended before it had answered".to_owned()) };
        loop {
            let (kind, data) = events.next()?;
            if kind == "message" && !data.trim_ascii().is_empty() {
                return Ok(data);
            }
        }
    }

    fn agree(&mut self, version: &str) {
        // What a server writes becomes a header only if it looks like a version.
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        self.version = Some(version.to_owned()).filter(|version| version.len() < 32 && version.bytes().all(plain));
    }
}

/// A stream of events.
struct Events(std::io::Take<BufReader<BodyReader<'static>>>);

impl Events {
    fn new(answer: Response<Body>) -> Events {
        Events(BufReader::new(answer.into_body().into_reader()).take(MAX_SERVED_BYTES as u64 + 1))
    }

    /// The next event: its kind and its data.
    fn next(&mut self) -> Result<(String, Vec<u8>), String> {
        let (mut kind, mut data) = ("message".to_owned(), None::<Vec<u8>>);
        loop {
            let mut line = Vec::new();
            let read = self.0.read_until(b'\n', &mut line).map_err(|error| broken(&error))?;
            if self.0.limit() == 0 {
                return Err(too_much());
            }
            if read == 0 {
                return Err("it ended before it had answered".to_owned());
            }
            let line = line.trim_ascii_end();
            if let Some(value) = line.strip_prefix(b"data:") {
                let value = value.strip_prefix(b" ").unwrap_or(value);
                data = Some(data.map_or_else(|| value.to_vec(), |data| [&data[..], b"\n", value].concat()));
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

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
}

fn refused(status: u16) -> String {
    match status {
        401 | 403 => {
            format!("it wants a login (HTTP {status})\n  help: let the client log in, and use `rune mcp import`")
        }
        300..=399 => format!("it leads elsewhere (HTTP {status})\n  help: name the address that it leads to"),
        _ => format!("it answers with HTTP {status}"),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "what else may go wrong grows with the library")]
fn told(error: Error) -> String {
    match error {
        Error::Timeout(_) => LATE.to_owned(),
        // The address may hold what was filled in for a variable.
        Error::BadUri(_) | Error::Http(_) => "its address or a header cannot be sent".to_owned(),
        Error::Io(error) => broken(&error),
        Error::HostNotFound => "its host is not known".to_owned(),
        Error::ConnectionFailed => "it cannot be reached".to_owned(),
        Error::Tls(_) | Error::Rustls(_) => "it cannot prove who it is (TLS)".to_owned(),
        _ => "it cannot be spoken to".to_owned(),
    }
}

fn broken(error: &std::io::Error) -> String {
    let late = error.kind() == std::io::ErrorKind::TimedOut
        || error
            .get_ref()
            .and_then(|error| error.downcast_ref())
            .is_some_and(|error| matches!(error, Error::Timeout(_)));
    if late { LATE.to_owned() } else { format!("the connection broke: {}", error.kind()) }
}

/// The address of an endpoint that a server names. It has to stay where the person has sent us.
fn resolve(url: &str, endpoint: &str) -> Result<String, String> {
    let scheme = url.find("://").map_or(0, |at| at + 3);
    let end = url.get(scheme..).and_then(|rest| rest.find(['/', '?', '#'])).map_or(url.len(), |at| at + scheme);
    let (origin, path) = url.split_at_checked(end).unwrap_or((url, ""));
    let elsewhere = || "it sends its messages to another host".to_owned();
    if endpoint.contains("://") {
        let rest = endpoint.strip_prefix(origin).ok_or_else(elsewhere)?;
        return if rest.starts_with(['/', '?']) { Ok(endpoint.to_owned()) } else { Err(elsewhere()) };
    }
    if endpoint.starts_with("//") {
        return Err(elsewhere());
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
