//! Events of described clients: the fields of a payload, and the actions of tools, by tables.

use super::Described;
use crate::client::SampleEvent;
use crate::encoding::json::{self, Fields, Text};
use crate::encoding::label::Label;
use crate::event::{Action, Answers, Change, Dialect, EventError, Header, Message, Replaces, Server, Shows};
use crate::quarantined::{ContentSource, Quarantined};
use crate::shell::quote_word;
use crate::verdict::Phase;
use crate::verdict::failure::Failure;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Where a payload has things. `a/b` is the field `b` of the object `a`; an empty name is a thing that the client does
/// not send.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The name of the event.
    pub event: &'static str,
    /// The session.
    pub session: &'static str,
    /// The id of the call.
    pub call: &'static str,
    /// The name of the tool.
    pub tool: &'static str,
    /// The input of the tool: an object, or its JSON text as a string.
    pub input: &'static str,
    /// The part of the result that the model is shown.
    pub result: &'static str,
    /// What a failed call has in place of a result.
    pub error: &'static str,
    /// The working directory.
    pub cwd: &'static str,
    /// What the person typed: a string, or a list of parts.
    pub prompt: &'static str,
}

impl Names {
    /// The names that most clients have taken over from Claude Code.
    pub const COMMON: Names = Names {
        event: "hook_event_name",
        session: "session_id",
        call: "tool_use_id",
        tool: "tool_name",
        input: "tool_input",
        result: "tool_response",
        error: "error",
        cwd: "cwd",
        prompt: "prompt",
    };
}

/// What a tool does, and the keys of its input. `a[]` is a list of strings and `a[].b` one of objects; in their place,
/// one string may stand. An empty key is one that the tool does not have.
#[derive(Clone, Copy, Debug)]
pub enum Does {
    /// Runs shell text: one, or a list of texts that run one after the other.
    Shell {
        /// The text.
        command: &'static str,
        /// The directory to run it in.
        dir: &'static str,
    },
    /// Writes a whole file.
    Write {
        /// The file.
        path: &'static str,
        /// Its new content.
        content: &'static str,
    },
    /// Changes a file; without `old`, the whole of it.
    Edit {
        /// The file.
        path: &'static str,
        /// The text to replace.
        old: &'static str,
        /// The new text.
        new: &'static str,
    },
    /// Changes the files that a patch names.
    Patch(&'static str),
    /// Reads files.
    Read(&'static str),
    /// Searches or lists files. All keys are optional.
    Search {
        /// The directory.
        path: &'static str,
        /// Patterns for file names.
        names: &'static str,
        /// What is shown of the files.
        shows: Shows,
    },
    /// Fetches web pages.
    Fetch(&'static str),
    /// Fetches the web pages whose addresses a text contains.
    FetchFrom(&'static str),
    /// Searches the web.
    WebSearch,
    /// Reads, or lists, resources of an MCP server. Both keys are optional.
    Resource {
        /// The name of the server.
        server: &'static str,
        /// The address of the resource.
        uri: &'static str,
    },
    /// Starts another agent, or shows what one has done.
    Agent,
    /// Nothing that the guard judges.
    Nothing,
}

/// The names that a client gives to the tools of MCP servers: prefix, server, joint, tool.
#[derive(Clone, Copy, Debug)]
pub struct McpNames {
    /// What every name begins with. If it is empty, a name is one if it has the joint and no tool of the client has it.
    pub prefix: &'static str,
    /// What stands between the server and the tool.
    pub joint: &'static str,
    /// The object of the payload that names both, if there is one.
    pub context: &'static str,
    /// Servers that the client brings itself.
    pub own: &'static [&'static str],
}

impl McpNames {
    /// `mcp__server__tool`.
    pub const COMMON: McpNames = McpNames { prefix: "mcp__", joint: "__", context: "", own: &[] };
}

/// A longer input has no HMAC in the log: its canonical form would take several times the memory of the event.
const MAX_HASHED_BYTES: usize = 1 << 20;

/// The raw value at a path of names.
pub(super) fn at<'a>(fields: &Fields<'a>, path: &str) -> Option<&'a [u8]> {
    match path.split_once('/') {
        Some((outer, rest)) => at(&fields.object(outer)?, rest),
        None => fields.get(path),
    }
}

fn text_at(fields: &Fields<'_>, path: &str) -> Option<Text> {
    at(fields, path).and_then(Text::read)
}

/// An object, or the object that a string holds as JSON.
fn object(raw: &[u8]) -> Option<Cow<'_, [u8]>> {
    match Text::read(raw) {
        Some(text) => text.text.starts_with('{').then(|| Cow::Owned(text.text.into_bytes())),
        None => raw.starts_with(b"{").then_some(Cow::Borrowed(raw)),
    }
}

