//! The state of the shell at one point of the line: possible working directories, variables and options.

use super::{Arg, Container};
use crate::path::AbsPath;
use crate::path::Place;
use crate::verdict::limits::{Meter, SHELL_DIRECTORIES};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The maximum of possible directories if one of them is due to a failed `cd`. With more, an unknown directory takes the place
/// of the others, and a deletion of relative names in an unknown directory is judged at least as strictly.
/// Directories near the root are always kept, because deletions are most dangerous there.
const MAX_FALLBACK_CWDS: usize = 6;

/// The maximum of components of a directory near the root.
const NEAR_ROOT_COMPONENTS: usize = 3;

/// A directory that a command may run in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PossibleCwd {
    /// The directory, if it is known.
    pub path: Option<Rc<str>>,
    /// The command runs there only if a `cd` has failed.
    pub after_failed_cd: bool,
}

/// The maximum of directories that are compared with each other.
const MAX_COMPARED_CWDS: usize = 8 * SHELL_DIRECTORIES.most;

/// The state of the shell at one point of the line.
#[derive(Debug, Default)]
pub(super) struct ShellState {
    /// Shared by all copies of the state.
    pub meter: Meter,
    pub home: Option<String>,
    pub project: Option<String>,
    /// The most likely working directory, if it is known.
    pub cwd: Option<Rc<str>>,
    /// Other possible working directories.
    pub other_cwds: Vec<PossibleCwd>,
    /// The target of `cd -`.
    pub old_cwd: Option<Rc<str>>,
    /// The targets of `popd`, the next one last.
    pub directory_stack: Vec<Option<Rc<str>>>,
    /// Directories that the line creates.
    pub created_directories: Vec<Rc<str>>,
    /// Known outputs of substitutions by their numbers.
    pub outputs: BTreeMap<usize, String>,
    /// The protected files that unknown outputs of substitutions may name.
    pub listed: BTreeMap<usize, Rc<[Arg]>>,
    pub variables: BTreeMap<String, Value>,
    /// The positional parameters (`$@`), if they are known.
    pub positional: Option<Vec<Arg>>,
    /// The variables that other names stand for, by these names.
    pub namerefs: BTreeMap<String, String>,
    /// Exported variables.
    pub exported: BTreeSet<String>,
    /// Read-only variables.
    pub readonly: BTreeSet<String>,
    pub options: ShellOptions,
    /// The container that the shell runs in.
    pub container: Option<Rc<Container>>,
}

/// Steps for copying one variable or name.
const COPY_STEPS: usize = 8;

/// Returns the steps for copying a text.
pub(super) fn copy_cost(length: usize) -> usize {
    1 + length / 16
}

impl Clone for ShellState {
    /// Copies the state and charges the meter: a line may copy it once for each list and subshell.
    fn clone(&self) -> Self {
        let texts: usize = self.variables.values().map(|value| copy_cost(value.size())).sum();
        let given = self.positional.as_ref().map_or(0, Vec::len);
        let names = self.variables.len() + self.namerefs.len() + self.exported.len() + self.readonly.len();
        self.meter.charge(
            texts
                + COPY_STEPS
                    * (1 + names
                        + self.outputs.len()
                        + self.listed.len()
                        + self.directory_stack.len()
                        + self.created_directories.len()
                        + given),
        );
        ShellState {
            meter: self.meter.clone(),
            home: self.home.clone(),
            project: self.project.clone(),
            cwd: self.cwd.clone(),
            other_cwds: self.other_cwds.clone(),
            old_cwd: self.old_cwd.clone(),
            directory_stack: self.directory_stack.clone(),
            created_directories: self.created_directories.clone(),
            outputs: self.outputs.clone(),
            listed: self.listed.clone(),
            variables: self.variables.clone(),
            positional: self.positional.clone(),
            namerefs: self.namerefs.clone(),
            exported: self.exported.clone(),
            readonly: self.readonly.clone(),
            options: self.options,
            container: self.container.clone(),
        }
    }
}

