//! Registration of described clients: the entries that call the guard, in the form of each client.

use super::Described;
use crate::client::claude::settings::command_line;
use crate::client::edit::{self, array, edit, input, object};
use crate::client::registration::{Difference, Drift, EntryDefect, Registration};
use crate::client::settings::{FileError, Hook, HookCommand, Scope, Settings, SettingsDirs, Switch};
use crate::shell::quote_word;
use crate::verdict::Phase;
use jsonc_parser::cst::{CstNode, CstObject};
use serde_json::{Value, json};
use std::path::PathBuf;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

/// Seconds that the client waits for an answer; the guard answers within five.
const TIMEOUT_SECONDS: i64 = 10;

/// Where a client keeps its hooks: below its own directory, and below a project.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The file below the client's directory.
    pub user: &'static str,
    /// The file below the project's directory; empty if the client reads none.
    pub project: &'static str,
    /// The form of the file.
    pub form: Form,
    /// The events that the guard is registered for, each with `pre`, `post` or nothing, as `rune hook` takes it.
    pub events: &'static [(&'static str, &'static str)],
    /// A member of the file that switches all hooks off if it is `true`, as a JSON pointer.
    pub switch: Option<&'static str>,
}

/// The form in which a client registers hooks.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// JSON: `hooks`, the event, groups, and their `hooks`.
    Groups {
        /// How many of the client's units of time a second has.
        units: i64,
    },
    /// JSON: `version`, `hooks`, the event, and its entries.
    Entries,
    /// TOML: a list of tables called `hooks`.
    Tables,
    /// A script. Where the client runs it (`executable`), there is one for each event.
    Script {
        /// The text, in which `%` is replaced by the words of the command.
        text: &'static str,
        /// Whether the words are a list of strings, or else shell text.
        list: bool,
        /// Whether the client runs the file itself.
        executable: bool,
    },
}

impl Described {
    /// The events that the guard is registered for, each with the word that names its phase.
    fn registered(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.place.events.iter().copied()
    }

    pub(super) fn settings_path(&self, scope: Scope, dirs: &SettingsDirs<'_>) -> Option<PathBuf> {
        match scope {
            Scope::User => Some(dirs.client?.join(self.place.user)),
            Scope::Project => Some(dirs.project.join(self.place.project)).filter(|_| !self.place.project.is_empty()),
            Scope::Local | Scope::Given | Scope::Managed => None,
        }
    }

    /// The words of the command for an event.
    fn words(&self, registration: &Registration, word: &str) -> Vec<String> {
        let fixed = [registration.program.as_str(), "hook", word].into_iter().filter(|word| !word.is_empty());
        fixed.map(str::to_owned).chain(registration.words.iter().cloned()).collect()
    }

    /// The command for an event as shell text, which every client understands.
    fn line(&self, registration: &Registration, word: &str) -> String {
        let words = self.words(registration, word);
        words.iter().map(|word| quote_word(word).to_string()).collect::<Vec<_>>().join(" ")
    }

    /// The entry for an event.
    fn entry(&self, registration: &Registration, word: &str) -> Value {
        let line = self.line(registration, word);
        match self.place.form {
            Form::Groups { units } => {
                json!({"hooks": [{"type": "command", "command": line, "timeout": TIMEOUT_SECONDS * units}]})
            }
            Form::Entries => json!({"type": "command", "bash": line, "timeoutSec": TIMEOUT_SECONDS}),
            Form::Tables | Form::Script { .. } => Value::String(line),
        }
    }

    /// The text of a file with the entries and nothing else of the guard.
    pub(super) fn with_entries(
        &self,
        registration: &Registration,
        text: &str,
        before: Option<&str>,
    ) -> Result<String, FileError> {
        if !text.is_empty() && self.differences(registration, text)?.is_empty() {
            return Ok(text.to_owned());
        }
        self.insert(registration, &self.without_entries(text, before)?.unwrap_or_default())
    }

    fn insert(&self, registration: &Registration, text: &str) -> Result<String, FileError> {
        match self.place.form {
            Form::Groups { .. } | Form::Entries => edit(text, |root| {
                if matches!(self.place.form, Form::Entries) && root.get("version").is_none() {
                    root.append("version", input(&json!(1), &[]));
                }
                let hooks = object(root, "hooks")?;
                for (event, word) in self.registered() {
                    array(&hooks, event)?.append(input(&self.entry(registration, word), &FIELDS));
                }
                Ok(())
            }),
            Form::Tables => {
                let mut document = toml(text)?;
                let list = document.entry("hooks").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
                let list = list.as_array_of_tables_mut().ok_or_else(|| FileError::new("`hooks` is not a list"))?;
                for (event, word) in self.registered() {
                    let mut table = Table::new();
                    table.insert("event", value(event));
                    table.insert("command", value(self.line(registration, word)));
                    table.insert("timeout", value(TIMEOUT_SECONDS));
                    list.push(table);
                }
                Ok(document.to_string())
            }
            Form::Script { text: script, list, .. } => {
                if !text.is_empty() {
                    return Err(FileError::new("the file is there and is not the guard's"));
                }
                let words = match (list, self.script_word()) {
                    (true, _) => json!(self.words(registration, "")).to_string(),
                    (false, word) => self.line(registration, word),
                };
                Ok(script.replace('%', &words))
            }
        }
    }

