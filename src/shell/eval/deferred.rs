//! What a command runs in turn, and what a text leaves behind when it ends.

use super::super::state::{Value, is_positional};
use super::super::syntax::Instruction;
use super::super::{Arg, Command};
use super::Evaluator;
use super::execution::{OnClose, ShellSharing, Trap};
use super::function::{self, CallContext};
use crate::verdict::limits::SHELL_STEPS;
use compact_str::CompactString;
use std::rc::Rc;

/// What a command runs, and is walked when the command itself is done with.
#[derive(Default)]
pub(super) struct Deferred {
    /// Functions, with what they are given.
    pub calls: Vec<(CompactString, Vec<Arg>, CallContext)>,
    pub texts: Vec<DeferredText>,
}

/// A text that a command runs.
pub(super) struct DeferredText {
    pub text: String,
    /// It runs in the shell that runs the command.
    pub in_shell: bool,
    pub via: Vec<String>,
    pub context: Command,
    /// What it finds in `$0`, `$1` and so on, where that is known.
    pub given: Option<Vec<Arg>>,
}

/// What is run by one more program.
pub(super) fn extend_via(mut via: Vec<String>, program: &str) -> Vec<String> {
    via.push(program.to_owned());
    via
}

impl Evaluator<'_> {
    /// Begins with the texts and functions that a command runs in turn.
    pub(super) fn enter_deferred(&mut self, deferred: Deferred, shared: ShellSharing) {
        let Some(at) = self.executions.len().checked_sub(1) else { return };
        for (name, args, context) in deferred.calls {
            self.call(&name, Some(&args), context, shared);
        }
        let shared =
            if deferred.texts.len() > 1 && shared == ShellSharing::Same { ShellSharing::MaybeSame } else { shared };
        // The one on top comes first.
        for DeferredText { text, in_shell, via, context, given } in deferred.texts.into_iter().rev() {
            // What is left is not read: the limit is reported.
            if self.meter.exceeds(&SHELL_STEPS) {
                break;
            }
            let Some(execution) = self.executions.get_mut(at) else { return };
            let traps = via.last().is_some_and(|last| last == "trap");
            if traps {
                execution.traps.push(Trap {
                    text: text.clone(),
                    span: context.span.clone(),
                    then: Rc::clone(&execution.state),
                    depth: execution.lists.len(),
                });
            }
            let mut state = Rc::clone(&execution.state);
            // Only a shell of its own has variables of its own.
            if !in_shell && !traps && via.last().is_none_or(|last| last != "alias") {
                state = Rc::new(state.for_child_shell());
            }
            if let Some(given) = &given {
                function::set_positional(Rc::make_mut(&mut state), given.get(1..).unwrap_or_default());
                let first = given.first().map(|first| ("0".to_owned(), Value::from_arg(first)));
                Rc::make_mut(&mut state).variables.extend(first);
            }
            function::assign_env(&mut state, &context.env);
            let there = Rc::make_mut(&mut state);
            there.cwd = context.cwd;
            there.other_cwds = context.other_cwds;
            there.mounts = context.mounts;
            let shared = if in_shell { shared } else { ShellSharing::Separate };
            if self.enter_text(&text, via, state, (context.span, shared), at)
                && let Some(execution) = self.executions.last_mut()
            {
                execution.hidden = context.hidden;
                execution.temporary = context.env.into_iter().map(|(name, _)| name).collect();
            }
        }
    }

    /// A text that is at its end may have said what is to run then.
    pub(super) fn enter_exit_text(&mut self) -> bool {
        let Some(execution) = self.executions.last_mut() else { return false };
        execution.end();
        let (state, via) = (Rc::clone(&execution.state), execution.via.clone());
        while let Some(Trap { text, span, then, .. }) =
            execution.traps.pop_if(|_| execution.shared == ShellSharing::Separate)
        {
            // As long as nothing has changed, it was walked where it was said.
            if !Rc::ptr_eq(&then, &state) {
                let via = extend_via(via, "trap");
                let starter = self.executions.len().saturating_sub(1);
                return self.enter_text(&text, via, state, (span, ShellSharing::Separate), starter);
            }
        }
        let last = self.executions.len() == 1;
        last && self.call_uncalled_function()
    }

    /// A list ends; where it is a shell of its own, what was to run at its end runs first.
    pub(super) fn close(&mut self) {
        let Some(execution) = self.executions.last_mut() else { return };
        let depth = execution.lists.len();
        let own = execution
            .lists
            .last()
            .is_some_and(|list| matches!(list.outside, OnClose::Restore(_) | OnClose::Substitution(..)));
        if let Some(Trap { text, span, .. }) = execution.traps.pop_if(|trap| own && trap.depth >= depth) {
            execution.end();
            execution.instructions.push_front(Instruction::Close);
            let (state, via) = (Rc::clone(&execution.state), extend_via(execution.via.clone(), "trap"));
            let starter = self.executions.len().saturating_sub(1);
            self.enter_text(&text, via, state, (span, ShellSharing::Separate), starter);
            return;
        }
        execution.close();
        let depth = execution.lists.len();
        execution.traps.iter_mut().for_each(|trap| trap.depth = trap.depth.min(depth));
    }

    pub(super) fn leave_text(&mut self) {
        let Some(mut execution) = self.executions.pop() else { return };
        let Some(below) = self.executions.get_mut(execution.starter) else { return };
        if execution.shared != ShellSharing::Separate {
            let outer = Rc::clone(&below.state);
            // What it was given, and what it calls its own, is gone with it.
            if execution.function.is_some() || !execution.temporary.is_empty() {
                let called = execution.function.is_some();
                let local =
                    |name: &str, certain: bool| execution.locals.iter().any(|own| own.0 == name && own.1 == certain);
                let own = |name: &str| {
                    let temporary = execution.temporary.iter().any(|temporary| temporary == name);
                    (called && (is_positional(name) || local(name, true))) || temporary
                };
                let variables = &mut Rc::make_mut(&mut execution.state).variables;
                variables.retain(|name, _| !own(name));
                for (name, value) in variables.iter_mut().filter(|(name, _)| called && local(name, false)) {
                    *value = value.join(outer.variables.get(name));
                }
                let given = outer.variables.iter().filter(|(name, _)| own(name));
                variables.extend(given.map(|(name, value)| (name.clone(), value.clone())));
                if called {
                    Rc::make_mut(&mut execution.state).positional = outer.positional.clone();
                }
            }
            if execution.function.is_none() {
                below.locals.append(&mut execution.locals);
            }
            let depth = below.lists.len();
            below.traps.extend(execution.traps.into_iter().map(|trap| Trap { depth, ..trap }));
            below.state = execution.state;
            if execution.shared == ShellSharing::MaybeSame {
                below.state.join(&outer);
            }
        } else if let Some(number) = execution.number {
            let printed = match execution.lists.as_slice() {
                [list] if list.commands == 1 => list.output.clone(),
                _ => None,
            };
            below.set_output(number, printed);
        }
    }
}
