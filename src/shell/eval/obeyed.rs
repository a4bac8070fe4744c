//! Files of the line that a command obeys without naming them as its script: modules, tests, sources, configurations.
//!
//! If the line writes or fetches a file, and a later command of it is an interpreter, or a tool that builds, tests, checks,
//! formats or installs, every such file in reach of the command is judged, once for each directory in which it is read.

use super::Evaluator;
use super::files::{self, Content};
use super::scripts::Scripts;
use super::{recipes, settings};
use crate::programs::code::{self, WordList, lists};
use crate::programs::{CommandLine, Does, Tail, Use};
use crate::shell::inline::Language;
use crate::shell::wrappers::Inner;
use crate::shell::{Arg, Command, Origin, runs_in_containers};
use crate::verdict::limits::Meter;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Steps for comparing one file with what a command reads.
const FILE_STEPS: usize = 40;

/// Steps for one of the contents that a file may have.
const CONTENT_STEPS: usize = 15;

/// Which files a command reads without naming them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Obeys {
    Nothing,
    /// Modules in the language of an interpreter.
    Language(Language),
    /// Scripts of a shell, because the name of its script is not known: `sh *.sh`.
    ShellScripts,
    /// Whatever may configure it, or is a part of the project.
    Project,
}

/// How a command finds a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// An option or a variable names it.
    Named,
    /// It is below a directory that a variable names.
    SearchPath,
    /// It is below the directory of the command, or beside an operand.
    Project,
}

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Shell,
    Code(Language),
    /// A Makefile or the like.
    Recipes,
    /// Settings in a format without a reader of its own.
    Settings,
    /// Nothing in it is run.
    Data,
}

