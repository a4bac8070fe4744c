//! One text on its way: its lists, its state, and what a command in it reads and opens.

use super::super::state::{Elsewhere, State, Value, copy_steps};
use super::super::syntax::{Assignment, Direction, Heredoc, Part, Simple, Step, Target, Word};
use super::super::{APART, Arg, Input, Redirect, expand};
use super::function::Body;
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
    /// Which of the texts that wait has started it.
    pub starter: usize,
    /// In how many texts it stands.
    pub depth: usize,
    /// Whether it runs in the shell of that text, as `eval` does.
    pub shared: Shared,
    /// It runs by an option or a line of code.
    pub hidden: bool,
    /// What it prints is the output of this number.
    pub number: Option<usize>,
    /// It is the body of this function.
    pub function: Option<String>,
    /// Variables that are its own, or perhaps are.
    pub locals: Vec<(String, bool)>,
    /// Variables that are set for it only, and for what it calls.
    pub lent: Vec<String>,
    /// Texts that run when it ends.
    pub traps: Vec<Trap>,
}

/// A text that runs when the shell ends.
pub(super) struct Trap {
    pub text: String,
    pub span: Range<usize>,
    /// How things were when it was said.
    pub then: Rc<State>,
    /// In how many lists it was said.
    pub depth: usize,
}

/// What a text leaves behind in the shell of the text that has started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shared {
    No,
    Yes,
    /// It is one of several that may run.
    Perhaps,
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
    /// We are behind `&&` or `||`.
    pub chain: Option<Chain>,
    /// Where we are if a `cd` has failed.
    pub fallback: Vec<Elsewhere>,
    /// It ends the text for sure.
    pub leaves: bool,
}

/// What came before in a chain of `&&` and `||`.
pub(super) struct Chain {
    /// How things are where it ended early, and went well so far.
    pub ends: Rc<State>,
    /// We are behind `||`.
    pub otherwise: bool,
    /// What stands there ends the text.
    pub leaves: bool,
}

/// What is in force again when a list ends.
pub(super) enum Outside {
    /// Unless the list is part of a pipeline, everything stays.
    Same(Rc<State>),
    Restore(Rc<State>),
    /// The same, and what was printed is the output of this number.
    Substitution(usize, Rc<State>),
    /// Whatever the list has changed may or may not be so.
    Uncertainty(Rc<State>),
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
            chain: None,
            fallback: Vec::new(),
            leaves: false,
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
    /// A text without any steps yet, in a shell of this state.
    pub(super) fn new(state: Rc<State>, pipeline: usize) -> Self {
        Run {
            steps: VecDeque::new(),
            heredocs: Rc::default(),
            via: Vec::new(),
            span: None,
            levels: vec![Level::new(Outside::Same(Rc::clone(&state)), pipeline, false)],
            state,
            starter: 0,
            depth: 0,
            shared: Shared::No,
            hidden: false,
            number: None,
            function: None,
            locals: Vec::new(),
            lent: Vec::new(),
            traps: Vec::new(),
        }
    }

