//! Effects: what the commands of a line do to files, variables and the network, derived once for every rule.

mod admin;
mod archive;
mod by_entry;
mod container;
mod copy;
mod does;
mod fetch;
mod forge;
mod git;
mod injected;
mod link;
mod mentions;
mod mode;
mod program;
mod scope;
mod scratch;
mod search;
mod words;

pub use does::Doing;
pub use fetch::{addresses, bodies, reroutes, uploads};
pub(super) use link::links_made;
pub use mode::Rights;
pub(super) use program::options as options_of;
pub(super) use words::COMMAND_PARTS;

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
    /// It is told whether it holds a text.
    Match,
    /// Its name is told.
    List,
    /// It is written or replaced.
    Write,
    /// It is written by a redirection or by `tee`.
    Redirect,
    /// It is removed.
    Remove,
    /// It is taken away and put elsewhere.
    Move,
    /// Its mode, owner or attributes are changed.
    Change,
    /// It is put back to what a repository has.
    Restore,
    /// Another name is made for the same file: what is written by that name is written to it.
    Link,
}

impl Act {
    /// Whether the file is another one afterwards.
    pub fn changes(self) -> bool {
        !matches!(self, Act::Read | Act::Match | Act::List)
    }
}

/// What a word names, as far as it can be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The path, absolute where it can be known, else as it is written.
    pub text: String,
    /// The path, or the directory of it that is known; patterns for file names stand in it as they are.
    pub path: Option<AbsPath>,
    /// Something that cannot be known follows the path.
    pub open: bool,
}

/// Something that a command does to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// What.
    pub act: Act,
    /// To which file.
    pub target: Target,
    /// What lies below goes too.
    pub deep: bool,
    /// It happens only if a `cd` has failed.
    pub astray: bool,
    /// Which of the commands does it; `None` for a redirection without a command, or a tool.
    pub row: Option<usize>,
}

impl Access {
    /// What is done to which file.
    fn key(&self) -> (Act, &str, bool) {
        (self.act, &self.target.text, self.target.open)
    }
}

/// What a line does. Paths are absolute where they can be known, else as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Everything that is done to files, in the order of the commands that do it; without a command, at the end.
    pub accesses: Vec<Access>,
    /// Variables that are set for programs, with their values where they are known.
    pub env: Vec<(String, Option<String>)>,
    /// Hosts and addresses that are talked to.
    pub network: Vec<String>,
    /// The limit that it exceeds; everything else still counts.
    pub exceeded: Option<&'static Limit>,
    /// How many accesses there may be after the current command.
    room: usize,
    /// The steps that unusual paths and modules cost.
    steps: usize,
    /// What each command that changes rights leaves of them, by its row.
    rights: BTreeMap<usize, Rights>,
}

/// Components of a path that are compared at no extra cost, and what each further one costs in steps.
const DEEP: usize = 32;
const DEEP_STEPS: usize = 20;

/// What comparing the pattern of a recursive search costs in steps.
const SEARCH_STEPS: usize = 10_000;

/// How many accesses of one command count if those before it have reached the limit, and how many there may be in total.
const LATE_ACCESSES: usize = 16;
const MAX_ACCESSES: usize = FILES.most + FILES.most / 4;

impl Effects {
    /// The steps that finding them cost.
    pub fn steps(&self) -> usize {
        self.steps + self.accesses.len()
    }

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
        Noted { command, row, astray: false, effects: &mut effects }.all_of_it();
        let known = effects.accesses.get(from..).unwrap_or_default();
        let mentions = mentions::of_command(command, row, known, &zones, effects.steps);
        effects.steps = mentions.steps;
        if mentions.exceeded {
            effects.exceeded.get_or_insert(&SHELL_STEPS);
        }
        let mut noted = Noted { command, row, astray: false, effects: &mut effects };
        mentions.accesses.into_iter().for_each(|access| noted.push(access));
        // The same from wherever else it may run, as far as that is something else.
        for other in &command.other_cwds {
            let command = Command { cwd: other.path.clone(), ..command.clone() };
            let room = effects.room.saturating_sub(effects.accesses.len());
            let mut also = Effects { steps: effects.steps, room, ..Effects::default() };
            Noted { command: &command, row, astray: other.after_failed_cd, effects: &mut also }.all_of_it();
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
    Noted { command, row: None, astray: false, effects: &mut effects }.all_of_it();
    effects.accesses
}

/// Takes down what one command does.
struct Noted<'a> {
    command: &'a Command,
    row: Option<usize>,
    astray: bool,
    effects: &'a mut Effects,
}

impl Noted<'_> {
    fn all_of_it(&mut self) {
        for redirect in &self.command.redirects {
            if redirect.writes {
                self.note(Act::Redirect, &redirect.target);
            }
            if redirect.reads {
                self.note(Act::Read, &redirect.target);
            }
        }
        program::note(self);
        // What is done with names that become words is unknown.
        if self.command.is_captured {
            let names = wrappers::listed(self.command);
            self.all(Act::Read, &names);
        }
    }

    fn note(&mut self, act: Act, word: &Arg) {
        self.take_down(act, word, false);
    }

    fn all<'w>(&mut self, act: Act, words: impl IntoIterator<Item = &'w Arg>) {
        words.into_iter().for_each(|word| self.note(act, word));
    }

    fn take_down(&mut self, act: Act, word: &Arg, deep: bool) {
        self.take_down_in(self.command.cwd.as_deref(), act, word, deep);
    }

    /// The same for what is looked for in another directory.
    fn take_down_in(&mut self, cwd: Option<&str>, act: Act, word: &Arg, deep: bool) {
        // No file has an empty name.
        if word.is_known() && word.text.is_empty() {
            return;
        }
        let target = Target::of(word, cwd);
        let hosted = mount::map_to_host(self.command.mounts(), &target, deep);
        for target in hosted.targets.into_iter().chain(Some(target).filter(|_| hosted.contained)) {
            self.push(Access { act, target, deep, astray: self.astray, row: self.row });
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
            let is_search = path.components().iter().any(|name| name == "**");
            let steps = DEEP_STEPS * path.components().len().saturating_sub(DEEP);
            let steps = if is_search { steps + SEARCH_STEPS } else { steps };
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
            self.take_down(Act::Write, &Arg { text: text.into(), known: None, glob: target.glob }, whole);
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