/// Options that `set`, `shopt` and `declare` change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ShellOptions {
    /// `set -e`: a failed command ends the text.
    pub errexit: bool,
    /// `set -a`: every variable is exported.
    pub allexport: bool,
    /// A variable may have a second name, or an attribute that changes values: each assignment may set any variable.
    pub has_nameref: bool,
    /// `shopt -s cdable_vars`: the operand of `cd` may be the name of a variable.
    pub cd_searches: bool,
    /// `shopt -s lastpipe`: the last stage of a pipeline may run in the shell itself, as in zsh and ksh.
    pub lastpipe: bool,
    /// `set -k`: assignments behind the program are for its environment too.
    pub keyword: bool,
    /// Stages of pipelines and substitutions run in the shell itself, as in PowerShell.
    pub in_process: bool,
}

/// Variables whose value the shell computes each time.
pub(super) const DYNAMIC_VARIABLES: [&str; 14] = [
    "BASHPID", "BASH_ARGC", "BASH_COMMAND", "BASH_LINENO", "BASH_SUBSHELL", "EPOCHREALTIME", "EPOCHSECONDS",
    "FUNCNAME", "HISTCMD", "LINENO", "PIPESTATUS", "RANDOM", "SECONDS", "SRANDOM",
];

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Known(String),
    /// One of these values.
    OneOf(Vec<String>),
    /// A known prefix with an unknown rest.
    Prefix(Arg),
    /// One of these values or an unknown one.
    PerhapsOneOf(Vec<Arg>),
    /// Several words of which some are unknown: an array or `$@`.
    Words(Vec<Arg>),
    Unknown,
}

impl Value {
    /// Builds the value of an expanded word.
    pub fn from_arg(arg: &Arg) -> Value {
        if arg.is_known() { Value::Known(arg.text.to_string()) } else { Value::Prefix(arg.clone()) }
    }

    /// Builds the value of a word with several possible expansions.
    pub fn from_args(args: &[Arg]) -> Value {
        match args {
            [] => Value::Unknown,
            [only] => Value::from_arg(only),
            several => Value::distinct(several.iter().cloned(), several.iter().all(Arg::is_known)),
        }
    }

    /// Builds a value that is one of `members` or, unless it is `closed`, an unknown one.
    fn distinct(members: impl Iterator<Item = Arg>, closed: bool) -> Value {
        let mut seen = BTreeSet::new();
        let members: Vec<Arg> = members.filter(|member| seen.insert((member.text.clone(), member.known))).collect();
        let text = |member: &Arg| member.text.to_string();
        match members.as_slice() {
            [] => Value::Unknown,
            [only] if closed => Value::Known(text(only)),
            _ if closed => Value::OneOf(members.iter().map(text).collect()),
            _ => Value::PerhapsOneOf(members),
        }
    }

    /// Returns the possible values, as far as they are known.
    pub fn members(&self) -> Vec<Arg> {
        match self {
            Value::Known(value) => vec![Arg::literal(value.as_str())],
            Value::OneOf(values) => values.iter().map(|value| Arg::literal(value.as_str())).collect(),
            Value::PerhapsOneOf(members) => members.clone(),
            Value::Prefix(arg) => vec![arg.clone()],
            Value::Words(_) | Value::Unknown => Vec::new(),
        }
    }

    /// The texts of these values.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let (text, texts, args): (Option<&str>, &[String], &[Arg]) = match self {
            Value::Known(value) => (Some(value), &[], &[]),
            Value::OneOf(values) => (None, values, &[]),
            Value::PerhapsOneOf(members) => (None, &[], members),
            Value::Prefix(arg) => (Some(&arg.text), &[], &[]),
            Value::Words(_) | Value::Unknown => (None, &[], &[]),
        };
        text.into_iter().chain(texts.iter().map(String::as_str)).chain(args.iter().map(|arg| arg.text.as_str()))
    }

    /// Returns the size of all possible values in bytes.
    pub fn size(&self) -> usize {
        match self {
            Value::Known(text) => text.len(),
            Value::Prefix(Arg { text, .. }) => text.len(),
            Value::OneOf(values) => values.iter().map(|value| value.len() + 64).sum(),
            Value::PerhapsOneOf(members) | Value::Words(members) => {
                members.iter().map(|member| member.text.len() + 64).sum()
            }
            Value::Unknown => 0,
        }
    }

    /// Whether all possible values are known.
    fn is_closed(&self) -> bool {
        matches!(self, Value::Known(_) | Value::OneOf(_))
    }

    /// Returns the value that is either this or the other one. `None` is an unset variable, whose value is unknown.
    pub fn join(&self, other: Option<&Value>) -> Value {
        match other {
            Some(other) => Value::any_of(&[other, self]),
            None => Value::distinct(self.members().into_iter(), false),
        }
    }

    /// Returns the value that is one of these.
    pub fn any_of(values: &[&Value]) -> Value {
        match values {
            [] => Value::Unknown,
            [first, rest @ ..] if rest.iter().all(|value| value == first) => (*first).clone(),
            _ => {
                let members = values.iter().flat_map(|value| value.members());
                Value::distinct(members, values.iter().all(|value| value.is_closed()))
            }
        }
    }
}