    pub(super) fn level(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            let outside = Outside::Same(Rc::clone(&self.state));
            self.levels.push(Level::new(outside, 0, false));
        }
        let last = self.levels.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "the stack was just seen not to be empty")]
        &mut self.levels[last]
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

    /// Takes the body of the function that has just begun.
    pub(super) fn take_body(&mut self, first: bool) -> Body {
        let plain = |level: &Level| matches!(level.outside, Outside::Same(_)) && level.chain.is_none();
        let sure = self.levels.iter().all(plain) && (first || self.shared == Shared::Yes) && self.level().stage == 0;
        let (heredocs, span) = (Rc::clone(&self.heredocs), self.span.clone());
        Body { steps: self.take_scope(), heredocs, called: false, sure, span }
    }

    pub(super) fn close(&mut self) {
        self.end();
        let Some(level) = self.levels.pop() else { return };
        match level.outside {
            Outside::Same(before) => {
                if self.is_apart() {
                    self.state = before;
                } else if level.leaves {
                    self.leaves();
                }
            }
            Outside::Restore(state) => self.state = state,
            Outside::Substitution(number, state) => {
                if !self.state.options.in_process {
                    self.state = state;
                }
                // One command, whose words say what it prints.
                let printed = level.output.filter(|_| level.commands == 1);
                self.printed(number, printed);
            }
            Outside::Uncertainty(before) => self.state.join(&before),
        }
    }

    /// The substitution of this number prints this, or nobody knows what.
    pub(super) fn printed(&mut self, number: usize, printed: Option<String>) {
        match printed {
            Some(printed) => {
                self.state.meter.charge(copy_steps(printed.len()));
                let printed = printed.trim_end_matches('\n').to_owned();
                Rc::make_mut(&mut self.state).outputs.insert(number, printed);
            }
            None if self.state.outputs.contains_key(&number) => {
                Rc::make_mut(&mut self.state).outputs.remove(&number);
            }
            None => {}
        }
    }

    /// `&&` or `||`: what comes next may not run, and runs if what came before went well, or if it did not.
    pub(super) fn chain(&mut self, otherwise: bool) {
        let state = Rc::clone(&self.state);
        let fallback = self.level().fallback.clone();
        let chain = self.level().chain.get_or_insert_with(|| Chain {
            ends: Rc::clone(&state),
            otherwise: false,
            leaves: false,
        });
        chain.ends.join(&state);
        chain.otherwise |= otherwise;
        if chain.otherwise {
            let ends = Rc::clone(&chain.ends);
            self.state.join(&ends);
        }
        if otherwise {
            self.stay(fallback);
        }
    }

    /// A chain ends, and so does what is certain within it.
    pub(super) fn end(&mut self) {
        let fallback = std::mem::take(&mut self.level().fallback);
        match self.level().chain.take() {
            // Whoever goes on has come through.
            Some(chain) if chain.leaves && chain.otherwise => self.state = chain.ends,
            Some(chain) if chain.leaves => {
                self.state = chain.ends;
                self.stay(fallback);
            }
            Some(chain) => {
                self.state.join(&chain.ends);
                self.stay(fallback);
            }
            None if self.state.options.stops => {}
            None => self.stay(fallback),
        }
    }

    /// We may also be where we were.
    fn stay(&mut self, fallback: Vec<Elsewhere>) {
        if !fallback.is_empty() {
            let places = self.state.places().into_iter().chain(fallback).collect();
            Rc::make_mut(&mut self.state).settle(places);
        }
    }

    /// Nothing behind this runs.
    pub(super) fn leaves(&mut self) {
        match &mut self.level().chain {
            Some(chain) => chain.leaves = true,
            None => self.level().leaves = true,
        }
    }

    /// Whether what is read here runs in a shell of its own: part of a pipeline, or in the background.
    pub(super) fn is_apart(&mut self) -> bool {
        let piped = matches!(self.steps.front(), Some(Step::Pipe)) || self.level().stage > 0;
        piped && !self.state.options.in_process || matches!(self.steps.front(), Some(Step::Background))
    }

    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.state.meter.charge(2 * copy_steps(value.size()));
        // `x[0]` is part of `x`, and nobody knows what is left of it.
        let (name, value) = name.split_once('[').map_or((name, value), |(name, _)| (name, Value::Unknown));
        let state = Rc::make_mut(&mut self.state);
        let fixed = state.fixed.contains(name);
        let value = if fixed { value.or(state.variables.get(name)) } else { value };
        let value = if state.options.aliased { value.or(None) } else { value };
        forget_elements(state, name);
        state.variables.insert(name.to_owned(), value);
    }

    /// The elements of an array, each by its number and all of them together.
    pub(super) fn set_list(&mut self, set: &Assignment, words: &[Word]) {
        // `([5]=x)` says itself where it stands.
        let numbered =
            words.iter().any(|word| matches!(word.parts.first(), Some(Part::Plain(text)) if text.starts_with('[')));
        let elements = expand::fields(words.iter().cloned(), &self.state);
        let all = format!("{}[@]", set.name);
        let before = self.state.value(&all).cloned();
        let value = match (before, joined(&elements)) {
            (_, value) if !set.appends => value,
            // An array that nobody has set is empty.
            (None, value) => value,
            (Some(Value::Known(before)), Value::Known(more)) => Value::Known(format!("{before}{APART}{more}")),
            (before, _) => {
                let known = match before {
                    Some(Value::Known(before)) => before.split(APART).map(Arg::literal).collect(),
                    Some(Value::Words(words)) => words,
                    _ => vec![expand::hole()],
                };
                Value::Words(known.into_iter().chain(elements.iter().cloned()).collect())
            }
        };
        self.set(&set.name, elements.first().filter(|_| !set.appends && !numbered).map_or(Value::Unknown, Value::of));
        self.state.meter.charge(2 * copy_steps(value.size()));
        let variables = &mut Rc::make_mut(&mut self.state).variables;
        variables.insert(all, value);
        // Behind what may be several words, nobody knows the numbers.
        let counted = elements.iter().take_while(|element| element.is_known() && !element.glob);
        for (at, element) in counted.enumerate().filter(|_| !set.appends && !numbered) {
            variables.insert(format!("{}[{at}]", set.name), Value::of(element));
        }
    }

    /// What a command writes to files, where both are known.
    pub(super) fn written(
        &self,
        redirects: &[Redirect],
        args: &[Arg],
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
        if let Input::Text(text) = input
            && let [program, files @ ..] = args
            && program.text == "tee"
        {
            let files = files.iter().filter(|file| !file.text.starts_with('-'));
            found.extend(files.filter_map(|file| Some((at(file)?, text.clone()))));
        }
        found
    }

    pub(super) fn redirects(&self, simple: &Simple) -> Vec<Redirect> {
        if simple.redirects.is_empty() {
            return Vec::new();
        }
        let files = simple.redirects.iter().filter_map(|redirect| match &redirect.target {
            Target::Word(word) => Some((redirect.direction, word)),
            Target::Heredoc(_) => None,
        });
        let opened = files.filter_map(|(direction, word)| {
            let (writes, reads) = match direction {
                Direction::To => (true, false),
                Direction::From => (false, true),
                Direction::Both => (true, true),
                Direction::Copy | Direction::CopyFrom | Direction::String | Direction::Heredoc { .. } => return None,
            };
            let targets = expand::strings(word, &self.state).into_iter();
            Some(targets.map(move |target| Redirect { writes, reads, target }))
        });
        opened.flatten().collect()
    }

    /// What the command reads: its last redirection of input, else the pipe.
    pub(super) fn input(&mut self, simple: &Simple) -> Input {
        let level = self.level();
        let (fed, stage) = (level.fed, level.stage);
        if stage == 0 && simple.redirects.is_empty() {
            return if fed { Input::Pipe } else { Input::Inherited };
        }
        let output = level.output.clone();
        // Where it may be one of several texts, all of them count.
        let known_or_not = |args: Vec<Arg>| {
            let texts: Option<Vec<String>> = args.iter().map(known).collect();
            texts.map_or(Input::Unknown, |texts| Input::Text(texts.join("\n")))
        };
        // `3<<x <&3`
        let copied = simple.redirects.iter().any(|redirect| redirect.direction == Direction::CopyFrom);
        let given = simple.redirects.iter().rev().filter(|redirect| copied || !redirect.aside);
        let redirected = given.clone().find_map(|redirect| match (&redirect.target, redirect.direction) {
            (Target::Heredoc(number), _) => {
                let parts = self.heredocs.get(*number).map(|heredoc| heredoc.parts.as_slice()).unwrap_or_default();
                Some(known_or_not(expand::texts(parts, &self.state)))
            }
            (Target::Word(word), Direction::String) => Some(known_or_not(expand::values(word, &self.state))),
            (Target::Word(word), Direction::From | Direction::Both) => {
                let empty = expand::strings(word, &self.state).iter().all(|file| file.text == "/dev/null");
                Some(if empty { Input::Text(String::new()) } else { Input::Unknown })
            }
            _ => None,
        });
        let redirected = redirected.or(copied.then_some(Input::Unknown));
        match redirected {
            Some(input) => input,
            None if stage > 0 => output.map_or(Input::Pipe, Input::Text),
            None if fed => Input::Pipe,
            None => Input::Inherited,
        }
    }
}