    /// The word for the first event, whose script is the file of a scope.
    fn script_word(&self) -> &'static str {
        self.registered().next().map_or("", |(_, word)| word)
    }

    /// The other files of the guard beside the file of a scope: names and texts.
    pub(super) fn other_scripts(&self, registration: &Registration) -> Vec<(&'static str, String)> {
        let Form::Script { text, executable: true, .. } = self.place.form else { return Vec::new() };
        let others = self.registered().skip(1);
        others.map(|(event, word)| (event, text.replace('%', &self.line(registration, word)))).collect()
    }

    /// The text of a file without entries of the guard; `None` if there was no file before them.
    pub(super) fn without_entries(&self, text: &str, before: Option<&str>) -> Result<Option<String>, FileError> {
        let settings = self.summary(text)?;
        let Some(registration) = settings.registration() else {
            return Ok(Some(text.to_owned()).filter(|text| !text.is_empty()));
        };
        let was = |before: &str| self.insert(&registration, before).is_ok_and(|whole| whole == text);
        if let Some(before) = before.filter(|before| was(before)) {
            return Ok(Some(before.to_owned()));
        }
        if was("") || matches!(self.place.form, Form::Script { .. }) {
            return Ok(None);
        }
        match self.place.form {
            Form::Tables => {
                let mut document = toml(text)?;
                if let Some(list) = document.get_mut("hooks").and_then(Item::as_array_of_tables_mut) {
                    list.retain(|table| !is_guard_line(table.get("command").and_then(Item::as_str)));
                    if list.is_empty() {
                        document.remove("hooks");
                    }
                }
                Ok(Some(document.to_string()))
            }
            Form::Groups { .. } | Form::Entries | Form::Script { .. } => edit(text, |root| {
                let hooks = object(root, "hooks")?;
                for event in hooks.properties() {
                    let Some(entries) = event.array_value() else { continue };
                    let cleared = entries.elements().iter().filter(|entry| clear(entry)).count();
                    if cleared > 0 && entries.elements().is_empty() {
                        event.remove();
                    }
                }
                remove_if_empty(root, &hooks);
                Ok(())
            })
            .map(Some),
        }
    }

    /// The hooks of a file.
    pub(in crate::client) fn summary(&self, text: &str) -> Result<Settings, FileError> {
        let mut settings = Settings::default();
        let mut add = |event: &str, pointer: String, command: Option<HookCommand>| {
            let word = self.registered().find(|(name, _)| *name == event).map(|(_, word)| word);
            let phase = word.and_then(|word| match word {
                "pre" => Some(Phase::Before),
                "post" => Some(Phase::After),
                _ => None,
            });
            let event = event.to_owned();
            settings.hooks.push(Hook { event, phase, pointer, command, interference: None });
        };
        match self.place.form {
            Form::Groups { .. } | Form::Entries => {
                let file = edit::read(text)?;
                for (event, entries) in file.get("hooks").and_then(Value::as_object).into_iter().flatten() {
                    for (at, entry) in entries.as_array().into_iter().flatten().enumerate() {
                        let pointer = format!("/hooks/{event}/{at}");
                        let inner = entry.get("hooks").and_then(Value::as_array);
                        for (nth, one) in inner.map_or(std::slice::from_ref(entry), Vec::as_slice).iter().enumerate() {
                            let pointer = inner.map_or(pointer.clone(), |_| format!("{pointer}/hooks/{nth}"));
                            add(event, pointer, line_of(one).and_then(command_line));
                        }
                    }
                }
                settings.hooks_disabled = self.place.switch.and_then(|pointer| {
                    let value = file.pointer(pointer)?;
                    // Gemini has a switch that is on as long as it is not false.
                    Some(Switch { on: value.as_bool()? != pointer.ends_with("/enabled"), pointer })
                });
            }
            Form::Tables => {
                let document = toml(text)?;
                let tables = document.get("hooks").and_then(Item::as_array_of_tables);
                for (at, table) in tables.into_iter().flatten().enumerate() {
                    let text = |name: &str| table.get(name).and_then(Item::as_str);
                    add(
                        text("event").unwrap_or_default(),
                        format!("/hooks/{at}"),
                        text("command").and_then(command_line),
                    );
                }
            }
            Form::Script { text: script, list, .. } => {
                let (start, end) = script.split_once('%').unwrap_or_default();
                let words = text.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
                let command = words.and_then(|words| if list { listed(words) } else { command_line(words) });
                if command.is_some() {
                    self.registered().for_each(|(event, _)| add(event, "/".to_owned(), command.clone()));
                }
            }
        }
        Ok(settings)
    }

    /// How a file differs from one with the entries of a registration.
    pub(super) fn differences(&self, wanted: &Registration, text: &str) -> Result<Vec<Drift>, FileError> {
        let settings = self.summary(text)?;
        let mut drift = Vec::new();
        for (event, word) in self.registered() {
            let hooks: Vec<&Hook> = settings.guard_hooks().filter(|hook| hook.event == event).collect();
            let word = if matches!(self.place.form, Form::Script { .. }) { self.script_word_of_file() } else { word };
            let difference = match hooks.as_slice() {
                [] => Some(Difference::Missing),
                [hook] => {
                    let words = hook.command.as_ref().map(|command| {
                        [command.program.as_str()].into_iter().chain(command.args.iter().map(String::as_str)).collect()
                    });
                    let same: Option<Vec<&str>> = words;
                    let wanted = self.words(wanted, word);
                    let timeout = self.timeout_of(text, &hook.pointer);
                    let short = timeout.filter(|seconds| *seconds < TIMEOUT_SECONDS as f64);
                    let names = [
                        (same.is_none_or(|same| same != wanted)).then(|| "command".to_owned()),
                        short.map(|_| "timeout".to_owned()),
                    ];
                    let names: Vec<String> = names.into_iter().flatten().collect();
                    let defect = short.map(EntryDefect::ShortTimeout);
                    (!names.is_empty()).then_some(Difference::Fields { names, defect })
                }
                several => Some(Difference::Repeated(several.len())),
            };
            let pointer = hooks.first().map(|hook| hook.pointer.clone());
            drift.extend(difference.map(|difference| Drift { event: event.to_owned(), pointer, difference }));
        }
        Ok(drift)
    }

    fn script_word_of_file(&self) -> &'static str {
        match self.place.form {
            Form::Script { list: false, .. } => self.script_word(),
            Form::Script { list: true, .. } | Form::Groups { .. } | Form::Entries | Form::Tables => "",
        }
    }

    /// The seconds that the client waits for a hook, where the file sets them.
    fn timeout_of(&self, text: &str, pointer: &str) -> Option<f64> {
        let (name, units) = match self.place.form {
            Form::Groups { units } => ("timeout", units),
            Form::Entries => ("timeoutSec", 1),
            Form::Tables | Form::Script { .. } => return None,
        };
        let file = edit::read(text).ok()?;
        Some(file.pointer(pointer)?.get(name)?.as_f64()? / units as f64)
    }

    /// What a file takes away from the guard that is registered in it.
    pub(super) fn lost(&self, registration: &Registration, text: &str) -> Result<Vec<String>, FileError> {
        let settings = self.summary(text)?;
        let mut losses = Vec::new();
        if settings.disables_hooks() {
            losses.push("it switches all hooks off".to_owned());
        }
        let kept = |event: &str| {
            let mut hooks = settings.guard_hooks().filter(|hook| hook.event == event);
            hooks.any(|hook| hook.command.as_ref().is_some_and(|command| command.program == registration.program))
        };
        let calls = self.registered().filter(|(event, word)| !word.is_empty() && !kept(event));
        losses.extend(calls.map(|(event, _)| format!("our hook for {event} goes")));
        Ok(losses)
    }
}

