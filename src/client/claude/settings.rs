//! Claude Code's settings: which hooks a file registers, and what in it keeps ours from running.

use crate::path::Place;
use crate::shell;
use serde_json::Value;

/// The path of the machine's settings file, which no user and no project can overrule.
pub const MANAGED: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode/managed-settings.json"
} else {
    "/etc/claude-code/managed-settings.json"
};

/// A settings file as the client reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings(Value);

/// A text that is no settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong there.
    pub what: String,
}

/// One hook that a settings file registers.
#[derive(Clone, Copy, Debug)]
pub struct Hook<'a> {
    /// The moment that it is for.
    pub event: &'a str,
    /// The tools that it is for; all of them where there is none.
    pub matcher: Option<&'a str>,
    entry: &'a Value,
    /// Which group of the moment, and which hook of the group.
    at: (usize, usize),
}

/// A part of a settings file that the client refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The moment that it was meant for, or the name of the member.
    pub event: String,
    /// What is wrong with it.
    pub what: &'static str,
    /// Whether the client drops the whole file for it.
    pub voids: bool,
    /// Where it stands in the file, as a JSON pointer.
    pub pointer: String,
}

/// The kinds of hooks that the client knows.
const TYPES: [&str; 5] = ["command", "http", "mcp_tool", "prompt", "agent"];

/// Moments whose invalid entry makes the client drop the whole file (measured).
const STRICT: [&str; 2] = ["PreToolUse", "PermissionRequest"];

/// Ways of the client to deal with permissions.
const MODES: [&str; 7] = ["acceptEdits", "auto", "bypassPermissions", "default", "delegate", "dontAsk", "plan"];

/// Members of a type that the client insists on: where one is of another, it drops the whole file (measured).
const MEMBERS: [(&str, Kind); 11] = [
    ("/model", Kind::Text),
    ("/permissions", Kind::Object),
    ("/permissions/allow", Kind::List),
    ("/permissions/deny", Kind::List),
    ("/permissions/ask", Kind::List),
    ("/permissions/defaultMode", Kind::Mode),
    // What is in it may be anything: the client makes texts of it.
    ("/env", Kind::Object),
    ("/disableAllHooks", Kind::Switch),
    ("/cleanupPeriodDays", Kind::Number),
    ("/sandbox", Kind::Object),
    ("/statusLine", Kind::Object),
];

/// A type of JSON, as far as the client looks.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Switch,
    Number,
    List,
    Object,
    /// One of the client's ways to deal with permissions.
    Mode,
}

impl Kind {
    /// What is wrong with a value, where something is.
    fn flaw(self, value: &Value) -> Option<&'static str> {
        let (fits, flaw) = match self {
            Kind::Text => (value.is_string(), "is not a text"),
            Kind::Switch => (value.is_boolean(), "is neither true nor false"),
            Kind::Number => (value.is_number(), "is not a number"),
            Kind::List => (value.is_array(), "is not a list"),
            Kind::Object => (value.is_object(), "is not an object"),
            Kind::Mode => (value.as_str().is_some_and(|mode| MODES.contains(&mode)), "is not a mode that we know"),
        };
        (!fits).then_some(flaw)
    }
}

/// The object in a file of the client's; nothing in an empty one.
pub(super) fn object(text: &str, expected: &str) -> Result<Value, Broken> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let words = error.to_string();
        let what = words.rsplit_once(" at line ").map_or(words.as_str(), |(what, _)| what);
        Broken { line: error.line().max(1), column: error.column().max(1), what: what.to_owned() }
    })?;
    if value.is_object() {
        return Ok(value);
    }
    Err(Broken { line: 1, column: 1, what: expected.to_owned() })
}

impl Settings {
    /// Reads a settings file. An empty one says nothing.
    pub fn read(text: &str) -> Result<Settings, Broken> {
        object(text, "settings are a JSON object").map(Settings)
    }

    /// All hooks of the file, in order.
    pub fn hooks(&self) -> Vec<Hook<'_>> {
        let Some(events) = self.0.get("hooks").and_then(Value::as_object) else { return Vec::new() };
        let mut hooks = Vec::new();
        for (event, groups) in events {
            for (nth, group) in groups.as_array().into_iter().flatten().enumerate() {
                let matcher = group.get("matcher").and_then(Value::as_str);
                let entries = group.get("hooks").and_then(Value::as_array).into_iter().flatten().enumerate();
                hooks.extend(entries.map(|(place, entry)| Hook { event, matcher, entry, at: (nth, place) }));
            }
        }
        hooks
    }

    /// What the file says to a switch of this name, where it says anything.
    pub fn switch(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    /// Whether a switch of this name is on.
    pub fn is_on(&self, switch: &str) -> bool {
        self.switch(switch) == Some(true)
    }

    /// The variables that the file sets for everything that the client starts, hooks included.
    pub fn variables(&self) -> Vec<&str> {
        let variables = self.0.get("env").and_then(Value::as_object);
        variables.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
    }

    /// What the client refuses: members of the wrong type, and entries of hooks.
    pub fn invalid(&self) -> Vec<Invalid> {
        let member = |(pointer, kind): (&str, Kind)| {
            let what = kind.flaw(self.0.pointer(pointer)?)?;
            let event = pointer.trim_start_matches('/').replace('/', ".");
            Some(Invalid { event, what, voids: true, pointer: pointer.to_owned() })
        };
        MEMBERS.into_iter().filter_map(member).chain(self.invalid_hooks()).collect()
    }

    fn invalid_hooks(&self) -> Vec<Invalid> {
        let flaw = |event: &str, place: &str, what| Invalid {
            event: event.to_owned(),
            what,
            voids: STRICT.contains(&event),
            pointer: format!("/hooks/{event}{place}"),
        };
        let Some(hooks) = self.0.get("hooks") else { return Vec::new() };
        let Some(events) = hooks.as_object() else {
            let pointer = "/hooks".to_owned();
            return vec![Invalid { event: "hooks".to_owned(), what: "is not an object", voids: true, pointer }];
        };
        let mut invalid = Vec::new();
        for (event, groups) in events {
            match groups.as_array() {
                None => invalid.push(flaw(event, "", "is not a list")),
                Some(groups) => {
                    let flawed = groups.iter().enumerate().filter_map(|(nth, group)| Some((nth, group_flaw(group)?)));
                    invalid.extend(flawed.map(|(nth, what)| flaw(event, &format!("/{nth}"), what)));
                }
            }
        }
        invalid
    }
}