/// The strings at a key of an input, and whether another kind of value stands there.
fn values(input: &Fields<'_>, key: &str) -> (Vec<String>, bool) {
    let (name, inner) = key.split_once("[]").map_or((key, None), |(name, inner)| (name, Some(inner)));
    let Some(raw) = input.get(name).filter(|raw| !raw.starts_with(b"null")) else { return (Vec::new(), false) };
    let items = if inner.is_some() && raw.starts_with(b"[") { json::items(raw) } else { vec![raw] };
    let read = |item: &&[u8]| match inner.and_then(|inner| inner.strip_prefix('.')) {
        Some(name) if item.starts_with(b"{") => Fields::read(item).string(name),
        _ => Text::read(item),
    };
    let found: Vec<String> = items.iter().filter_map(read).map(|text| text.text).collect();
    let is_odd = found.len() < items.len();
    (found, is_odd)
}

impl Described {
    /// The names that fit a payload: the first with its tool, or else with its session.
    fn names_in(&self, fields: &Fields<'_>) -> &'static Names {
        let by = |name: fn(&Names) -> &'static str| self.names.iter().find(|names| at(fields, name(names)).is_some());
        by(|names| names.tool).or_else(|| by(|names| names.session)).unwrap_or(&DEFAULT_NAMES)
    }

    /// The name of the event. Where the payload has none, it follows from the other fields.
    fn moment(&self, fields: &Fields<'_>, names: &Names) -> String {
        let has = |name: &str| at(fields, name).is_some();
        text_at(fields, names.event).map(|text| text.text).unwrap_or_else(|| {
            let phase = match () {
                () if has(names.tool) && has(names.result.split('/').next().unwrap_or_default()) => Phase::After,
                () if has(names.tool) && has(names.error) => Phase::Failed,
                () if has(names.tool) => Phase::Before,
                () if has(names.prompt) => Phase::Prompt,
                () => Phase::Other,
            };
            self.event_name(Some(phase)).to_owned()
        })
    }

    pub(super) fn parse_event<'a>(&self, input: &'a Quarantined<Vec<u8>>) -> Result<Message<'a>, EventError> {
        let bytes = input.inspect("an event is read");
        let fields = Fields::read(bytes);
        let names = self.names_in(&fields);
        let text = |path: &str| text_at(&fields, path).map(|text| text.text).unwrap_or_default();
        let moment = self.moment(&fields, names);
        let tool = text(names.tool);
        let known = self.events.iter().find(|(name, _)| *name == moment).map(|(_, phase)| *phase);
        // An event that is not known may be a new kind of call.
        let phase = known.or((!self.events.is_empty() && tool.is_empty()).then_some(Phase::Other));
        let call_name = self.canonical(&tool, &fields);
        let header = Header {
            phase,
            moment: Label::new(&moment),
            tool: Label::tool(&call_name.name),
            session: Label::new(&text(names.session)),
            call: Label::tool(&text(names.call)),
            is_attended: true,
        };
        let unread = |what: String| EventError { header: Box::new(header.clone()), failure: Failure::Event(what) };
        let flaw = fields.error().filter(|error| *error != json::JsonError::Mark);
        let body = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let is_after = phase.is_some_and(Phase::is_after);
        let flaw = flaw.or_else(|| if is_after { None } else { json::check(body).err() }).map(|flaw| flaw.to_string());
        let Some(phase) = phase else {
            return Err(unread(
                flaw.unwrap_or_else(|| "no client that the guard knows sends such an event".to_owned()),
            ));
        };
        let seal = |text: String| input.derive(text, ContentSource::ModelOutput);
        let (action, inner) = match phase {
            Phase::Before | Phase::After | Phase::Failed => self.call(&fields, names, &call_name, &seal),
            Phase::Prompt => {
                let raw = at(&fields, names.prompt).filter(|_| fields.get("agent_id").is_none());
                let texts = raw.map(|raw| json::strings(raw).into_texts().collect::<Vec<_>>().join("\n"));
                (Action::Prompt { text: texts.map(|text| input.derive(text, ContentSource::UserInput)) }, None)
            }
            Phase::Settings | Phase::Start | Phase::End | Phase::Other => (Action::Other, None),
        };
        let flaw = flaw.or(inner);
        if let Some(what) = flaw.as_ref().filter(|_| !phase.is_after()) {
            return Err(unread(what.clone()));
        }
        let result = match phase {
            Phase::After => at(&fields, names.result),
            Phase::Failed => at(&fields, names.error),
            Phase::Before | Phase::Prompt | Phase::Settings | Phase::Start | Phase::End | Phase::Other => None,
        };
        Ok(Message {
            phase,
            tool: seal(call_name.name),
            result: result.map(|raw| input.derive(raw, ContentSource::ToolOutput)),
            action,
            cwd: text(names.cwd),
            is_spilled: |_, _| false,
            answers: Answers::Other,
            replaces: if self.can.replace.is_some() { Replaces::AsText } else { Replaces::Never },
            failure: flaw.map(Failure::Event),
            header,
        })
    }

    /// The action of a call, and its flaw.
    fn call(
        &self,
        fields: &Fields<'_>,
        names: &Names,
        tool: &CallName,
        seal: &dyn Fn(String) -> Quarantined<String>,
    ) -> (Action, Option<String>) {
        let raw = at(fields, names.input);
        let whole = raw.and_then(object);
        let mut flaw = whole.is_none().then(|| "its tool has no input that is an object".to_owned());
        if !tool.name.bytes().all(|byte| byte.is_ascii_graphic()) || tool.name.is_empty() {
            flaw = flaw.or(Some("its tool has no name that a tool can have".to_owned()));
        }
        let whole = whole.unwrap_or_default();
        let input = Fields::read(&whole);
        let sealed_input = || {
            let text = seal(String::from_utf8_lossy(&whole).into_owned());
            text.derive(whole.to_vec(), ContentSource::ModelOutput)
        };
        if tool.is_mcp {
            return (Action::Mcp { server: tool.server.clone(), input: sealed_input() }, flaw);
        }
        let mut odd = None;
        let mut all = |key: &'static str| {
            let (found, is_odd) = values(&input, key);
            odd = odd.or(is_odd.then_some(key));
            found
        };
        let mut missing = None;
        let mut needed = |key: &'static str, found: &[String]| {
            if found.is_empty() {
                missing = missing.or(Some(key));
            }
        };
        let first = |found: Vec<String>| found.into_iter().next();
        let action = match self.does(&tool.name) {
            Does::Shell { command, dir } => {
                let texts = all(command);
                needed(command, &texts);
                let dir = first(all(dir));
                Action::Shell { command: shell_text(texts, dir).map(seal), dialect: Dialect::Bash }
            }
            Does::Write { path, content } => {
                let (file, content) = (all(path), all(content));
                needed(path, &file);
                Action::Edit {
                    path: first(file).map(seal),
                    changes: first(content).map(seal).map(Change::Whole).into_iter().collect(),
                }
            }
            Does::Edit { path, old, new } => {
                let (file, old, new) = (all(path), first(all(old)), first(all(new)));
                needed(path, &file);
                let change = new.map(|new| match old {
                    Some(old) => Change::Replace { old: seal(old), new: seal(new), all: false },
                    None => Change::Whole(seal(new)),
                });
                Action::Edit { path: first(file).map(seal), changes: change.into_iter().collect() }
            }
            Does::Patch(key) => {
                let text = all(key);
                needed(key, &text);
                Action::Patch { text: first(text).map(seal) }
            }
            Does::Read(key) => {
                let files = all(key);
                needed(key, &files);
                Action::Read { paths: files.into_iter().map(seal).collect() }
            }
            Does::Search { path, names, shows } => {
                let (paths, names) = (all(path), all(names));
                let patterns = (!names.is_empty()).then(|| names.join(" "));
                Action::Files {
                    paths: paths.into_iter().map(seal).collect(),
                    patterns: patterns.map(seal),
                    text: None,
                    shows,
                }
            }
            Does::Fetch(key) => {
                let urls = all(key);
                needed(key, &urls);
                Action::Fetch { urls: urls.into_iter().map(seal).collect() }
            }
            Does::FetchFrom(key) => {
                let texts = all(key);
                needed(key, &texts);
                Action::Fetch { urls: texts.iter().flat_map(|text| addresses(text)).map(seal).collect() }
            }
            Does::WebSearch => Action::Search { input: sealed_input() },
            Does::Resource { server, uri } => {
                let (server, uri) = (first(all(server)), first(all(uri)));
                Action::Resource { server: server.map(seal), uri: uri.map(seal) }
            }
            Does::Agent => Action::Agent { mode: None },
            Does::Nothing => Action::Other,
        };
        let describe = |key: &str| format!("the input of its tool has no `{key}` that can be read");
        (action, flaw.or(odd.or(missing).map(describe)))
    }

    /// What a tool of the client does.
    fn does(&self, tool: &str) -> Does {
        self.row(tool).map_or(Does::Nothing, |(_, does)| *does)
    }

    fn row(&self, tool: &str) -> Option<&'static (&'static str, Does)> {
        self.tools.iter().find(|(names, _)| names.split(' ').any(|name| fold(name) == fold(tool)))
    }

    /// The name of a call as rules have it: `mcp__server__tool` for a tool of an MCP server.
    fn canonical(&self, tool: &str, fields: &Fields<'_>) -> CallName {
        let McpNames { prefix, joint, context, .. } = self.mcp;
        let other = CallName { name: tool.to_owned(), server: None, is_mcp: false };
        let rest = match tool.get(..prefix.len()) {
            Some(start) if start.eq_ignore_ascii_case(prefix) => tool.get(prefix.len()..).unwrap_or_default(),
            _ => return other,
        };
        if prefix.is_empty() && (!rest.contains(joint) || self.row(tool).is_some()) {
            return other;
        }
        let named = |name: &str| fields.object(context)?.string(name).map(|text| text.text);
        if let (Some(server), Some(tool)) = (named("server_name"), named("tool_name")) {
            let name = format!("mcp__{}__{tool}", sanitized(&server));
            return CallName { name, server: Some(Server { name: server, source: String::new() }), is_mcp: true };
        }
        let name = match rest.split(joint).collect::<Vec<_>>().as_slice() {
            [server, tool] => format!("mcp__{server}__{tool}"),
            // Which part is the server is not certain, and rules refuse such a name.
            _ if joint == "__" => format!("mcp__{rest}"),
            _ => format!("mcp__{}", rest.replace("__", "_")),
        };
        CallName { name, server: None, is_mcp: true }
    }

    pub(super) fn input_of(&self, event: &Quarantined<Vec<u8>>) -> Option<Quarantined<Vec<u8>>> {
        let fields = Fields::read(event.inspect("the input gets an HMAC"));
        let raw = at(&fields, self.names_in(&fields).input).filter(|raw| raw.len() <= MAX_HASHED_BYTES)?;
        Some(event.derive(object(raw)?.into_owned(), ContentSource::ModelOutput))
    }

    /// The client's name of a phase.
    pub(super) fn event_name(&self, phase: Option<Phase>) -> &'static str {
        self.events.iter().find(|(_, known)| Some(*known) == phase).map_or("", |(name, _)| name)
    }

    /// Renders an event as the client sends it, with the tool and the keys that it has for those of the sample.
    pub(super) fn sample(&self, sample: &SampleEvent<'_>) -> String {
        let names = self.names.first().unwrap_or(&DEFAULT_NAMES);
        let mut event = self.sample.parse().unwrap_or_else(|_| json!({}));
        let mut put = |path: &str, value: Value| insert(&mut event, path, value);
        put(names.event, json!(self.event_name(Some(sample.phase))));
        put(names.session, json!(sample.session));
        put(names.cwd, json!(sample.cwd));
        if sample.phase == Phase::Before || sample.phase.is_after() {
            let native = self.native(sample.tool, &sample.input);
            let (tool, input) = native.unwrap_or_else(|| (sample.tool.to_owned(), sample.input.clone()));
            put(names.tool, json!(tool));
            put(names.input, input);
            if let Some(result) = &sample.result {
                put(names.result, result.clone());
            }
        }
        event.to_string()
    }

    /// The client's own tool for one of Claude Code, and its input; `None` if it has none, or if they are its own already.
    pub(super) fn native(&self, tool: &str, input: &Value) -> Option<(String, Value)> {
        let value = |key: &str| input.get(key).cloned().unwrap_or_default();
        let with = |keys: &[(&str, &str)]| {
            // The input has the keys of the client already.
            if keys.iter().any(|(_, known)| input.get(known).is_none()) {
                return None;
            }
            let mut object = json!({});
            for (key, known) in keys.iter().filter(|(key, _)| !key.is_empty()) {
                let (name, inner) = key.split_once("[]").unwrap_or((key, ""));
                let one = match inner.strip_prefix('.') {
                    Some(inner) => json!([{inner: value(known)}]),
                    None if key.ends_with("[]") => json!([value(known)]),
                    None => value(known),
                };
                insert(&mut object, name, one);
            }
            Some(object)
        };
        self.tools.iter().find_map(|(names, does)| {
            let input = match (tool, does) {
                ("Bash", Does::Shell { command, .. }) => with(&[(command, "command")]),
                ("Write", Does::Write { path, content }) => with(&[(path, "file_path"), (content, "content")]),
                ("Write", Does::Edit { path, new, .. }) => with(&[(path, "file_path"), (new, "content")]),
                ("Write", Does::Patch(key)) => with(&[(key, "file_path")]).map(|_| {
                    let file = value("file_path");
                    let file = file.as_str().unwrap_or_default();
                    json!({*key: format!("*** Begin Patch\n*** Add File: {file}\n+\n*** End Patch\n")})
                }),
                ("Read", Does::Read(path)) => with(&[(path, "file_path")]),
                ("WebFetch", Does::Fetch(url) | Does::FetchFrom(url)) => with(&[(url, "url")]),
                _ => return None,
            };
            Some((names.split(' ').next().unwrap_or_default().to_owned(), input?))
        })
    }
}

