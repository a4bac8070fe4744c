//! Settings files of a client, as far as the guard depends on them.

use super::registration::{REGISTERED_IN, Registration, preset_and_rest};
use crate::verdict::Phase;
use serde::Serialize;
use std::path::Path;

/// The owner of a settings file, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The user, in all projects.
    User,
    /// The project, for everyone who works on it.
    Project,
    /// The user, in one project.
    Local,
    /// A file that the client's command line names.
    Given,
    /// The machine's administrator.
    Managed,
}

impl Scope {
    /// The scopes that the guard can be registered in by name.
    pub const NAMED: [Scope; 4] = [Scope::User, Scope::Project, Scope::Local, Scope::Managed];

    /// The name of the scope.
    pub fn name(self) -> &'static str {
        match self {
            Scope::User => "user",
            Scope::Project => "project",
            Scope::Local => "local",
            Scope::Given => "given",
            Scope::Managed => "managed",
        }
    }

    /// Whether the author of the project may have written the file.
    pub fn is_project(self) -> bool {
        matches!(self, Scope::Project | Scope::Local)
    }
}

/// The directories that hold settings files.
#[derive(Clone, Copy, Debug)]
pub struct SettingsDirs<'a> {
    /// The client's directory, if it is known.
    pub client: Option<&'a Path>,
    /// The project.
    pub project: &'a Path,
    /// The machine's settings.
    pub managed: &'a Path,
}

/// Why a file of the client cannot be read or edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The fault.
    pub what: String,
}

impl FileError {
    /// An error that concerns the whole file.
    pub fn new(what: impl Into<String>) -> FileError {
        FileError::at(None, what)
    }

    /// An error at a line and column; `None` if it concerns the whole file.
    pub fn at(position: Option<(usize, usize)>, what: impl Into<String>) -> FileError {
        let (line, column) = position.unwrap_or((1, 1));
        FileError { line, column, what: what.into() }
    }

    /// The file, the line and the column.
    pub fn place(&self, file: &Path) -> String {
        format!("{}:{}:{}", file.display(), self.line, self.column)
    }

    /// The error after its place.
    pub fn describe(&self, file: &Path) -> String {
        format!("{}: {}", self.place(file), self.what)
    }
}

/// The content of a settings file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The hooks, in the order of the file.
    pub hooks: Vec<Hook>,
    /// The parts that the client rejects.
    pub invalid: Vec<InvalidPart>,
    /// Whether all hooks are disabled, where the file sets it.
    pub hooks_disabled: Option<Switch>,
    /// Whether only hooks of managed settings run, where the file sets it.
    pub managed_hooks_only: Option<Switch>,
    /// The permission mode of new sessions, if it shows no permission prompt.
    pub unasked_mode: Option<UnaskedMode>,
    /// The variables that the file sets for everything that the client starts, hooks included.
    pub variables: Vec<Variable>,
}

/// A setting that lets calls run without a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnaskedMode {
    /// The name of the mode.
    pub name: &'static str,
    /// Its place in the file, as a JSON pointer.
    pub pointer: &'static str,
}

/// A setting that is on or off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Its value.
    pub on: bool,
    /// Its place in the file, as a JSON pointer.
    pub pointer: &'static str,
}

/// A variable that a settings file sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its place in the file, as a JSON pointer.
    pub pointer: String,
    /// Whether the client runs no hooks if it is set.
    pub disables_hooks: bool,
}

/// A part of a settings file that the client rejects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPart {
    /// The event of a hook, or the name of another setting.
    pub name: String,
    /// The fault, as a predicate.
    pub what: &'static str,
    /// Whether the client ignores the whole file for it.
    pub voids_file: bool,
    /// Its place in the file, as a JSON pointer.
    pub pointer: String,
}

/// A hook that a settings file registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    /// The client's name of the event.
    pub event: String,
    /// The phase of the event, if the guard handles it.
    pub phase: Option<Phase>,
    /// Its place in the file, as a JSON pointer.
    pub pointer: String,
    /// The program and its arguments; `None` if it starts none or several.
    pub command: Option<HookCommand>,
    /// How it can interfere with the guard.
    pub interference: Option<Interference>,
}

