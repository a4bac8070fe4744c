//! Files that the line writes: what is known about their content, and what becomes of it when they are run.

use super::Evaluator;
use super::filters;
use crate::path::AbsPath;
use crate::programs::code::lists;
use crate::programs::{CommandLine, Does, Use, roles};
use crate::shell::effects::{self, Access, Act, Target};
use crate::shell::{Arg, Command, Input, Origin};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Steps for one command whose effects are derived.
const COMMAND_STEPS: usize = 20;

/// What is known about the content of a file, or about all files of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// The text. Unknown parts of it appear as they are written in the source.
    Text(Rc<String>),
    Unknown(Origin),
    /// The content of another file or program, which the line does not write.
    CopyOf(Rc<str>),
    /// A part of the file, or words of a command that changed it. The rest is not known.
    Fragment(Rc<str>),
}

/// The files that the line has written so far.
#[derive(Default)]
pub(super) struct Files {
    /// What each file may contain. All of it counts: a later command may not have run, or may have appended.
    by_path: BTreeMap<String, Vec<Content>>,
    /// Directories that archives and repositories were unpacked into.
    directories: BTreeSet<String>,
    /// Remotes of git that the line adds, and `FETCH_HEAD` if it fetches from one or from an address.
    remotes: BTreeSet<String>,
    /// The commands whose effects are in `by_path`.
    rows: usize,
    /// Known outputs of commands that are redirected, by their rows, and whether the command certainly runs.
    outputs: BTreeMap<usize, (Rc<String>, bool)>,
    /// Redirections of lists, with the rows of their commands.
    lists: Vec<(Command, usize)>,
}

impl Files {
    /// Notes the output of the command with this row, which is redirected to files. `is_certain` says that it certainly runs.
    pub fn note_output(&mut self, row: usize, text: String, is_certain: bool) {
        self.outputs.insert(row, (Rc::new(text), is_certain));
    }

    /// Notes the redirections of a list whose first command has this row.
    pub fn note_list(&mut self, redirects: Command, first: usize) {
        self.lists.push((redirects, first));
    }

    /// Adds something that a file may contain.
    pub fn add(&mut self, path: String, content: Content) {
        self.write(path, [content], Way::Either);
    }

    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    pub fn len(&self) -> usize {
        self.by_path.len()
    }

    /// The files and directories with what they may contain.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Vec<Content>)> {
        self.by_path.iter()
    }

    /// Whether something is known about this path itself.
    pub fn is_noted(&self, path: &str) -> bool {
        self.by_path.contains_key(path)
    }

    /// Whether all files below this path were fetched.
    pub fn is_directory(&self, path: &str) -> bool {
        self.directories.contains(path)
    }

    /// Returns what a file may contain. A file in a directory that was fetched was fetched too.
    pub fn contents(&self, path: &str) -> Vec<Content> {
        if let Some(contents) = self.by_path.get(path) {
            return contents.clone();
        }
        let mut above = path;
        while let Some((directory, _)) = above.rsplit_once('/').filter(|(directory, _)| !directory.is_empty()) {
            let fetched = Content::Unknown(Origin::Fetched);
            if self.by_path.get(directory).is_some_and(|contents| contents.contains(&fetched)) {
                return vec![fetched];
            }
            above = directory;
        }
        Vec::new()
    }

    /// Returns the text of a file if it is the only one that it may contain.
    pub fn text(&self, path: &str) -> Option<Rc<String>> {
        match self.by_path.get(path).map(Vec::as_slice) {
            Some([Content::Text(text)]) => Some(Rc::clone(text)),
            _ => None,
        }
    }

    fn write(&mut self, path: String, contents: impl IntoIterator<Item = Content>, way: Way) {
        let known = self.by_path.entry(path).or_default();
        if way == Way::Replace {
            known.clear();
        }
        for content in contents {
            if let (Some(Content::Text(before)), Content::Text(more), Way::Append) = (known.last_mut(), &content, way) {
                Rc::make_mut(before).push_str(more);
            } else if !known.contains(&content) {
                known.push(content);
            }
        }
    }
}

/// How a content relates to what was in the file before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Replace,
    Append,
    /// One of both is in the file.
    Either,
}

