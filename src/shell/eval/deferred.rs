//! Texts and functions that a command runs, traps, and the effects of a text on the shell that runs it.

use super::super::state::{Value, is_positional};
use super::super::syntax::{Instruction, ScriptLanguage};
use super::super::{Arg, Command, wrappers};
use super::Evaluator;
use super::execution::{ListContext, OnClose, ShellSharing, Trap};
use super::function;
use crate::verdict::limits::SHELL_STEPS;
use std::rc::Rc;

/// What a command runs. It is evaluated after the command itself.
#[derive(Default)]
pub(super) struct Deferred {
    /// Calls of functions.
    pub calls: Vec<Command>,
    pub texts: Vec<DeferredText>,
}

/// A text that a command runs.
pub(super) struct DeferredText {
    pub text: String,
    pub language: ScriptLanguage,
    /// It runs in the same shell as the command.
    pub in_shell: bool,
    /// The properties that commands of the text inherit.
    pub context: Command,
    /// The values of `$0`, `$1` and so on, if they are known.
    pub parameters: Option<Vec<Arg>>,
    /// The alias that the text is.
    pub alias: Option<String>,
}

/// Appends a program to the list of programs that run a command.
pub(super) fn extend_via(mut via: Vec<String>, program: &str) -> Vec<String> {
    via.push(program.to_owned());
    via
}

/// Notes that the shell reads the output of the commands from `first` on.
fn capture(commands: &mut [Command], first: usize) {
    commands.iter_mut().skip(first).for_each(|command| command.is_captured = true);
}

