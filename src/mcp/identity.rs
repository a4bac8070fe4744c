//! Identity: how a client starts or reaches a server, without secrets.

use super::{Hash, HashSubject};
use crate::encoding::canonical::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// The transport of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Standard streams of a process that the client starts.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events.
    Sse,
    /// WebSocket.
    Ws,
}

/// How a client starts or reaches a server, as written in its configuration: variables are not expanded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The transport.
    pub transport: Transport,
    /// The program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The names of its environment variables, never their values.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub env: BTreeSet<String>,
    /// Its working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The project or plugin whose files it runs. The same command runs other files in another project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Box<str>>,
    /// Its URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The names of the HTTP headers that are sent to it, never their values.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub headers: BTreeSet<String>,
    /// A hash of all other members of its entry, such as `headersHelper`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Hash>,
}

/// Why an entry of a client's configuration has no identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidEntry(&'static str);

impl fmt::Display for InvalidEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for InvalidEntry {}

impl Identity {
    /// Creates an identity with a transport and nothing else.
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

    /// Reads an entry of an `mcpServers` object.
    pub fn of_entry(entry: &Value) -> Result<Identity, InvalidEntry> {
        if !matches!(entry, Value::Object(_)) {
            return Err(InvalidEntry("not an object"));
        }
        let text = |name: &str| match entry.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(InvalidEntry("`type`, `command`, `cwd` and `url` must be strings")),
        };
        let names = |name: &str| match entry.get(name) {
            None | Some(Value::Null) => Ok(BTreeSet::new()),
            Some(object @ Value::Object(_)) => Ok(object.fields().map(|(name, _)| name.to_owned()).collect()),
            Some(_) => Err(InvalidEntry("`env` and `headers` must be objects")),
        };
        let (command, url) = (text("command")?, text("url")?);
        let transport = match text("type")?.as_deref() {
            Some("stdio") => Transport::Stdio,
            Some("http" | "streamable-http" | "streamableHttp") => Transport::Http,
            Some("sse") => Transport::Sse,
            Some("ws") => Transport::Ws,
            Some(_) => return Err(InvalidEntry("unknown `type`")),
            None if command.is_some() => Transport::Stdio,
            None if url.is_some() => Transport::Http,
            None => return Err(InvalidEntry("neither `command` nor `url`")),
        };
        let args = match entry.get("args") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => {
                let texts: Option<Vec<String>> = items.iter().map(|item| item.text().map(str::to_owned)).collect();
                texts.ok_or(InvalidEntry("`args` must be a list of strings"))?
            }
            Some(_) => return Err(InvalidEntry("`args` must be a list of strings")),
        };
        let known = ["type", "command", "args", "env", "cwd", "url", "headers"];
        let rest = entry.fields().filter(|(name, _)| !known.contains(name));
        let rest: Vec<(String, Value)> = rest.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let rest = (!rest.is_empty()).then(|| Hash::of(HashSubject::Identity, &Value::object(rest)));
        let (cwd, env, headers) = (text("cwd")?, names("env")?, names("headers")?);
        Ok(Identity { transport, command, args, env, cwd, owner: None, url, headers, rest })
    }

    /// The names of the members that differ from another identity.
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
