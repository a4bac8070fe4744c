//! Loops: the effects of earlier iterations on the state at the start of an iteration.

use super::super::expand;
use super::super::state::{PossibleCwd, ShellState, Value, copy_cost, is_positional};
use super::super::syntax::{Instruction, Scope, SimpleCommand, Word, WordPart};
use super::assigned::arithmetic_names;
use super::execution::Execution;
use super::function::FunctionBody;
use crate::verdict::limits::SHELL_STEPS;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How often a loop body is scanned for values that depend on each other. A value that grows with each iteration never
/// becomes stable. A value that is not stable after the last pass may also be any other one, and if it is only passed around
/// between variables, the limit is reported.
const MAX_PASSES: usize = 12;

/// The effects of a loop body on the state.
#[derive(Default)]
struct LoopEffects {
    /// Variables that are set, with their values.
    sets: Vec<(String, Value)>,
    /// The relative directory changes that are in force: how many levels down, and whether by `pushd`.
    depth: Vec<(usize, bool)>,
    /// An iteration may end in another directory than it began in.
    leaves_cwd: bool,
    /// Absolute directories that it changes to.
    absolute_cwds: Vec<Rc<str>>,
    /// It may set any variable.
    sets_anything: bool,
    /// It changes the positional parameters.
    shifts: bool,
    /// It changes them by `set`, not only by `shift`.
    sets_positional: bool,
}

impl Execution {
    /// Prepares the state for a loop body, of which any iteration may be the current one.
    pub(super) fn begin_loop(&mut self, bodies: &BTreeMap<String, Vec<FunctionBody>>) {
        let mut effects = LoopEffects::default();
        effects.scan(self.instructions.iter(), &self.state, bodies);
        if effects.is_empty() {
            return;
        }
        let numbered = |name: &str| name != "0" && name != "@" && is_positional(name);
        let variables = self.state.variables.iter();
        let all: Vec<Value> = variables.filter(|(name, _)| numbered(name)).map(|(_, value)| value.clone()).collect();
        // Values may depend on other variables that the loop sets: repeat until they are stable.
        for _ in 0..MAX_PASSES {
            self.state.meter.charge(self.state.variables.len() + self.instructions.len());
            let before = self.state.variables.clone();
            self.join_values(&effects.sets);
            if self.state.variables == before {
                break;
            }
            effects = LoopEffects::default();
            effects.scan(self.instructions.iter(), &self.state, bodies);
        }
        let before = self.state.variables.clone();
        self.join_values(&effects.sets);
        let state = Rc::make_mut(&mut self.state);
        for (name, value) in &mut state.variables {
            let known = before.get(name);
            if known != Some(value) {
                // A value that still changes without growing is passed around between variables.
                let longest = |value: &Value| value.members().iter().map(|member| member.text.len()).max();
                if known.is_some_and(|known| longest(known) >= longest(value) && longest(value).is_some()) {
                    state.meter.report(&SHELL_STEPS);
                }
                *value = value.join(None);
            }
        }
        if effects.sets_anything {
            state.variables.values_mut().for_each(|value| *value = value.join(None));
        }
        if effects.shifts {
            state.clear_positional();
            if !effects.sets_positional && !all.is_empty() {
                state.variables.insert("1".to_owned(), Value::any_of(&all.iter().collect::<Vec<_>>()));
            }
        }
        if effects.leaves_cwd || !effects.depth.is_empty() || !effects.absolute_cwds.is_empty() {
            let unknown = (effects.leaves_cwd || !effects.depth.is_empty()).then_some(None);
            let places = effects.absolute_cwds.into_iter().map(Some).chain(unknown);
            let others = places.map(|path| PossibleCwd { path, after_failed_cd: false });
            let places = state.possible_cwds().into_iter().chain(others).collect();
            state.set_possible_cwds(places);
        }
    }

    /// Adds possible values of variables.
    fn join_values(&mut self, sets: &[(String, Value)]) {
        let mut by_name: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        for (name, value) in sets {
            by_name.entry(name).or_default().push(value);
        }
        let state = Rc::make_mut(&mut self.state);
        for (name, values) in by_name {
            let before = state.variables.get(name);
            let sizes = before.into_iter().chain(values.iter().copied()).map(|value| 2 * copy_cost(value.size()));
            state.meter.charge(sizes.sum());
            let value = match before {
                Some(before) => Value::any_of(&[&[before], values.as_slice()].concat()),
                None => Value::any_of(&values).join(None),
            };
            state.variables.insert(name.to_owned(), value);
        }
    }
}

impl LoopEffects {
    fn is_empty(&self) -> bool {
        self.sets.is_empty()
            && self.depth.is_empty()
            && self.absolute_cwds.is_empty()
            && !(self.leaves_cwd || self.sets_anything || self.shifts)
    }

