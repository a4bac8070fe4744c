//! The walk: steps in order, with the directory and the variables that are in force at each.

mod builtin;

use super::runner::{self, Inner};
use super::syntax::{Backquoted, Direction, Doubt, Flaw, Heredoc, Loop, Scope, Simple, Step, Target, Word};
use super::{Arg, Command, Input, Reading, Redirect, State, Value, canonical, expand, interpreter, parse};
use crate::event::Place;
use builtin::{evaluates, output};

pub use builtin::{MADE, is_builtin};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

/// Texts and commands within each other: `bash -c "env sudo …"`.
const DEEPEST: usize = 12;

/// Commands in all.
const LONGEST: usize = 10_000;

/// Functions that are walked where they are called.
const MOST_BODIES: usize = 64;

/// Characters in the value of a variable or in the name of a directory.
const LONGEST_VALUE: usize = 4 << 10;

/// Characters in all commands, once their words are expanded.
const LARGEST: usize = 4 << 20;

pub(super) fn walk(line: &str, place: &Place) -> Reading {
    let cwd = Some(Rc::from(place.cwd.as_str())).filter(|cwd: &Rc<str>| !cwd.is_empty());
    let project = place.project.clone().or_else(|| cwd.as_deref().map(str::to_owned));
    let mut state = State { home: place.home.clone(), project, cwd, ..State::default() };
    let cwd = state.cwd.as_deref().map(str::to_owned);
    for (name, value) in [("HOME", state.home.clone()), ("PWD", cwd)] {
        if let Some(value) = value {
            state.variables.insert(name.to_owned(), Value::Known(value));
        }
    }
    let mut walker = Walker {
        runs: Vec::new(),
        reading: Reading::default(),
        pipelines: 0,
        full: false,
        expanded: 0,
        calls: BTreeMap::new(),
        bodies: BTreeMap::new(),
    };
    walker.enter(line, Vec::new(), Rc::new(state), None);
    while let Some(run) = walker.runs.last_mut() {
        match run.steps.pop_front() {
            Some(step) if !walker.full => walker.step(step),
            _ => walker.leave(),
        }
    }
    walker.reading
}

struct Walker {
    /// The text that is being walked, and below it those that wait for it.
    runs: Vec<Run>,
    reading: Reading,
    pipelines: usize,
    /// No more commands are taken in.
    full: bool,
    /// How long all commands together are.
    expanded: usize,
    /// Functions that are walked where they are called, with what they are given.
    bodies: BTreeMap<String, Body>,
    /// How often a function calls itself, and whether it goes on meanwhile.
    calls: BTreeMap<String, (usize, bool)>,
}

/// One text on its way.
struct Run {
    steps: VecDeque<Step>,
    heredocs: Rc<Vec<Heredoc>>,
    via: Vec<String>,
    /// Where it stands in the line, if it is not the line.
    span: Option<Range<usize>>,
    levels: Vec<Level>,
    /// Shared with the scopes around it until one of them changes something.
    state: Rc<State>,
    /// It runs in the shell of the text below it, as `eval` does.
    shared: bool,
    /// It runs by an option or a line of code.
    hidden: bool,
    /// What it prints is the output of this number.
    number: Option<usize>,
    /// It is the body of this function.
    function: Option<String>,
    /// What `$@` stands for.
    given: Option<Vec<Arg>>,
}

/// The body of a function.
#[derive(Clone)]
struct Body {
    steps: VecDeque<Step>,
    heredocs: Rc<Vec<Heredoc>>,
}

/// One list of commands within a text.
struct Level {
    outside: Outside,
    pipeline: usize,
    stage: usize,
    /// Commands here read what a pipe feeds to the list.
    fed: bool,
    /// What the command before the pipe printed, where that is known.
    output: Option<String>,
    /// How many commands and lists it holds so far.
    commands: usize,
    /// We are behind `&&` or `||`; these variables were set there.
    chained: Option<Vec<(String, Option<Value>)>>,
    /// We are behind `||`.
    otherwise: bool,
    /// The directory was changed there.
    moved: bool,
}

