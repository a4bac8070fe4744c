//! The walk: steps in order, with the directory and the variables that are in force at each.

mod builtin;
mod function;
mod run;

use super::runner::{self, Inner};
use super::syntax::{Assignment, Backquoted, Doubt, Flaw, Loop, Scope, Simple, Step};
use super::{Arg, Command, Reading, State, Value, canonical, expand, interpreter, parse};
use crate::event::Place;
use builtin::{evaluates, output};
use function::Body;
use run::{Level, Outside, Run};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

pub use builtin::{MADE, is_builtin};
pub(super) use run::value_of;

/// Texts and commands within each other: `bash -c "env sudo …"`.
const DEEPEST: usize = 12;

/// Commands in all.
const LONGEST: usize = 10_000;

/// Steps in all: a function is walked as often as it is called.
const LONGEST_WALK: usize = 50_000;

/// Functions in one line.
const MOST_FUNCTIONS: usize = 256;

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
        walked: 0,
        files: BTreeMap::new(),
        calls: BTreeMap::new(),
        bodies: BTreeMap::new(),
    };
    walker.enter(line, Vec::new(), Rc::new(state), None);
    while let Some(run) = walker.runs.last_mut() {
        match run.steps.pop_front() {
            Some(step) if !walker.full => {
                walker.walked += 1;
                if walker.walked > LONGEST_WALK {
                    walker.full = true;
                    walker.reading.limited = true;
                }
                walker.step(step);
            }
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
    walked: usize,
    /// What the line has written to files, where that is known.
    files: BTreeMap<String, String>,
    /// Functions that are walked where they are called, with what they are given.
    bodies: BTreeMap<String, Vec<Body>>,
    /// How often a function calls itself, and whether it goes on meanwhile.
    calls: BTreeMap<String, (usize, bool)>,
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
                let fed = run.level().fed || run.level().stage > 0 || scope == Scope::Sink;
                let outside = match scope {
                    Scope::Group => Outside::Same(Rc::clone(&run.state)),
                    Scope::Branch => Outside::Doubt(run.state.clone()),
                    Scope::Subshell | Scope::Sink => Outside::Restore(Rc::clone(&run.state)),
                    Scope::Substitution(number) => Outside::Substitution(number, Rc::clone(&run.state)),
                    Scope::Function(name) => {
                        self.reading.functions.insert(name.to_string());
                        // Nobody writes that many, and each is a state to keep.
                        if self.reading.functions.len() > MOST_FUNCTIONS {
                            self.reading.limited = true;
                            self.full = true;
                            return;
                        }
                        // Where it is called later on, it is walked there, with what it is given.
                        if self.bodies.len() < MOST_BODIES {
                            let mut steps = run.take_scope();
                            if run.calls(&name) {
                                // Which of several is in force depends on what happened: all of them count.
                                let body = Body { steps, heredocs: Rc::clone(&run.heredocs) };
                                self.bodies.entry(name.to_string()).or_default().push(body);
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
                if text.trim().is_empty() {
                    return;
                }
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
        let value = |set: &Assignment| set.value.as_ref().map(|word| expand::string(word, &run.state));
        let values: Vec<Option<Arg>> = simple.assignments.iter().map(value).collect();
        let named = simple.assignments.iter().zip(&values);
        let env: Vec<(String, Option<String>)> = named
            .map(|(set, value)| (set.name.clone(), value.as_ref().and_then(|value| value_of(&set.name, value))))
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
                for (begins, (name, value)) in values.iter().zip(&base.env) {
                    run.set(name, value.clone());
                    // Of a value that is put together, the beginning is known.
                    if let Some(arg) = begins.as_ref().filter(|arg| value.is_none() && arg.text.len() <= LONGEST_VALUE)
                    {
                        run.begin(name, arg);
                    }
                }
            }
            if wordless && !apart {
                simple.assignments.iter().for_each(|set| run.set_list(set));
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
        for (path, text) in run.written(&base.redirects, args.as_slice(), &base.input, printed.as_ref()) {
            self.files.insert(path, text);
        }
        let Some(run) = self.runs.last_mut() else { return };
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
            let Some(mut program) = args.next() else { continue };
            if program.is_known() {
                program.text = canonical::tidy(program.text);
            }
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
                && given.first().is_some_and(|first| first.text != program.text)
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
            inner.extend(self.just_written(&command));
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
            if around.args.len() > 1 {
                let all = run::joined(around.args.get(1..).unwrap_or_default());
                Rc::make_mut(&mut state).variables.insert("@".to_owned(), all);
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
}

fn hole() -> Arg {
    Arg { text: "$()".to_owned(), known: Some(0), glob: false }
}

/// Whether a program's name holds characters that cannot be seen, or letters of another alphabet.
fn is_lookalike(name: &str) -> bool {
    name.chars().any(|c| !c.is_ascii() || c.is_ascii_control())
}