impl ShellState {
    /// Returns the value of a variable, or `None` if the line does not set it.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.variables.get(name).or(if self.options.has_nameref { Some(&Value::Unknown) } else { None })
    }

    /// Returns the target of `cd` without operands, if it is known.
    pub fn home_directory(&self) -> Option<String> {
        match self.variables.get("HOME") {
            Some(Value::Known(home)) => Some(home.clone()),
            Some(_) => None,
            None => self.home.clone(),
        }
    }

    /// Makes the values of all variables uncertain.
    pub fn weaken_variables(&mut self) {
        self.meter.charge(COPY_STEPS * self.variables.len());
        self.variables.values_mut().for_each(|value| *value = value.join(None));
    }

    /// Returns the possible working directories, the most likely first.
    pub fn possible_cwds(&self) -> Vec<PossibleCwd> {
        let here = PossibleCwd { path: self.cwd.clone(), after_failed_cd: false };
        std::iter::once(here).chain(self.other_cwds.iter().cloned()).collect()
    }

    /// Sets the possible working directories.
    pub fn set_possible_cwds(&mut self, cwds: Vec<PossibleCwd>) {
        let mut distinct: Vec<PossibleCwd> = Vec::new();
        self.meter.charge(cwds.len());
        for cwd in cwds {
            if distinct.len() > MAX_COMPARED_CWDS {
                self.meter.report(&SHELL_DIRECTORIES);
                break;
            }
            match distinct.iter_mut().find(|known| known.path == cwd.path) {
                Some(known) => known.after_failed_cd &= cwd.after_failed_cd,
                None if cwd.path.is_none() && cwd.after_failed_cd => {}
                None => distinct.push(cwd),
            }
        }
        let is_near = |cwd: &PossibleCwd| {
            let components = |path: &str| path.split('/').filter(|name| !name.is_empty()).count();
            cwd.path.as_deref().is_some_and(|path| components(path) <= NEAR_ROOT_COMPONENTS)
        };
        let is_kept = |cwd: &PossibleCwd| !cwd.after_failed_cd || is_near(cwd);
        let certain = distinct.iter().filter(|cwd| is_kept(cwd)).count();
        let mut is_cut = false;
        if certain > SHELL_DIRECTORIES.most {
            self.meter.report(&SHELL_DIRECTORIES);
            // The first one is the most likely, and deletions near the root are the most dangerous.
            let (near, far): (Vec<_>, Vec<_>) = distinct.iter().skip(1).cloned().partition(is_near);
            distinct.truncate(1);
            distinct.extend(near.into_iter().chain(far).take(SHELL_DIRECTORIES.most - 1));
            is_cut = true;
        } else if distinct.len() > certain.max(MAX_FALLBACK_CWDS) {
            let mut room = MAX_FALLBACK_CWDS.saturating_sub(certain);
            distinct.retain(|cwd| {
                let kept = is_kept(cwd) || room > 0;
                room -= usize::from(!is_kept(cwd) && kept);
                kept
            });
            is_cut = true;
        }
        if is_cut && distinct.iter().all(|cwd| cwd.path.is_some()) {
            distinct.push(PossibleCwd { path: None, after_failed_cd: false });
        }
        let mut distinct = distinct.into_iter();
        self.cwd = distinct.next().and_then(|first| first.path);
        self.other_cwds = distinct.collect();
        let certain = self.other_cwds.iter().all(|other| other.after_failed_cd);
        let here = self.cwd.as_deref().filter(|_| certain).map(|cwd| Value::Known(cwd.to_owned()));
        self.variables.insert("PWD".to_owned(), here.unwrap_or(Value::Unknown));
    }

    /// Resolves a path against a directory.
    pub fn resolve(&self, path: &str, from: Option<&str>) -> Option<Rc<str>> {
        if !path.starts_with('/') && from.is_none() {
            return None;
        }
        let place = Place { cwd: from.unwrap_or_default().to_owned(), home: self.home.clone(), project: None };
        Some(Rc::from(format!("/{}", AbsPath::resolve(path, &place).components().join("/"))))
    }

    /// Whether a directory certainly exists: it contains a known directory, or the line creates it.
    pub fn directory_exists(&self, path: &str) -> bool {
        let above = |known: &str| {
            let rest = known.strip_prefix(path.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let known = [self.home.as_deref(), self.project.as_deref(), self.cwd.as_deref()];
        let always = ["/dev", "/etc", "/proc", "/tmp", "/usr/bin", "/var/tmp"];
        known.into_iter().flatten().chain(always).any(above) || self.created_directories.iter().any(|made| above(made))
    }

    /// Merges another state: afterwards either may be the real one.
    pub fn join(self: &mut Rc<Self>, other: &Rc<Self>) {
        if Rc::ptr_eq(self, other) {
            return;
        }
        let state = Rc::make_mut(self);
        state.meter.charge(COPY_STEPS * (state.variables.len() + other.variables.len()));
        // The limit is reported. What a variable holds is unknown from here on, so that the rest takes linear time.
        if state.meter.is_exhausted() {
            state.variables.clear();
            return;
        }
        for (name, value) in &mut state.variables {
            let also = other.variables.get(name);
            if also != Some(value) {
                state.meter.charge(copy_cost(value.size() + also.map_or(0, Value::size)));
                *value = value.join(also);
            }
        }
        for (name, value) in &other.variables {
            if !state.variables.contains_key(name) {
                state.variables.insert(name.clone(), value.join(None));
            }
        }
        let pwd = state.variables.remove("PWD");
        if state.cwd != other.cwd || state.other_cwds != other.other_cwds {
            let cwds = state.possible_cwds().into_iter().chain(other.possible_cwds()).collect();
            state.set_possible_cwds(cwds);
        } else if let Some(pwd) = pwd {
            state.variables.insert("PWD".to_owned(), pwd);
        }
        if state.old_cwd != other.old_cwd {
            state.old_cwd = None;
        }
        if state.directory_stack != other.directory_stack {
            state.directory_stack = vec![None; MAX_FALLBACK_CWDS];
        }
        if state.positional != other.positional {
            state.positional = None;
        }
        state.outputs.retain(|number, printed| other.outputs.get(number).is_none_or(|also| also == printed));
        state.namerefs.extend(other.namerefs.iter().map(|(name, target)| (name.clone(), target.clone())));
        state.listed.extend(other.listed.iter().map(|(number, names)| (*number, Rc::clone(names))));
        state.exported.retain(|name| other.exported.contains(name));
        state.readonly.extend(other.readonly.iter().cloned());
        state.created_directories.retain(|made| other.created_directories.contains(made));
        let (one, two) = (state.options, other.options);
        state.options = ShellOptions {
            errexit: one.errexit && two.errexit,
            allexport: one.allexport && two.allexport,
            has_nameref: one.has_nameref || two.has_nameref,
            cd_searches: one.cd_searches || two.cd_searches,
            lastpipe: one.lastpipe || two.lastpipe,
            keyword: one.keyword || two.keyword,
            in_process: one.in_process,
        };
    }

    /// Makes the positional parameters unknown.
    pub fn clear_positional(&mut self) {
        self.variables.retain(|name, _| !is_positional(name));
        self.positional = None;
    }

    /// Returns the state of a child shell, which inherits only exported variables.
    pub fn for_child_shell(&self) -> ShellState {
        let inherited = ["HOME", "LOGNAME", "PATH", "PWD", "SHELL", "USER"];
        let mut state = self.clone();
        if !self.options.allexport {
            state.variables.retain(|name, _| inherited.contains(&name.as_str()) || self.exported.contains(name));
        }
        state.variables.remove("IFS");
        state.clear_positional();
        state.readonly.clear();
        state.options = ShellOptions { has_nameref: self.options.has_nameref, ..ShellOptions::default() };
        state
    }
}

/// Whether a name is that of a positional parameter (`1`, `2` …) or `@`.
pub(super) fn is_positional(name: &str) -> bool {
    name == "@" || name.bytes().all(|byte| byte.is_ascii_digit())
}