/// What is in force again when a list ends.
enum Outside {
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

impl Walker {
    /// Begins with a text; tells whether it can.
    fn enter(&mut self, text: &str, via: Vec<String>, state: Rc<State>, inner: Option<(Range<usize>, bool)>) -> bool {
        if self.runs.len() >= DEEPEST {
            self.reading.limited = true;
            return false;
        }
        let script = parse::parse(text);
        let offset = inner.as_ref().map(|(span, _)| span.start);
        let doubts = script.flaws.into_iter().map(|(flaw, at)| match offset {
            Some(at) => Doubt { flaw, at, inner: true },
            None => Doubt { flaw, at, inner: false },
        });
        self.reading.doubts.extend(doubts);
        self.reading.limited |= script.limited;
        let pipeline = self.next_pipeline();
        let (span, shared) = inner.map_or((None, false), |(span, shared)| (Some(span), shared));
        self.runs.push(Run {
            steps: script.steps.into(),
            heredocs: Rc::new(script.heredocs),
            via,
            span,
            levels: vec![Level::new(Outside::Same(Rc::clone(&state)), pipeline, false)],
            state,
            shared,
            hidden: false,
            number: None,
            function: None,
            given: None,
        });
        true
    }

    fn leave(&mut self) {
        let Some(run) = self.runs.pop() else { return };
        let Some(below) = self.runs.last_mut() else { return };
        if run.shared {
            let outer = Rc::clone(&below.state);
            below.state = run.state;
            // What it was given is its own.
            if run.function.is_some() {
                let variables = &mut Rc::make_mut(&mut below.state).variables;
                variables.retain(|name, _| name != "@" && name.parse::<usize>().is_err());
                let given = outer.variables.iter().filter(|(name, _)| *name == "@" || name.parse::<usize>().is_ok());
                variables.extend(given.map(|(name, value)| (name.clone(), value.clone())));
            }
        } else if let Some(number) = run.number
            && let [level] = run.levels.as_slice()
            && let Some(printed) =
                level.output.as_ref().filter(|printed| level.commands == 1 && printed.len() <= LONGEST_VALUE)
        {
            let printed = printed.trim_end_matches('\n').to_owned();
            Rc::make_mut(&mut below.state).outputs.insert(number, printed);
        }
    }

    fn doubt(&mut self, flaw: Flaw, command: &Command) {
        self.reading.doubts.push(Doubt { flaw, at: command.span.start, inner: true });
    }

    fn next_pipeline(&mut self) -> usize {
        self.pipelines += 1;
        self.pipelines
    }