impl Evaluator<'_> {
    /// Adds the files of the line that a command obeys without naming them. `named` are those that it names as its scripts.
    pub(super) fn add_obeyed(&mut self, command: &Command, named: &BTreeSet<String>, scripts: &mut Scripts) {
        let values = setting_values(command);
        let obeys = obeys(command);
        if obeys == Obeys::Nothing && values.is_empty() {
            return;
        }
        self.update_files();
        if self.files.is_empty() {
            return;
        }
        let roots = if obeys == Obeys::Nothing { BTreeSet::new() } else { roots(command) };
        let by_variable = variable_roots(command);
        let mut settings: BTreeSet<String> = values.iter().filter_map(|value| files::resolve(value, command)).collect();
        let more: Vec<String> = settings.iter().flat_map(|path| self.named_in(path, command)).collect();
        settings.extend(more);
        self.meter.charge(FILE_STEPS * self.files.len());
        let is_below_any = |path: &str, roots: &BTreeSet<String>| roots.iter().any(|root| is_below(path, root));
        let mut found: Vec<(String, Reach, Vec<Content>)> = Vec::new();
        for (path, contents) in self.files.iter().filter(|(path, _)| !named.contains(*path)) {
            let reach = if settings.contains(path) {
                Reach::Named
            } else if is_below_any(path, &by_variable) {
                Reach::SearchPath
            } else if is_below_any(path, &roots) {
                Reach::Project
            } else {
                continue;
            };
            self.meter.charge(CONTENT_STEPS * contents.len());
            found.push((path.clone(), reach, contents.clone()));
        }
        for (path, reach, contents) in found {
            for content in contents {
                self.add_obeyed_content(command, (&path, reach), &content, obeys, scripts);
            }
        }
        if obeys == Obeys::Project {
            self.add_fetched_directory(command, scripts);
        }
    }

    /// The files of the line that another one names.
    fn named_in(&self, path: &str, command: &Command) -> Vec<String> {
        let mut named = Vec::new();
        for content in self.files.contents(path) {
            let Content::Text(text) = content else { continue };
            self.meter.charge(text.len());
            let is_end = |c: char| c.is_whitespace() || "\"'`,;()[]{}<>=:".contains(c);
            let words = text.split(is_end).filter(|word| word.contains(['/', '.']) && word.len() > 1);
            let paths = words.filter_map(|word| files::resolve(&Arg::literal(word), command));
            named.extend(paths.filter(|other| other != path && !self.files.contents(other).is_empty()));
        }
        named
    }

    /// Adds one possible content of a file.
    fn add_obeyed_content(
        &mut self,
        command: &Command,
        (path, reach): (&str, Reach),
        content: &Content,
        obeys: Obeys,
        scripts: &mut Scripts,
    ) {
        if let Content::Fragment(text) = content {
            let form = form(path, "");
            if form != Form::Data && (reach == Reach::Named || reads(obeys, form)) {
                self.add_fragment(path, text, scripts);
            }
            return;
        }
        let Content::Text(text) = content else {
            let is_obeyed = || match (obeys, form(path, "")) {
                (Obeys::Project, Form::Settings) => is_known_setting(path),
                (obeys, form) => reads(obeys, form),
            };
            if *content == Content::Unknown(Origin::Fetched) && !self.files.is_directory(path) && is_obeyed() {
                scripts.origin = scripts.origin.max(Some(Origin::Fetched));
            }
            return;
        };
        let form = form(path, text);
        let is_read = match reach {
            Reach::Named => form != Form::Data,
            Reach::SearchPath => reads(obeys, form) || matches!(form, Form::Code(_)),
            Reach::Project => reads(obeys, form),
        };
        if !is_read {
            return;
        }
        let inner = obeyed_code(command, (path, reach), text, form, &self.meter);
        // What runs elsewhere is judged differently.
        let is_elsewhere =
            command.container.is_some() || command.via.iter().any(|by| by == "ssh" || runs_in_containers(by));
        let cwd = command.cwd.as_deref().unwrap_or_default();
        self.meter.charge(text.len() / 4);
        let read = inner.iter().filter_map(|inner| match inner {
            Inner::Text { text, .. } | Inner::PowerShell { text } => Some(("", text.as_str())),
            Inner::Code { language, text } => Some((language.name(), text.as_str())),
            Inner::Command { .. } => None,
        });
        let key: String = read
            .fold(format!("{is_elsewhere} {cwd} {path}"), |key, (language, text)| key + "\n" + language + "\n" + text);
        // Code on the command line is still hidden.
        let has_code = |line: &Rc<CommandLine>| line.uses.iter().any(|used| used.takes == Some(Use::Code));
        scripts.are_visible |= obeys == Obeys::Project && !command.parsed.as_ref().is_some_and(has_code);
        scripts.origin = scripts.origin.max(Some(Origin::Shown));
        if self.obeyed.insert(key) {
            scripts.inner.extend(inner);
        }
    }

    /// Notes whether a tool works in a directory whose content was fetched, or on an operand that was.
    fn add_fetched_directory(&mut self, command: &Command, scripts: &mut Scripts) {
        let at = directory(command).unwrap_or_else(|| ".".to_owned());
        // Files that the command only reads or writes are data.
        let is_code =
            |takes: Option<Use>| matches!(takes, None | Some(Use::Execute | Use::Load | Use::Text | Use::List));
        let uses = command.parsed.iter().flat_map(|line| line.uses.iter());
        let operands =
            uses.filter(|used| !used.by_option && is_code(used.takes)).filter_map(|used| command.value(used));
        let operands = operands.filter(|word| word.is_known() && form(&word.text, "") != Form::Data);
        let fetched = Content::Unknown(Origin::Fetched);
        for word in operands.chain([Arg::literal(at)]) {
            let Some(path) = files::resolve(&word, command) else { continue };
            // `openapi.yaml`: a file of its own in a format of data.
            let is_file = self.files.is_noted(&path) && !self.files.is_directory(&path);
            let is_data = is_file && form(&path, "") == Form::Settings && !is_known_setting(&path);
            if !is_data && self.files.contents(&path).contains(&fetched) {
                scripts.origin = scripts.origin.max(Some(Origin::Fetched));
            }
        }
    }
}

/// Whether a command that obeys such files reads one of this form.
fn reads(obeys: Obeys, form: Form) -> bool {
    match (obeys, form) {
        (Obeys::Nothing, _) | (_, Form::Data) => false,
        (Obeys::Project, _) => true,
        (Obeys::ShellScripts, form) => matches!(form, Form::Shell | Form::Settings),
        (Obeys::Language(Language::Other | Language::Lisp), Form::Settings) => true,
        (Obeys::Language(Language::Other), Form::Code(language)) => matches!(language, Language::Source),
        (Obeys::Language(one), Form::Code(other)) => one == other,
        (Obeys::Language(_), Form::Shell | Form::Recipes | Form::Settings) => false,
    }
}

