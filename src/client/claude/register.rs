//! Registration in Claude Code: the entries that we write into a settings file, and how they get in and out of its
//! text without touching anything else.

use super::settings::{Broken, Hook, Settings};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstRootNode};
use serde_json::{Value, json};

/// The tools whose results may come from strangers. Anchored: a pattern without signs would be read as a name, and
/// one without anchors would match within names.
const SURFACES: &str = "^(mcp__.*|WebFetch|WebSearch|ReadMcpResource(Dir)?(Tool)?|ListMcpResources(Tool)?|Read|Bash|PowerShell|Monitor|Agent|Task|AgentOutput(Tool)?|BashOutput|TaskOutput)$";

/// Seconds that the client gives us; we answer after five at the latest.
const TIMEOUT: u64 = 10;

/// The moments that we are registered for: `(the client's name, our word for it, the tools)`.
pub(super) const MOMENTS: [(&str, Option<&str>, Option<&str>); 6] = [
    ("PreToolUse", Some("pre"), None),
    ("PostToolUse", Some("post"), Some(SURFACES)),
    ("PostToolUseFailure", Some("post"), Some(SURFACES)),
    ("ConfigChange", None, None),
    ("SessionStart", None, None),
    ("SessionEnd", None, None),
];

/// The moments without which the guard is gone, or could be.
const NEEDED: [&str; 4] = ["PreToolUse", "PostToolUse", "PostToolUseFailure", "ConfigChange"];

/// The fields of an entry, in the order in which we write them.
pub(super) const FIELDS: [&str; 7] = ["matcher", "hooks", "type", "command", "args", "timeout", "onFailure"];

/// How the guard is to be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The program, absolute.
    pub program: String,
    /// The words behind `hook pre`: preset and directories.
    pub words: Vec<String>,
    /// The settings file that the entries stand in, where they stand in one.
    pub file: Option<String>,
}

/// The option that tells a hook which file it is registered in.
pub const REGISTERED_IN: &str = "--registered-in";

impl Registration {
    /// The groups that we write: `(moment, group)`.
    pub(super) fn groups(&self) -> Vec<(&'static str, Value)> {
        let group = |(event, word, matcher): (&'static str, Option<&str>, Option<&str>)| {
            let words = ["hook"].into_iter().chain(word).map(str::to_owned).chain(self.words.iter().cloned());
            let place = self.file.iter().filter(|_| word.is_none()).flat_map(|file| [REGISTERED_IN, file.as_str()]);
            let args: Vec<String> = words.chain(place.map(str::to_owned)).collect();
            let mut entry = json!({"type": "command", "command": self.program, "args": args, "timeout": TIMEOUT});
            let mut group = json!({});
            if let (Some("pre"), Some(entry)) = (word, entry.as_object_mut()) {
                entry.insert("onFailure".to_owned(), json!("block"));
            }
            if let Some(group) = group.as_object_mut() {
                group.extend(matcher.map(|matcher| ("matcher".to_owned(), json!(matcher))));
                group.insert("hooks".to_owned(), json!([entry]));
            }
            (event, group)
        };
        MOMENTS.into_iter().map(group).collect()
    }

    /// How the guard is called by the entries of a settings file.
    pub fn of(settings: &Settings) -> Option<Registration> {
        let ours: Vec<Hook<'_>> = settings.hooks().into_iter().filter(Hook::is_ours).collect();
        let (program, words) = ours.iter().find(|hook| hook.event == "PreToolUse").or(ours.first())?.call()?;
        let words = words.into_iter().filter(|word| !matches!(word.as_str(), "hook" | "pre" | "post")).collect();
        Some(Registration { program, words, file: ours.iter().find_map(|hook| hook.flag(REGISTERED_IN)) })
    }

    /// How each single entry of a settings file calls the guard, without the file.
    pub fn each(settings: &Settings) -> Vec<Registration> {
        let mut all = Vec::new();
        for hook in settings.hooks().iter().filter(|hook| hook.is_ours()) {
            let Some((program, words)) = hook.call() else { continue };
            let (preset, rest) = parts(&words);
            let preset = preset.into_iter().flat_map(|preset| ["--preset", preset]);
            let words = preset.chain(rest).map(str::to_owned).collect();
            let one = Registration { program, words, file: None };
            if !all.contains(&one) {
                all.push(one);
            }
        }
        all
    }

    /// The preset that it names.
    pub fn preset(&self) -> Option<&str> {
        parts(&self.words).0
    }

    /// The text of a settings file with our entries in it, in place of older ones. `before` is the text that it had
    /// before any of ours were in it, where that was kept.
    pub fn install(&self, text: &str, before: Option<&str>) -> Result<String, Broken> {
        if self.drift(&Settings::read(text)?).is_empty() {
            return Ok(text.to_owned());
        }
        self.insert(&remove(text, before)?.unwrap_or_default())
    }

    /// The text of a settings file without any of our entries, with them.
    fn insert(&self, text: &str) -> Result<String, Broken> {
        edit(text, |root| {
            let hooks = object(root, "hooks")?;
            for (event, group) in self.groups() {
                list(&hooks, event)?.append(input(&group));
            }
            Ok(())
        })
    }

    /// What a settings file, as it is now, takes away from the guard that was called like this, one line each.
    pub fn losses(&self, settings: &Settings, registered_here: bool) -> Vec<String> {
        let mut losses = Vec::new();
        if settings.is_on("disableAllHooks") {
            losses.push("it switches all hooks off".to_owned());
        }
        if !registered_here {
            return losses;
        }
        if settings.invalid().iter().any(|invalid| invalid.voids) {
            losses.push("the client drops the whole file for what is invalid in it".to_owned());
        }
        let hooks = settings.hooks();
        let stays = |event: &str| hooks.iter().any(|hook| hook.event == event && self.is_kept_by(hook));
        losses
            .extend(NEEDED.into_iter().filter(|event| !stays(event)).map(|event| format!("our hook for {event} goes")));
        losses
    }