/// The fields of an entry, in the order in which they are written.
const FIELDS: [&str; 6] = ["type", "command", "bash", "timeout", "timeoutSec", "hooks"];

fn toml(text: &str) -> Result<DocumentMut, FileError> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        FileError { line: before.matches('\n').count() + 1, column, what: "expected valid TOML".to_owned() }
    })
}

/// The shell text of an entry.
fn line_of(entry: &Value) -> Option<&str> {
    ["command", "bash"].into_iter().find_map(|name| entry.get(name)?.as_str())
}

fn is_guard_line(line: Option<&str>) -> bool {
    line.and_then(command_line).is_some_and(|command| command.is_guard())
}

/// The command in a list of words.
fn listed(words: &str) -> Option<HookCommand> {
    let mut words: Vec<String> = serde_json::from_str(words).ok()?;
    if words.is_empty() {
        return None;
    }
    let program = words.remove(0);
    Some(HookCommand { program, args: words })
}

/// Removes an entry of the guard, or those in a group, and returns whether there were any.
fn clear(node: &CstNode) -> bool {
    let is_guard = |node: &CstNode| node.to_serde_value().is_some_and(|entry: Value| is_guard_line(line_of(&entry)));
    let Some(inner) = node.as_object().and_then(|group| group.array_value("hooks")) else {
        let found = is_guard(node);
        if found {
            node.clone().remove();
        }
        return found;
    };
    let (found, others): (Vec<_>, Vec<_>) = inner.elements().into_iter().partition(is_guard);
    match (found.is_empty(), others.is_empty()) {
        (true, _) => return false,
        (false, true) => node.clone().remove(),
        (false, false) => found.into_iter().for_each(CstNode::remove),
    }
    true
}

fn remove_if_empty(root: &CstObject, hooks: &CstObject) {
    if hooks.properties().is_empty()
        && let Some(hooks) = root.get("hooks")
    {
        hooks.remove();
    }
}