    /// Scans instructions up to the end of the list that they are in.
    fn scan<'a>(
        &mut self,
        instructions: impl Iterator<Item = &'a Instruction>,
        state: &ShellState,
        bodies: &BTreeMap<String, Vec<FunctionBody>>,
    ) {
        // For each open list, whether it runs in a subshell.
        let mut in_subshell: Vec<bool> = Vec::new();
        let mut is_first = true;
        for instruction in instructions {
            let inside = !in_subshell.last().is_some_and(|in_subshell| *in_subshell);
            if let Instruction::Open(scope) = instruction {
                let is_subshell = matches!(
                    scope,
                    Scope::Subshell | Scope::InputProcess | Scope::OutputProcess | Scope::Substitution(_)
                );
                in_subshell.push(is_subshell || !inside);
            } else if *instruction == Instruction::Close {
                if in_subshell.pop().is_none() {
                    return;
                }
            } else if let Instruction::LoopVariable(variable) = instruction {
                // The variable of this loop itself is set at the start of each iteration.
                if !std::mem::take(&mut is_first) && inside {
                    self.sets.push((variable.name.clone(), Value::Unknown));
                }
            } else if let Instruction::Arithmetic(expression) = instruction {
                if inside {
                    let assigned = arithmetic_names(expression).into_iter().filter(|name| name.is_assigned);
                    self.sets.extend(assigned.map(|name| (name.text.to_owned(), Value::Unknown)));
                }
            } else if let Instruction::Simple(simple) = instruction
                && inside
            {
                self.scan_command(simple, state, bodies);
            }
        }
    }

    fn scan_command(
        &mut self,
        simple: &SimpleCommand,
        state: &ShellState,
        bodies: &BTreeMap<String, Vec<FunctionBody>>,
    ) {
        if simple.words.is_empty() {
            for set in &simple.assignments {
                let word = set.value.as_ref().filter(|word| !set.appends && set.subscript.is_none() && !counts(word));
                let values = word.map(|word| expand::expand_value(word, state)).unwrap_or_default();
                self.sets.push((set.name.clone(), Value::from_args(&values)));
                if set.array.is_some() || set.subscript.is_some() {
                    let start = format!("{}[", set.name);
                    let elements =
                        state.variables.range(start.clone()..).take_while(|(name, _)| name.starts_with(&start));
                    self.sets.extend(elements.map(|(name, _)| (name.clone(), Value::Unknown)));
                }
            }
            return;
        }
        let mut words = simple.words.iter().map(start).skip_while(|word| matches!(*word, "command" | "builtin"));
        let program = words.next().unwrap_or_default();
        let operands = words.clone().filter(|word| !word.starts_with('-') || *word == "-");
        match program {
            "cd" | "pushd" | "popd" => {
                // The expansion may lead upwards.
                let up = |part: &WordPart| matches!(part, WordPart::Plain(text) | WordPart::Quoted(text) if text.contains(".."));
                let put_together = |word: &Word| word.parts.len() > 1 && word.parts.iter().any(up);
                self.leaves_cwd |= simple.words.iter().any(put_together);
                self.move_to(program, operands.clone().next(), state);
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                let values = simple.words.iter().skip(1).flat_map(|word| expand::expand_string(word, state));
                for arg in values {
                    if let Some((name, value)) = arg.text.split_once('=') {
                        let value = if arg.is_known() { Value::Known(value.to_owned()) } else { Value::Unknown };
                        self.sets.push((name.trim_end_matches('+').to_owned(), value));
                    }
                }
            }
            "read" | "mapfile" | "readarray" | "getopts" | "let" | "printf" | "unset" => {
                let names = operands.map(|word| word.split(['=', '[', '+']).next().unwrap_or_default().to_owned());
                self.sets.extend(names.filter(|name| !name.is_empty()).map(|name| (name, Value::Unknown)));
            }
            "shift" | "set" => {
                self.shifts = true;
                self.sets_positional |= program == "set";
            }
            "eval" | "source" | "." => self.sets_anything = true,
            program => {
                // Functions that the function calls are not scanned.
                for body in bodies.get(program).into_iter().flatten() {
                    self.scan(body.instructions.iter(), state, &BTreeMap::new());
                }
            }
        }
    }

    /// Notes a change of directory. `cd x; …; cd ..` returns to the start.
    fn move_to(&mut self, program: &str, to: Option<&str>, state: &ShellState) {
        match to {
            _ if program == "popd" => self.leaves_cwd |= !self.depth.pop().is_some_and(|(_, pushed)| pushed),
            Some("-") => self.leaves_cwd |= self.depth.pop().is_none(),
            None => self.absolute_cwds.extend(state.home.as_deref().map(Rc::from)),
            Some(path) if path.starts_with('/') => self.absolute_cwds.push(Rc::from(path)),
            Some(path) if path.starts_with('~') => self.absolute_cwds.extend(state.home.as_deref().map(Rc::from)),
            Some(path) => {
                let parts = || path.split('/').filter(|part| !matches!(*part, "" | "."));
                let up = parts().filter(|part| *part == "..").count();
                let down = parts().count() - up;
                match (up, down) {
                    (0, down) => self.depth.push((down.max(1), program == "pushd")),
                    // Back by as many levels as it went down.
                    (up, 0) => self.leaves_cwd |= self.depth.pop() != Some((up, false)),
                    _ => self.leaves_cwd = true,
                }
            }
        }
    }
}

/// Whether the value of a word may be another one in each iteration without growing: `i=$((i+1))`, `x=${x:1}`.
fn counts(word: &Word) -> bool {
    word.parts.iter().any(|part| match part {
        WordPart::Arithmetic { .. } => true,
        WordPart::Variable(variable) => {
            variable.subscript.is_some() || variable.operator.as_ref().is_some_and(|by| !by.starts_with(['%', '#']))
        }
        WordPart::Plain(_)
        | WordPart::Quoted(_)
        | WordPart::Output { .. }
        | WordPart::List(_)
        | WordPart::Unknown { .. } => false,
    })
}

/// Returns the literal start of a word.
fn start(word: &Word) -> &str {
    match word.parts.first() {
        Some(WordPart::Plain(text) | WordPart::Quoted(text)) => text,
        _ => "",
    }
}