    /// Whether a hook calls the guard as it is called now, or more strictly.
    fn is_kept_by(&self, hook: &Hook<'_>) -> bool {
        let Some((program, words)) = hook.call().filter(|_| hook.is_ours()) else { return false };
        let before = hook.event != "PreToolUse" || (hook.is_for_all() && hook.timeout().is_none_or(|time| time >= 6.0));
        // `async` or `if`, say, would let calls pass unasked.
        let plain =
            hook.entry().as_object().is_some_and(|entry| entry.keys().all(|key| FIELDS.contains(&key.as_str())));
        // A prompt, say, starts no program.
        let plain = plain && hook.entry().get("type").and_then(Value::as_str) == Some("command");
        let (preset, rest) = parts(&words);
        let (own, own_rest) = parts(&self.words);
        before && plain && program == self.program && rest == own_rest && (preset == own || preset == Some("strict"))
    }
}

/// The preset among the words of a hook, and the words that say where things are.
fn parts(words: &[String]) -> (Option<&str>, Vec<&str>) {
    let mut preset = None;
    let mut rest = Vec::new();
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "hook" | "pre" | "post" => {}
            "--preset" => preset = words.next(),
            REGISTERED_IN => drop(words.next()),
            _ => match word.split_once('=') {
                Some(("--preset", name)) => preset = Some(name),
                Some((REGISTERED_IN, _)) => {}
                _ => rest.push(word),
            },
        }
    }
    (preset, rest)
}

/// The text of a settings file without our entries, and without what only they kept in it; `None` where there was no
/// file before them.
///
/// Where putting our entries into the text from before gives the text as it is now, it is the text from before, to
/// the byte. Otherwise somebody has worked on it since, and only what is ours is taken out.
pub fn remove(text: &str, before: Option<&str>) -> Result<Option<String>, Broken> {
    let settings = Settings::read(text)?;
    if !settings.hooks().iter().any(Hook::is_ours) {
        return Ok(Some(text.to_owned()));
    }
    if let Some(known) = Registration::of(&settings) {
        let was = |before: &str| known.insert(before).is_ok_and(|whole| whole == text);
        if let Some(before) = before.filter(|before| was(before)) {
            return Ok(Some(before.to_owned()));
        }
        if was("") {
            return Ok(None);
        }
    }
    let edited = edit(text, |root| {
        let hooks = object(root, "hooks")?;
        for event in hooks.properties() {
            let Some(groups) = event.array_value() else { continue };
            let name = event.decoded_name().unwrap_or_default();
            let touched = groups.elements().into_iter().filter(|group| clear(group, &name)).count();
            if touched > 0 && groups.elements().is_empty() {
                event.remove();
            }
        }
        if hooks.properties().is_empty()
            && let Some(hooks) = root.get("hooks")
        {
            hooks.remove();
        }
        Ok(())
    })?;
    Ok(Some(edited))
}

/// Takes our entries out of a group; tells whether there were any.
fn clear(group: &jsonc_parser::cst::CstNode, event: &str) -> bool {
    let Some(entries) = group.as_object().and_then(|group| group.array_value("hooks")) else { return false };
    let ours = |value: &Value| Hook::new(event, value).is_ours();
    let elements = entries.elements();
    let count = elements.len();
    let found: Vec<_> =
        elements.into_iter().filter(|entry| entry.to_serde_value().is_some_and(|value| ours(&value))).collect();
    if found.is_empty() {
        return false;
    }
    if found.len() == count {
        group.clone().remove();
    } else {
        found.into_iter().for_each(jsonc_parser::cst::CstNode::remove);
    }
    true
}

/// Edits the text of a settings file; its byte-order mark stays where it is.
fn edit(text: &str, change: impl FnOnce(&CstObject) -> Result<(), Broken>) -> Result<String, Broken> {
    let (mark, body) = text.strip_prefix('\u{feff}').map_or(("", text), |body| ("\u{feff}", body));
    let body = if body.trim().is_empty() { "{}\n" } else { body };
    let at_start = |what: String| Broken { line: 1, column: 1, what };
    let root = CstRootNode::parse(body, &ParseOptions::default()).map_err(|error| at_start(error.to_string()))?;
    let object = root.object_value().ok_or_else(|| at_start("settings are a JSON object".to_owned()))?;
    change(&object)?;
    Ok(format!("{mark}{root}"))
}

fn object(of: &CstObject, name: &str) -> Result<CstObject, Broken> {
    once(of, name)?;
    of.object_value_or_create(name).ok_or_else(|| misplaced(name, "an object"))
}

fn list(of: &CstObject, name: &str) -> Result<CstArray, Broken> {
    once(of, name)?;
    of.array_value_or_create(name).ok_or_else(|| misplaced(name, "a list"))
}

fn misplaced(name: &str, wanted: &str) -> Broken {
    Broken { line: 1, column: 1, what: format!("`{name}` is not {wanted}") }
}

/// The client takes the last of several members of one name, and an editor the first.
fn once(of: &CstObject, name: &str) -> Result<(), Broken> {
    let same = of.properties().iter().filter(|member| member.decoded_name().as_deref() == Some(name)).count();
    if same < 2 {
        return Ok(());
    }
    Err(Broken { line: 1, column: 1, what: format!("`{name}` stands there {same} times") })
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().map(|(name, value)| (name.clone(), input(value))).collect();
            members.sort_by_key(|(name, _)| FIELDS.iter().position(|field| field == name));
            CstInputValue::Object(members)
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/client/claude/register.rs"]
mod tests;
