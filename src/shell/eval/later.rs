//! What a command runs in turn, and what a text leaves behind when it ends.

use super::super::state::{Value, is_parameter};
use super::super::syntax::Step;
use super::super::{Arg, Command};
use super::Walker;
use super::function::{self, Around};
use super::run::{Outside, Shared, Trap};
use crate::verdict::limits::SHELL_STEPS;
use compact_str::CompactString;
use std::rc::Rc;

/// What a command runs, and is walked when the command itself is done with.
#[derive(Default)]
pub(super) struct Later {
    /// Functions, with what they are given.
    pub called: Vec<(CompactString, Vec<Arg>, Around)>,
    pub texts: Vec<Text>,
}

/// A text that a command runs.
pub(super) struct Text {
    pub text: String,
    /// It runs in the shell that runs the command.
    pub in_shell: bool,
    pub via: Vec<String>,
    pub around: Command,
    /// What it finds in `$0`, `$1` and so on, where that is known.
    pub given: Option<Vec<Arg>>,
}

/// What is run by one more program.
pub(super) fn within(mut via: Vec<String>, program: &str) -> Vec<String> {
    via.push(program.to_owned());
    via
}

impl Walker<'_> {
    /// Begins with the texts and functions that a command runs in turn.
    pub(super) fn go_on(&mut self, later: Later, shared: Shared) {
        let Some(at) = self.runs.len().checked_sub(1) else { return };
        for (name, args, around) in later.called {
            self.call(&name, Some(&args), around, shared);
        }
        let shared = if later.texts.len() > 1 && shared == Shared::Yes { Shared::Perhaps } else { shared };
        // The one on top comes first.
        for Text { text, in_shell, via, around, given } in later.texts.into_iter().rev() {
            // What is left is not read: the limit is reported.
            if self.meter.exceeds(&SHELL_STEPS) {
                break;
            }
            let Some(run) = self.runs.get_mut(at) else { return };
            let traps = via.last().is_some_and(|last| last == "trap");
            if traps {
                run.traps.push(Trap {
                    text: text.clone(),
                    span: around.span.clone(),
                    then: Rc::clone(&run.state),
                    depth: run.levels.len(),
                });
            }
            let mut state = Rc::clone(&run.state);
            // Only a shell of its own has variables of its own.
            if !in_shell && !traps && via.last().is_none_or(|last| last != "alias") {
                state = Rc::new(state.started());
            }
            if let Some(given) = &given {
                function::give(Rc::make_mut(&mut state), given.get(1..).unwrap_or_default());
                let first = given.first().map(|first| ("0".to_owned(), Value::of(first)));
                Rc::make_mut(&mut state).variables.extend(first);
            }
            function::lend(&mut state, &around.env);
            let there = Rc::make_mut(&mut state);
            there.cwd = around.cwd;
            there.elsewhere = around.elsewhere;
            there.mounts = around.mounts;
            let shared = if in_shell { shared } else { Shared::No };
            if self.enter(&text, via, state, (around.span, shared), at)
                && let Some(run) = self.runs.last_mut()
            {
                run.hidden = around.hidden;
                run.lent = around.env.into_iter().map(|(name, _)| name).collect();
            }
        }
    }

    /// A text that is at its end may have said what is to run then.
    pub(super) fn goes_on(&mut self) -> bool {
        let Some(run) = self.runs.last_mut() else { return false };
        run.end();
        let (state, via) = (Rc::clone(&run.state), run.via.clone());
        while let Some(Trap { text, span, then, .. }) = run.traps.pop_if(|_| run.shared == Shared::No) {
            // As long as nothing has changed, it was walked where it was said.
            if !Rc::ptr_eq(&then, &state) {
                let via = within(via, "trap");
                let starter = self.runs.len().saturating_sub(1);
                return self.enter(&text, via, state, (span, Shared::No), starter);
            }
        }
        let last = self.runs.len() == 1;
        last && self.call_the_uncalled()
    }

    /// A list ends; where it is a shell of its own, what was to run at its end runs first.
    pub(super) fn close(&mut self) {
        let Some(run) = self.runs.last_mut() else { return };
        let depth = run.levels.len();
        let own = run
            .levels
            .last()
            .is_some_and(|level| matches!(level.outside, Outside::Restore(_) | Outside::Substitution(..)));
        if let Some(Trap { text, span, .. }) = run.traps.pop_if(|trap| own && trap.depth >= depth) {
            run.end();
            run.steps.push_front(Step::Close);
            let (state, via) = (Rc::clone(&run.state), within(run.via.clone(), "trap"));
            let starter = self.runs.len().saturating_sub(1);
            self.enter(&text, via, state, (span, Shared::No), starter);
            return;
        }
        run.close();
        let depth = run.levels.len();
        run.traps.iter_mut().for_each(|trap| trap.depth = trap.depth.min(depth));
    }

    pub(super) fn leave(&mut self) {
        let Some(mut run) = self.runs.pop() else { return };
        let Some(below) = self.runs.get_mut(run.starter) else { return };
        if run.shared != Shared::No {
            let outer = Rc::clone(&below.state);
            // What it was given, and what it calls its own, is gone with it.
            if run.function.is_some() || !run.lent.is_empty() {
                let called = run.function.is_some();
                let local = |name: &str, sure: bool| run.locals.iter().any(|own| own.0 == name && own.1 == sure);
                let own = |name: &str| {
                    let lent = run.lent.iter().any(|lent| lent == name);
                    (called && (is_parameter(name) || local(name, true))) || lent
                };
                let variables = &mut Rc::make_mut(&mut run.state).variables;
                variables.retain(|name, _| !own(name));
                for (name, value) in variables.iter_mut().filter(|(name, _)| called && local(name, false)) {
                    *value = value.or(outer.variables.get(name));
                }
                let given = outer.variables.iter().filter(|(name, _)| own(name));
                variables.extend(given.map(|(name, value)| (name.clone(), value.clone())));
                if called {
                    Rc::make_mut(&mut run.state).given = outer.given.clone();
                }
            }
            if run.function.is_none() {
                below.locals.append(&mut run.locals);
            }
            let depth = below.levels.len();
            below.traps.extend(run.traps.into_iter().map(|trap| Trap { depth, ..trap }));
            below.state = run.state;
            if run.shared == Shared::Perhaps {
                below.state.join(&outer);
            }
        } else if let Some(number) = run.number {
            let printed = match run.levels.as_slice() {
                [level] if level.commands == 1 => level.output.clone(),
                _ => None,
            };
            below.printed(number, printed);
        }
    }
}
