//! MCP servers in the files of described clients.

use crate::client::claude::locate::locate;
use crate::client::claude::servers::launch;
use crate::client::edit;
use crate::client::server::{Launch, Server, ServerFile};
use crate::client::settings::FileError;
use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item};

/// The file with a user's MCP servers, and the member of it that holds them.
#[derive(Clone, Copy, Debug)]
pub struct Servers {
    /// The file below the client's directory.
    pub file: &'static str,
    /// The member.
    pub member: &'static str,
}

impl Servers {
    /// Reads the servers of a file, which is JSON or TOML.
    pub(super) fn read(self, text: &str, is_toml: bool) -> ServerFile {
        let members = if is_toml { toml_members(text, self.member) } else { json_members(text, self.member) };
        let members = match members {
            Ok(members) => members,
            Err(error) => return ServerFile { errors: vec![error], ..ServerFile::default() },
        };
        let server = |(name, entry): (String, Value)| {
            let steps = vec![self.member.to_owned(), name.clone()];
            let launch = launch_of(&entry).map_err(|what| {
                let place = locate(text, &steps.iter().map(String::as_str).collect::<Vec<_>>());
                FileError::at(place, what)
            });
            Server { name, entry: entry.to_string(), steps, launch }
        };
        ServerFile { all: members.into_iter().map(server).collect(), ..ServerFile::default() }
    }
}

type Members = Result<Vec<(String, Value)>, FileError>;

fn json_members(text: &str, member: &str) -> Members {
    let mut file = edit::read(text)?;
    Ok(match file.get_mut(member).map(Value::take) {
        Some(Value::Object(members)) => members.into_iter().collect(),
        Some(_) | None => Vec::new(),
    })
}

fn toml_members(text: &str, member: &str) -> Members {
    let document: DocumentMut = text.parse().map_err(|_| FileError::new("expected valid TOML"))?;
    let table = document.get(member).and_then(Item::as_table_like);
    let members = table.into_iter().flat_map(|table| table.iter());
    Ok(members.map(|(name, item)| (name.to_owned(), json_of(item))).collect())
}

/// A TOML value as JSON, as far as entries of servers have such values.
fn json_of(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return Value::Object(table.iter().map(|(name, item)| (name.to_owned(), json_of(item))).collect());
    }
    if let Some(list) = item.as_array() {
        return list.iter().map(|value| value.as_str().map_or(Value::Null, Value::from)).collect();
    }
    let number = || item.as_integer().map(Value::from);
    item.as_str().map(Value::from).or_else(|| item.as_bool().map(Value::from)).or_else(number).unwrap_or_default()
}

/// How an entry reaches its server. Clients differ in the names of the same things.
fn launch_of(entry: &Value) -> Result<Launch, String> {
    let mut same = entry.clone();
    if let Some(same) = same.as_object_mut() {
        if let Some(url) = same.remove("httpUrl") {
            same.insert("url".to_owned(), url);
        }
        if let Some(Value::Array(words)) = same.get("command").cloned() {
            let mut words = words.into_iter();
            same.insert("command".to_owned(), words.next().unwrap_or_default());
            same.insert("args".to_owned(), words.collect());
        }
        if let Some(env) = same.remove("environment") {
            same.insert("env".to_owned(), env);
        }
        match same.get("type").and_then(Value::as_str) {
            Some("local") => drop(same.insert("type".to_owned(), json!("stdio"))),
            Some("remote") => drop(same.insert("type".to_owned(), json!("http"))),
            Some(_) | None => {}
        }
    }
    launch(&same)
}
