//! Identity: how a client starts or reaches a server, without secrets.

use super::{Hash, HashSubject};
use crate::encoding::canonical::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The transport of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Standard streams of a process that the client starts.
    #[default]
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events.
    Sse,
    /// WebSocket.
    Ws,
}

/// How a client starts or reaches a server, as written in its configuration: variables are not expanded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

impl Identity {
    /// Creates an identity with a transport and nothing else.
    pub fn new(transport: Transport) -> Identity {
        Identity { transport, ..Identity::default() }
    }

    /// Reads an entry of an `mcpServers` object; `None` if it is invalid.
    pub fn of_entry(entry: &Value) -> Option<Identity> {
        if !matches!(entry, Value::Object(_)) {
            return None;
        }
        let text = |name: &str| match entry.get(name) {
            None | Some(Value::Null) => Some(None),
            Some(Value::String(text)) => Some(Some(text.clone())),
            Some(_) => None,
        };
        let names = |name: &str| match entry.get(name) {
            None | Some(Value::Null) => Some(BTreeSet::new()),
            Some(object @ Value::Object(_)) => Some(object.fields().map(|(name, _)| name.to_owned()).collect()),
            Some(_) => None,
        };
        let (command, url) = (text("command")?, text("url")?);
        let transport = match text("type")?.as_deref() {
            Some("stdio") => Transport::Stdio,
            Some("http" | "streamable-http" | "streamableHttp") => Transport::Http,
            Some("sse") => Transport::Sse,
            Some("ws") => Transport::Ws,
            Some(_) => return None,
            None if command.is_some() => Transport::Stdio,
            None if url.is_some() => Transport::Http,
            None => return None,
        };
        let args = match entry.get("args") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => {
                items.iter().map(|item| item.text().map(str::to_owned)).collect::<Option<_>>()?
            }
            Some(_) => return None,
        };
        let known = ["type", "command", "args", "env", "cwd", "url", "headers"];
        let rest = entry.fields().filter(|(name, _)| !known.contains(name));
        let rest: Vec<(String, Value)> = rest.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let rest = (!rest.is_empty()).then(|| Hash::of(HashSubject::Identity, &Value::object(rest)));
        let (cwd, env, headers) = (text("cwd")?, names("env")?, names("headers")?);
        Some(Identity { transport, command, args, env, cwd, owner: None, url, headers, rest })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/mcp/identity.rs"]
mod tests;
