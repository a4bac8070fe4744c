//! Listed names: the protected files that the output of commands may name, for what reads this output as words.

use super::super::effects::Target;
use super::super::state::Value;
use super::super::{Arg, Command, Input, PROCESS_SUBSTITUTION};
use super::Evaluator;
use super::execution::Execution;
use crate::path::protected::{self, Class};
use crate::path::zones::{Area, Zones};
use crate::path::{AbsPath, Extent};
use crate::programs::code::lists;
use crate::programs::roles;
use crate::shell::wrappers;
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

/// Steps for one name, which is compared with all protected files.
const NAME_STEPS: usize = 60;

/// Steps for the pattern of a recursive search, which is compared name by name.
const SEARCH_STEPS: usize = 20_000;

/// Steps for looking at one command.
const LOOK_STEPS: usize = 2;

impl Evaluator<'_> {
    /// The protected files that the output of these commands may name.
    pub(super) fn listed_by(&self, rows: Range<usize>) -> Vec<Arg> {
        let commands: Vec<&Command> = self.reading.commands.get(rows).unwrap_or_default().iter().collect();
        self.listed(&commands)
    }

    /// The same for the earlier stages of a pipeline.
    pub(super) fn listed_before(&self, pipeline: usize, stage: usize) -> Vec<Arg> {
        let rows = self.stages.get(&pipeline).map(SmallVec::as_slice).unwrap_or_default().iter();
        let commands = rows.filter_map(|row| self.reading.commands.get(*row));
        self.listed(&commands.filter(|command| command.stage < stage).collect::<Vec<_>>())
    }

    fn listed(&self, commands: &[&Command]) -> Vec<Arg> {
        let Some(state) = self.executions.last().map(|execution| &execution.state) else { return Vec::new() };
        let home = state.home.as_deref();
        // Each is compared with the filters behind it.
        self.meter.charge(LOOK_STEPS * commands.len());
        let shown = wrappers::shown(commands, home, &self.meter);
        if shown.is_empty() {
            return Vec::new();
        }
        let home_path = home.map(|home| AbsPath::resolve_in(home, "/", None));
        let zones = Zones::of(&self.reading.place);
        let mut seen = BTreeSet::new();
        let names = shown.into_iter().filter(|name| seen.insert(name.text.clone()));
        let is_protected = |name: &Arg| {
            let steps = if name.text.contains("**") { SEARCH_STEPS } else { NAME_STEPS };
            self.meter.try_charge(steps + name.text.len())
                && (is_protected(name, state.cwd.as_deref(), home_path.as_ref())
                    || !name.is_known() && is_below_vital(name, state.cwd.as_deref(), &zones))
        };
        let mut names: Vec<Arg> = names.filter(is_protected).collect();
        names
            .extend(home.filter(|home| commands.iter().any(|command| self.makes_path(command, home))).map(hidden_file));
        names
    }

    /// Whether a command makes another text of one about the home directory: `envsubst <<< '${HOME}/.x'`.
    fn makes_path(&self, command: &Command, home: &str) -> bool {
        if !lists(&roles::OUTPUT_TRANSFORMING, &command.program) {
            return false;
        }
        let project = self.executions.last().and_then(|execution| execution.state.project.clone()).unwrap_or_default();
        let is_home = |text: &str| {
            self.meter.charge(text.len());
            let foreign = if project.is_empty() { text.to_owned() } else { text.replace(&project, "") };
            [home, "~", "$HOME", "${HOME}"].into_iter().any(|start| foreign.contains(&format!("{start}/")))
        };
        let input = match &command.input {
            Input::Text(text) => Some(text.as_ref()),
            Input::Inherited | Input::Pipe | Input::Unknown => command.here_text.as_deref(),
        };
        input.is_some_and(is_home) || command.args.iter().any(|arg| is_home(&arg.text))
    }

    /// The words for `xargs`, beside what it is known to get.
    pub(super) fn listed_for(&self, command: &Command) -> Vec<Arg> {
        if command.input == Input::Pipe { self.listed_before(command.pipeline, command.stage) } else { Vec::new() }
    }
}

/// Any file in a hidden directory of the home directory.
fn hidden_file(home: &str) -> Arg {
    Arg { text: format!("{home}/.*/*").into(), known: None, glob: true }
}

/// Whether a name that is not known lies below a directory that must stay, and so may be any file there.
fn is_below_vital(name: &Arg, cwd: Option<&str>, zones: &Zones) -> bool {
    let path = Target::of(name, cwd).path;
    path.is_some_and(|path| matches!(zones.area(&path), Area::Vital | Area::System))
}

/// Whether a name is, or may be, that of a protected file or of a directory that holds such files.
fn is_protected(name: &Arg, cwd: Option<&str>, home: Option<&AbsPath>) -> bool {
    let Some(path) = Target::of(name, cwd).path else { return false };
    let is_home = home.is_some_and(|home| home.components() == path.components());
    if protected::is_protected(&path, home) || is_home && name.text.starts_with('/') {
        return true;
    }
    let is_named = path.components().last().is_some_and(|last| !last.contains(['*', '?', '[']));
    let is_above = home.is_some_and(|home| home.components().starts_with(path.components()));
    let holds = |class: Class| class.contains(&path, Extent::Tree, home);
    is_named
        && !is_above
        && cwd != Some(path.to_string().as_str())
        && [Class::Guard, Class::Repository].into_iter().any(holds)
}

impl Execution {
    /// Sets the names that the output of a substitution may hold, unless the output is known.
    pub(super) fn set_listed(&mut self, number: usize, names: Vec<Arg>) {
        let is_needed = !names.is_empty() && !self.state.outputs.contains_key(&number);
        if is_needed {
            Rc::make_mut(&mut self.state).listed.insert(number, names.into());
        } else if self.state.listed.contains_key(&number) {
            Rc::make_mut(&mut self.state).listed.remove(&number);
        }
    }

    /// The names that `read` or `mapfile` may get.
    pub(super) fn names_read(&self, command: &Command) -> Vec<Arg> {
        if command.redirects.iter().any(|redirect| redirect.reads && redirect.target.text == PROCESS_SUBSTITUTION) {
            return self.process_names.to_vec();
        }
        match (&command.input, &command.here_text) {
            (Input::Unknown, Some(text)) => {
                let known = text.lines().filter(|line| !line.contains('$'));
                known.map(Arg::literal).collect()
            }
            (Input::Pipe | Input::Unknown | Input::Inherited, _) => {
                let named = self.lists.iter().rev().find(|list| !list.names.is_empty());
                named.map(|list| list.names.to_vec()).unwrap_or_default()
            }
            (Input::Text(_), _) => Vec::new(),
        }
    }

    /// Adds names to the possible values of a variable.
    pub(super) fn add_names(&mut self, variable: &str, names: &[Arg]) {
        if names.is_empty() {
            return;
        }
        let value = Value::PerhapsOneOf(names.to_vec()).join(self.state.variables.get(variable));
        self.state.meter.charge(value.size());
        Rc::make_mut(&mut self.state).variables.insert(variable.to_owned(), value);
    }
}
