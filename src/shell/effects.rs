//! Effects: what the commands of a line do to files, variables and the network, derived once for every rule.

mod archive;
mod by_entry;
mod container;
mod copy;
mod does;
mod fetch;
mod forge;
mod git;
mod link;
mod mentions;
mod mode;
mod program;
mod scope;
mod search;

pub(super) use copy::{copies, target_and_sources};
pub use does::Doing;
pub use fetch::{addresses, bodies, reroutes, uploads};
pub use mode::Rights;
pub use scope::runs_containers;

use super::{Arg, Command, Reading, mount, wrappers};
use crate::path::AbsPath;
use crate::path::zones::Zones;
use crate::verdict::limits::{FILES, Limit, PATH_BYTES, SHELL_STEPS};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Act {
    /// It is read.
    Read,
    /// It is searched for a text, and only the result is shown.
    Match,
    /// Only its name and metadata are shown.
    List,
    /// It is written or replaced.
    Write,
    /// It is written by a redirection or by `tee`.
    Redirect,
    /// It is removed.
    Remove,
    /// It is moved.
    Move,
    /// Its mode, owner or attributes are changed.
    Change,
    /// It is restored from a repository.
    Restore,
    /// A hard link to it is made: what is written to the link is written to it.
    Link,
}

impl Act {
    /// Whether it changes the file.
    pub fn changes(self) -> bool {
        !matches!(self, Act::Read | Act::Match | Act::List)
    }
}

/// The file that a word names, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The absolute path if it is known, else the word as it is written.
    pub text: String,
    /// The path, or its known directory. Patterns for file names are kept as they are.
    pub path: Option<AbsPath>,
    /// An unknown rest follows the path.
    pub open: bool,
}

/// Something that a command does to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// What is done.
    pub act: Act,
    /// The file.
    pub target: Target,
    /// It includes everything below.
    pub deep: bool,
    /// It happens only if a `cd` has failed, or if an unknown variable is the home directory.
    pub unlikely: bool,
    /// The index of the command; `None` for a redirection without a command, or a tool.
    pub row: Option<usize>,
}

impl Access {
    /// The act and the file.
    fn key(&self) -> (Act, &str, bool) {
        (self.act, &self.target.text, self.target.open)
    }
}

/// The effects of a line. Paths are absolute if they are known, else as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// All accesses, in the order of their commands; those without a command are last.
    pub accesses: Vec<Access>,
    /// Variables that are set for programs, with their values where they are known.
    pub env: Vec<(String, Option<String>)>,
    /// Hosts and addresses that commands connect to.
    pub network: Vec<String>,
    /// The limit that the line exceeds. What was found before it is kept.
    pub exceeded: Option<&'static Limit>,
    /// How many accesses there may be after the current command.
    room: usize,
    /// The work that comparing unusually deep paths takes.
    steps: usize,
    /// What each command that changes rights leaves of them, by its row.
    rights: BTreeMap<usize, Rights>,
}

/// Components of a path that are compared at no extra cost, and what each further one costs in steps.
const DEEP: usize = 32;
const DEEP_STEPS: usize = 20;

/// How many accesses of one command count if those before it have reached the limit, and how many there may be in total.
const LATE_ACCESSES: usize = 16;
const MAX_ACCESSES: usize = FILES.most + FILES.most / 4;

impl Effects {
    /// What one of the commands does to files.
    pub fn of_command(&self, row: usize) -> &[Access] {
        let number = |access: &Access| access.row.unwrap_or(usize::MAX);
        let start = self.accesses.partition_point(|access| number(access) < row);
        let end = self.accesses.partition_point(|access| number(access) <= row);
        self.accesses.get(start..end).unwrap_or_default()
    }

    /// Files that are written or replaced.
    pub fn writes(&self) -> Vec<String> {
        self.paths(|act| matches!(act, Act::Write | Act::Redirect | Act::Restore))
    }

    /// Files that are removed.
    pub fn removes(&self) -> Vec<String> {
        self.paths(|act| matches!(act, Act::Remove | Act::Move))
    }

    /// Files that are read.
    pub fn reads(&self) -> Vec<String> {
        self.paths(|act| act == Act::Read)
    }

