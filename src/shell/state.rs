//! What is known of the shell at one point of the line: where it is, and what its variables hold.

use super::{Arg, Mount};
use crate::path::AbsPath;
use crate::path::Place;
use crate::verdict::limits::{Meter, SHELL_DIRECTORIES};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Directories that a shell may be left in by a `cd` that fails; beyond them, the directory counts as unknown. Those
/// near the root are always told apart: what must not be lost lies there.
const MOST_ASTRAY: usize = 6;

/// Components of a directory that is near the root.
const NEAR: usize = 3;

/// Another directory that a command may run in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The directory, where it is known.
    pub at: Option<Rc<str>>,
    /// It runs there only if a `cd` has failed.
    pub astray: bool,
}

/// Directories that are compared with each other.
const TOLD_APART: usize = 8 * SHELL_DIRECTORIES.most;

/// What is known of the shell at one point of the line.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The work on the whole line, which copies of the state share.
    pub meter: Meter,
    pub home: Option<String>,
    pub project: Option<String>,
    pub cwd: Option<Rc<str>>,
    /// Where else the shell may be: it depends on what happened.
    pub elsewhere: Vec<Elsewhere>,
    /// Where `cd -` leads.
    pub before: Option<Rc<str>>,
    /// Where `popd` leads, one after the other.
    pub pushed: Vec<Option<Rc<str>>>,
    /// Directories that are there, because the line makes them.
    pub made: Vec<Rc<str>>,
    /// What substitutions print, by their numbers, where that is known.
    pub outputs: BTreeMap<usize, String>,
    pub variables: BTreeMap<String, Value>,
    /// What `$@` stands for, where that is known.
    pub given: Option<Vec<Arg>>,
    /// The variables that programs get.
    pub exported: BTreeSet<String>,
    /// The variables that keep their value.
    pub fixed: BTreeSet<String>,
    pub options: Options,
    /// It may be in more directories than are told apart.
    pub lost: bool,
    /// Directories of the host that the container sees, where the shell runs in one.
    pub mounts: Option<Rc<[Mount]>>,
}

/// What copying one variable or name costs, in steps.
const COPY: usize = 8;

/// What copying a text costs, in steps.
pub(super) fn copy_steps(length: usize) -> usize {
    1 + length / 16
}

impl Clone for State {
    /// Copying charges the meter: a line may copy its state once for every list and subshell in it.
    fn clone(&self) -> Self {
        let texts: usize = self.variables.values().map(|value| copy_steps(value.size())).sum();
        let given = self.given.as_ref().map_or(0, Vec::len);
        let names = self.variables.len() + self.exported.len() + self.fixed.len();
        self.meter
            .charge(texts + COPY * (1 + names + self.outputs.len() + self.pushed.len() + self.made.len() + given));
        State {
            meter: self.meter.clone(),
            home: self.home.clone(),
            project: self.project.clone(),
            cwd: self.cwd.clone(),
            elsewhere: self.elsewhere.clone(),
            before: self.before.clone(),
            pushed: self.pushed.clone(),
            made: self.made.clone(),
            outputs: self.outputs.clone(),
            variables: self.variables.clone(),
            given: self.given.clone(),
            exported: self.exported.clone(),
            fixed: self.fixed.clone(),
            options: self.options,
            lost: self.lost,
            mounts: self.mounts.clone(),
        }
    }
}

/// What `set`, `shopt` and `declare` have changed for the rest of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// A command that fails ends the text.
    pub stops: bool,
    /// Every variable is exported.
    pub exports: bool,
    /// A variable has a second name: whatever is set may set another.
    pub aliased: bool,
    /// `cd name` may lead to the value of a variable, or below another directory.
    pub finds: bool,
    /// Stages of a pipeline and substitutions run in the shell itself, as in PowerShell.
    pub in_process: bool,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Known(String),
    /// One of these.
    Each(Vec<String>),
    /// This and something behind it that cannot be known.
    Written(Arg),
    /// One of these, or something else: it was set where that depends on what happened.
    Maybe(Vec<Arg>),
    /// Several words, of which some cannot be known: an array, or what `$@` stands for.
    Words(Vec<Arg>),
    Unknown,
}

impl Value {
    /// The value of a word.
    pub fn of(arg: &Arg) -> Value {
        if arg.is_known() { Value::Known(arg.text.to_string()) } else { Value::Written(arg.clone()) }
    }

