//! Functions and lists of names: what a command is handed by the line around it.

use super::super::effect::Target;
use super::super::interpreter::Language;
use super::super::runner::Inner;
use super::super::syntax::{Heredoc, Step};
use super::super::{Arg, Command, Value, runner};
use super::run::{Level, Outside, Run, joined};
use super::{DEEPEST, Walker};
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

/// The body of a function.
#[derive(Clone)]
pub(super) struct Body {
    pub steps: VecDeque<Step>,
    pub heredocs: Rc<Vec<Heredoc>>,
}

impl Walker {
    /// Walks the body of a function with what it is given.
    pub(super) fn call(&mut self, name: &str, args: Vec<Arg>, via: Vec<String>, span: Range<usize>, apart: bool) {
        let Some(bodies) = self.bodies.get(name).cloned() else { return };
        if self.runs.len() + bodies.len() > DEEPEST {
            self.reading.limited = true;
            return;
        }
        let several = bodies.len() > 1;
        let Some(below) = self.runs.last_mut() else { return };
        let (mut state, hidden) = (Rc::clone(&below.state), below.hidden);
        let span = Some(below.span.clone().unwrap_or(span));
        // Of several, nobody knows what the one that runs leaves behind.
        if several {
            let state = Rc::make_mut(&mut below.state);
            state.cwd = None;
            state.variables.retain(|name, _| name == "HOME");
        }
        let variables = &mut Rc::make_mut(&mut state).variables;
        for (at, value) in args.iter().enumerate().take(9) {
            let value = if value.is_known() { Value::Known(value.text.clone()) } else { Value::Written(value.clone()) };
            variables.insert((at + 1).to_string(), value);
        }
        variables.insert("@".to_owned(), joined(&args));
        // Not the program of that name.
        let via = [via.as_slice(), &[format!("{name}()")]].concat();
        for Body { steps, heredocs } in bodies {
            let levels = vec![Level::new(Outside::Same(Rc::clone(&state)), self.next_pipeline(), false)];
            self.runs.push(Run {
                steps,
                heredocs,
                via: via.clone(),
                span: span.clone(),
                levels,
                state: Rc::clone(&state),
                shared: !apart && !several,
                hidden,
                number: None,
                function: Some(name.to_owned()),
                given: Some(args.clone()),
            });
        }
    }

    /// What a command runs from a file that the line itself has written.
    pub(super) fn just_written(&self, command: &Command) -> Option<Inner> {
        if self.files.is_empty() {
            return None;
        }
        let language = Language::of(&command.program);
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
    pub(super) fn listed(&self, command: &Command) -> Option<runner::Names> {
        let before = self.reading.commands.iter().rev().filter(|other| {
            let same = other.pipeline == command.pipeline && other.stage < command.stage;
            same && command.via.starts_with(&other.via)
        });
        runner::names(before, command)
    }
}