    /// What is left of the rights on a file that is changed.
    pub fn rights(&self, access: &Access) -> Rights {
        access.row.and_then(|row| self.rights.get(&row)).copied().unwrap_or(Rights::UNKNOWN)
    }

    /// The names of the variables that are set.
    pub fn variables(&self) -> Vec<String> {
        distinct(self.env.iter().map(|(name, _)| name.clone()))
    }

    fn paths(&self, of: impl Fn(Act) -> bool) -> Vec<String> {
        let found = self.accesses.iter().filter(|access| of(access.act));
        distinct(found.map(|access| access.target.text.clone()))
    }
}

fn distinct(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    items.filter(|item| seen.insert(item.clone())).collect()
}

pub(super) fn effects(reading: &Reading) -> Effects {
    let mut effects = Effects { accesses: Vec::with_capacity(reading.commands.len()), ..Effects::default() };
    let zones = Zones::of(&reading.place);
    let rows = reading.commands.iter().enumerate().map(|(row, command)| (Some(row), command));
    for (row, command) in rows.chain(reading.programless.iter().map(|command| (None, command))) {
        let from = effects.accesses.len();
        effects.room = (from + LATE_ACCESSES).clamp(FILES.most, MAX_ACCESSES);
        Recorder { command, row, unlikely: false, effects: &mut effects }.record_all();
        let mentioned = mentions::accesses(command, row, effects.accesses.get(from..).unwrap_or_default(), &zones);
        let mut recorder = Recorder { command, row, unlikely: false, effects: &mut effects };
        mentioned.into_iter().for_each(|access| recorder.push(access));
        // The same from wherever else it may run, as far as that is something else.
        for other in &command.other_cwds {
            let command = Command { cwd: other.path.clone(), ..command.clone() };
            let room = effects.room.saturating_sub(effects.accesses.len());
            let mut also = Effects { steps: effects.steps, room, ..Effects::default() };
            Recorder { command: &command, row, unlikely: other.after_failed_cd, effects: &mut also }.record_all();
            effects.exceeded = effects.exceeded.or(also.exceeded);
            effects.steps = also.steps;
            let known = effects.accesses.get(from..).unwrap_or_default().iter();
            let known: BTreeSet<(Act, &str, bool)> = known.map(Access::key).collect();
            let new = |access: &Access| !known.contains(&access.key());
            let new: Vec<Access> = also.accesses.iter().filter(|access| new(access)).cloned().collect();
            effects.accesses.extend(new);
        }
        effects.env.extend(command.env.iter().cloned());
    }
    link::follow(&mut effects, reading);
    effects.accesses.sort_by_key(|access| access.row.unwrap_or(usize::MAX));
    effects.network = distinct(std::mem::take(&mut effects.network).into_iter());
    effects
}

/// What one command does to files.
pub(super) fn of_command(command: &Command) -> Vec<Access> {
    let mut effects = Effects { room: LATE_ACCESSES.max(4 * command.args.len()), ..Effects::default() };
    Recorder { command, row: None, unlikely: false, effects: &mut effects }.record_all();
    effects.accesses
}

/// Records what one command does.
struct Recorder<'a> {
    command: &'a Command,
    row: Option<usize>,
    unlikely: bool,
    effects: &'a mut Effects,
}

