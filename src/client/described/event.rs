//! Events of described clients: the fields of a payload, and the actions of tools, by tables.

use super::{Described, Does, McpNames, Names};
use crate::client::Payload;
use crate::encoding::json::{self, Fields, Text};
use crate::encoding::label::Label;
use crate::event::{Action, Answers, Change, Dialect, EventError, Header, Message, Replaces, Server};
use crate::quarantined::{ContentSource, Quarantined};
use crate::shell::quote_word;
use crate::verdict::Phase;
use crate::verdict::failure::Failure;
use std::borrow::Cow;

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

    pub(super) fn parse_event<'a>(&self, payload: &Payload<'a>) -> Result<Message<'a>, EventError> {
        let Payload { input, fields } = payload;
        let bytes = input.inspect("an event is read");
        let names = self.names_in(fields);
        let text = |path: &str| text_at(fields, path).map(|text| text.text).unwrap_or_default();
        let moment = self.moment(fields, names);
        let tool = text(names.tool);
        let known = self.events.iter().find(|(name, _)| *name == moment).map(|(_, phase)| *phase);
        // An event that is not known may be a new kind of call.
        let phase = known.or((!self.events.is_empty() && tool.is_empty()).then_some(Phase::Other));
        let call_name = self.canonical(&tool, fields);
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
            Phase::Before | Phase::After | Phase::Failed => self.call(fields, names, &call_name, &seal),
            Phase::Prompt => {
                let raw = at(fields, names.prompt).filter(|_| fields.get("agent_id").is_none());
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
            Phase::After => at(fields, names.result),
            Phase::Failed => at(fields, names.error),
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
}

pub(super) static DEFAULT_NAMES: Names = Names::COMMON;

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
