//! Settings files of Claude Code, and the hooks in them.

use super::event::handled_phase;
use super::validate::invalid_parts;
use crate::client::settings::{
    FileError, Hook, HookCommand, Interference, InterferenceKind, Settings, Switch, UnaskedMode, Variable,
};
use crate::encoding::json::Fields;
use crate::path::Place;
use crate::programs::Catalogue;
use crate::shell;
use serde_json::Value;
use serde_json::error::Category;

/// Variables that start the client without hooks.
const DISABLING_VARIABLES: [&str; 2] = ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"];

/// Permission modes in which the client shows no permission prompt.
const UNASKED_MODES: [&str; 2] = ["bypassPermissions", "dontAsk"];

/// Tools whose results the guard marks, one for each form of name.
const MARKED_TOOLS: [&str; 8] =
    ["WebFetch", "WebSearch", "ReadMcpResourceTool", "Read", "Bash", "Agent", "TaskOutput", "mcp__server__tool"];

/// A settings file as the client reads it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SettingsJson(Value);

/// The entry of a hook in a settings file.
#[derive(Clone, Debug)]
pub(super) struct HookEntry<'a> {
    pub(super) event: &'a str,
    /// The pattern for the tools; a hook without one is for all of them.
    pub(super) matcher: Option<&'a str>,
    pub(super) entry: &'a Value,
    /// The command, parsed.
    pub(super) command: Option<HookCommand>,
    pub(super) pointer: String,
}

/// Parses a file that holds a JSON object; an empty one counts as an empty object.
pub(super) fn read_object(text: &str, expected: &str) -> Result<Value, FileError> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| json_error(&error))?;
    if value.is_object() { Ok(value) } else { Err(FileError::new(expected)) }
}

/// A parse error at its position.
pub(super) fn json_error(error: &serde_json::Error) -> FileError {
    FileError { line: error.line().max(1), column: error.column().max(1), what: describe(error) }
}

/// The message of a parse error, without content of the file and without a position.
pub(super) fn describe(error: &serde_json::Error) -> String {
    match error.classify() {
        // The message of a data error may quote the file.
        Category::Data => "expected a JSON object without repeated names".to_owned(),
        Category::Io | Category::Syntax | Category::Eof => {
            let message = error.to_string();
            message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what).to_owned()
        }
    }
}

/// Whether the file sets a variable for hooks, or cannot be read. Unlike [`SettingsJson`] this is cheap, and strict.
pub(super) fn may_set_variable(text: &str, name: &str) -> bool {
    let fields = Fields::read(text.as_bytes());
    let env = fields.object("env").unwrap_or_default();
    fields.error().is_some() || env.error().is_some() || env.get(name).is_some()
}

impl SettingsJson {
    /// The value of a field of the object.
    pub(super) fn field(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    pub(super) fn read(text: &str) -> Result<SettingsJson, FileError> {
        read_object(text, "settings are a JSON object").map(SettingsJson)
    }

    pub(super) fn value(&self) -> &Value {
        &self.0
    }

    /// All hooks of the file, in order.
    pub(super) fn hooks(&self) -> Vec<HookEntry<'_>> {
        let Some(events) = self.0.get("hooks").and_then(Value::as_object) else { return Vec::new() };
        let mut hooks = Vec::new();
        for (event, groups) in events {
            for (nth, group) in groups.as_array().into_iter().flatten().enumerate() {
                let matcher = group.get("matcher").and_then(Value::as_str);
                let entries = group.get("hooks").and_then(Value::as_array).into_iter().flatten().enumerate();
                hooks.extend(entries.map(|(at, entry)| HookEntry {
                    event,
                    matcher,
                    entry,
                    command: command(entry),
                    pointer: format!("/hooks/{event}/{nth}/hooks/{at}"),
                }));
            }
        }
        hooks
    }