    fn step(&mut self, step: Step) {
        let pipeline = self.next_pipeline();
        let Some(run) = self.runs.last_mut() else { return };
        match step {
            Step::Simple(simple) => self.simple(*simple),
            Step::Redirects(simple) => {
                let redirects = run.redirects(&simple);
                let cwd = run.state.cwd.clone();
                self.reading.loose.push(Command { redirects, cwd, span: simple.span.clone(), ..Command::default() });
            }
            Step::Open(scope) => {
                let fed = run.level().fed || run.level().stage > 0;
                let outside = match scope {
                    Scope::Group => Outside::Same(Rc::clone(&run.state)),
                    Scope::Branch => Outside::Doubt(run.state.clone()),
                    Scope::Subshell => Outside::Restore(Rc::clone(&run.state)),
                    Scope::Substitution(number) => Outside::Substitution(number, Rc::clone(&run.state)),
                    Scope::Function(name) => {
                        self.reading.functions.insert(name.to_string());
                        // Where it is called later on, it is walked there, with what it is given.
                        if self.bodies.len() < MOST_BODIES {
                            let mut steps = run.take_scope();
                            if run.calls(&name) {
                                self.bodies
                                    .insert(name.to_string(), Body { steps, heredocs: Rc::clone(&run.heredocs) });
                                return;
                            }
                            steps.push_back(Step::Close);
                            steps.into_iter().rev().for_each(|step| run.steps.push_front(step));
                        }
                        // It runs when it is called, with the values of that time.
                        let before = Rc::clone(&run.state);
                        let home = before.variables.get("HOME").cloned().map(|home| ("HOME".to_owned(), home));
                        Rc::make_mut(&mut run.state).variables = home.into_iter().collect();
                        Outside::Function(name.into(), before)
                    }
                };
                run.level().commands += 1;
                run.levels.push(Level::new(outside, pipeline, fed));
            }
            Step::Close => run.close(),
            Step::Pipe => run.level().stage += 1,
            Step::Then | Step::Else => {
                run.level().chained.get_or_insert_default();
                run.level().otherwise |= step == Step::Else;
                run.level().next(pipeline);
            }
            Step::End | Step::Background => {
                if std::mem::take(&mut run.level().moved) {
                    Rc::make_mut(&mut run.state).cwd = None;
                }
                run.level().otherwise = false;
                for (name, before) in run.level().chained.take().unwrap_or_default() {
                    let now = run.state.value(&name).map_or(Value::Unknown, |now| now.doubted(before.as_ref()));
                    Rc::make_mut(&mut run.state).variables.insert(name, now);
                }
                run.level().next(pipeline);
            }
            Step::Loop(looped) => {
                let Loop { name, words } = *looped;
                let (listed, kept) = (words.is_some(), words.as_ref().is_some_and(Vec::is_empty));
                let state = &run.state;
                let values: Vec<Arg> = expand::fields(words.into_iter().flatten(), state);
                // The names that a pattern finds are as good as the pattern, for what is done to them.
                let known = listed && values.iter().all(|value| value.is_known());
                let each = Value::Each(values.into_iter().map(|value| value.text).collect());
                // A loop over nothing leaves the variable as it was.
                if !kept {
                    // A loop can set what other programs obey, without an equals sign.
                    if name.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
                        let value = each.values().first().cloned().filter(|_| known);
                        self.reading.loose.push(Command { env: vec![(name.clone(), value)], ..Command::default() });
                    }
                    Rc::make_mut(&mut run.state).variables.insert(name, if known { each } else { Value::Unknown });
                }
            }
            Step::Backquoted(quoted) => {
                let Backquoted { text, span, number } = *quoted;
                let (via, state, hidden) = (run.via.clone(), run.state.clone(), run.hidden);
                let span = run.span.clone().unwrap_or(span);
                if self.enter(&text, via, state, Some((span, false)))
                    && let Some(run) = self.runs.last_mut()
                {
                    run.hidden = hidden;
                    run.number = Some(number);
                }
            }
        }
    }

    fn simple(&mut self, mut simple: Simple) {
        let Some(run) = self.runs.last_mut() else { return };
        let apart = run.is_apart();
        let env: Vec<(String, Option<String>)> = simple
            .assignments
            .iter()
            .map(|set| {
                let value = set.value.as_ref().map(|word| expand::string(word, &run.state));
                (set.name.clone(), value.and_then(|value| value_of(&set.name, &value)))
            })
            .collect();
        let wordless = simple.words.is_empty();
        let mut args = expand::argument_lists(std::mem::take(&mut simple.words), &run.state);
        if env
            .iter()
            .any(|(_, value)| value.as_ref().is_some_and(|value| value.contains("[$(") || value.contains("[`")))
        {
            let at = simple.span.start;
            self.reading.doubts.push(Doubt {
                flaw: Flaw::Unclear("an expansion in a quoted subscript"),
                at,
                inner: true,
            });
        }
        let redirects = run.redirects(&simple);
        let input = run.input(&simple);
        let level = run.level();
        let (pipeline, stage) = (level.pipeline, level.stage);
        let cwd = run.state.cwd.clone();
        let span = run.span.clone().unwrap_or(simple.span);
        let hidden = run.hidden;
        let base = Command { env, redirects, input, pipeline, stage, cwd, span, hidden, ..Command::default() };
        if args.is_empty() {
            // A word that vanished could have been anything.
            if wordless && !apart {
                for (set, (name, value)) in simple.assignments.iter().zip(&base.env) {
                    // Of a value that is put together, the beginning is known.
                    let begins = set.value.as_ref().map(|word| expand::string(word, &run.state));
                    run.set(name, value.clone());
                    if let Some(arg) = begins.filter(|arg| value.is_none() && arg.text.len() <= LONGEST_VALUE) {
                        run.begin(name, &arg);
                    }
                }
            }
            self.reading.loose.push(base);
            return;
        }
        let via = run.via.clone();
        let printed = |words: &[Arg]| output(words, &base.input, &run.state);
        let printed = match args.as_slice() {
            [only] => printed(only),
            _ => None,
        };
        run.level().output = printed;
        run.level().commands += 1;
        if let [_] = args.as_slice()
            && let Some(only) = args.pop()
        {
            return self.run(base, only, via, apart);
        }
        for args in args {
            self.run(base.clone(), args, via.clone(), apart);
        }
    }

