//! Hooks of other programs that interfere with the guard.

use super::Problem;
use crate::commands::hooks::SettingsLayers;
use crate::runtime::environment::Environment;
use crate::runtime::policy_files;
use rune::client::settings::{Interference, InterferenceKind};
use rune::verdict::Phase;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Larger files are not read as scripts.
const MAX_SCRIPT_BYTES: u64 = 1 << 20;

pub fn check(layers: &SettingsLayers, environment: &Environment, project: &Path) -> Vec<Problem> {
    let scripts = ScriptFinder { environment, project };
    let mut problems = Vec::new();
    for (layer, settings) in layers.settings() {
        for hook in settings.hooks.iter().filter(|hook| !hook.is_guard()) {
            if let Some(interference) = hook.interference.as_ref().filter(|other| scripts.contain_words(other)) {
                problems.push(problem(interference.kind).at(layer.place(&hook.pointer)));
            } else if layer.scope.is_project() && hook.phase == Some(Phase::Before) {
                problems.push(project_hook().at(layer.place(&hook.pointer)));
            }
        }
    }
    problems
}

fn problem(kind: InterferenceKind) -> Problem {
    match kind {
        InterferenceKind::AnswersPrompts => Problem::new(
            "foreign-permission-hook",
            "this hook can answer our question in the person's place",
            "take it out; the preset strict denies what gentle only asks about",
        ),
        InterferenceKind::ReplacesResults => Problem::new(
            "foreign-replacement",
            "this hook replaces results; the last hook to finish wins, so what we replace may come back",
            "take it out, or keep its matcher to tools that read nothing from outside",
        ),
        InterferenceKind::ChangesCalls => Problem::new(
            "foreign-rewrite",
            "this hook changes calls while we judge them as they were",
            "take it out, or have it deny with a reason instead",
        ),
    }
}

fn project_hook() -> Problem {
    Problem::new(
        "project-hook",
        "the project runs a program of its own before each call: with your rights, and without a question",
        "read it, and take it out unless you know why it is there",
    )
}

/// Finds the scripts that the command of a hook names.
struct ScriptFinder<'a> {
    environment: &'a Environment,
    project: &'a Path,
}

impl ScriptFinder<'_> {
    /// Whether the texts of a hook, or a script that they name, contain one of the words that show interference.
    fn contain_words(&self, other: &Interference) -> bool {
        let contains =
            |bytes: &[u8]| other.words.iter().any(|word| bytes.windows(word.len()).any(|part| part == word.as_bytes()));
        other.words.is_empty()
            || other.texts.iter().any(|text| contains(text.as_bytes()))
            || other.texts.iter().flat_map(|text| self.files(text)).any(|file| contains(&read_script(&file)))
    }

    /// The files that a text may name: the whole text, and each word of it.
    fn files(&self, text: &str) -> Vec<PathBuf> {
        let bare = text.replace(['"', '\''], "");
        let is_separator = |c: char| c.is_whitespace() || "`;|&()<>=".contains(c);
        let words = bare.split(is_separator).filter(|word| word.contains(['/', '.']));
        [text].into_iter().chain(words).map(|word| self.project.join(self.expand(word))).collect()
    }

    /// Expands the variables of the project and of the home directory.
    fn expand(&self, word: &str) -> String {
        let home = self.environment.home.as_deref().unwrap_or(Path::new("~")).to_string_lossy();
        let project = self.environment.client.locations().project_variable;
        let project = project.map(|name| (name, self.project.to_string_lossy()));
        let mut word = word.to_owned();
        for (name, value) in project.into_iter().chain([("HOME", home.clone())]) {
            word = word.replace(&format!("${{{name}}}"), &value).replace(&format!("${name}"), &value);
        }
        word.strip_prefix("~/").map_or_else(|| word.clone(), |rest| format!("{home}/{rest}"))
    }
}

/// The bytes of a script; none if there is no such file, or if it is too large.
fn read_script(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok((file, length)) = policy_files::open(path)
        && length <= MAX_SCRIPT_BYTES
    {
        file.take(MAX_SCRIPT_BYTES).read_to_end(&mut bytes).ok();
    }
    bytes
}
