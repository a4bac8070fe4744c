//! Files of the line that a command runs: scripts, programs by their paths, and files that a tool runs without naming them.

use super::Evaluator;
use super::files::{self, Content};
use super::recipes;
use crate::programs::{Does, Use, words};
use crate::shell::inline::Language;
use crate::shell::wrappers::Inner;
use crate::shell::{Arg, Command, Origin, PROCESS_SUBSTITUTION};

/// The files of the line that a command runs.
#[derive(Default)]
pub(super) struct Scripts {
    /// What they contain, where that is known.
    pub inner: Vec<Inner>,
    /// The worst of their origins.
    pub origin: Option<Origin>,
    /// The statements of a file that a database client reads as it reads its input.
    pub statements: Option<String>,
    /// They are all that the command runs, and the line shows their text.
    pub are_visible: bool,
}

impl Evaluator<'_> {
    /// Returns the files that a command runs, as far as the line itself has written them.
    pub(super) fn written_scripts(&mut self, command: &Command) -> Scripts {
        let mut scripts = Scripts::default();
        if !command.known {
            return scripts;
        }
        let language = Language::from_program(&command.program);
        let reads_code = command.script().is_none()
            && (command.is_shell() || language.is_some_and(|language| language.reads_input(&command.args)));
        if command.is_decoded && reads_code {
            scripts.origin = Some(Origin::Generated);
        }
        let program = Arg::literal(command.program.clone());
        if program.text.contains('/') {
            self.add_script(command, &program, Role::Program, &mut scripts);
        }
        let mut named = command.scripts();
        named.extend(command.executed(|_| true));
        for script in named.iter().filter(|script| script.is_known()) {
            if is_descriptor(&script.text) {
                scripts.origin = scripts.origin.max(Some(Origin::Generated));
            }
            self.add_script(command, script, Role::Script, &mut scripts);
        }
        let implicit = words::SCRIPTS_IMPLICIT.iter().filter_map(|row| row.split_once(": "));
        let implicit = implicit.filter(|(programs, _)| programs.split(' ').any(|name| command.program == name));
        let mut implicit = implicit.flat_map(|(_, files)| files.split(' ')).peekable();
        if implicit.peek().is_some() && command.doing().does != Some(Does::Look) {
            let directory = directory(command);
            for file in implicit.chain(["."]) {
                let file =
                    Arg::literal(directory.as_ref().map_or_else(|| file.to_owned(), |at| format!("{at}/{file}")));
                self.add_script(command, &file, Role::Implicit, &mut scripts);
            }
            // `npm install ./d`, `pytest tests/test_x.py`
            for operand in command.args.iter().filter(|arg| arg.is_known() && !arg.text.starts_with('-')) {
                self.add_script(command, operand, Role::Implicit, &mut scripts);
            }
        }
        scripts
    }

    /// Adds what a file contains, if the line has written it.
    fn add_script(&mut self, command: &Command, file: &Arg, role: Role, scripts: &mut Scripts) {
        let Some(path) = files::resolve(file, command) else { return };
        self.update_files();
        for content in self.files.contents(&path) {
            match content {
                Content::Unknown(origin) if role != Role::Implicit || origin == Origin::Fetched => {
                    scripts.origin = scripts.origin.max(Some(origin));
                }
                Content::Unknown(_) => {}
                Content::Text(text) => {
                    self.meter.charge(text.len() / 8);
                    scripts.are_visible |= role != Role::Script;
                    scripts.origin = scripts.origin.max(Some(Origin::Shown));
                    if role == Role::Script && matches!(language(command), Some(Language::Other | Language::Sql)) {
                        scripts.statements = Some(text.to_string());
                    }
                    scripts.inner.extend(code(command, &path, &text, role));
                }
                // A copy of a program is that program.
                Content::CopyOf(original) if role == Role::Program && *original != *path => {
                    let args = [Arg::literal(&*original)].into_iter().chain(command.args.iter().cloned()).collect();
                    scripts.inner.push(Inner::Command { args, cwd: None, env: Vec::new() });
                    scripts.are_visible = true;
                }
                Content::CopyOf(_) => {}
            }
        }
    }
}

/// Whether a file is an open descriptor other than the standard ones, such as that of a heredoc: `/dev/fd/3`.
fn is_descriptor(file: &str) -> bool {
    let number = file.strip_prefix("/dev/fd/").or_else(|| file.strip_prefix("/proc/self/fd/"));
    number.is_some_and(|number| !matches!(number, "0" | "1" | "2")) && file != PROCESS_SUBSTITUTION
}

/// How a command runs a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// By its path.
    Program,
    /// As the script of an interpreter.
    Script,
    /// Without naming it as a script.
    Implicit,
}

/// Returns the code of a file, in the language in which it is run.
fn code(command: &Command, path: &str, text: &str, role: Role) -> Vec<Inner> {
    let shell = |text: &str, shared: bool| Inner::Text { text: text.to_owned(), shared };
    let in_language = |language: Language| vec![Inner::Code { language, text: text.to_owned() }];
    let program = command.program.as_str();
    let own = || match by_extension(path) {
        Some(Some(language)) => in_language(language),
        Some(None) => vec![shell(text, false)],
        None => Vec::new(),
    };
    match role {
        Role::Script if matches!(program, "source" | ".") => vec![shell(text, true)],
        Role::Script if command.is_shell() => vec![shell(text, false)],
        Role::Script if recipes::is_runner(program) => {
            recipes::texts(program, path, text).iter().map(|text| shell(text, false)).collect()
        }
        Role::Script => match (Language::from_program(program), language(command)) {
            (Some(language), _) | (None, Some(language)) => in_language(language),
            (None, None) => own(),
        },
        Role::Program => match interpreter(text) {
            Some(name) => Language::from_program(&name).map_or_else(|| vec![shell(text, false)], in_language),
            None => vec![shell(text, false)],
        },
        Role::Implicit => {
            let recipes = recipes::texts(program, path, text);
            recipes.iter().map(|text| shell(text, false)).chain(own()).collect()
        }
    }
}

/// The interpreter that the first line names.
fn interpreter(text: &str) -> Option<String> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let names = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or_default());
    names.filter(|name| *name != "env" && !name.starts_with('-') && !name.contains('=')).map(str::to_owned).next()
}

/// The language of a file by its name; the inner `None` is the shell.
fn by_extension(path: &str) -> Option<Option<Language>> {
    let name = path.rsplit('/').next()?;
    if matches!(name, "Rakefile" | "rakefile" | "Gemfile" | "Vagrantfile") {
        return Some(Some(Language::Ruby));
    }
    let (_, extension) = name.rsplit_once('.')?;
    Some(match extension {
        "sh" | "bash" => None,
        "py" => Some(Language::Python),
        "js" | "mjs" | "cjs" | "ts" => Some(Language::Node),
        "rb" => Some(Language::Ruby),
        "pl" => Some(Language::Perl),
        "php" => Some(Language::Php),
        "lua" => Some(Language::Lua),
        "exs" => Some(Language::Elixir),
        _ => return None,
    })
}

/// The language in which a program reads its files, by the catalogue.
fn language(command: &Command) -> Option<Language> {
    command.parsed.as_ref()?.language().map(Language::from_name)
}

/// The directory that a command works in, if it names one.
fn directory(command: &Command) -> Option<String> {
    let line = command.parsed.as_ref()?;
    let used = line.uses.iter().rev().find(|used| used.takes == Some(Use::Directory))?;
    command.value(used).map(|word| word.text.to_string())
}
