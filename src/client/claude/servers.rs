//! MCP servers in the files of Claude Code.

use super::settings::read_object;
use crate::client::server::{Launch, LaunchContext, RawServers, Server, ServerSection};
use crate::client::settings::FileError;
use crate::encoding::json::Fields;
use serde_json::Value;
use std::collections::BTreeMap;

/// The member that holds servers.
const SERVERS: &str = "mcpServers";

/// Parses a file that may name servers; an empty one names none.
pub(super) fn document(text: &str) -> Result<Value, FileError> {
    read_object(text, "a file of servers is a JSON object")
}

/// The servers in a section of a file.
pub(super) fn read(text: &str, section: ServerSection<'_>) -> Result<Vec<Server>, FileError> {
    let document = document(text)?;
    Ok(match section {
        ServerSection::All => servers(&document),
        ServerSection::Project(project) => {
            let own = document.get("projects").and_then(|all| all.get(project)).and_then(|own| own.get(SERVERS));
            members(own, &["projects", project, SERVERS])
        }
    })
}

/// The servers of the document itself.
pub(super) fn servers(document: &Value) -> Vec<Server> {
    members(document.get(SERVERS), &[SERVERS])
}

/// The servers of a plugin's file, which may be the members of the document itself.
pub(super) fn plugin_servers(document: &Value) -> Vec<Server> {
    if document.get(SERVERS).is_some() { servers(document) } else { members(Some(document), &[]) }
}

/// The files that a plugin's manifest names in place of servers.
pub(super) fn server_files(manifest: &Value) -> Vec<&str> {
    match manifest.get(SERVERS) {
        Some(Value::String(file)) => vec![file],
        Some(Value::Array(files)) => files.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The entries of servers in a file, unparsed.
pub(super) fn raw<'a>(text: &'a str, projects: &[&str]) -> RawServers<'a> {
    let fields = Fields::read(text.as_bytes());
    let sections = fields.object("projects").unwrap_or_default();
    let mut raw = RawServers::default();
    let mut entries = |fields: &Fields<'a>| -> Vec<(String, &'a [u8])> {
        let named = fields.object(SERVERS).unwrap_or_default();
        if let Some(flaw) = fields.error().or(named.error()) {
            raw.flaw = Some(flaw.to_string());
        }
        named.iter().map(|(name, entry)| (name.to_owned(), entry)).collect()
    };
    let of_projects = projects.iter().filter_map(|project| sections.object(project));
    let of_projects = of_projects.flat_map(|own| entries(&own)).collect();
    let all = entries(&fields);
    RawServers { projects: of_projects, all, ..raw }
}

fn members(servers: Option<&Value>, at: &[&str]) -> Vec<Server> {
    let servers = servers.and_then(Value::as_object).into_iter().flatten();
    let server = |(name, entry): (&String, &Value)| Server {
        name: name.clone(),
        entry: entry.clone(),
        steps: at.iter().map(|step| (*step).to_owned()).chain([name.clone()]).collect(),
        launch: launch(entry),
    };
    servers.map(server).collect()
}

/// Reads how an entry reaches its server. Members that do not matter for that are not checked.
fn launch(entry: &Value) -> Result<Launch, String> {
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
            Ok(Launch::Stdio { command, args, env: strings(entry, "env")?, cwd: text("cwd")? })
        }
        (Some("stdio"), None, _) => Err("`command` is missing".to_owned()),
        (None, None, None) => Err("it names neither `command` nor `url`".to_owned()),
        (None | Some("http" | "streamable-http" | "sse"), _, Some(url)) => {
            let sse = kind.as_deref() == Some("sse");
            Ok(Launch::Http { url, headers: strings(entry, "headers")?, sse })
        }
        (Some("http" | "streamable-http" | "sse"), _, None) => Err("`url` is missing".to_owned()),
        (Some(_), ..) => Err("its `type` is none that can be probed\n  help: use `rune mcp import`".to_owned()),
    }
}

/// Expands `${NAME}` and `${NAME:-default}`; a variable that is not set and has no default is left as it is.
pub(super) fn expand(launch: &Launch, context: &LaunchContext<'_>) -> Launch {
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let lookup = |name: &str| match name {
        "CLAUDE_PLUGIN_ROOT" => context.plugin_root.map(path),
        "CLAUDE_PROJECT_DIR" => Some(path(context.project)),
        name => (context.variable)(name),
    };
    let fill = |text: &String| expand_text(text, &lookup);
    let fill_all = |map: &BTreeMap<String, String>| map.iter().map(|(k, v)| (k.clone(), fill(v))).collect();
    match launch {
        Launch::Stdio { command, args, env, cwd } => Launch::Stdio {
            command: fill(command),
            args: args.iter().map(fill).collect(),
            env: fill_all(env),
            cwd: cwd.as_ref().map(fill),
        },
        Launch::Http { url, headers, sse } => Launch::Http { url: fill(url), headers: fill_all(headers), sse: *sse },
    }
}

/// A member whose values are strings; the client converts numbers and booleans to strings.
fn strings(entry: &Value, name: &str) -> Result<BTreeMap<String, String>, String> {
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

fn expand_text(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> String {
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
#[path = "../../../tests/unit/client/claude/servers.rs"]
mod tests;