/// Which files a command reads without naming them.
fn obeys(command: &Command) -> Obeys {
    let Some(line) = command.parsed.as_deref().filter(|line| !line.only_helps) else { return Obeys::Nothing };
    if command.is_shell() || matches!(command.program.as_str(), "source" | ".") {
        let is_open = command
            .script()
            .is_some_and(|script| script.text.contains(['*', '?', '[']) || files::resolve(&script, command).is_none());
        return if is_open { Obeys::ShellScripts } else { Obeys::Nothing };
    }
    if line.program().is_some_and(|entry| entry.standalone) {
        return Obeys::Nothing;
    }
    let is_module = command.args.first().is_some_and(|arg| arg.text == "-m");
    let own = Language::from_program(&command.program);
    let language = own.or_else(|| line.language().map(Language::from_name));
    let does = command.does();
    match language {
        // `bun test`, `python3 -m mypy`
        Some(_) if line.path.len() > 1 && own != Some(Language::Python) && does > Some(Does::Look) => Obeys::Project,
        Some(Language::Python) if is_module && own.is_some() => Obeys::Project,
        Some(language) if own.is_some() || language == Language::Sql || does == Some(Does::Run) => {
            Obeys::Language(language)
        }
        // `pylint` loads plug-ins.
        Some(language) if does == Some(Does::Look) => {
            if language == Language::Other || language == Language::Lisp {
                Obeys::Nothing
            } else {
                Obeys::Project
            }
        }
        _ if is_wrapper(line) => Obeys::Nothing,
        _ if matches!(does, Some(Does::Work | Does::Run | Does::Publish)) => Obeys::Project,
        _ => Obeys::Nothing,
    }
}

/// Whether a program only starts another one, which is judged itself.
fn is_wrapper(line: &CommandLine) -> bool {
    let finds = line.path.iter().any(|entry| entry.finds);
    let starts = matches!(line.tail, Some(Tail::Command | Tail::Shell | Tail::Again));
    starts && !finds && line.path.len() < 2
}

/// The values of options and variables that may name a file with settings or code.
fn setting_values(command: &Command) -> Vec<Arg> {
    let is_setting = |takes: Option<Use>| matches!(takes, Some(Use::Load | Use::Execute));
    let uses = command.parsed.iter().flat_map(|line| line.uses.iter());
    let options = uses.filter(|used| is_setting(used.takes)).filter_map(|used| command.value(used));
    let variables = command.env.iter().filter_map(|(_, value)| value.as_deref()).map(Arg::literal);
    options.chain(variables).filter(|value| value.is_known() && !value.text.is_empty()).collect()
}

/// The directories in which a command finds what it obeys: its own, and those of its operands and the values of its options.
fn roots(command: &Command) -> BTreeSet<String> {
    let mut roots = BTreeSet::new();
    let is_path = |arg: &&Arg| arg.text.contains('/') && !arg.text.contains("://");
    for arg in command.args.iter().filter(is_path) {
        let start = if arg.text.starts_with('-') { 2 } else { 0 };
        let word = Arg { text: arg.text.get(start..).unwrap_or_default().into(), ..arg.clone() };
        let Some(path) = files::resolve(&word, command) else { continue };
        if let Some((parent, _)) = path.rsplit_once('/').filter(|(parent, _)| parent.len() > 1) {
            roots.insert(parent.to_owned());
        }
        roots.insert(path);
    }
    let own = directory(command).unwrap_or_else(|| ".".to_owned());
    roots.extend([".", own.as_str()].into_iter().filter_map(|at| files::resolve(&Arg::literal(at), command)));
    roots
}

/// The directories that variables of a command name.
fn variable_roots(command: &Command) -> BTreeSet<String> {
    let values = command.env.iter().flat_map(|(_, value)| value.iter()).flat_map(|value| value.split(':'));
    values.filter(|value| !value.is_empty()).filter_map(|value| files::resolve(&Arg::literal(value), command)).collect()
}

/// The directory that a command works in, if it names one.
fn directory(command: &Command) -> Option<String> {
    let line = command.parsed.as_ref()?;
    let used = line.uses.iter().rev().find(|used| used.takes == Some(Use::Directory))?;
    command.value(used).map(|word| word.text.to_string())
}