impl Recorder<'_> {
    fn record_all(&mut self) {
        for redirect in &self.command.redirects {
            if redirect.writes {
                self.note(Act::Redirect, &redirect.target);
            }
            if redirect.reads {
                self.note(Act::Read, &redirect.target);
            }
        }
        program::note(self);
        // Other commands may read the files whose names the shell captures.
        if self.command.is_captured {
            let names = wrappers::listed(self.command);
            self.all(Act::Read, &names);
        }
    }

    fn note(&mut self, act: Act, word: &Arg) {
        self.record(act, word, false);
    }

    fn all<'w>(&mut self, act: Act, words: impl IntoIterator<Item = &'w Arg>) {
        words.into_iter().for_each(|word| self.note(act, word));
    }

    fn record(&mut self, act: Act, word: &Arg, deep: bool) {
        self.record_in(self.command.cwd.as_deref(), act, word, deep);
    }

    /// The same for what is looked for in another directory.
    fn record_in(&mut self, cwd: Option<&str>, act: Act, word: &Arg, deep: bool) {
        if word.is_known() && word.text.is_empty() {
            return;
        }
        let target = Target::of(word, cwd);
        let hosted = mount::map_to_host(self.command.mounts(), &target, deep);
        for target in hosted.targets.into_iter().chain(Some(target).filter(|_| hosted.contained)) {
            self.push(Access { act, target, deep, unlikely: self.unlikely, row: self.row });
        }
    }

    fn push(&mut self, access: Access) {
        if self.effects.accesses.len() >= self.effects.room {
            self.effects.exceeded.get_or_insert(&FILES);
            return;
        }
        if let Some(path) = &access.target.path {
            if path.bytes() > PATH_BYTES.most {
                self.effects.exceeded.get_or_insert(&PATH_BYTES);
                return;
            }
            let steps = DEEP_STEPS * path.components().len().saturating_sub(DEEP);
            if steps > 0 && self.effects.steps + steps > SHELL_STEPS.most {
                self.effects.exceeded.get_or_insert(&SHELL_STEPS);
                return;
            }
            self.effects.steps += steps;
        }
        self.effects.accesses.push(access);
    }

    /// A file of this name that is put into a directory, or takes its place.
    fn put(&mut self, target: &Arg, source: Option<&Arg>) {
        self.note(Act::Write, target);
        let whole = self.command.has_flag(&["-r", "-R", "-a", "--recursive", "--archive"]);
        // `cp a.md b.md`: what ends like the file is a file too.
        let kind = |arg: &Arg| {
            let name = arg.text.rsplit('/').next()?.trim_start_matches('.');
            name.rsplit_once('.').map(|(_, kind)| kind.to_owned())
        };
        let alike = |source: &Arg| kind(source).is_some_and(|of| kind(target) == Some(of));
        let name = source.filter(|source| source.is_known() && target.is_known() && !alike(source));
        if let Some(name) = name.and_then(|source| source.text.trim_end_matches('/').rsplit('/').next()) {
            let text = format!("{}/{name}", target.text.trim_end_matches('/'));
            // The rooted name of the root itself is empty once its slash is gone.
            self.record(Act::Write, &Arg { text: text.into(), known: None, glob: target.glob }, whole);
        }
    }
}

impl Target {
    /// What `word` names for a command that runs in `cwd`.
    pub fn of(word: &Arg, cwd: Option<&str>) -> Target {
        if let Some(home) = of_user(word) {
            return Target::of(&home, cwd);
        }
        let known = word.prefix();
        let as_written = || Target { text: word.text.to_string(), path: None, open: !word.is_known() };
        if (known.is_empty() && !word.is_known()) || (!known.starts_with('/') && cwd.is_none()) {
            return as_written();
        }
        // A tilde was expanded where it was one; here it is a character.
        let rooted = |text: &str| {
            let text = if text.starts_with('~') { Cow::Owned(format!("./{text}")) } else { Cow::Borrowed(text) };
            AbsPath::resolve_in(&text, cwd.unwrap_or_default(), None)
        };
        if word.is_known() {
            let path = rooted(&word.text);
            return Target { text: String::from(&path), path: Some(path), open: false };
        }
        let (directory, name) = known.rsplit_once('/').unwrap_or(("", known));
        let rest = word.text.get(known.len()..).unwrap_or_default();
        if rest.split('/').any(|part| part == "..") {
            return as_written();
        }
        // A name of which the beginning is known is a pattern.
        let wild = if name.is_empty() { String::new() } else { format!("/{name}*") };
        let directory = if directory.is_empty() && known.starts_with('/') { "/" } else { directory };
        let directory = if directory.is_empty() && !wild.is_empty() { "." } else { directory };
        Target { text: rooted(&word.text).to_string(), path: Some(rooted(&format!("{directory}{wild}"))), open: true }
    }
}

/// `~name/…`: the home of a user by name, where such homes are.
fn of_user(word: &Arg) -> Option<Arg> {
    let rest = word.text.strip_prefix('~').filter(|rest| word.known == Some(0) && !rest.contains(['$', '`']))?;
    let (name, below) = rest.split_once('/').unwrap_or((rest, ""));
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    let named = plain && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let home = if name == "root" { "/root".to_owned() } else { format!("/home/{name}") };
    named.then(|| Arg { text: format!("{home}/{below}").into(), known: None, glob: word.glob })
}