impl Evaluator<'_> {
    /// Derives what the commands since the last call have written.
    pub(super) fn update_files(&mut self) {
        let from = std::mem::replace(&mut self.files.rows, self.reading.commands.len());
        for row in from..self.reading.commands.len() {
            self.meter.charge(COMMAND_STEPS);
            self.note_written(row);
        }
        for (redirects, first) in std::mem::take(&mut self.files.lists) {
            let rows = self.reading.commands.get(first..).unwrap_or_default();
            let fetches = rows.iter().any(|command| self.is_fetching(command));
            let origin = if fetches { Origin::Fetched } else { Origin::Generated };
            for redirect in redirects.redirects.iter().filter(|redirect| redirect.writes) {
                let path = resolve(&redirect.target, &redirects);
                path.into_iter().for_each(|path| self.files.write(path, [Content::Unknown(origin)], Way::Either));
            }
        }
    }

    /// Notes what a command writes.
    fn note_written(&mut self, row: usize) {
        let Some(command) = self.reading.commands.get(row).cloned() else { return };
        if command.args.is_empty() && command.redirects.is_empty() && !matches!(command.input, Input::Text(_)) {
            return;
        }
        let is_gzip = |line: &Rc<CommandLine>| {
            line.path.first().is_some_and(|entry| entry.names.iter().any(|name| name == "gzip"))
        };
        if command.parsed.as_ref().is_some_and(is_gzip) {
            self.note_decompressed(&command);
        }
        let accesses = effects::of_command(&command);
        let is_write = |access: &&Access| matches!(access.act, Act::Write | Act::Redirect) && !access.target.open;
        self.note_mentions(&command, &accesses);
        self.note_foreign_changes(row, &command, &accesses);
        self.note_patch(&command);
        let unpacks = unpacks(&command, &accesses);
        if !accesses.iter().any(|access| is_write(&access)) && !unpacks && !clones(&command) {
            return self.note_downloads(&command);
        }
        let is_fetched = self.is_fetched(row, &command, &accesses);
        if unpacks || is_fetched && clones(&command) {
            return self.note_unpacked(&command, &accesses, is_fetched);
        }
        if lists(&roles::FILES_COPIERS, &command.program) && !is_fetched {
            return self.note_copies(&command);
        }
        let unknown = Content::Unknown(if is_fetched { Origin::Fetched } else { Origin::Generated });
        let (text, is_certain) = self.files.outputs.get(&row).cloned().unzip();
        let appends = |path: &str| {
            let same = |target: &Arg| resolve(target, &command).is_some_and(|other| other == path);
            command.redirects.iter().any(|redirect| redirect.appends && same(&redirect.target))
                || command.program == "tee" && has_flag(&command, 'a', "--append")
        };
        let streams = matches!(command.program.as_str(), "tee" | "gtee" | "sponge" | "dd");
        let is_filter = filters::is_filter(&command.program) || is_decoder(&command);
        let reads: Vec<String> = paths(&accesses, |act| act == Act::Read).collect();
        for access in accesses.iter().filter(is_write) {
            let Some(path) = access.target.path.as_ref().map(AbsPath::to_string) else { continue };
            let redirected = access.act == Act::Redirect && !streams;
            let contents = match (&text, &command.input) {
                _ if is_fetched => vec![unknown.clone()],
                (Some(text), _) if redirected || is_filter => vec![Content::Text(Rc::clone(text))],
                (Some(text), _) if streams => vec![Content::Text(Rc::clone(text))],
                (_, Input::Text(text)) if streams && reads.is_empty() => vec![Content::Text(Rc::new(text.to_string()))],
                // A concatenation of files that the line does not write.
                _ if matches!(command.program.as_str(), "cat" | "gcat" | "dd") && !reads.is_empty() => {
                    reads.iter().flat_map(|read| self.copied(read)).collect()
                }
                // `sed -i`: what was in the file is changed.
                _ if is_filter && reads.is_empty() && !redirected => {
                    let words = Content::Fragment(self.words_of_pipeline(&command));
                    if self.files.contents(&path).is_empty() { vec![words] } else { vec![unknown.clone(), words] }
                }
                _ if redirected || streams || is_filter => {
                    vec![unknown.clone(), Content::Fragment(self.words_of_pipeline(&command))]
                }
                // Compilers and the like build a file of the project.
                _ => continue,
            };
            let way = if appends(&path) {
                Way::Append
            } else if redirected && is_certain == Some(true) {
                Way::Replace
            } else {
                Way::Either
            };
            self.files.write(path, contents, way);
        }
    }

    /// Notes the files that `gunzip x.gz` and the like put in the place of archives.
    fn note_decompressed(&mut self, command: &Command) {
        for path in operands(command).iter().filter_map(|word| resolve(word, command)) {
            let unknown = |content: &Content| matches!(content, Content::Unknown(_));
            let contents: Vec<Content> = self.files.contents(&path).into_iter().filter(unknown).collect();
            let plain = path.rsplit_once('.').map(|(plain, _)| plain.to_owned()).filter(|_| !contents.is_empty());
            plain.into_iter().for_each(|plain| self.files.write(plain, contents.iter().cloned(), Way::Either));
        }
    }

    /// Notes the files of a command that downloads, if the catalogue does not say what it does with them.
    fn note_downloads(&mut self, command: &Command) {
        let is_file = |(takes, by_option, word): &(Option<Use>, bool, Arg)| {
            takes.is_none() && !by_option && word.is_known() && !word.text.contains("://")
        };
        let words: Vec<Arg> = uses(command).into_iter().filter(is_file).map(|(_, _, word)| word).collect();
        if words.is_empty() || !self.is_fetching(command) {
            return;
        }
        for path in words.iter().filter_map(|word| resolve(word, command)) {
            self.files.write(path, [Content::Unknown(Origin::Fetched)], Way::Either);
        }
    }

    /// Notes copies, moved files and links. The last operand may be a directory.
    fn note_copies(&mut self, command: &Command) {
        let operands = operands(command);
        let named = uses(command)
            .into_iter()
            .find(|(takes, by_option, _)| *by_option && matches!(takes, Some(Use::Write | Use::Into)));
        let (target, sources) = match (named, operands.split_last()) {
            (Some((_, _, target)), _) => (target, operands.as_slice()),
            (None, Some((only, []))) => (Arg::literal("."), std::slice::from_ref(only)),
            (None, Some((last, sources))) => (last.clone(), sources),
            (None, None) => return,
        };
        let Some(target) = resolve(&target, command) else { return };
        let symbolic = matches!(command.program.as_str(), "ln" | "gln") && has_flag(command, 's', "--symbolic");
        for source in sources {
            let stdin = matches!(source.text.as_str(), "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "-");
            let contents = match &command.input {
                Input::Text(text) if stdin => vec![Content::Text(Rc::new(text.to_string()))],
                _ if stdin => vec![Content::Unknown(Origin::Generated)],
                Input::Text(_) | Input::Inherited | Input::Pipe | Input::Unknown => {
                    // A symbolic link leads from where it lies.
                    let parent = target.rsplit_once('/').map_or("", |(parent, _)| parent);
                    let from = Command { cwd: Some(Rc::from(parent)), ..Command::default() };
                    let path = if symbolic { resolve(source, &from) } else { resolve(source, command) };
                    path.map(|path| self.copied(&path)).unwrap_or_default()
                }
            };
            let name = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            for path in [target.clone(), format!("{}/{name}", target.trim_end_matches('/'))] {
                self.files.write(path, contents.clone(), Way::Either);
            }
        }
    }

    /// Returns what a copy of a file contains.
    fn copied(&self, path: &str) -> Vec<Content> {
        let known = self.files.contents(path);
        if known.is_empty() { vec![Content::CopyOf(Rc::from(path))] } else { known }
    }

    /// Notes that the work tree has what other people wrote: by a patch that was fetched, or from a repository that the line
    /// names or adds as a remote.
    fn note_foreign_changes(&mut self, row: usize, command: &Command, accesses: &[Access]) {
        let mut words = command.args.iter().map(|arg| arg.text.as_str()).filter(|word| !word.starts_with('-'));
        let verb = words.next().unwrap_or_default();
        let adds = verb == "remote" && words.any(|word| matches!(word, "add" | "set-url"));
        let is_foreign = match (command.program.as_str(), verb) {
            ("patch" | "gpatch", _) | ("git", "apply" | "am") => self.is_fetched(row, command, accesses),
            ("git", "remote") if adds => {
                let name = operands(command).into_iter().find(|word| word.is_known()).map(|word| word.text.to_string());
                self.files.remotes.extend(name);
                false
            }
            ("git", "pull" | "fetch") => {
                let from = operands(command).into_iter().next();
                let is_new =
                    from.is_some_and(|from| is_address(&from) || self.files.remotes.contains(from.text.as_str()));
                if is_new {
                    self.files.remotes.insert("FETCH_HEAD".to_owned());
                }
                is_new && verb == "pull"
            }
            ("git", "checkout" | "switch" | "merge" | "rebase" | "reset" | "cherry-pick" | "restore" | "read-tree") => {
                let name =
                    |word: &Arg| word.text.split('/').next().is_some_and(|name| self.files.remotes.contains(name));
                command.args.iter().any(name)
            }
            _ => false,
        };
        if let Some(cwd) = command.cwd.as_deref().filter(|_| is_foreign) {
            self.files.directories.insert(cwd.to_owned());
            self.files.write(cwd.to_owned(), [Content::Unknown(Origin::Fetched)], Way::Either);
        }
    }

    /// Notes the directory that an archive is unpacked into, or that a repository is cloned to.
    fn note_unpacked(&mut self, command: &Command, accesses: &[Access], is_fetched: bool) {
        if !is_fetched {
            return;
        }
        let mut targets: Vec<String> = paths(accesses, |act| act == Act::Write).collect();
        if targets.is_empty() {
            targets.extend(match clones(command) {
                true => cloned_directory(command).and_then(|name| resolve(&name, command)),
                false => command.cwd.as_deref().map(str::to_owned),
            });
        }
        for target in targets {
            self.files.directories.insert(target.clone());
            self.files.write(target, [Content::Unknown(Origin::Fetched)], Way::Either);
        }
    }

    /// Whether what a command writes was downloaded: by itself, by a command before it in the pipeline, by one that it runs or
    /// whose output is among its arguments, or earlier.
    fn is_fetched(&self, row: usize, command: &Command, accesses: &[Access]) -> bool {
        let fetched = Content::Unknown(Origin::Fetched);
        let reads = paths(accesses, |act| matches!(act, Act::Read | Act::Move));
        let commands = self.reading.commands.as_slice();
        // What the command runs follows it. The commands of substitutions in its words come before it.
        let depth = command.via.len();
        let (before, behind) = commands.split_at_checked(row).unwrap_or_default();
        let is_run = |other: &&Command| other.span == command.span && other.via.len() > depth;
        let is_word = |other: &&Command| {
            other.span != command.span && other.span.start >= command.span.start && other.span.end <= command.span.end
        };
        let own = behind.iter().take(1).chain(behind.iter().skip(1).take_while(is_run));
        let around = before.iter().rev().take_while(is_word).chain(own);
        let stages = self.stages.get(&command.pipeline).into_iter().flatten();
        let stages = stages.filter_map(|row| commands.get(*row)).filter(|other| other.stage < command.stage);
        // Compilers read any word that names a file.
        let words = command.args.iter().filter(|arg| !arg.text.starts_with('-'));
        let mut files = reads.into_iter().chain(words.filter_map(|word| resolve(word, command)));
        around.chain(stages).any(|other| self.is_fetching(other))
            || !self.files.by_path.is_empty() && files.any(|path| self.files.contents(&path).contains(&fetched))
    }

    /// Whether a command prints or writes what another machine sends.
    fn is_fetching(&self, command: &Command) -> bool {
        self.meter.charge(COMMAND_STEPS);
        is_fetching(command)
    }
}