fn group_flaw(group: &Value) -> Option<&'static str> {
    if !group.is_object() {
        return Some("holds something that is not an object");
    }
    if group.get("matcher").is_some_and(|matcher| !matcher.is_string()) {
        return Some("has a `matcher` that is not text");
    }
    match group.get("hooks").and_then(Value::as_array) {
        None => Some("has an entry without a list of `hooks`"),
        Some(entries) => entries.iter().find_map(entry_flaw),
    }
}

fn entry_flaw(entry: &Value) -> Option<&'static str> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    let kind = text("type").unwrap_or_default();
    if !TYPES.contains(&kind) {
        return Some("has a hook of an unknown `type`");
    }
    let needed = match kind {
        "command" => Some(("command", "has a hook without a `command`")),
        "prompt" | "agent" => Some(("prompt", "has a hook without a `prompt`")),
        "http" => Some(("url", "has a hook without a `url`")),
        _ => None,
    };
    if let Some((_, flaw)) = needed.filter(|(field, _)| text(field).is_none()) {
        return Some(flaw);
    }
    let words = |args: &Value| args.as_array().is_some_and(|args| args.iter().all(Value::is_string));
    if entry.get("args").is_some_and(|args| !words(args)) {
        return Some("has a hook whose `args` are not a list of texts");
    }
    if entry.get("timeout").is_some_and(|timeout| timeout.as_f64().is_none_or(|seconds| seconds <= 0.0)) {
        return Some("has a hook whose `timeout` is not a number of seconds");
    }
    let failure = entry.get("onFailure");
    let known = |value: &Value| matches!(value.as_str(), Some("block" | "continue"));
    failure
        .is_some_and(|value| !known(value))
        .then_some("has a hook whose `onFailure` is neither `block` nor `continue`")
}

impl<'a> Hook<'a> {
    /// An entry by itself.
    pub(super) fn new(event: &'a str, entry: &'a Value) -> Self {
        Hook { event, matcher: None, entry, at: (0, 0) }
    }

    /// Where it stands in its file, as a JSON pointer.
    pub fn pointer(&self) -> String {
        let (group, place) = self.at;
        format!("/hooks/{}/{group}/hooks/{place}", self.event)
    }

    /// The program that it starts and the words that it hands over; `None` where it starts none, or several.
    pub fn call(&self) -> Option<(String, Vec<String>)> {
        let command = self.entry.get("command")?.as_str()?;
        if let Some(args) = self.entry.get("args") {
            let words = args.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned);
            return Some((command.to_owned(), words.collect()));
        }
        // Without `args` a shell reads it.
        let reading = shell::read(command, &Place::default());
        let [only] = reading.commands.as_slice() else { return None };
        Some((only.program.to_string(), only.args.iter().map(|arg| arg.text.to_string()).collect()))
    }

    /// Whether it runs this guard, wherever the program lies and whatever it is called by now.
    pub fn is_ours(&self) -> bool {
        let Some((program, words)) = self.call() else { return false };
        let name = program.rsplit(['/', '\\']).next().unwrap_or_default().trim_end_matches(".exe");
        let hook = words.first().is_some_and(|word| word == "hook");
        let flagged = words.iter().any(|word| word == "--config-dir" || word == "--client-dir");
        name == "security-hook" || (hook && (name == "rune" || flagged))
    }

    /// The value of a flag among its words.
    pub fn flag(&self, flag: &str) -> Option<String> {
        let words = self.call()?.1;
        let at = words.iter().rposition(|word| word == flag || word.starts_with(&format!("{flag}=")))?;
        let word = words.get(at)?;
        word.split_once('=').map(|(_, value)| value.to_owned()).or_else(|| words.get(at + 1).cloned())
    }

    /// How many seconds the client gives it, where the entry says.
    pub fn timeout(&self) -> Option<f64> {
        self.entry.get("timeout").and_then(Value::as_f64)
    }

    /// Whether a failure of the hook blocks the call.
    pub fn blocks_on_failure(&self) -> bool {
        self.entry.get("onFailure").and_then(Value::as_str) == Some("block")
    }

    /// Whether it is asked about every tool.
    pub fn is_for_all(&self) -> bool {
        matches!(self.matcher, None | Some("" | "*"))
    }

    /// Whether it is asked about a tool, as the client reads matchers; `None` where the matcher is none.
    pub fn is_for(&self, tool: &str) -> Option<bool> {
        let Some(matcher) = self.matcher.filter(|_| !self.is_for_all()) else { return Some(true) };
        let plain = |c: char| c.is_ascii_alphanumeric() || "_- ,|".contains(c);
        if matcher.chars().all(plain) {
            return Some(matcher.split(['|', ',']).any(|name| name.trim() == tool));
        }
        regex_lite::Regex::new(matcher).ok().map(|matcher| matcher.is_match(tool))
    }

    /// The entry itself.
    pub fn entry(&self) -> &'a Value {
        self.entry
    }
}