    /// Notes a command and everything that it runs in turn.
    fn run(&mut self, base: Command, args: Vec<Arg>, via: Vec<String>, apart: bool) {
        let mut next = Some((base, args, via));
        let mut work = Vec::new();
        let mut texts = Vec::new();
        let mut called = Vec::new();
        while let Some((base, args, via)) = next.take().or_else(|| work.pop()) {
            let mut args = args.into_iter();
            let Some(program) = args.next() else { continue };
            if self.reading.commands.len() >= LONGEST || via.len() > DEEPEST || self.expanded > LARGEST {
                self.reading.limited = true;
                self.full = true;
                return;
            }
            let args: Vec<Arg> = args.collect();
            // `"$@"` is whatever the text or the function was given.
            if matches!(program.text.as_str(), "$@" | "$*")
                && !program.is_known()
                && let Some(given) = self.runs.last().and_then(|run| run.given.clone())
            {
                work.push((base, given.into_iter().chain(args).collect(), via));
                continue;
            }
            let command = Command {
                canonical: canonical::line(&program, &args),
                known: program.is_known() && !program.glob,
                program: canonical::cut(program.text),
                args,
                via: via.clone(),
                ..base
            };
            if !command.args.is_empty() && evaluates(&command) {
                self.doubt(Flaw::Unclear("an expansion in a quoted subscript"), &command);
            }
            if let Some(run) = self.runs.last()
                && (run.function() == Some(command.program.as_str()) || run.function.as_ref() == Some(&command.program))
            {
                let calls = self.calls.entry(command.program.clone()).or_default();
                calls.0 += 1;
                calls.1 |= apart;
                // Starting itself twice, and waiting for neither.
                self.reading.bomb |= calls.0 > 1 && calls.1;
            }
            if is_lookalike(&command.program) {
                self.doubt(Flaw::Lookalike, &command);
            }
            if let Some(run) = self.runs.last_mut()
                && !apart
                && via == run.via
            {
                run.builtin(&command);
            }
            let active = |run: &Run| run.function.as_ref() == Some(&command.program);
            if self.bodies.contains_key(&command.program) && !self.runs.iter().any(active) {
                called.push((command.program.clone(), command.args.clone(), via.clone(), command.span.clone()));
            }
            // Popped last to first, so that they come out in order.
            let mut inner = runner::inner(&command);
            if matches!(command.program.as_str(), "xargs" | "gxargs")
                && let Some(start) = self.listed(&command)
            {
                inner.iter_mut().for_each(|inner| inner.found_below(&start));
            }
            let hidden = command.hidden || (!inner.is_empty() && runner::hides(&command));
            let via = if inner.is_empty() { Vec::new() } else { [via, vec![command.program.clone()]].concat() };
            for inner in inner.into_iter().rev() {
                let fresh = Command { hidden, ..command.around() };
                match inner {
                    Inner::Command { args, cwd, env } => {
                        let cwd = cwd.map_or_else(|| fresh.cwd.clone(), |cwd| cwd.map(Rc::from));
                        let env = [fresh.env.clone(), env].concat();
                        work.push((Command { cwd, env, ..fresh }, args, via.clone()));
                    }
                    Inner::Text { text, shared } => {
                        // `bash -c 'text' name first second`
                        let args = runner::parameters(&command);
                        texts.push((text, shared, via.clone(), Command { args, ..fresh }));
                    }
                    Inner::Code { language, text } => {
                        for found in interpreter::calls(language, &text) {
                            match found {
                                interpreter::Call::Command(words) => {
                                    let home = self.runs.last().and_then(|run| run.state.home.clone());
                                    let literal = |word: String| match (word.strip_prefix("~/"), &home) {
                                        (Some(rest), Some(home)) => Arg::literal(format!("{home}/{rest}")),
                                        _ => Arg::literal(word),
                                    };
                                    let args = words.into_iter().map(|word| word.map_or_else(hole, literal)).collect();
                                    work.push((fresh.clone(), args, via.clone()));
                                }
                                interpreter::Call::Text(text) => {
                                    texts.push((text, false, via.clone(), fresh.clone()));
                                }
                            }
                        }
                    }
                }
            }
            self.expanded += command.canonical.len();
            self.reading.commands.push(command);
        }
        for (name, args, via, span) in called {
            self.call(&name, args, via, span, apart);
        }
        for (text, shared, via, around) in texts {
            let mut state = self.runs.last().map(|run| run.state.clone()).unwrap_or_default();
            for (at, value) in around.args.iter().enumerate() {
                let value =
                    if value.is_known() { Value::Known(value.text.clone()) } else { Value::Written(value.clone()) };
                Rc::make_mut(&mut state).variables.insert(at.to_string(), value);
            }
            for (name, value) in around.env {
                let value = value.map_or(Value::Unknown, Value::Known);
                Rc::make_mut(&mut state).variables.insert(name, value);
            }
            if self.enter(&text, via, state, Some((around.span, shared)))
                && let Some(run) = self.runs.last_mut()
            {
                run.hidden = around.hidden;
                run.given =
                    Some(around.args.iter().skip(1).cloned().collect()).filter(|given: &Vec<Arg>| !given.is_empty());
            }
        }
    }

