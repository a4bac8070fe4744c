//! Files that the line writes: what is known about their content, and what becomes of it when they are run.

use super::Evaluator;
use super::filters;
use crate::encoding::address::Address;
use crate::path::AbsPath;
use crate::programs::{CommandLine, Does, Use};
use crate::shell::effects::{self, Access, Act, Target};
use crate::shell::{Arg, Command, Input, Origin};
use std::collections::BTreeMap;
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
}

/// The files that the line has written so far.
#[derive(Default)]
pub(super) struct Files {
    /// What each file may contain. All of it counts: a later command may not have run, or may have appended.
    by_path: BTreeMap<String, Vec<Content>>,
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
        if command.args.is_empty() && command.redirects.is_empty() {
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
        let unpacks = unpacks(&command, &accesses);
        if !accesses.iter().any(|access| is_write(&access)) && !unpacks && !clones(&command) {
            return self.note_downloads(&command);
        }
        let is_fetched = self.is_fetched(row, &command, &accesses);
        if unpacks || is_fetched && clones(&command) {
            return self.note_unpacked(&command, &accesses, is_fetched);
        }
        if effects::copies(&command.program) && !is_fetched {
            return self.note_copies(&command);
        }
        let unknown = Content::Unknown(if is_fetched { Origin::Fetched } else { Origin::Generated });
        let (text, is_certain) = self.files.outputs.get(&row).cloned().unzip();
        let appends = |path: &str| {
            let same = |target: &Arg| resolve(target, &command).is_some_and(|other| other == path);
            command.redirects.iter().any(|redirect| redirect.appends && same(&redirect.target))
                || command.program == "tee" && command.has_flag(&["-a", "--append"])
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
                    if self.files.contents(&path).is_empty() {
                        continue;
                    } else {
                        vec![unknown.clone()]
                    }
                }
                _ if redirected || streams || is_filter => vec![unknown.clone()],
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
        for path in command.operands().into_iter().filter_map(|word| resolve(word, command)) {
            let unknown = |content: &Content| matches!(content, Content::Unknown(_));
            let contents: Vec<Content> = self.files.contents(&path).into_iter().filter(unknown).collect();
            let plain = path.rsplit_once('.').map(|(plain, _)| plain.to_owned()).filter(|_| !contents.is_empty());
            plain.into_iter().for_each(|plain| self.files.write(plain, contents.iter().cloned(), Way::Either));
        }
    }

    /// Notes the files of a command that downloads, if the catalogue does not say what it does with them.
    fn note_downloads(&mut self, command: &Command) {
        let uses = command.parsed.iter().flat_map(|line| line.uses.iter());
        let words = uses.filter(|used| used.takes.is_none() && !used.by_option).filter_map(|used| command.value(used));
        let words: Vec<Arg> = words.filter(|word| word.is_known() && !word.text.contains("://")).collect();
        if words.is_empty() || !self.is_fetching(command) {
            return;
        }
        for path in words.iter().filter_map(|word| resolve(word, command)) {
            self.files.write(path, [Content::Unknown(Origin::Fetched)], Way::Either);
        }
    }

    /// Notes copies, moved files and links. The last operand may be a directory.
    fn note_copies(&mut self, command: &Command) {
        let Some((target, sources)) = effects::target_and_sources(command) else { return };
        let Some(target) = resolve(&target, command) else { return };
        let symbolic = matches!(command.program.as_str(), "ln" | "gln") && command.has_flag(&["-s", "--symbolic"]);
        for source in sources {
            let stdin = matches!(source.text.as_str(), "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "-");
            let contents = match command.input.text() {
                Some(text) if stdin => vec![Content::Text(Rc::new(text.to_string()))],
                None if stdin => vec![Content::Unknown(Origin::Generated)],
                _ => {
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
        let scheme = arg.text.split_once("://").map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| !scheme.ends_with("file")) && !Address::parse(&arg.text).is_this_machine()
    };
    let by_entry = command.parsed.as_ref().is_some_and(|line| {
        line.brings()
            || line.uses.iter().any(|used| {
                let value = command.args.get(used.word).and_then(|arg| arg.text.get(used.start..)).unwrap_or_default();
                matches!(used.takes, Some(Use::From | Use::To))
                    && (value.contains("://") || value.contains('.') || value.contains('@') || value.contains('$'))
                    && !value.starts_with("file:")
                    && !is_local_path(value)
                    && !Address::parse(value).is_this_machine()
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

/// Whether a text is a path and not an address.
fn is_local_path(text: &str) -> bool {
    text.starts_with(['/', '.', '~']) && !text.contains("://")
}

/// Whether a command makes a copy of a repository.
fn clones(command: &Command) -> bool {
    command.args.iter().any(|arg| matches!(arg.text.as_str(), "clone" | "checkout" | "co"))
        && matches!(command.program.as_str(), "git" | "hg" | "svn" | "gh" | "glab" | "jj" | "fossil")
}

/// The directory that a repository is cloned to, if the command does not name it.
fn cloned_directory(command: &Command) -> Option<Arg> {
    let mut uses = command.parsed.iter().flat_map(|line| line.uses.iter().rev());
    let from = uses.find(|used| used.takes == Some(Use::From)).and_then(|used| command.value(used));
    let from = from.or_else(|| command.operands().pop().cloned())?;
    let name = from.text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    Some(Arg::literal(name.strip_suffix(".git").unwrap_or(name)))
}

/// Whether a command unpacks an archive.
fn unpacks(command: &Command, accesses: &[Access]) -> bool {
    let verb = command.args.first().map_or("", |arg| arg.text.as_str());
    match command.program.as_str() {
        "tar" | "gtar" | "bsdtar" => {
            // `tar xf a.tar`
            !verb.starts_with('-') && verb.contains('x') || command.has_flag(&["-x", "--extract", "--get"])
        }
        "unzip" | "cpio" | "unrar" | "unar" | "ditto" => true,
        "7z" | "7za" | "7zr" | "7zz" | "rar" => matches!(verb, "x" | "e"),
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
    let in_place = |arg: &Arg| arg.text.starts_with("-i") || arg.text.starts_with("-p") && arg.text.contains('i');
    matches!(command.program.as_str(), "gpg" | "gpg2" | "age" | "rage" | "iconv" | "uudecode" | "gunzip" | "zcat")
        || matches!(language, Some("perl" | "ruby")) && command.args.iter().any(in_place)
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
