//! Functions and lists of names: what a command is handed by the line context it.

use super::super::state::{ShellState, Value, is_positional};
use super::super::syntax::{Instruction, WordParts};
use super::super::{Arg, Command};
use super::Evaluator;
use super::deferred::extend_via;
use super::execution::{Execution, ShellSharing, join_words};
use crate::shell::effects::Target;
use crate::shell::inline::Language;
use crate::shell::wrappers;
use crate::shell::wrappers::Inner;
use crate::verdict::limits::SHELL_NESTING;
use compact_str::CompactString;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

/// The body of a function.
#[derive(Clone)]
pub(super) struct FunctionBody {
    pub instructions: VecDeque<Instruction>,
    pub heredocs: Rc<Vec<WordParts>>,
    pub called: bool,
    /// Nothing had to happen for it to be defined.
    pub certain: bool,
    /// Where it stands in the line, if the text that defines it is not the line.
    pub span: Option<Range<usize>>,
}

/// What stands context a call: who runs it, where, and which variables are set for it.
#[derive(Default)]
pub(super) struct CallContext {
    pub via: Vec<String>,
    pub span: Option<Range<usize>>,
    pub env: Vec<(String, Option<String>)>,
}

/// Variables that are set for a command, in the shell that runs it.
pub(super) fn assign_env(state: &mut Rc<ShellState>, env: &[(String, Option<String>)]) {
    for (name, value) in env {
        let value = value.clone().map_or(Value::Unknown, Value::Known);
        // What is said twice may be either.
        let twice = env.iter().filter(|(other, _)| other == name).count() > 1;
        let state = Rc::make_mut(state);
        let value = if twice { value.join(state.variables.get(name)) } else { value };
        state.variables.insert(name.clone(), value);
        state.exported.insert(name.clone());
    }
}

/// What copying one step of a function's body costs.
const BODY_INSTRUCTION_STEPS: usize = 10;

/// Words as `$1`, `$2` and so on.
pub(super) fn set_positional(state: &mut ShellState, args: &[Arg]) {
    state.meter.charge(state.variables.len() + 16 * args.len());
    state.variables.retain(|name, _| !is_positional(name));
    for (at, arg) in args.iter().enumerate() {
        state.variables.insert((at + 1).to_string(), Value::from_arg(arg));
    }
    // Behind words that are all known, there are none.
    if args.iter().all(|arg| arg.is_known() && !arg.glob) {
        for at in args.len()..9 {
            state.variables.insert((at + 1).to_string(), Value::Known(String::new()));
        }
    }
    state.variables.insert("@".to_owned(), join_words(args));
    state.positional = Some(args.to_vec());
}

impl Evaluator<'_> {
    /// Walks the body of a function with what it is given, where that is known.
    pub(super) fn call(&mut self, name: &str, args: Option<&[Arg]>, context: CallContext, shared: ShellSharing) {
        let CallContext { via, span, env } = context;
        let Some(bodies) = self.bodies.get_mut(name) else { return };
        bodies.iter_mut().for_each(|body| body.called = true);
        let bodies = bodies.clone();
        let steps: usize = bodies.iter().map(|body| body.instructions.len()).sum();
        self.meter.charge(BODY_INSTRUCTION_STEPS * (1 + steps));
        let starter = self.executions.len().saturating_sub(1);
        let depth = 1 + self.executions.get(starter).map_or(0, |execution| execution.depth);
        if depth >= SHELL_NESTING.most {
            self.reading.exceeded.get_or_insert(&SHELL_NESTING);
            return;
        }
        // Of several, nobody knows which it is.
        let one = bodies.len() == 1 && bodies.iter().all(|body| body.certain);
        let shared = if !one && shared == ShellSharing::Same { ShellSharing::MaybeSame } else { shared };
        let Some(below) = self.executions.last_mut() else { return };
        let (mut state, hidden) = (Rc::clone(&below.state), below.hidden);
        let span = below.span.clone().or(span);
        assign_env(&mut state, &env);
        match args {
            Some(args) => set_positional(Rc::make_mut(&mut state), args),
            None => {
                let state = Rc::make_mut(&mut state);
                state.variables.retain(|name, _| !is_positional(name));
                state.positional = None;
            }
        }
        // Not the program of that name.
        let via = extend_via(via, &format!("{name}()"));
        for FunctionBody { instructions, heredocs, span: own, .. } in bodies {
            let pipeline = self.next_pipeline();
            self.executions.push(Execution {
                starter,
                depth,
                instructions,
                heredocs,
                via: via.clone(),
                span: span.clone().or(own),
                shared,
                hidden,
                function: Some(name.to_owned()),
                temporary: env.iter().map(|(name, _)| name.clone()).collect(),
                ..Execution::new(Rc::clone(&state), pipeline)
            });
        }
    }

    /// Whether a function is not yet being walked with these arguments. One that calls itself is followed as long as all
    /// of its new arguments are known, and once where they are not.
    pub(super) fn should_follow_call(&mut self, command: &Command) -> bool {
        let active = self
            .executions
            .iter()
            .filter(|execution| execution.function.as_deref() == Some(command.program.as_str()))
            .count();
        if active == 0 {
            return true;
        }
        let known = command.args.iter().all(|arg| arg.is_known() && !arg.glob);
        let words: Vec<CompactString> = command.args.iter().map(|arg| arg.text.clone()).collect();
        self.meter.charge(words.len());
        (known || active < 2) && self.recursions.insert((command.program.clone(), words))
    }

    /// A function that nobody has called by its name may still be called by another; tells whether there is one.
    pub(super) fn call_uncalled_function(&mut self) -> bool {
        let uncalled = self.bodies.iter().find(|(_, bodies)| bodies.iter().any(|body| !body.called));
        let Some(name) = uncalled.map(|(name, _)| name.clone()) else { return false };
        self.call(&name, None, CallContext::default(), ShellSharing::MaybeSame);
        true
    }

    /// What a command runs from a file that the line itself has written.
    pub(super) fn written_script(&self, command: &Command) -> Option<Inner> {
        if self.files.is_empty() {
            return None;
        }
        let language = Language::from_program(&command.program);
        let program = Some(Arg::literal(command.program.clone())).filter(|program| program.text.contains('/'));
        let text = [command.script(), program].into_iter().flatten().find_map(|word| {
            let path = Target::of(&word, command.cwd.as_deref()).path?.to_string();
            self.files.get(&path).cloned()
        })?;
        Some(match language {
            Some(language) => Inner::Code { language, text },
            None => Inner::Text { text, shared: false },
        })
    }

    /// Words for the names that a pipeline hands to a command.
    pub(super) fn piped_names(&self, command: &Command) -> Option<wrappers::Names> {
        let rows = self.stages.get(&command.pipeline)?.iter().rev();
        let before = rows.filter_map(|row| self.reading.commands.get(*row));
        let before = before.filter(|other| other.stage < command.stage && command.via.starts_with(&other.via));
        wrappers::names(before, command)
    }
}
