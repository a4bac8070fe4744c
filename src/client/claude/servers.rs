//! MCP servers in the files of Claude Code.

use super::locate::locate;
use super::settings::{describe, json_error, read_object};
use crate::client::server::{Launch, LaunchContext, Server, ServerFile};
use crate::client::settings::FileError;
use crate::mcp::UniqueMap;
use crate::mcp::tool::sanitize_name;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The member that holds servers.
const SERVERS: &str = "mcpServers";

/// Parses a file of a plugin or of the list of plugins; an empty one is an empty object.
pub(super) fn document(text: &str) -> Result<Value, FileError> {
    read_object(text, "a file of servers is a JSON object")
}

/// The members of a file that concern servers. The others are skipped unparsed: the user's file can be megabytes large,
/// and it is read on every call of an MCP tool.
#[derive(Default, Deserialize)]
struct ConfigFile<'a> {
    #[serde(borrow, rename = "mcpServers")]
    servers: Option<&'a RawValue>,
    #[serde(borrow)]
    projects: Option<&'a RawValue>,
}

impl<'a> ConfigFile<'a> {
    /// Parses a file; an empty one names nothing.
    fn parse(text: &'a str) -> serde_json::Result<Self> {
        let text = text.trim_start_matches('\u{feff}');
        match text.trim_start().chars().next() {
            None => Ok(ConfigFile::default()),
            // serde would also read a struct from an array.
            Some('[') => Err(serde::de::Error::custom("an array")),
            Some(_) => serde_json::from_str(text),
        }
    }
}

/// Reads the servers of a file, and those of its sections for `projects`.
pub(super) fn read(text: &str, projects: &[&str]) -> ServerFile {
    let mut file = ServerFile::default();
    let config = match ConfigFile::parse(text) {
        Ok(config) => config,
        Err(error) => {
            file.errors.push(json_error(&error));
            return file;
        }
    };
    let sections = config.projects.filter(|_| !projects.is_empty());
    let sections = members(text, sections, &["projects"]).unwrap_or_else(|error| {
        file.errors.push(error);
        BTreeMap::new()
    });
    for project in projects {
        let Some(section) = sections.get(*project).filter(|raw| raw.get().starts_with('{')) else { continue };
        let servers = ConfigFile::parse(section.get()).map_err(|error| error_at(text, &["projects", project], &error));
        match servers.and_then(|own| servers_at(text, own.servers, &["projects", project, SERVERS])) {
            Ok(servers) => file.projects.extend(servers),
            Err(error) => file.errors.push(error),
        }
    }
    match servers_at(text, config.servers, &[SERVERS]) {
        Ok(servers) => file.all = servers,
        Err(error) => file.errors.push(error),
    }
    file
}

/// Reads the servers of a plugin's file, which may omit `mcpServers` and be the object of servers itself.
pub(super) fn read_plugin_file(text: &str) -> ServerFile {
    if !matches!(ConfigFile::parse(text), Ok(ConfigFile { servers: None, .. })) {
        return read(text, &[]);
    }
    match servers_at(text, serde_json::from_str(text.trim_start_matches('\u{feff}')).ok(), &[]) {
        Ok(all) => ServerFile { all, ..ServerFile::default() },
        Err(error) => ServerFile { errors: vec![error], ..ServerFile::default() },
    }
}

/// The files that a plugin's manifest names in place of servers.
pub(super) fn server_files(manifest: &str) -> Vec<String> {
    let servers = ConfigFile::parse(manifest).ok().and_then(|config| config.servers);
    match servers.and_then(|raw| serde_json::from_str(raw.get()).ok()) {
        Some(Value::String(file)) => vec![file],
        Some(Value::Array(files)) => files.iter().filter_map(|file| Some(file.as_str()?.to_owned())).collect(),
        _ => Vec::new(),
    }
}

/// The members of the object at `path`, by name. Anything but an object has none; an object that repeats a name is an
/// error.
fn members<'a>(
    text: &str,
    raw: Option<&'a RawValue>,
    path: &[&str],
) -> Result<BTreeMap<String, &'a RawValue>, FileError> {
    let Some(raw) = raw.map(RawValue::get).filter(|raw| raw.starts_with('{')) else { return Ok(BTreeMap::new()) };
    let members = serde_json::from_str::<UniqueMap<_>>(raw);
    members.map(|members| members.0).map_err(|error| error_at(text, path, &error))
}

/// The servers in the object at `path`.
fn servers_at(text: &str, raw: Option<&RawValue>, path: &[&str]) -> Result<Vec<Server>, FileError> {
    let server = |(name, raw): (String, &RawValue)| {
        let steps: Vec<&str> = path.iter().copied().chain([&*name]).collect();
        let entry = serde_json::from_str(raw.get()).map_err(|_| "the entry is not valid JSON".to_owned());
        let launch = entry.and_then(|entry| launch(&entry)).map_err(|what| FileError::at(locate(text, &steps), what));
        let steps = steps.into_iter().map(str::to_owned).collect();
        Server { steps, entry: raw.get().to_owned(), launch, name }
    };
    Ok(members(text, raw, path)?.into_iter().map(server).collect())
}

/// An error in the part of the file that `path` leads to.
fn error_at(text: &str, path: &[&str], error: &serde_json::Error) -> FileError {
    FileError::at(locate(text, path), describe(error))
}

/// Reads how an entry reaches its server. Members that do not matter for that are not checked.
pub(in crate::client) fn launch(entry: &Value) -> Result<Launch, String> {
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

/// The name of a server in the names of calls.
pub(super) fn name_in_calls(server: &str) -> String {
    let sanitized = sanitize_name(server);
    if !server.starts_with("claude.ai ") {
        return sanitized;
    }
    // For connectors the client also merges runs of `_`.
    sanitized.split('_').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
#[path = "../../../tests/unit/client/claude/servers.rs"]
mod tests;