    /// Walks the body of a function with what it is given.
    fn call(&mut self, name: &str, args: Vec<Arg>, via: Vec<String>, span: Range<usize>, apart: bool) {
        let Some(body) = self.bodies.get(name).cloned() else { return };
        if self.runs.len() >= DEEPEST {
            self.reading.limited = true;
            return;
        }
        let pipeline = self.next_pipeline();
        let Some(below) = self.runs.last() else { return };
        let (mut state, hidden) = (Rc::clone(&below.state), below.hidden);
        let variables = &mut Rc::make_mut(&mut state).variables;
        for (at, value) in args.iter().enumerate().take(9) {
            let value = if value.is_known() { Value::Known(value.text.clone()) } else { Value::Written(value.clone()) };
            variables.insert((at + 1).to_string(), value);
        }
        let known = args.iter().all(Arg::is_known);
        let all = args.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
        variables.insert("@".to_owned(), if known { Value::Known(all) } else { Value::Unknown });
        let span = below.span.clone().unwrap_or(span);
        let levels = vec![Level::new(Outside::Same(Rc::clone(&state)), pipeline, false)];
        let Body { steps, heredocs } = body;
        let function = Some(name.to_owned());
        let via = [via.as_slice(), &[name.to_owned()]].concat();
        let (given, shared) = (Some(args), !apart);
        self.runs.push(Run {
            steps,
            heredocs,
            via,
            span: Some(span),
            levels,
            state,
            shared,
            hidden,
            number: None,
            function,
            given,
        });
    }
}

