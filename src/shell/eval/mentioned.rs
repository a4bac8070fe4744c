//! Files that an earlier command of the line names and may have written, although the catalogue does not say so: by code in
//! another language, by an unknown program, under another name, or in place.

use super::files::{self, Content};
use super::{Evaluator, is_builtin, settings};
use crate::encoding::patch;
use crate::programs::code::lists;
use crate::programs::{CommandLine, Does, Use, roles};
use crate::shell::effects::{Access, Act};
use crate::shell::inline::Language;
use crate::shell::parse;
use crate::shell::wrappers::Inner;
use crate::shell::{Arg, Command, Input};
use crate::verdict::limits::Meter;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What earlier commands may have written into files of one name.
#[derive(Default)]
pub(super) struct Mention {
    /// A command may have written the file without showing its text.
    pub is_generated: bool,
    /// A command built the file from a text that it was given.
    pub is_built: bool,
    /// The words of these commands, as indices of [`Mentions::text`].
    texts: Vec<usize>,
}

/// The names that earlier commands of the line mention.
#[derive(Default)]
pub(super) struct Mentions {
    by_name: BTreeMap<String, Mention>,
    /// The words of commands, each once.
    texts: Vec<Rc<str>>,
    numbers: BTreeMap<Rc<str>, usize>,
    /// The beginnings of the names of files that are split off.
    prefixes: BTreeSet<String>,
}

impl Mentions {
    /// What may have been written into a file of this name.
    pub fn of(&self, path: &str) -> Option<&Mention> {
        self.by_name.get(path.rsplit('/').next().unwrap_or_default())
    }

    /// The words of the commands that may have written into a file.
    pub fn texts_of(&self, mention: &Mention) -> Vec<Rc<str>> {
        mention.texts.iter().filter_map(|number| self.texts.get(*number).cloned()).collect()
    }

    /// The index of the words of a command.
    fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let text: Rc<str> = text.into();
        self.numbers.insert(Rc::clone(&text), self.texts.len());
        self.texts.push(text);
        self.texts.len() - 1
    }

    /// Whether the name begins like those of files that are split off.
    pub fn is_split(&self, path: &str, meter: &Meter) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        if !self.prefixes.is_empty() {
            meter.charge(name.len());
        }
        !self.prefixes.is_empty()
            && name
                .char_indices()
                .skip(1)
                .any(|(at, _)| name.get(..at).is_some_and(|start| self.prefixes.contains(start)))
    }
}

impl Evaluator<'_> {
    /// Notes the names that a command mentions, unless it only looks at files.
    pub(super) fn note_mentions(&mut self, command: &Command, accesses: &[Access]) {
        // Redirections are handled by `note_written`.
        let is_write = |access: &Access| access.act.changes() && !matches!(access.act, Act::Change | Act::Redirect);
        let writes = accesses.iter().any(is_write);
        let language = command.parsed.as_deref().and_then(|line| line.language());
        let looks = command.parsed.as_deref().is_some_and(|line| line.does == Some(Does::Look));
        if is_builtin(&command.program) || command.is_shell() || looks && !writes && language.is_none() {
            return;
        }
        let names = given_text(command, language.is_some(), Words::Own);
        let text = given_text(command, language.is_some(), Words::All);
        self.meter.charge(names.len() + text.len());
        if text.is_empty() {
            return;
        }
        let is_git = command.program == "git" && command.args.first().is_none_or(|verb| verb.text != "mv");
        let moves = |access: &Access| {
            let path = access.target.path.as_ref().map(ToString::to_string);
            matches!(access.act, Act::Read | Act::Move) && path.is_some_and(|path| self.files.is_noted(&path))
        };
        let has_code = |line: &CommandLine| line.uses.iter().any(|used| used.takes == Some(Use::Code));
        let is_code = command.parsed.as_deref().is_some_and(has_code) || matches!(command.input, Input::Text(_));
        let is_generated = renames(command, self)
            || lists(&roles::MENTIONS_EDITORS, &command.program) && is_code
            || match language {
                Some(name) => is_code && is_writing(name, &text),
                None if is_git => false,
                None => {
                    command.parsed.is_none() && command.known && !command.program.contains('/')
                        || accesses.iter().any(moves)
                }
            };
        let is_fed = matches!(command.input, Input::Text(_) | Input::Pipe | Input::Unknown);
        let number = self.mentions.number(&text);
        let is_part = |c: char| c.is_alphanumeric() || "._-+".contains(c);
        let names: BTreeSet<&str> = names.split(|c: char| !is_part(c)).filter(|name| name.len() > 1).collect();
        for name in names {
            let mention = self.mentions.by_name.entry(name.to_owned()).or_default();
            mention.is_generated |= is_generated;
            mention.is_built |= writes && is_fed;
            if mention.texts.last() != Some(&number) {
                mention.texts.push(number);
            }
        }
        if lists(&roles::MENTIONS_SPLITTERS, &command.program) {
            let prefixes = command.args.iter().filter(|arg| !arg.text.starts_with('-') && !arg.text.is_empty());
            let names = prefixes.map(|arg| arg.text.rsplit('/').next().unwrap_or_default().to_owned());
            self.mentions.prefixes.extend(names.filter(|name| !name.is_empty()));
            self.mentions.prefixes.insert("xx".to_owned());
        }
    }

    /// Notes what a patch adds to the files that it names. The patch is the input of the command, or a file of the line.
    pub(super) fn note_patch(&mut self, command: &Command) {
        // Global options of git stand in front of the verb.
        let applies = |arg: &Arg| matches!(arg.text.as_str(), "apply" | "am");
        let is_patch = matches!(command.program.as_str(), "patch" | "gpatch")
            || command.program == "git" && command.args.iter().any(applies);
        if !is_patch {
            return;
        }
        let mut patches: Vec<Rc<str>> = Vec::new();
        if let Input::Text(text) = &command.input {
            patches.push(Rc::clone(text));
        }
        // `patch -i x`, `-ix`, `--input=x`
        let words = command.args.iter().flat_map(|arg| {
            let attached = arg.behind("--input=").or_else(|| arg.behind("-i"));
            [Some(arg.clone()), attached]
        });
        let paths: BTreeSet<_> = words.flatten().filter_map(|word| files::resolve(&word, command)).collect();
        for path in paths {
            self.meter.charge(path.len());
            for content in self.files.contents(&path) {
                match content {
                    Content::Text(text) if self.meter.affords(text.len()) => patches.push(text.as_str().into()),
                    Content::Fragment(text) => patches.push(text),
                    Content::Text(_) | Content::Unknown(_) | Content::CopyOf(_) => {}
                }
            }
        }
        patches.iter().for_each(|text| self.note_patch_text(text, command));
    }

    fn note_patch_text(&mut self, text: &str, command: &Command) {
        // `patch -d sub`, `git apply --directory=sub`
        let mut directories: Vec<String> = vec![String::new()];
        directories.extend(command.values(&["-d", "--directory"]).iter().map(|arg| format!("{}/", arg.text)));
        if !self.meter.try_charge(2 * text.len() * directories.len()) {
            return;
        }
        for part in patch::parts(text) {
            let names = part.paths().flat_map(|name| directories.iter().map(move |start| format!("{start}{name}")));
            let paths: BTreeSet<_> = names.filter_map(|name| files::resolve(&Arg::literal(name), command)).collect();
            let content = Content::Fragment(Rc::from(part.added));
            for path in paths {
                self.files.add(path, content.clone());
            }
        }
    }

    /// The words of a command, of those before it in its pipeline, and their input: what it may write into a file.
    pub(super) fn words_of_pipeline(&self, command: &Command) -> Rc<str> {
        let rows = self.stages.get(&command.pipeline).into_iter().flatten();
        let before =
            rows.filter_map(|row| self.reading.commands.get(*row)).filter(|other| other.stage <= command.stage);
        let mut text = String::new();
        for command in before {
            text.push_str(&given_text(command, false, Words::All));
        }
        self.meter.charge(text.len());
        text.into()
    }
}