fn is_below(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || root.ends_with('/'))
}

/// How a file is read, by its name and its first line.
pub(super) fn form(path: &str, text: &str) -> Form {
    let name = path.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    // A file of the name `s` is not one with this extension.
    let is_name = name.contains(|c: char| c == '.' || c.is_uppercase()) || name.ends_with("file") || name == "wscript";
    let is_one_of = |list: &WordList| is_name && lists(list, name) || !extension.is_empty() && lists(list, extension);
    let languages: [(&WordList, Language); 11] = [
        (&code::FILES_PYTHON, Language::Python),
        (&code::FILES_NODE, Language::Node),
        (&code::FILES_RUBY, Language::Ruby),
        (&code::FILES_PERL, Language::Perl),
        (&code::FILES_PHP, Language::Php),
        (&code::FILES_LUA, Language::Lua),
        (&code::FILES_ELIXIR, Language::Elixir),
        (&code::FILES_AWK, Language::Awk),
        (&code::FILES_SQL, Language::Sql),
        (&code::FILES_LISP, Language::Lisp),
        (&code::FILES_SOURCE, Language::Source),
    ];
    if is_known_setting(path) && lists(&code::FILES_SETTINGS, name) {
        Form::Settings
    } else if is_one_of(&code::FILES_RECIPES) {
        Form::Recipes
    } else if is_one_of(&code::FILES_SHELL) {
        Form::Shell
    } else if let Some((_, language)) = languages.iter().find(|(list, _)| is_one_of(list)) {
        Form::Code(*language)
    } else if is_one_of(&code::FILES_DATA) || path.contains("/.github/") || path.contains("/.circleci/") {
        Form::Data
    } else if let Some(program) = interpreter(text) {
        Language::from_program(&program).map_or(Form::Shell, Form::Code)
    } else {
        Form::Settings
    }
}

/// Whether settings of an unknown content may run something: not a file of data.
fn is_known_setting(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let is_bare = extension.is_none() && name.starts_with(char::is_uppercase);
    is_bare
        || name.starts_with('.') && name.len() > 1
        || lists(&code::FILES_SETTINGS, name)
        || extension.is_some_and(|extension| lists(&code::FILES_SETTINGS, extension))
}

/// The interpreter that the first line names.
pub(super) fn interpreter(text: &str) -> Option<String> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let names = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or_default());
    names.filter(|name| *name != "env" && !name.starts_with('-') && !name.contains('=')).map(str::to_owned).next()
}

/// What a file makes a command run that obeys it.
pub(super) fn obeyed_code(
    command: &Command,
    (path, reach): (&str, Reach),
    text: &str,
    form: Form,
    meter: &Meter,
) -> Vec<Inner> {
    let shell = |text: String| Inner::Text { text, shared: false };
    let in_language = |language: Language, text: &str| Inner::Code { language, text: text.to_owned() };
    let name = path.rsplit('/').next().unwrap_or_default();
    match form {
        Form::Data => Vec::new(),
        Form::Shell => vec![shell(text.to_owned())],
        Form::Recipes => recipes::texts(command, path, text).into_iter().map(shell).collect(),
        Form::Code(Language::Source) => {
            let generated = text.lines().filter_map(|line| line.trim_start().strip_prefix("//go:generate "));
            generated.map(|line| shell(line.to_owned())).chain([in_language(Language::Source, text)]).collect()
        }
        Form::Code(language) => {
            let mut inner = vec![in_language(language, text)];
            // A list of commands in a configuration is no call: `{"*.js": "rm x"}`.
            if name.starts_with('.') || name.contains(".config.") || name == "dodo.py" {
                inner.push(in_language(Language::Source, text));
            }
            inner
        }
        Form::Settings => {
            let text = settings::normalized(text);
            let commands = settings::commands(&text, meter);
            // Fixtures name files that are never opened.
            let paths = if reach == Reach::Named { settings::protected_words(&text) } else { Vec::new() };
            commands
                .into_iter()
                .map(shell)
                .chain(paths.into_iter().map(|path| Inner::Text { text: format!("code-path {path}"), shared: false }))
                .chain([in_language(Language::Source, &text)])
                .collect()
        }
    }
}