    /// The value of a word that may be one of several.
    pub fn one_of(args: &[Arg]) -> Value {
        match args {
            [] => Value::Unknown,
            [only] => Value::of(only),
            several => Value::distinct(several.iter().cloned(), several.iter().all(Arg::is_known)),
        }
    }

    /// One of these, or where that is not `closed`, something else.
    fn distinct(members: impl Iterator<Item = Arg>, closed: bool) -> Value {
        let mut seen = BTreeSet::new();
        let members: Vec<Arg> = members.filter(|member| seen.insert((member.text.clone(), member.known))).collect();
        let text = |member: &Arg| member.text.to_string();
        match members.as_slice() {
            [] => Value::Unknown,
            [only] if closed => Value::Known(text(only)),
            _ if closed => Value::Each(members.iter().map(text).collect()),
            _ => Value::Maybe(members),
        }
    }

    /// What it can be, as far as that is known.
    pub fn members(&self) -> Vec<Arg> {
        match self {
            Value::Known(value) => vec![Arg::literal(value.as_str())],
            Value::Each(values) => values.iter().map(|value| Arg::literal(value.as_str())).collect(),
            Value::Maybe(members) => members.clone(),
            Value::Written(arg) => vec![arg.clone()],
            Value::Words(_) | Value::Unknown => Vec::new(),
        }
    }

    /// How long it is, with all that it can be.
    pub fn size(&self) -> usize {
        match self {
            Value::Known(text) => text.len(),
            Value::Written(Arg { text, .. }) => text.len(),
            Value::Each(values) => values.iter().map(|value| value.len() + 64).sum(),
            Value::Maybe(members) | Value::Words(members) => members.iter().map(|member| member.text.len() + 64).sum(),
            Value::Unknown => 0,
        }
    }

    fn is_closed(&self) -> bool {
        matches!(self, Value::Known(_) | Value::Each(_))
    }

    /// This value or the other, whoever knows which; a variable that has none may have been given one before.
    pub fn or(&self, other: Option<&Value>) -> Value {
        if Some(self) == other {
            return self.clone();
        }
        let closed = self.is_closed() && other.is_some_and(Value::is_closed);
        let members = other.map(Value::members).unwrap_or_default().into_iter().chain(self.members());
        Value::distinct(members, closed)
    }
}

impl State {
    pub fn value(&self, name: &str) -> Option<&Value> {
        // Under another name it may have been given any value.
        self.variables.get(name).or(if self.options.aliased { Some(&Value::Unknown) } else { None })
    }

    /// What is known of variables may be so, or not.
    pub fn doubt_variables(&mut self) {
        self.meter.charge(COPY * self.variables.len());
        self.variables.values_mut().for_each(|value| *value = value.or(None));
    }

    /// Where the shell may be, the likeliest first.
    pub fn places(&self) -> Vec<Elsewhere> {
        let here = Elsewhere { at: self.cwd.clone(), astray: false };
        std::iter::once(here).chain(self.elsewhere.iter().cloned()).collect()
    }

    /// The shell is in one of these directories.
    pub fn settle(&mut self, places: Vec<Elsewhere>) {
        let mut distinct: Vec<Elsewhere> = Vec::new();
        self.meter.charge(places.len());
        for place in places {
            if distinct.len() > TOLD_APART {
                self.lost = true;
                continue;
            }
            match distinct.iter_mut().find(|known| known.at == place.at) {
                Some(known) => known.astray &= place.astray,
                // Where a `cd` that fails leaves it is then as unknown as it was.
                None if place.at.is_none() && place.astray => {}
                None => distinct.push(place),
            }
        }
        let is_near = |place: &Elsewhere| {
            place.at.as_deref().is_some_and(|at| at.split('/').filter(|part| !part.is_empty()).count() <= NEAR)
        };
        let is_kept = |place: &Elsewhere| !place.astray || is_near(place);
        let sure = distinct.iter().filter(|place| is_kept(place)).count();
        self.lost |= sure > SHELL_DIRECTORIES.most;
        if distinct.len() > sure.max(MOST_ASTRAY) {
            let mut room = MOST_ASTRAY.saturating_sub(sure);
            distinct.retain(|place| {
                let kept = is_kept(place) || room > 0;
                room -= usize::from(!is_kept(place) && kept);
                kept
            });
            if distinct.iter().all(|place| place.at.is_some()) {
                distinct.push(Elsewhere { at: None, astray: false });
            }
        }
        let mut distinct = distinct.into_iter();
        self.cwd = distinct.next().and_then(|first| first.at);
        self.elsewhere = distinct.collect();
        let sure = self.elsewhere.iter().all(|other| other.astray);
        let here = self.cwd.as_deref().filter(|_| sure).map(|cwd| Value::Known(cwd.to_owned()));
        self.variables.insert("PWD".to_owned(), here.unwrap_or(Value::Unknown));
    }