/// Whether a command prints or writes what another machine sends.
fn is_fetching(command: &Command) -> bool {
    let is_remote = |arg: &Arg| {
        let address = if arg.text.contains(':') { arg.text.split_once("://") } else { None };
        address.is_some_and(|(scheme, rest)| !scheme.ends_with("file") && !is_loopback(rest))
    };
    let by_entry = command.parsed.as_ref().is_some_and(|line| {
        line.brings()
            || line.uses.iter().any(|used| {
                let value = command.args.get(used.word).and_then(|arg| arg.text.get(used.start..)).unwrap_or_default();
                matches!(used.takes, Some(Use::From | Use::To))
                    && (value.contains("://") || value.contains('.') || value.contains('@') || value.contains('$'))
                    && !value.starts_with("file:")
                    && !is_local_path(value)
                    && !is_loopback(value.split_once("://").map_or(value, |(_, rest)| rest))
            })
    });
    let by_host = matches!(command.program.as_str(), "scp" | "rsync" | "sftp")
        && command.args.iter().any(|arg| {
            !arg.text.starts_with('-') && arg.text.split_once(':').is_some_and(|(host, _)| !host.contains('/'))
        });
    let by_forge = matches!(command.program.as_str(), "gh" | "glab") && clones(command);
    by_entry || by_host || by_forge || command.args.iter().any(is_remote) && !is_printer(command)
}