/// The command of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCommand {
    /// The program, a path or a name.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
}

/// The way in which another hook can interfere with the guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interference {
    /// The kind of interference.
    pub kind: InterferenceKind,
    /// It interferes only if one of these words is in its texts or in a script that they name; always if there are none.
    pub words: &'static [&'static str],
    /// The command, the arguments and the prompt.
    pub texts: Vec<String>,
}

/// What a hook does that interferes with the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterferenceKind {
    /// It answers permission prompts in place of the user.
    AnswersPrompts,
    /// It replaces results that the guard marks.
    ReplacesResults,
    /// It changes calls after the guard has judged them.
    ChangesCalls,
}

impl HookCommand {
    /// Whether it runs this guard, in any directory and under its former name.
    pub fn is_guard(&self) -> bool {
        let name = self.program.rsplit(['/', '\\']).next().unwrap_or_default().trim_end_matches(".exe");
        let hook = self.args.first().is_some_and(|word| word == "hook");
        let flagged = self.args.iter().any(|word| word == "--config-dir" || word == "--client-dir");
        name == "security-hook" || (hook && (name == "rune" || flagged))
    }

    /// The last value of a flag.
    fn flag(&self, flag: &str) -> Option<String> {
        let at = self.args.iter().rposition(|word| word == flag || word.starts_with(&format!("{flag}=")))?;
        let word = self.args.get(at)?;
        word.split_once('=').map(|(_, value)| value.to_owned()).or_else(|| self.args.get(at + 1).cloned())
    }
}

impl Hook {
    /// Whether it runs this guard.
    pub fn is_guard(&self) -> bool {
        self.command.as_ref().is_some_and(HookCommand::is_guard)
    }
}

impl Settings {
    /// The hooks that run this guard.
    pub fn guard_hooks(&self) -> impl Iterator<Item = &Hook> {
        self.hooks.iter().filter(|hook| hook.is_guard())
    }

    /// The hook that decides how the guard is called: the one before calls, or else the first.
    pub fn main_guard_hook(&self) -> Option<&Hook> {
        self.guard_hooks().find(|hook| hook.phase == Some(Phase::Before)).or_else(|| self.guard_hooks().next())
    }

    /// Whether a hook of the file answers permission prompts in place of the user.
    pub fn answers_prompts(&self) -> bool {
        let kinds = self.hooks.iter().filter_map(|hook| hook.interference.as_ref());
        kinds.map(|interference| interference.kind).any(|kind| kind == InterferenceKind::AnswersPrompts)
    }

    /// Whether the file disables all hooks.
    pub fn disables_hooks(&self) -> bool {
        self.hooks_disabled.as_ref().is_some_and(|switch| switch.on)
    }

    /// How the guard is called by the hooks of the file.
    pub fn registration(&self) -> Option<Registration> {
        let HookCommand { program, args } = self.main_guard_hook()?.command.clone()?;
        let words = args.into_iter().filter(|word| !matches!(word.as_str(), "hook" | "pre" | "post")).collect();
        let file = self.guard_hooks().find_map(|hook| hook.command.as_ref()?.flag(REGISTERED_IN));
        Some(Registration { program, words, file })
    }

    /// How each hook of the file calls the guard, without the file and without duplicates.
    pub fn registrations(&self) -> Vec<Registration> {
        let mut all = Vec::new();
        for HookCommand { program, args } in self.guard_hooks().filter_map(|hook| hook.command.as_ref()) {
            let (preset, rest) = preset_and_rest(args);
            let preset = preset.into_iter().flat_map(|preset| ["--preset", preset]);
            let words = preset.chain(rest).map(str::to_owned).collect();
            let registration = Registration { program: program.clone(), words, file: None };
            if !all.contains(&registration) {
                all.push(registration);
            }
        }
        all
    }
}
