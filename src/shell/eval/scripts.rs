//! Files of the line that a command runs: scripts, and programs by their paths. `obeyed` has those that it does not name.

use super::Evaluator;
use super::files::{self, Content};
use super::mentioned::fragment_code;
use super::obeyed::{Reach, form, interpreter, obeyed_code};
use super::recipes;
use crate::programs::{Does, Use};
use crate::shell::expand::unknown_arg;
use crate::shell::inline::Language;
use crate::shell::wrappers::{Inner, reads_posix_quotes};
use crate::shell::{Arg, Command, Input, Origin, PROCESS_SUBSTITUTION};
use crate::verdict::limits::Meter;
use std::collections::BTreeSet;

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
            && (command.is_shell() || language.is_some_and(|language| language.reads_input(command)));
        if command.is_decoded && reads_code {
            scripts.origin = Some(Origin::Generated);
        }
        if command.env.iter().any(|(_, value)| value.as_deref() == Some(PROCESS_SUBSTITUTION)) {
            scripts.origin = Some(Origin::Generated);
        }
        let program = Arg::literal(command.program.clone());
        if program.text.contains('/') {
            self.add_script(command, &program, Role::Program, &mut scripts);
        }
        let mut named = command.scripts();
        named.extend(executed(command));
        for script in named.iter().filter(|script| script.is_known()) {
            if is_descriptor(&script.text) {
                scripts.origin = scripts.origin.max(Some(Origin::Generated));
            }
            self.add_script(command, script, Role::Script, &mut scripts);
        }
        // `tmux source-file /dev/stdin`
        if let Input::Text(text) = &command.input
            && !reads_code
            && !matches!(command.program.as_str(), "source" | ".")
            && command.does() != Some(Does::Look)
            && command.args.iter().any(|arg| arg.text == "/dev/stdin")
        {
            scripts.inner.extend(fragment_code(text, &self.meter));
        }
        let words = [&program].into_iter().filter(|program| program.text.contains('/')).chain(&named);
        let named: BTreeSet<String> = words.filter_map(|word| files::resolve(word, command)).collect();
        self.add_obeyed(command, &named, &mut scripts);
        scripts
    }

    /// Adds what a file contains, if the line has written it.
    fn add_script(&mut self, command: &Command, file: &Arg, role: Role, scripts: &mut Scripts) {
        let Some(path) = files::resolve(file, command) else { return };
        self.update_files();
        for content in self.files.contents(&path) {
            match content {
                Content::Unknown(origin) => scripts.origin = scripts.origin.max(Some(origin)),
                Content::Text(text) => {
                    self.meter.charge(text.len() / 8);
                    scripts.are_visible |= role != Role::Script;
                    scripts.origin = scripts.origin.max(Some(Origin::Shown));
                    if role == Role::Script && matches!(language(command), Some(Language::Other | Language::Sql)) {
                        scripts.statements = Some(text.to_string());
                    }
                    scripts.inner.extend(code(command, &path, &text, role, &self.meter));
                }
                // A copy of a program is that program.
                Content::CopyOf(original) if role == Role::Program && *original != *path => {
                    let args = [Arg::literal(&*original)].into_iter().chain(command.args.iter().cloned()).collect();
                    scripts.inner.push(Inner::Command { args, cwd: None, env: Vec::new() });
                    scripts.are_visible = true;
                }
                Content::CopyOf(_) => {}
                Content::Fragment(text) => self.add_fragment(&path, &text, scripts),
            }
        }
        self.add_mentioned(&path, role, scripts);
    }

    /// Adds the command lines in a part of a file, once.
    pub(super) fn add_fragment(&mut self, path: &str, text: &str, scripts: &mut Scripts) {
        self.meter.charge(text.len());
        if self.obeyed.insert(format!("{path}\n{text}")) {
            scripts.inner.extend(fragment_code(text, &self.meter));
        }
    }

    /// Adds what earlier commands may have written into a file that they mention.
    fn add_mentioned(&mut self, path: &str, role: Role, scripts: &mut Scripts) {
        if self.files.is_noted(path) {
            return;
        }
        let mut texts = Vec::new();
        if let Some(mention) = self.mentions.of(path) {
            if mention.is_generated || mention.is_built && role == Role::Script {
                scripts.origin = scripts.origin.max(Some(Origin::Generated));
            }
            texts = self.mentions.texts_of(mention);
            self.meter.charge(1 + texts.len());
        }
        if self.mentions.is_split(path, &self.meter) {
            scripts.origin = scripts.origin.max(Some(Origin::Generated));
        }
        texts.iter().for_each(|text| self.add_fragment(path, text, scripts));
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
}

/// Returns the code of a file, in the language in which it is run.
fn code(command: &Command, path: &str, text: &str, role: Role, meter: &Meter) -> Vec<Inner> {
    let shell = |text: &str, shared: bool| Inner::Text { text: text.to_owned(), shared };
    let in_language = |language: Language| vec![Inner::Code { language, text: text.to_owned() }];
    let program = command.program.as_str();
    match role {
        Role::Script if matches!(program, "source" | ".") => vec![shell(text, true)],
        // Quotes that are not those of POSIX hide where a command begins.
        Role::Script if command.is_shell() && !reads_posix_quotes(program) && text.contains("\\'") => {
            vec![Inner::Command { args: vec![unknown_arg()], cwd: None, env: Vec::new() }, shell(text, false)]
        }
        Role::Script if command.is_shell() => vec![shell(text, false)],
        Role::Script if recipes::is_runner(program) => {
            recipes::texts(command, path, text).iter().map(|text| shell(text, false)).collect()
        }
        Role::Script => match (Language::from_program(program), language(command)) {
            (Some(language), _) | (None, Some(language)) => in_language(language),
            (None, None) => obeyed_code(command, (path, Reach::Named), text, form(path, text), meter),
        },
        Role::Program => match interpreter(text) {
            Some(name) => Language::from_program(&name).map_or_else(|| vec![shell(text, false)], in_language),
            None => vec![shell(text, false)],
        },
    }
}

/// The language in which a program reads its files, by the catalogue.
fn language(command: &Command) -> Option<Language> {
    command.parsed.as_ref()?.language().map(Language::from_name)
}

/// The values that the catalogue says are executed.
fn executed(command: &Command) -> Vec<Arg> {
    let uses = command.parsed.iter().flat_map(|line| line.uses.iter());
    uses.filter(|used| used.takes == Some(Use::Execute)).filter_map(|used| command.value(used)).collect()
}