/// Whether a command prints to where the shell prints.
pub(super) fn prints_here(simple: &Simple) -> bool {
    !simple.redirects.iter().any(|redirect| {
        !redirect.aside && matches!(redirect.direction, Direction::To | Direction::Both | Direction::Copy)
    })
}

/// An array that is set anew has none of its elements any more.
fn forget_elements(state: &mut State, name: &str) {
    let start = format!("{name}[");
    let old: Vec<String> = state
        .variables
        .range(start.clone()..)
        .map(|(name, _)| name.clone())
        .take_while(|name| name.starts_with(&start))
        .collect();
    for name in old {
        state.variables.remove(&name);
    }
}

/// Words as one value, which falls into them again.
pub(super) fn joined(words: &[Arg]) -> Value {
    let known = words.iter().all(Arg::is_known);
    let all = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(APART);
    if known { Value::Known(all) } else { Value::Words(words.to_vec()) }
}

pub(super) fn known(arg: &Arg) -> Option<String> {
    arg.is_known().then(|| arg.text.to_string())
}

/// The value of an assignment; a list that goes on with what it was before counts as one that begins so.
pub(in super::super) fn value_of(name: &str, arg: &Arg) -> Option<String> {
    // Only a list of places may go on with what it was.
    if arg.is_known() || !name.ends_with("PATH") {
        return known(arg);
    }
    let before = format!("${name}");
    let rest = arg.text.replace(&before, "/usr/bin");
    // What comes behind all that was there before is asked last.
    let appended = arg.text.strip_prefix(&before).is_some_and(|rest| rest.starts_with(':'));
    let rest = if appended && name == "PATH" { rest.replace("$()", "/usr/local") } else { rest };
    (arg.text.contains(&before) && !rest.contains('$')).then_some(rest)
}
