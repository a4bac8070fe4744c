//! Reads the labelled cases in `tests/cases`. Their format is described in `tests/README.md`.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The directory of the cases that Rune answers wrongly today.
pub const KNOWN_GAPS: &str = "known_gaps";

/// The first line of a file: the directories of its cases.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    pub home: String,
    pub project: String,
}

/// One case: a call or the result of a call, and the expected answers.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The command of a Bash call; otherwise `tool` and `input`, or `raw_b64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The result, for an event after a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Value>,
    /// The whole event in base64, where JSON cannot represent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_b64: Option<String>,
    /// With `raw_b64`: the argument of `rune hook`, for an event that does not name its phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The working directory, if it is not the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Targets of symbolic links, by the path of the link.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, String>,
    /// Contents of files, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Texts that the notice must not contain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_in_notice: Vec<String>,
    /// In `known_gaps` only: the correct answer of strict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Wanted>,
    pub strict: Expected,
    pub gentle: Expected,
    /// The answer of strict in a tainted session, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tainted: Option<Expected>,
}

/// An effect and the rule that causes it, written `deny rm-home` or `allow`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "String", into = "String")]
pub struct Expected {
    pub effect: String,
    pub rule: Option<String>,
}

impl From<String> for Expected {
    fn from(text: String) -> Self {
        match text.split_once(' ') {
            Some((effect, rule)) => Expected { effect: effect.to_owned(), rule: Some(rule.to_owned()) },
            None => Expected { effect: text, rule: None },
        }
    }
}

impl From<Expected> for String {
    fn from(expected: Expected) -> String {
        expected.to_string()
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            Some(rule) => write!(f, "{} {rule}", self.effect),
            None => f.write_str(&self.effect),
        }
    }
}

/// The answers that close a known gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    Allow,
    Ask,
    Deny,
    AskOrDeny,
}

impl Wanted {
    pub fn is_met_by(self, effect: &str) -> bool {
        match self {
            Wanted::Allow => effect == "allow",
            Wanted::Ask => effect == "ask",
            Wanted::Deny => effect == "deny",
            Wanted::AskOrDeny => effect == "ask" || effect == "deny",
        }
    }
}

/// One file of cases.
#[derive(Clone, Debug)]
pub struct CaseFile {
    pub path: PathBuf,
    pub defaults: Defaults,
    pub cases: Vec<Case>,
}

impl CaseFile {
    pub fn read(path: &Path) -> CaseFile {
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = text.strip_suffix('\n').unwrap_or(&text).split('\n').enumerate();
        let location = |number: usize| format!("{}:{}", path.display(), number + 1);
        let (number, first) = lines.next().unwrap();
        let defaults = serde_json::from_str(first).unwrap_or_else(|error| panic!("{}: {error}", location(number)));
        let cases = lines.map(|(number, line)| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{}: {error}", location(number)))
        });
        CaseFile { path: path.to_owned(), defaults, cases: cases.collect() }
    }

    pub fn write(&self) {
        let lines = self.cases.iter().map(|case| serde_json::to_string(case).unwrap() + "\n");
        let first = serde_json::to_string(&self.defaults).unwrap() + "\n";
        std::fs::write(&self.path, first + &lines.collect::<String>()).unwrap();
    }

    /// The name of the directory: the answer of strict, or `known_gaps`.
    pub fn expected(&self) -> &str {
        self.path.parent().unwrap().file_name().unwrap().to_str().unwrap()
    }

    pub fn class(&self) -> &str {
        self.path.file_stem().unwrap().to_str().unwrap()
    }

    pub fn home<'a>(&'a self, case: &'a Case) -> &'a str {
        case.home.as_deref().unwrap_or(&self.defaults.home)
    }

    pub fn project<'a>(&'a self, case: &'a Case) -> &'a str {
        case.project.as_deref().unwrap_or(&self.defaults.project)
    }

    /// The bytes that the client would send. Panics if the case has fields that exclude each other.
    pub fn event(&self, case: &Case) -> Vec<u8> {
        let has_other_fields = case.response.is_some() || case.cwd.is_some();
        let (tool, input) = match (&case.raw_b64, &case.command, &case.tool, &case.input, &case.phase) {
            (Some(raw), None, None, None, _) if !has_other_fields => return BASE64_STANDARD.decode(raw).unwrap(),
            (None, Some(command), None, None, None) => ("Bash", json!({ "command": command })),
            (None, None, Some(tool), Some(input), None) => (tool.as_str(), input.clone()),
            _ => panic!("{}: expected `command`, or `tool` and `input`, or `raw_b64` and perhaps `phase`", case.id),
        };
        let event_name = if case.is_after() { "PostToolUse" } else { "PreToolUse" };
        let cwd = case.cwd.as_deref().unwrap_or_else(|| self.project(case));
        let mut event = json!({"session_id": "s1", "transcript_path": "/t.jsonl", "cwd": cwd,
            "hook_event_name": event_name, "tool_name": tool, "tool_input": input});
        if let Some(response) = &case.response {
            event["tool_response"] = response.clone();
        }
        event.to_string().into_bytes()
    }
}

impl Case {
    pub fn is_after(&self) -> bool {
        self.response.is_some() || self.phase.as_deref() == Some("post")
    }

    /// The argument of `rune hook`: `pre` or `post`.
    pub fn phase(&self) -> &str {
        self.phase.as_deref().unwrap_or(if self.is_after() { "post" } else { "pre" })
    }
}

/// All files, in order of their paths.
pub fn files() -> Vec<CaseFile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths = Vec::new();
    for expected in ["allow", "advise", "ask", "deny", KNOWN_GAPS] {
        paths.extend(std::fs::read_dir(folder.join(expected)).unwrap().map(|entry| entry.unwrap().path()));
    }
    paths.sort();
    paths.iter().map(|path| CaseFile::read(path)).collect()
}

/// The commands of all Bash calls, each once.
pub fn commands() -> Vec<String> {
    let cases = files().into_iter().flat_map(|file| file.cases);
    let mut commands: Vec<String> = cases.filter_map(|case| case.command).collect();
    commands.sort();
    commands.dedup();
    commands
}