    /// Where `path` leads from a directory.
    pub fn resolve(&self, path: &str, from: Option<&str>) -> Option<Rc<str>> {
        if !path.starts_with('/') && from.is_none() {
            return None;
        }
        let place = Place { cwd: from.unwrap_or_default().to_owned(), home: self.home.clone(), project: None };
        Some(Rc::from(format!("/{}", AbsPath::resolve(path, &place).components().join("/"))))
    }

    /// Whether a directory is there whatever happens: it lies above one that we know, or the line makes it.
    pub fn is_there(&self, path: &str) -> bool {
        let above = |known: &str| {
            let rest = known.strip_prefix(path.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let known = [self.home.as_deref(), self.project.as_deref(), self.cwd.as_deref()];
        let always = ["/dev", "/etc", "/proc", "/tmp", "/usr/bin", "/var/tmp"];
        known.into_iter().flatten().chain(always).any(above) || self.made.iter().any(|made| above(made))
    }

    /// This state or the other, whoever knows which.
    pub fn join(self: &mut Rc<Self>, other: &Rc<Self>) {
        if Rc::ptr_eq(self, other) {
            return;
        }
        let state = Rc::make_mut(self);
        state.lost |= other.lost;
        state.meter.charge(2 * (state.variables.len() + other.variables.len()));
        for (name, value) in &mut state.variables {
            let also = other.variables.get(name);
            if also != Some(value) {
                state.meter.charge(copy_steps(value.size() + also.map_or(0, Value::size)));
                *value = value.or(also);
            }
        }
        for (name, value) in &other.variables {
            if !state.variables.contains_key(name) {
                state.variables.insert(name.clone(), value.or(None));
            }
        }
        let pwd = state.variables.remove("PWD");
        if state.cwd != other.cwd || state.elsewhere != other.elsewhere {
            let places = state.places().into_iter().chain(other.places()).collect();
            state.settle(places);
        } else if let Some(pwd) = pwd {
            state.variables.insert("PWD".to_owned(), pwd);
        }
        if state.before != other.before {
            state.before = None;
        }
        if state.pushed != other.pushed {
            state.pushed = vec![None; MOST_ASTRAY];
        }
        if state.given != other.given {
            state.given = None;
        }
        state.outputs.retain(|number, printed| other.outputs.get(number).is_none_or(|also| also == printed));
        state.exported.retain(|name| other.exported.contains(name));
        state.fixed.extend(other.fixed.iter().cloned());
        state.made.retain(|made| other.made.contains(made));
        let (one, two) = (state.options, other.options);
        state.options = Options {
            stops: one.stops && two.stops,
            exports: one.exports && two.exports,
            aliased: one.aliased || two.aliased,
            finds: one.finds || two.finds,
            in_process: one.in_process,
        };
    }

    /// What a shell that this one starts knows: its own variables are none of the other's business.
    pub fn started(&self) -> State {
        let inherited = ["HOME", "LOGNAME", "PATH", "PWD", "SHELL", "USER"];
        let mut state = self.clone();
        if !self.options.exports {
            state.variables.retain(|name, _| inherited.contains(&name.as_str()) || self.exported.contains(name));
        }
        state.variables.retain(|name, _| name != "IFS" && !is_parameter(name));
        state.given = None;
        state.fixed.clear();
        state.options = Options { aliased: self.options.aliased, ..Options::default() };
        state
    }
}

/// Whether a name is one of `$1`, `$2` …, or all of them.
pub(super) fn is_parameter(name: &str) -> bool {
    name == "@" || name.bytes().all(|byte| byte.is_ascii_digit())
}
