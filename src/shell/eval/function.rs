//! Calls of functions, and what the rest of the line provides to a command.

use super::super::state::{ShellState, Value, is_positional};
use super::super::syntax::{Instruction, WordParts};
use super::super::{Arg, Command};
use super::Evaluator;
use super::deferred::extend_via;
use super::execution::{Execution, ShellSharing};
use super::variables::join_words;
use crate::shell::{expand, wrappers};
use crate::verdict::limits::SHELL_NESTING;
use compact_str::CompactString;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

/// The definition of a function.
#[derive(Clone)]
pub(super) struct FunctionBody {
    pub instructions: VecDeque<Instruction>,
    pub heredocs: Rc<Vec<WordParts>>,
    /// The definition certainly ran.
    pub unconditional: bool,
    /// The position in the line, if the definition is in a text that the line runs.
    pub span: Option<Range<usize>>,
}

/// Sets and exports the variables that are set for a command.
pub(super) fn assign_env(state: &mut Rc<ShellState>, env: &[(String, Option<String>)]) {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, _) in env {
        *names.entry(name).or_default() += 1;
    }
    for (name, value) in env {
        let value = value.clone().map_or(Value::Unknown, Value::Known);
        // Repeated names are alternatives.
        let twice = names.get(name.as_str()).is_some_and(|count| *count > 1);
        let state = Rc::make_mut(state);
        let value = if twice { value.join(state.variables.get(name)) } else { value };
        state.variables.insert(name.clone(), value);
        state.exported.insert(name.clone());
    }
}

/// Steps for copying one instruction of a function's body.
const BODY_INSTRUCTION_STEPS: usize = 10;

/// Steps for each variable in the evaluation of one body.
const BODY_VARIABLE_STEPS: usize = 20;

/// The most active calls of a function that are followed with known arguments.
const MAX_KNOWN_RECURSION: usize = 6;

/// Sets the positional parameters.
pub(super) fn set_positional(state: &mut ShellState, args: &[Arg]) {
    state.meter.charge(8 * state.variables.len() + 16 * args.len());
    state.variables.retain(|name, _| !is_positional(name));
    for (at, arg) in args.iter().enumerate() {
        state.variables.insert((at + 1).to_string(), Value::from_arg(arg));
    }
    // If all words are known, the following parameters are unset.
    if args.iter().all(|arg| arg.is_known() && !arg.glob) {
        for at in args.len()..9 {
            state.variables.insert((at + 1).to_string(), Value::Known(String::new()));
        }
    }
    state.variables.insert("@".to_owned(), join_words(args));
    state.positional = Some(args.to_vec());
}

impl Evaluator<'_> {
    /// Begins the evaluation of a function. Without a caller, its arguments are unknown.
    pub(super) fn call(&mut self, name: &str, caller: Option<&Command>, sharing: ShellSharing) {
        self.uncalled.remove(name);
        let Some(bodies) = self.bodies.get(name).cloned() else { return };
        let instructions: usize = bodies.iter().map(|body| body.instructions.len()).sum();
        // Each body that sets something copies the variables, and its state is merged with that of its caller.
        let variables = self.executions.last().map_or(0, |below| below.state.variables.len());
        self.meter.charge(BODY_INSTRUCTION_STEPS * (1 + instructions) + BODY_VARIABLE_STEPS * bodies.len() * variables);
        let starter = self.executions.len().saturating_sub(1);
        let depth = 1 + self.executions.get(starter).map_or(0, |execution| execution.depth);
        if depth >= SHELL_NESTING.most {
            self.meter.report(&SHELL_NESTING);
            return;
        }
        let is_certain = bodies.len() == 1 && bodies.iter().all(|body| body.unconditional);
        let sharing = if is_certain { sharing } else { sharing.weaken() };
        let Some(below) = self.executions.last_mut() else { return };
        let (mut state, hidden) = (Rc::clone(&below.state), below.hidden);
        // The limit is reported. Without variables, the remaining bodies take linear time.
        if self.meter.is_exhausted() {
            Rc::make_mut(&mut state).variables.clear();
        }
        let span = below.span.clone().or(caller.map(|command| command.span.clone()));
        let env = caller.map(|command| command.env.as_slice()).unwrap_or_default();
        assign_env(&mut state, env);
        match caller {
            Some(command) => set_positional(Rc::make_mut(&mut state), &command.args),
            None => Rc::make_mut(&mut state).clear_positional(),
        }
        // The parentheses distinguish it from the program of that name.
        let via = extend_via(caller.map(|command| command.via.clone()).unwrap_or_default(), &format!("{name}()"));
        for FunctionBody { instructions, heredocs, span: own, .. } in bodies {
            let pipeline = self.next_pipeline();
            self.executions.push(Execution {
                starter,
                depth,
                instructions,
                heredocs,
                via: via.clone(),
                span: span.clone().or(own),
                sharing,
                hidden,
                function: Some(name.to_owned()),
                in_function: true,
                temporary: env.iter().map(|(name, _)| name.clone()).collect(),
                ..Execution::new(Rc::clone(&state), pipeline)
            });
            if let Some((execution, caller)) = self.executions.last_mut().zip(caller) {
                execution.keep_input(&caller.input);
            }
        }
    }

    /// The call to be evaluated, if it has to be. A recursive call is followed for each list of known arguments, and once for
    /// unknown ones. What a condition ends is not known, so calls deep in the recursion have unknown arguments:
    /// `f() { f $(($1 - 1)); }`.
    pub(super) fn followed_call(&mut self, command: &Command) -> Option<Command> {
        let active = self
            .executions
            .iter()
            .filter(|execution| execution.function.as_deref() == Some(command.program.as_str()))
            .count();
        let mut call = command.clone();
        if active == 0 {
            return Some(call);
        }
        let known = command.args.iter().all(|arg| arg.is_known() && !arg.glob);
        if known && active >= MAX_KNOWN_RECURSION {
            call.args = command.args.iter().map(|_| expand::unknown_arg()).collect();
        }
        let words: Vec<CompactString> = call.args.iter().map(|arg| arg.text.clone()).collect();
        self.meter.charge(words.len());
        ((known || active < 2) && self.recursions.insert((command.program.clone(), words))).then_some(call)
    }

    /// Calls a function that no command calls by name; it may be called indirectly. Returns whether there was one.
    pub(super) fn call_uncalled_function(&mut self) -> bool {
        let Some(name) = self.uncalled.first().cloned() else { return false };
        self.call(&name, None, ShellSharing::MaybeSame);
        true
    }

    /// Returns the file names that the previous commands of the pipeline print for an `xargs`.
    pub(super) fn piped_names(&self, command: &Command) -> Option<wrappers::Names> {
        let rows = self.stages.get(&command.pipeline)?.iter().rev();
        let before = rows.filter_map(|row| self.reading.commands.get(*row));
        let before = before.filter(|other| other.stage < command.stage && command.via.starts_with(&other.via));
        wrappers::names(before, command)
    }
}