/// Whether a program only prints its words, or looks for them.
fn is_printer(command: &Command) -> bool {
    let look = |line: &Rc<CommandLine>| line.path.first().is_some_and(|entry| entry.does == Some(Does::Look));
    command.parsed.as_ref().is_some_and(look)
}

/// Whether a word is the address of a repository on another machine.
fn is_address(word: &Arg) -> bool {
    let text = word.text.as_str();
    match text.split_once("://") {
        Some((scheme, rest)) => scheme != "file" && !is_loopback(rest),
        None => text.split_once(':').is_some_and(|(host, _)| host.contains('@')),
    }
}

/// Whether a text is a path and not an address.
fn is_local_path(text: &str) -> bool {
    text.starts_with(['/', '.', '~']) && !text.contains("://")
}

/// Whether an address behind its scheme is on this machine.
fn is_loopback(rest: &str) -> bool {
    let host = rest.split(['/', ':', '?']).next().unwrap_or_default();
    host == "localhost" || host.starts_with("127.") || host == "[" || host == "0.0.0.0" || host.ends_with(".localhost")
}

/// Whether a command makes a copy of a repository.
fn clones(command: &Command) -> bool {
    command.args.iter().any(|arg| matches!(arg.text.as_str(), "clone" | "checkout" | "co"))
        && matches!(command.program.as_str(), "git" | "hg" | "svn" | "gh" | "glab" | "jj" | "fossil")
}

