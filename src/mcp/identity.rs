//! Identity: how a client starts or reaches a server, without a single secret.

use super::{Hash, Subject};
use crate::encoding::canonical::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// A process that the client starts, by its standard streams.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events.
    Sse,
    /// A web socket.
    Ws,
}

/// How a client starts or reaches a server, as its configuration says: what is not expanded there is not expanded here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// How it is spoken to.
    pub transport: Transport,
    /// The program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The names of the variables that are set for it, never their values.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub env: BTreeSet<String>,
    /// The directory that it is started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whose own files it runs, a project's or a plugin's: elsewhere, the same words run others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Box<str>>,
    /// Its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The names of the headers that are sent to it, never their values.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub headers: BTreeSet<String>,
    /// A hash of whatever else its entry says, such as a program that makes headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Hash>,
}

/// An entry of a client's configuration that does not say how to start or reach a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadEntry(&'static str);

impl fmt::Display for BadEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for BadEntry {}

impl Identity {
    /// The identity of a server with nothing but a way to speak to it.
    pub fn new(transport: Transport) -> Identity {
        Identity {
            transport,
            command: None,
            args: Vec::new(),
            env: BTreeSet::new(),
            cwd: None,
            owner: None,
            url: None,
            headers: BTreeSet::new(),
            rest: None,
        }
    }

    /// Reads the entry of a server in an `mcpServers` object of a client.
    pub fn of_entry(entry: &Value) -> Result<Identity, BadEntry> {
        if !matches!(entry, Value::Object(_)) {
            return Err(BadEntry("it is not an object"));
        }
        let text = |name: &str| match entry.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(BadEntry("`type`, `command`, `cwd` and `url` are texts")),
        };
        let names = |name: &str| match entry.get(name) {
            None | Some(Value::Null) => Ok(BTreeSet::new()),
            Some(object @ Value::Object(_)) => Ok(object.fields().map(|(name, _)| name.to_owned()).collect()),
            Some(_) => Err(BadEntry("`env` and `headers` are objects")),
        };
        let (command, url) = (text("command")?, text("url")?);
        let transport = match text("type")?.as_deref() {
            Some("stdio") => Transport::Stdio,
            Some("http" | "streamable-http" | "streamableHttp") => Transport::Http,
            Some("sse") => Transport::Sse,
            Some("ws") => Transport::Ws,
            Some(_) => return Err(BadEntry("its `type` is not known")),
            None if command.is_some() => Transport::Stdio,
            None if url.is_some() => Transport::Http,
            None => return Err(BadEntry("it has neither a `command` nor a `url`")),
        };
        let args = match entry.get("args") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => {
                let texts: Option<Vec<String>> = items.iter().map(|item| item.text().map(str::to_owned)).collect();
                texts.ok_or(BadEntry("`args` is a list of texts"))?
            }
            Some(_) => return Err(BadEntry("`args` is a list of texts")),
        };
        let known = ["type", "command", "args", "env", "cwd", "url", "headers"];
        let rest = entry.fields().filter(|(name, _)| !known.contains(name));
        let rest: Vec<(String, Value)> = rest.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let rest = (!rest.is_empty()).then(|| Hash::of(Subject::Identity, &Value::object(rest)));
        let (cwd, env, headers) = (text("cwd")?, names("env")?, names("headers")?);
        Ok(Identity { transport, command, args, env, cwd, owner: None, url, headers, rest })
    }

    /// What differs from another identity, in words.
    pub fn differences(&self, other: &Identity) -> Vec<&'static str> {
        [
            (self.transport != other.transport, "transport"),
            (self.command != other.command, "command"),
            (self.args != other.args, "arguments"),
            (self.env != other.env, "names of variables"),
            (self.cwd != other.cwd, "directory"),
            (self.owner != other.owner, "project or plugin"),
            (self.url != other.url, "address"),
            (self.headers != other.headers, "names of headers"),
            (self.rest != other.rest, "other settings"),
        ]
        .into_iter()
        .filter_map(|(differs, what)| differs.then_some(what))
        .collect()
    }
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/identity.rs"]
mod tests;
