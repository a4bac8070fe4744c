//! MCP servers as Claude Code's files name them: what is started or called, and under which name.

use super::settings::{Broken, object};
use serde_json::Value;
use std::collections::BTreeMap;

/// A file of the client's that may name servers.
#[derive(Clone, Debug, PartialEq)]
pub struct Document(Value);

/// One server, as a file names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// Its name, as the client shows it.
    pub name: String,
    /// The entry itself, unexpanded: what its identity is taken of.
    pub entry: Value,
    /// Where it stands in its file, by names.
    pub steps: Vec<String>,
    /// How it is reached, or why that cannot be told.
    pub launch: Result<Launch, String>,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// A program that speaks on its standard streams.
    Stdio {
        /// The program, a path or a name.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that it is given besides those of the client.
        env: BTreeMap<String, String>,
        /// The directory that it is started in, where the file names one.
        cwd: Option<String>,
    },
    /// A service at an address.
    Http {
        /// The address.
        url: String,
        /// Headers that every request carries.
        headers: BTreeMap<String, String>,
        /// The file says that it speaks the old transport only.
        sse: bool,
    },
}

impl Document {
    /// Reads a file; an empty one names nothing.
    pub fn read(text: &str) -> Result<Document, Broken> {
        object(text, "a file of servers is a JSON object").map(Document)
    }

    /// The servers that stand below `mcpServers`.
    pub fn servers(&self) -> Vec<Server> {
        members(self.0.get("mcpServers"), &["mcpServers"])
    }

    /// The servers that a user has added for one project only.
    pub fn servers_of(&self, project: &str) -> Vec<Server> {
        let servers = self.0.get("projects").and_then(|all| all.get(project)).and_then(|one| one.get("mcpServers"));
        members(servers, &["projects", project, "mcpServers"])
    }

    /// The servers of a plugin's file, which may leave `mcpServers` out.
    pub fn plugin_servers(&self) -> Vec<Server> {
        if self.0.get("mcpServers").is_some() { self.servers() } else { members(Some(&self.0), &[]) }
    }

    /// The files that a plugin's manifest names instead of servers.
    pub fn server_files(&self) -> Vec<&str> {
        match self.0.get("mcpServers") {
            Some(Value::String(file)) => vec![file],
            Some(Value::Array(files)) => files.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// The value that a JSON pointer leads to.
    pub fn at(&self, pointer: &str) -> Option<&Value> {
        self.0.pointer(pointer)
    }
}

fn members(servers: Option<&Value>, at: &[&str]) -> Vec<Server> {
    let servers = servers.and_then(Value::as_object).into_iter().flatten();
    let server = |(name, entry): (&String, &Value)| Server {
        name: name.clone(),
        entry: entry.clone(),
        steps: at.iter().map(|step| (*step).to_owned()).chain([name.clone()]).collect(),
        launch: Launch::read(entry),
    };
    servers.map(server).collect()
}

impl Launch {
    /// Reads one entry. What it says besides is not ours to judge.
    pub fn read(entry: &Value) -> Result<Launch, String> {
        let text = |name: &str| match entry.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("`{name}` is not a text")),
        };
        if !entry.is_object() {
            return Err("the entry is not an object".to_owned());
        }
        let (kind, command, url) = (text("type")?, text("command")?, text("url")?);
        match (kind.as_deref(), command, url) {
            (None | Some("stdio"), Some(command), _) => {
                let args = match entry.get("args") {
                    None | Some(Value::Null) => Vec::new(),
                    Some(Value::Array(args)) => {
                        let words = args.iter().map(|arg| arg.as_str().map(str::to_owned));
                        words.collect::<Option<_>>().ok_or("`args` holds what is not a text")?
                    }
                    Some(_) => return Err("`args` is not a list".to_owned()),
                };
                Ok(Launch::Stdio { command, args, env: texts(entry, "env")?, cwd: text("cwd")? })
            }
            (Some("stdio"), None, _) => Err("`command` is missing".to_owned()),
            (None, None, None) => Err("it names neither `command` nor `url`".to_owned()),
            (None | Some("http" | "streamable-http" | "sse"), _, Some(url)) => {
                let sse = kind.as_deref() == Some("sse");
                Ok(Launch::Http { url, headers: texts(entry, "headers")?, sse })
            }
            (Some("http" | "streamable-http" | "sse"), _, None) => Err("`url` is missing".to_owned()),
            (Some(_), ..) => Err("its `type` is none that can be probed\n  help: use `rune mcp import`".to_owned()),
        }
    }

    /// The same with variables filled in, as the client does before it starts a server: `${NAME}` and
    /// `${NAME:-default}`; one that nobody has set stays as it is written.
    pub fn expand(&self, lookup: &dyn Fn(&str) -> Option<String>) -> Launch {
        let fill = |text: &String| expand(text, lookup);
        let fill_all = |map: &BTreeMap<String, String>| map.iter().map(|(k, v)| (k.clone(), fill(v))).collect();
        match self {
            Launch::Stdio { command, args, env, cwd } => Launch::Stdio {
                command: fill(command),
                args: args.iter().map(fill).collect(),
                env: fill_all(env),
                cwd: cwd.as_ref().map(fill),
            },
            Launch::Http { url, headers, sse } => {
                Launch::Http { url: fill(url), headers: fill_all(headers), sse: *sse }
            }
        }
    }
}

/// A member whose values are texts; the client makes texts of numbers and switches.
fn texts(entry: &Value, name: &str) -> Result<BTreeMap<String, String>, String> {
    let members = match entry.get(name) {
        None | Some(Value::Null) => return Ok(BTreeMap::new()),
        Some(Value::Object(members)) => members,
        Some(_) => return Err(format!("`{name}` is not an object")),
    };
    let text = |(name, value): (&String, &Value)| match value {
        Value::String(text) => Ok((name.clone(), text.clone())),
        Value::Number(_) | Value::Bool(_) => Ok((name.clone(), value.to_string())),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(format!("`{name}` is not a text")),
    };
    members.iter().map(text).collect()
}

fn expand(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        filled.push_str(before);
        let Some((inside, behind)) = after.split_once('}') else {
            filled.push_str("${");
            rest = after;
            continue;
        };
        let (name, default) = inside.split_once(":-").map_or((inside, None), |(name, default)| (name, Some(default)));
        match lookup(name).or_else(|| default.map(str::to_owned)) {
            Some(value) => filled.push_str(&value),
            None => filled.extend(["${", inside, "}"]),
        }
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
#[path = "../../../tests/unit/client/claude/server.rs"]
mod tests;