impl Walker {
    /// Where the names lie that a pipeline hands to a command: what lists them, filtered or not.
    fn listed(&self, command: &Command) -> Option<String> {
        let before = self.reading.commands.iter().rev().filter(|other| {
            other.pipeline == command.pipeline && other.stage < command.stage && other.via == command.via
        });
        for other in before {
            let operands = || other.args.iter().filter(|arg| !arg.text.starts_with('-')).map(|arg| arg.text.as_str());
            let verb = runner::behind_global(&other.args).first().map_or("", |arg| arg.text.as_str());
            match other.program.as_str() {
                "grep" | "egrep" | "rg"
                    if !other.args.iter().any(|arg| arg.text.starts_with("-l") || arg.text.contains("files")) => {}
                "head" | "tail" | "sort" | "uniq" | "tr" | "cat" => {}
                "find" | "gfind" => return operands().next().filter(|start| !start.contains('$')).map(str::to_owned),
                "fd" | "fdfind" | "rg" | "grep"
                    if !operands().any(|word| word.starts_with(['/', '~']) || word.contains("..")) =>
                {
                    return Some(".".to_owned());
                }
                "git" if matches!(verb, "ls-files" | "diff" | "grep") => return Some(".".to_owned()),
                _ => return None,
            }
        }
        None
    }
}

impl Level {
    fn new(outside: Outside, pipeline: usize, fed: bool) -> Self {
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
    fn next(&mut self, pipeline: usize) {
        self.pipeline = pipeline;
        self.stage = 0;
        self.output = None;
    }
}

impl Run {
    fn level(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            let outside = Outside::Same(Rc::clone(&self.state));
            self.levels.push(Level::new(outside, 0, false));
        }
        let last = self.levels.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "the stack was just seen not to be empty")]
        &mut self.levels[last]
    }

    /// Whether a command of this name comes later in the text.
    fn calls(&self, name: &str) -> bool {
        self.steps
            .iter()
            .any(|step| matches!(step, Step::Simple(simple) if simple.words.first().and_then(Word::bare) == Some(name)))
    }

    /// Takes the steps up to the end of the list that has just begun.
    fn take_scope(&mut self) -> VecDeque<Step> {
        let mut taken = VecDeque::new();
        let mut depth = 0_usize;
        while let Some(step) = self.steps.pop_front() {
            match step {
                Step::Open(_) => depth += 1,
                Step::Close if depth == 0 => break,
                Step::Close => depth -= 1,
                _ => {}
            }
            taken.push_back(step);
        }
        taken
    }

    /// The function whose body this is.
    fn function(&self) -> Option<&str> {
        self.levels.iter().rev().find_map(|level| match &level.outside {
            Outside::Function(name, _) => Some(name.as_str()),
            Outside::Same(_) | Outside::Restore(_) | Outside::Substitution(..) | Outside::Doubt(_) => None,
        })
    }

    fn close(&mut self) {
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
    fn is_apart(&mut self) -> bool {
        matches!(self.steps.front(), Some(Step::Pipe | Step::Background)) || self.level().stage > 0
    }

    fn set(&mut self, name: &str, value: Option<String>) {
        // A value that only grows is nobody's.
        let value = value.filter(|value| value.len() <= LONGEST_VALUE);
        let before = self.state.value(name).cloned();
        if let Some(chained) = &mut self.level().chained {
            chained.push((name.to_owned(), before));
        }
        Rc::make_mut(&mut self.state).variables.insert(name.to_owned(), value.map_or(Value::Unknown, Value::Known));
    }

    fn begin(&mut self, name: &str, value: &Arg) {
        Rc::make_mut(&mut self.state).variables.insert(name.to_owned(), Value::Written(value.clone()));
    }

    fn redirects(&self, simple: &Simple) -> Vec<Redirect> {
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
    fn input(&mut self, simple: &Simple) -> Input {
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

fn known(arg: &Arg) -> Option<String> {
    arg.is_known().then(|| arg.text.clone())
}

/// The value of an assignment; a list that goes on with what it was before counts as one that begins so.
pub(super) fn value_of(name: &str, arg: &Arg) -> Option<String> {
    let before = format!("${name}");
    let rest = arg.text.replace(&before, "/usr/bin");
    known(arg).or_else(|| (name.ends_with("PATH") && arg.text.contains(&before) && !rest.contains('$')).then_some(rest))
}

fn hole() -> Arg {
    Arg { text: "$()".to_owned(), known: Some(0), glob: false }
}

/// Whether a program's name holds characters that cannot be seen, or letters of another alphabet.
fn is_lookalike(name: &str) -> bool {
    name.chars().any(|c| !c.is_ascii() || c.is_ascii_control())
}