/// Whether code writes files.
fn is_writing(language: &str, code: &str) -> bool {
    let known = [Language::Node, Language::Perl, Language::Php, Language::Python, Language::Ruby];
    let is_known = known.contains(&Language::from_name(language));
    roles::MENTIONS_WRITING.iter().any(|part| code.contains(part))
        || !is_known && (language == "ed" || roles::MENTIONS_PRINTING.iter().any(|part| code.contains(part)))
}

/// Whether a command gives a file that the line has written another name.
fn renames(command: &Command, evaluator: &Evaluator<'_>) -> bool {
    let renamed = |word: &str| {
        let word = Arg::literal(word);
        files::resolve(&word, command).is_some_and(|path| evaluator.files.is_noted(&path))
    };
    lists(&roles::MENTIONS_RENAMERS, &command.program) && command.args.iter().any(|arg| renamed(&arg.text))
}

/// Which words of a command count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Words {
    All,
    /// Only the words before the command that the program runs.
    Own,
}

/// The words of a command that are no options, or its code, and its input. Escapes of blanks are blanks.
fn given_text(command: &Command, only_code: bool, words: Words) -> String {
    let mut text = String::new();
    let line = command.parsed.as_deref();
    let end = line.and_then(|line| line.command).filter(|_| words == Words::Own).unwrap_or(command.args.len());
    for (word, arg) in command.args.iter().enumerate().take(end) {
        let uses = line.map(|line| line.uses_of(word)).unwrap_or_default();
        let is_code = uses.iter().any(|used| matches!(used.takes, Some(Use::Code) | None));
        if is_code || !only_code {
            text.push_str(&arg.text);
            text.push('\n');
        }
    }
    if let Input::Text(input) = &command.input {
        text.push_str(input);
        text.push('\n');
    }
    text.extend(command.here_text.as_deref());
    if text.contains('\\') { text.replace("\\n", "\n").replace("\\t", "\t") } else { text }
}

/// The command lines in words that a file may contain.
pub(super) fn fragment_code(text: &str, meter: &Meter) -> Vec<Inner> {
    let text = settings::normalized(text);
    // Parts of a text may be no command at all.
    let is_readable = |text: &String| parse::parse(text, meter).errors.is_empty();
    let commands = settings::commands(&text, meter).into_iter().filter(is_readable);
    let shell = commands.map(|text| Inner::Text { text, shared: false });
    shell.chain([Inner::Code { language: Language::Source, text: text.clone() }]).collect()
}
