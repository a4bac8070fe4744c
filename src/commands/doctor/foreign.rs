//! Hooks of others that answer in the person's place, or that change what we have judged or marked.

use super::finding::Finding;
use crate::commands::hooks::{Layer, Layers};
use crate::runtime::environment::Environment;
use crate::runtime::policy_files;
use rune::client::claude::settings::Hook;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A script beyond this is a program; what it would answer cannot be read from it.
const LARGEST_SCRIPT: u64 = 1 << 20;

/// Tools whose results we mark, one for each kind of name.
const SURFACES: [&str; 8] =
    ["WebFetch", "WebSearch", "ReadMcpResourceTool", "Read", "Bash", "Agent", "TaskOutput", "mcp__server__tool"];

pub fn check(layers: &Layers, environment: &Environment, project: &Path) -> Vec<Finding> {
    let place = Place { home: environment.home.as_deref(), project };
    let mut findings = Vec::new();
    for (layer, settings) in layers.settings() {
        let foreign = settings.hooks().into_iter().filter(|hook| !hook.is_ours());
        findings.extend(foreign.filter_map(|hook| judge(&hook, layer, &place)));
    }
    findings
}

fn judge(hook: &Hook<'_>, layer: &Layer, place: &Place<'_>) -> Option<Finding> {
    let finding = match hook.event {
        "PermissionRequest" => Finding::new(
            "foreign-permission-hook",
            "this hook can answer our question in the person's place",
            "take it out; the preset strict denies what gentle only asks about",
        ),
        "PostToolUse" if is_on_surface(hook) && place.says(hook, &["updatedToolOutput", "updatedMCPToolOutput"]) => {
            Finding::new(
                "foreign-replacement",
                "this hook replaces results; the last hook to finish wins, so what we replace may come back",
                "take it out, or keep its matcher to tools that read nothing from outside",
            )
        }
        "PreToolUse" if place.says(hook, &["updatedInput"]) => Finding::new(
            "foreign-rewrite",
            "this hook changes calls while we judge them as they were",
            "take it out, or have it deny with a reason instead",
        ),
        _ => return None,
    };
    Some(finding.at(layer.place(&hook.pointer())))
}

/// Whether the hook sees results that we mark; a matcher that only the client can read may.
fn is_on_surface(hook: &Hook<'_>) -> bool {
    hook.matcher.is_some_and(|matcher| matcher.contains("mcp__"))
        || SURFACES.iter().any(|tool| hook.is_for(tool).unwrap_or(true))
}

/// Where the files of a command may lie.
struct Place<'a> {
    home: Option<&'a Path>,
    project: &'a Path,
}

impl Place<'_> {
    /// Whether a hook's command, or a script that it names, holds one of these words.
    fn says(&self, hook: &Hook<'_>, words: &[&str]) -> bool {
        let text = |name: &str| hook.entry().get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
        let args = hook.entry().get("args").and_then(serde_json::Value::as_array).into_iter().flatten();
        let args = args.filter_map(|arg| arg.as_str().map(str::to_owned));
        let texts: Vec<String> = text("command").into_iter().chain(text("prompt")).chain(args).collect();
        let said =
            |bytes: &[u8]| words.iter().any(|word| bytes.windows(word.len()).any(|part| part == word.as_bytes()));
        let named = texts.iter().flat_map(|text| self.files(text));
        texts.iter().any(|text| said(text.as_bytes())) || named.into_iter().any(|file| said(&script(&file)))
    }

    /// The files that a command may name: the whole text, and each word of it.
    fn files(&self, text: &str) -> Vec<PathBuf> {
        let bare = text.replace(['"', '\''], "");
        let breaks = |c: char| c.is_whitespace() || "`;|&()<>=".contains(c);
        let words = bare.split(breaks).filter(|word| word.contains(['/', '.']));
        let project = self.project.to_string_lossy();
        let home = self.home.unwrap_or(Path::new("~")).to_string_lossy();
        let expand = |word: &str| {
            let word = word.replace("${CLAUDE_PROJECT_DIR}", &project).replace("$CLAUDE_PROJECT_DIR", &project);
            let word = word.replace("${HOME}", &home).replace("$HOME", &home);
            word.strip_prefix("~/").map_or_else(|| word.clone(), |rest| format!("{home}/{rest}"))
        };
        [text].into_iter().chain(words).map(|word| self.project.join(expand(word))).collect()
    }
}

/// The bytes of a script; none where there is no such file.
fn script(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok((file, length)) = policy_files::open(path)
        && length <= LARGEST_SCRIPT
    {
        file.take(LARGEST_SCRIPT).read_to_end(&mut bytes).ok();
    }
    bytes
}
