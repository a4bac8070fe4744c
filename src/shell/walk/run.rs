//! One text on its way: its lists, its state, and what a command in it reads and opens.

use super::super::syntax::{Assignment, Direction, Heredoc, Simple, Step, Target, Word};
use super::super::{APART, Arg, Input, Redirect, State, Value, expand};
use super::LONGEST_VALUE;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

/// One text on its way.
pub(super) struct Run {
    pub steps: VecDeque<Step>,
    pub heredocs: Rc<Vec<Heredoc>>,
    pub via: Vec<String>,
    /// Where it stands in the line, if it is not the line.
    pub span: Option<Range<usize>>,
    pub levels: Vec<Level>,
    /// Shared with the scopes around it until one of them changes something.
    pub state: Rc<State>,
    /// It runs in the shell of the text below it, as `eval` does.
    pub shared: bool,
    /// It runs by an option or a line of code.
    pub hidden: bool,
    /// What it prints is the output of this number.
    pub number: Option<usize>,
    /// It is the body of this function.
    pub function: Option<String>,
    /// What `$@` stands for.
    pub given: Option<Vec<Arg>>,
}

/// One list of commands within a text.
pub(super) struct Level {
    pub outside: Outside,
    pub pipeline: usize,
    pub stage: usize,
    /// Commands here read what a pipe feeds to the list.
    pub fed: bool,
    /// What the command before the pipe printed, where that is known.
    pub output: Option<String>,
    /// How many commands and lists it holds so far.
    pub commands: usize,
    /// We are behind `&&` or `||`; these variables were set there.
    pub chained: Option<Vec<(String, Option<Value>)>>,
    /// We are behind `||`.
    pub otherwise: bool,
    /// The directory was changed there.
    pub moved: bool,
}

/// What is in force again when a list ends.
pub(super) enum Outside {
    /// Unless the list is part of a pipeline, everything stays.
    Same(Rc<State>),
    Restore(Rc<State>),
    /// The same, and what was printed is the output of this number.
    Substitution(usize, Rc<State>),
    /// What the function does to its shell happens where it is called.
    Function(String, Rc<State>),
    /// Whatever the list has changed may or may not be so.
    Doubt(Rc<State>),
}

impl Level {
    pub(super) fn new(outside: Outside, pipeline: usize, fed: bool) -> Self {
        Level {
            outside,
            pipeline,
            stage: 0,
            fed,
            output: None,
            commands: 0,
            chained: None,
            otherwise: false,
            moved: false,
        }
    }

    /// The next pipeline of the list.
    pub(super) fn next(&mut self, pipeline: usize) {
        self.pipeline = pipeline;
        self.stage = 0;
        self.output = None;
    }
}