impl Evaluator<'_> {
    /// Begins the evaluation of what a command runs.
    pub(super) fn enter_deferred(&mut self, deferred: Deferred, sharing: ShellSharing) {
        let Some(starter) = self.executions.len().checked_sub(1) else { return };
        let is_single = deferred.calls.len() + deferred.texts.len() == 1;
        for command in deferred.calls {
            self.call(&command.program, Some(&command), sharing);
            if let Some(execution) = self.executions.last_mut().filter(|_| is_single) {
                execution.forwards = execution.function.is_some();
            }
        }
        let sharing = if deferred.texts.len() > 1 { sharing.weaken() } else { sharing };
        // `executions` is a stack: the first text is pushed last.
        for DeferredText { text, language, in_shell, context, parameters, alias } in deferred.texts.into_iter().rev() {
            // The limit is reported by the evaluation loop.
            if self.meter.exceeds(&SHELL_STEPS) {
                break;
            }
            let Some(execution) = self.executions.get_mut(starter) else { return };
            let runner = context.via.last().map_or("", String::as_str);
            if runner == "trap" {
                execution.traps.push(Trap {
                    text: text.clone(),
                    span: context.span.clone(),
                    state: Rc::clone(&execution.state),
                    depth: execution.lists.len(),
                });
            }
            let in_function = in_shell && execution.in_function;
            let mut state = Rc::clone(&execution.state);
            if !in_shell && !matches!(runner, "trap" | "alias") {
                state = Rc::new(state.for_child_shell());
            }
            if let Some(parameters) = &parameters {
                let state = Rc::make_mut(&mut state);
                function::set_positional(state, parameters.get(1..).unwrap_or_default());
                state.variables.extend(parameters.first().map(|first| ("0".to_owned(), Value::from_arg(first))));
            }
            if !in_shell && wrappers::runs_last_stage(runner) {
                Rc::make_mut(&mut state).options.lastpipe = true;
            }
            function::assign_env(&mut state, &context.env);
            let inner = Rc::make_mut(&mut state);
            inner.cwd = context.cwd;
            inner.other_cwds = context.other_cwds;
            inner.container = context.container;
            let sharing = if in_shell { sharing } else { ShellSharing::Separate };
            let forwards = is_single && (in_shell || parameters.is_some());
            if self.enter_text((&text, language), context.via, state, (context.span, sharing), starter)
                && let Some(execution) = self.executions.last_mut()
            {
                execution.hidden = context.hidden;
                execution.forwards = forwards;
                execution.in_function = in_function;
                execution.alias = alias;
                if in_shell || parameters.is_some() {
                    execution.keep_input(&context.input);
                }
                execution.temporary = context.env.into_iter().map(|(name, _)| name).collect();
            }
        }
    }

    /// Enters a text that runs at the end of the active one: an exit trap, or a function that was never called. Returns
    /// whether there was one.
    pub(super) fn enter_exit_text(&mut self) -> bool {
        let Some(execution) = self.executions.last_mut() else { return false };
        execution.end_chain();
        while let Some(trap) = execution.traps.pop_if(|_| execution.sharing == ShellSharing::Separate) {
            // The text was evaluated at the `trap` command. It has to be evaluated again only in another state.
            if !Rc::ptr_eq(&trap.state, &execution.state) {
                return self.enter_trap(trap);
            }
        }
        self.executions.len() == 1 && self.call_uncalled_function()
    }

    fn enter_trap(&mut self, Trap { text, span, .. }: Trap) -> bool {
        let Some(execution) = self.executions.last() else { return false };
        let (state, via) = (Rc::clone(&execution.state), extend_via(execution.via.clone(), "trap"));
        let starter = self.executions.len().saturating_sub(1);
        self.enter_text((&text, ScriptLanguage::Bash), via, state, (span, ShellSharing::Separate), starter)
    }

    /// Closes the current list. If it is a subshell, its exit traps run first.
    pub(super) fn close(&mut self) {
        let Some(execution) = self.executions.last_mut() else { return };
        let depth = execution.lists.len();
        let is_subshell = execution.lists.last().is_some_and(|list| {
            matches!(list.on_close, OnClose::Restore(_) | OnClose::Process(_) | OnClose::Substitution(..))
        });
        if let Some(trap) = execution.traps.pop_if(|trap| is_subshell && trap.depth >= depth) {
            execution.end_chain();
            execution.instructions.push_front(Instruction::Close);
            self.enter_trap(trap);
            return;
        }
        let is_read = |list: &&ListContext| matches!(list.on_close, OnClose::Substitution(..) | OnClose::Process(_));
        let mut number = None;
        let mut names = None;
        if let Some(list) = execution.lists.last().filter(is_read) {
            number = if let OnClose::Substitution(number, _) = &list.on_close { Some(*number) } else { None };
            let first = list.first;
            capture(&mut self.reading.commands, first);
            names = Some(self.listed_by(first..self.reading.commands.len()));
        }
        let Some(execution) = self.executions.last_mut() else { return };
        execution.close_list();
        match (number, names) {
            (Some(number), Some(names)) => execution.set_listed(number, names),
            (None, Some(names)) => execution.process_names = names.into(),
            (_, None) => {}
        }
        let depth = execution.lists.len();
        execution.traps.iter_mut().for_each(|trap| trap.depth = trap.depth.min(depth));
    }

    /// Ends the active text and applies its effects to the text that runs it.
    pub(super) fn leave_text(&mut self) {
        let Some(mut execution) = self.executions.pop() else { return };
        // The text between backquotes.
        let mut names = Vec::new();
        if let Some(list) = execution.lists.first().filter(|_| execution.number.is_some()) {
            capture(&mut self.reading.commands, list.first);
            names = self.listed_by(list.first..self.reading.commands.len());
        }
        let Some(below) = self.executions.get_mut(execution.starter) else { return };
        let printed = match execution.lists.as_mut_slice() {
            [list] => list.take_printed(),
            _ => None,
        };
        if let Some(number) = execution.number {
            below.set_output(number, printed);
            below.set_listed(number, names);
            return;
        }
        // What the text prints is the output of the command that runs it.
        let list = below.list();
        if list.prints {
            list.output = printed.filter(|_| execution.forwards && execution.sharing != ShellSharing::MaybeSame);
        }
        if execution.sharing == ShellSharing::Separate {
            return;
        }
        let outer = Rc::clone(&below.state);
        let is_function = execution.function.is_some();
        // Restore positional parameters, local variables and variables that were set for the text only.
        if is_function || !execution.temporary.is_empty() {
            let is_restored = |name: &str| {
                (is_function && (is_positional(name) || execution.locals.contains(name)))
                    || execution.temporary.contains(name)
            };
            let state = Rc::make_mut(&mut execution.state);
            state.variables.retain(|name, _| !is_restored(name));
            for (name, value) in
                state.variables.iter_mut().filter(|(name, _)| is_function && execution.possible_locals.contains(*name))
            {
                *value = value.join(outer.variables.get(name));
            }
            let restored = outer.variables.iter().filter(|(name, _)| is_restored(name));
            state.variables.extend(restored.map(|(name, value)| (name.clone(), value.clone())));
            if is_function {
                state.positional = outer.positional.clone();
            }
        }
        if !is_function {
            below.locals.append(&mut execution.locals);
            below.possible_locals.append(&mut execution.possible_locals);
        }
        let depth = below.lists.len();
        below.traps.extend(execution.traps.into_iter().map(|trap| Trap { depth, ..trap }));
        below.state = execution.state;
        if execution.sharing == ShellSharing::MaybeSame {
            below.state.join(&outer);
        }
    }
}