static DEFAULT_NAMES: Names = Names::COMMON;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The name of a call as rules have it.
struct CallName {
    name: String,
    /// The server, if the client names it.
    server: Option<Server>,
    is_mcp: bool,
}

fn sanitized(name: &str) -> String {
    crate::mcp::tool::sanitize_name(name)
}

/// Normalises the name of a tool: case and separators do not count.
fn fold(tool: &str) -> String {
    tool.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// One shell text: each of several texts is run by a shell of its own, in the directory that the call names.
fn shell_text(texts: Vec<String>, dir: Option<String>) -> Option<String> {
    let text = match texts.as_slice() {
        [] => return None,
        [text] => text.clone(),
        several => several.iter().map(|text| format!("bash -c {}\n", quote_word(text))).collect(),
    };
    Some(match dir {
        Some(dir) => format!("cd {}\n{text}", quote_word(&dir)),
        None => text,
    })
}

/// The addresses in a text.
fn addresses(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '(' | ')' | '`'));
    words.filter(|word| word.contains("://")).map(str::to_owned).collect()
}

/// Puts a value at a path of names; nothing at an empty one.
fn insert(object: &mut Value, path: &str, value: Value) {
    let Some(object) = object.as_object_mut().filter(|_| !path.is_empty()) else { return };
    match path.split_once('/') {
        Some((outer, rest)) => insert(object.entry(outer).or_insert_with(|| json!({})), rest, value),
        None => drop(object.insert(path.to_owned(), value)),
    }
}