impl Run {
    pub(super) fn level(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            let outside = Outside::Same(Rc::clone(&self.state));
            self.levels.push(Level::new(outside, 0, false));
        }
        let last = self.levels.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "the stack was just seen not to be empty")]
        &mut self.levels[last]
    }

    /// Whether a command of this name comes later in the text.
    pub(super) fn calls(&self, name: &str) -> bool {
        self.steps
            .iter()
            .any(|step| matches!(step, Step::Simple(simple) if simple.words.first().and_then(Word::bare) == Some(name)))
    }

    /// Takes the steps up to the end of the list that has just begun.
    pub(super) fn take_scope(&mut self) -> VecDeque<Step> {
        let mut taken = VecDeque::new();
        let mut depth = 0_usize;
        while let Some(step) = self.steps.pop_front() {
            match step {
                Step::Open(_) => depth += 1,
                Step::Close if depth == 0 => break,
                Step::Close => depth -= 1,
                Step::Simple(_)
                | Step::Redirects(_)
                | Step::Pipe
                | Step::Then
                | Step::Else
                | Step::End
                | Step::Background
                | Step::Loop(_)
                | Step::Backquoted(_) => {}
            }
            taken.push_back(step);
        }
        taken
    }

    /// The function whose body this is.
    pub(super) fn function(&self) -> Option<&str> {
        self.levels.iter().rev().find_map(|level| match &level.outside {
            Outside::Function(name, _) => Some(name.as_str()),
            Outside::Same(_) | Outside::Restore(_) | Outside::Substitution(..) | Outside::Doubt(_) => None,
        })
    }

    pub(super) fn close(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        match level.outside {
            Outside::Same(before) => {
                if self.is_apart() {
                    self.state = before;
                }
            }
            Outside::Restore(state) => self.state = state,
            Outside::Substitution(number, state) => {
                self.state = state;
                // One command, whose words say what it prints.
                let printed = level.output.filter(|_| level.commands == 1);
                if let Some(printed) = printed.filter(|printed| printed.len() <= LONGEST_VALUE) {
                    let printed = printed.trim_end_matches('\n').to_owned();
                    Rc::make_mut(&mut self.state).outputs.insert(number, printed);
                }
            }
            Outside::Function(name, before) => {
                let sets = self.state.variables.keys().filter(|name| *name != "HOME").cloned().collect();
                let moves = self.state.cwd != before.cwd;
                self.state = before;
                Rc::make_mut(&mut self.state).functions.insert(name, (sets, moves));
            }
            Outside::Doubt(before) => {
                for (name, value) in &mut Rc::make_mut(&mut self.state).variables {
                    if before.value(name) != Some(value) {
                        *value = value.doubted(before.value(name));
                    }
                }
                if before.cwd != self.state.cwd {
                    Rc::make_mut(&mut self.state).cwd = None;
                }
            }
        }
    }

    /// Whether what is read here runs in a shell of its own: part of a pipeline, or in the background.
    pub(super) fn is_apart(&mut self) -> bool {
        matches!(self.steps.front(), Some(Step::Pipe | Step::Background)) || self.level().stage > 0
    }

    pub(super) fn set(&mut self, name: &str, value: Option<String>) {
        // A value that only grows is nobody's.
        let value = value.filter(|value| value.len() <= LONGEST_VALUE);
        let before = self.state.value(name).cloned();
        if let Some(chained) = &mut self.level().chained {
            chained.push((name.to_owned(), before));
        }
        Rc::make_mut(&mut self.state).variables.insert(name.to_owned(), value.map_or(Value::Unknown, Value::Known));
    }

    /// The elements of an array, each by its number and all of them together.
    pub(super) fn set_list(&mut self, set: &Assignment) {
        let Some(words) = &set.list else { return };
        let elements = expand::fields(words.iter().cloned(), &self.state);
        let all = format!("{}[@]", set.name);
        let before = self.state.value(&all).cloned().filter(|_| set.appends);
        let variables = &mut Rc::make_mut(&mut self.state).variables;
        let value = match (before, joined(&elements)) {
            (None, value) => value,
            (Some(Value::Known(before)), Value::Known(more)) => Value::Known(format!("{before}{APART}{more}")),
            (Some(_), _) => Value::Unknown,
        };
        variables.insert(all, value);
        for (at, element) in elements.iter().enumerate().take(16).filter(|_| !set.appends) {
            let value =
                if element.is_known() { Value::Known(element.text.clone()) } else { Value::Written(element.clone()) };
            variables.insert(format!("{}[{at}]", set.name), value);
        }
    }

    pub(super) fn begin(&mut self, name: &str, value: &Arg) {
        Rc::make_mut(&mut self.state).variables.insert(name.to_owned(), Value::Written(value.clone()));
    }

    /// What a command writes to files, where both are known.
    pub(super) fn written(
        &self,
        redirects: &[Redirect],
        args: &[Vec<Arg>],
        input: &Input,
        printed: Option<&String>,
    ) -> Vec<(String, String)> {
        let at = |file: &Arg| {
            let target = crate::shell::Target::of(file, self.state.cwd.as_deref());
            target.path.filter(|_| !target.open).map(|path| path.to_string())
        };
        let mut found = Vec::new();
        if let Some(text) = printed {
            let files = redirects.iter().filter(|redirect| redirect.writes);
            found.extend(files.filter_map(|redirect| Some((at(&redirect.target)?, text.clone()))));
        }
        if let ([words], Input::Text(text)) = (args, input)
            && let [program, files @ ..] = words.as_slice()
            && program.text == "tee"
        {
            let files = files.iter().filter(|file| !file.text.starts_with('-'));
            found.extend(files.filter_map(|file| Some((at(file)?, text.clone()))));
        }
        found
    }

    pub(super) fn redirects(&self, simple: &Simple) -> Vec<Redirect> {
        let files = simple.redirects.iter().filter_map(|redirect| match &redirect.target {
            Target::Word(word) => Some((redirect.direction, word)),
            Target::Heredoc(_) => None,
        });
        let opened = files.filter_map(|(direction, word)| {
            let (writes, reads) = match direction {
                Direction::To => (true, false),
                Direction::From => (false, true),
                Direction::Both => (true, true),
                Direction::Copy | Direction::String | Direction::Heredoc { .. } => return None,
            };
            Some(Redirect { writes, reads, target: expand::string(word, &self.state) })
        });
        opened.collect()
    }

    /// What the command reads: its last redirection of input, else the pipe.
    pub(super) fn input(&mut self, simple: &Simple) -> Input {
        let fed = self.level().fed;
        let (stage, output) = (self.level().stage, self.level().output.clone());
        let known_or_not = |arg: Arg| known(&arg).map_or(Input::Unknown, Input::Text);
        let redirected =
            simple.redirects.iter().rev().find_map(|redirect| match (&redirect.target, redirect.direction) {
                (Target::Heredoc(number), _) => {
                    let parts = self.heredocs.get(*number).map(|heredoc| heredoc.parts.as_slice()).unwrap_or_default();
                    Some(known_or_not(expand::text(parts, &self.state)))
                }
                (Target::Word(word), Direction::String) => Some(known_or_not(expand::string(word, &self.state))),
                (Target::Word(word), Direction::From | Direction::Both) => {
                    let empty = expand::string(word, &self.state).text == "/dev/null";
                    Some(if empty { Input::Text(String::new()) } else { Input::Unknown })
                }
                _ => None,
            });
        match redirected {
            Some(input) => input,
            None if stage > 0 => output.map_or(Input::Pipe, Input::Text),
            None if fed => Input::Pipe,
            None => Input::Inherited,
        }
    }
}

/// Words as one value, which falls into them again.
pub(super) fn joined(words: &[Arg]) -> Value {
    let known = words.iter().all(Arg::is_known);
    let all = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(APART);
    if known && all.len() <= LONGEST_VALUE { Value::Known(all) } else { Value::Unknown }
}

pub(super) fn known(arg: &Arg) -> Option<String> {
    arg.is_known().then(|| arg.text.clone())
}

/// The value of an assignment; a list that goes on with what it was before counts as one that begins so.
pub(in super::super) fn value_of(name: &str, arg: &Arg) -> Option<String> {
    let before = format!("${name}");
    let rest = arg.text.replace(&before, "/usr/bin");
    known(arg).or_else(|| (name.ends_with("PATH") && arg.text.contains(&before) && !rest.contains('$')).then_some(rest))
}