/// The directory that a repository is cloned to, if the command does not name it.
fn cloned_directory(command: &Command) -> Option<Arg> {
    let from = uses(command).into_iter().rev().find(|(takes, _, _)| *takes == Some(Use::From)).map(|(_, _, arg)| arg);
    let from = from.or_else(|| operands(command).pop())?;
    let name = from.text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    Some(Arg::literal(name.strip_suffix(".git").unwrap_or(name)))
}

/// Whether a command unpacks an archive.
fn unpacks(command: &Command, accesses: &[Access]) -> bool {
    let verb = command.args.first().map_or("", |arg| arg.text.as_str());
    match command.program.as_str() {
        "tar" | "gtar" | "bsdtar" => {
            let extracts = |arg: &Arg| matches!(arg.text.as_str(), "--extract" | "--get");
            let letters = verb.strip_prefix('-').unwrap_or(verb);
            !verb.starts_with("--") && letters.contains('x')
                || command.args.iter().any(extracts)
                || command.args.iter().any(|arg| arg.text.starts_with("-x") && !arg.text.starts_with("--"))
        }
        program if lists(&roles::FILES_UNPACKERS, program) => true,
        program if lists(&roles::FILES_UNPACKERS_BY_VERB, program) => matches!(verb, "x" | "e"),
        "python" | "python3" => {
            command.args.iter().any(|arg| matches!(arg.text.as_str(), "zipfile" | "tarfile"))
                && command.args.iter().any(|arg| matches!(arg.text.as_str(), "-e" | "--extract"))
        }
        _ => accesses.iter().any(|access| access.act == Act::Write && access.deep) && command.program == "git",
    }
}

/// Programs that decode or transform what they read, and whose output cannot be predicted.
fn is_decoder(command: &Command) -> bool {
    let language = command.parsed.as_ref().and_then(|line| line.language());
    let in_place = |arg: &Arg| {
        let letters = arg.text.strip_prefix('-').unwrap_or_default();
        letters
            .split(['e', 'E', 'M', 'I'])
            .next()
            .is_some_and(|letters| letters.contains('i') && !letters.starts_with('-'))
    };
    lists(&roles::FILES_DECODERS, &command.program)
        || matches!(language, Some("perl" | "ruby")) && command.args.iter().any(in_place)
}

fn has_flag(command: &Command, letter: char, long: &str) -> bool {
    command.args.iter().any(|arg| match arg.text.strip_prefix('-') {
        Some(letters) if !letters.starts_with('-') => letters.contains(letter),
        _ => arg.text == long,
    })
}

/// The words of a command with their uses, and whether they are values of options.
fn uses(command: &Command) -> Vec<(Option<Use>, bool, Arg)> {
    let Some(line) = &command.parsed else { return Vec::new() };
    line.uses.iter().filter_map(|used| Some((used.takes, used.by_option, command.value(used)?))).collect()
}

/// The words that are neither options nor their values.
fn operands(command: &Command) -> Vec<Arg> {
    uses(command).into_iter().filter(|(_, by_option, _)| !by_option).map(|(_, _, arg)| arg).collect()
}

/// The absolute path that a word names, if it is known.
pub(super) fn resolve(word: &Arg, command: &Command) -> Option<String> {
    let target = Target::of(word, command.cwd.as_deref());
    target.path.filter(|_| !target.open && !word.glob).map(|path| path.to_string())
}

/// The paths of these accesses.
fn paths(accesses: &[Access], of: impl Fn(Act) -> bool) -> impl Iterator<Item = String> {
    let found = accesses.iter().filter(move |access| of(access.act) && !access.target.open);
    found.filter_map(|access| access.target.path.as_ref().map(AbsPath::to_string)).collect::<Vec<_>>().into_iter()
}