    /// The hooks that run this guard.
    pub(super) fn guard_hooks(&self) -> Vec<HookEntry<'_>> {
        self.hooks().into_iter().filter(HookEntry::is_guard).collect()
    }

    /// The permission mode of new sessions, if it shows no permission prompt.
    fn unasked_mode(&self) -> Option<UnaskedMode> {
        let pointer = "/permissions/defaultMode";
        let mode = self.0.pointer(pointer)?.as_str()?;
        let name = UNASKED_MODES.into_iter().find(|name| *name == mode)?;
        Some(UnaskedMode { name, pointer })
    }

    /// The settings in the form that is the same for all clients.
    pub(super) fn summary(&self) -> Settings {
        let switch = |pointer| Some(Switch { on: self.0.pointer(pointer)?.as_bool()?, pointer });
        let variable = |name: &String| Variable {
            pointer: format!("/env/{name}"),
            disables_hooks: DISABLING_VARIABLES.contains(&name.as_str()),
            name: name.clone(),
        };
        let env = self.0.get("env").and_then(Value::as_object);
        Settings {
            hooks: self.hooks().into_iter().map(HookEntry::summary).collect(),
            invalid: invalid_parts(self),
            hooks_disabled: switch("/disableAllHooks"),
            managed_hooks_only: switch("/allowManagedHooksOnly"),
            unasked_mode: self.unasked_mode(),
            variables: env.into_iter().flat_map(|env| env.keys()).map(variable).collect(),
        }
    }
}

/// The command of an entry; `None` if it starts no program, or several.
pub(super) fn command(entry: &Value) -> Option<HookCommand> {
    let command = entry.get("command")?.as_str()?;
    if let Some(args) = entry.get("args") {
        let args = args.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        return Some(HookCommand { program: command.to_owned(), args });
    }
    // Without `args` a shell reads it.
    command_line(command)
}

/// The one command of a shell text.
pub(in crate::client) fn command_line(text: &str) -> Option<HookCommand> {
    let reading = shell::read(text, &Place::default(), &Catalogue::shipped());
    let [only] = reading.commands.as_slice() else { return None };
    let args = only.args.iter().map(|arg| arg.text.to_string()).collect();
    Some(HookCommand { program: only.program.to_string(), args })
}

impl HookEntry<'_> {
    /// Whether it runs this guard.
    pub(super) fn is_guard(&self) -> bool {
        self.command.as_ref().is_some_and(HookCommand::is_guard)
    }

    /// The seconds that the client waits for it, if the entry sets them.
    pub(super) fn timeout(&self) -> Option<f64> {
        self.entry.get("timeout").and_then(Value::as_f64)
    }

    /// Whether it runs for every tool.
    pub(super) fn matches_all(&self) -> bool {
        matches!(self.matcher, None | Some("" | "*"))
    }

    /// Whether it runs for a tool, as the client reads matchers; `None` if the matcher is invalid.
    pub(super) fn matches(&self, tool: &str) -> Option<bool> {
        let Some(matcher) = self.matcher.filter(|_| !self.matches_all()) else { return Some(true) };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_- ,|".contains(c);
        if matcher.chars().all(is_plain) {
            return Some(matcher.split(['|', ',']).any(|name| name.trim() == tool));
        }
        regex_lite::Regex::new(matcher).ok().map(|matcher| matcher.is_match(tool))
    }

    fn summary(self) -> Hook {
        Hook {
            event: self.event.to_owned(),
            phase: handled_phase(self.event),
            interference: self.interference(),
            pointer: self.pointer,
            command: self.command,
        }
    }

    fn interference(&self) -> Option<Interference> {
        let (kind, words): (_, &[&str]) = match self.event {
            "PermissionRequest" => (InterferenceKind::AnswersPrompts, &[]),
            "PostToolUse" if self.may_match_marked_tool() => {
                (InterferenceKind::ReplacesResults, &["updatedToolOutput", "updatedMCPToolOutput"])
            }
            "PreToolUse" => (InterferenceKind::ChangesCalls, &["updatedInput"]),
            _ => return None,
        };
        let text = |name: &str| self.entry.get(name).and_then(Value::as_str);
        let args = self.entry.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let texts = text("command").into_iter().chain(text("prompt")).chain(args).map(str::to_owned).collect();
        Some(Interference { kind, words, texts })
    }

    /// Whether it may run for a tool whose results the guard marks. An invalid matcher may.
    fn may_match_marked_tool(&self) -> bool {
        self.matcher.is_some_and(|matcher| matcher.contains("mcp__"))
            || MARKED_TOOLS.iter().any(|tool| self.matches(tool).unwrap_or(true))
    }
}
