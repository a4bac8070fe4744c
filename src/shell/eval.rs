//! The walk: steps in order, with the directory and the variables that are in force at each.

mod again;
mod builtin;
mod function;
mod later;
mod output;
mod run;

use super::canonical;
use super::expand;
use super::parse;
use super::state::{Options, State, Value, is_parameter};
use super::syntax::{Assignment, Backquoted, Loop, Scope, Script, Simple, Step, Uncertainty, Unreadable};
use super::{Arg, Command, Reading};
use crate::path::AbsPath;
use crate::path::Place;
use crate::shell::inline;
use crate::shell::wrappers;
use crate::shell::wrappers::{Container, Inner};
use crate::verdict::limits;
use crate::verdict::limits::{Limit, Meter};
use builtin::evaluates;
use compact_str::CompactString;
use function::{Around, Body};
use later::{Later, Text, within};
use output::output;
use run::{Level, Outside, Run, Shared};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

pub use builtin::is_builtin;
pub use output::MADE;
pub(super) use run::value_of;

/// What one step of a text costs, besides what it copies.
const STEP: usize = 8;

/// What one command costs, from its words to its verdict.
const COMMAND: usize = 120;

/// What one of its options costs: each is compared with the names of all that mean something.
const OPTION: usize = 60;

/// What one more text costs that a command runs.
const TEXT: usize = 250;

pub(super) fn walk(line: &str, place: &Place) -> Reading {
    let script = Script::default();
    walk_steps(parse::Parser::new(line), script, line.len(), Options::default(), place)
}

/// Walks PowerShell text of this length that has been read already.
pub(super) fn walk_powershell(script: Script, bytes: usize, place: &Place) -> Reading {
    let options = Options { in_process: true, ..Options::default() };
    walk_steps(parse::Parser::new(""), script, bytes, options, place)
}

fn walk_steps(line: parse::Parser<'_>, script: Script, bytes: usize, options: Options, place: &Place) -> Reading {
    let cwd = Some(Rc::from(place.cwd.as_str())).filter(|cwd: &Rc<str>| !cwd.is_empty());
    let project = place.project.clone().or_else(|| cwd.as_deref().map(str::to_owned));
    let mut state = State { home: place.home.clone(), project, cwd, options, ..State::default() };
    let cwd = state.cwd.as_deref().map(str::to_owned);
    for (name, value) in [("HOME", state.home.clone()), ("PWD", cwd)] {
        if let Some(value) = value {
            state.variables.insert(name.to_owned(), Value::Known(value));
        }
    }
    let mut walker = Walker {
        line,
        runs: Vec::new(),
        // Room that nobody comes to use costs nothing; moving thousands of rows does.
        reading: Reading { commands: Vec::with_capacity(room_for(bytes)), ..Reading::default() },
        pipelines: 0,
        spelled: String::new(),
        full: false,
        meter: state.meter.clone(),
        stages: BTreeMap::new(),
        files: BTreeMap::new(),
        recursions: BTreeSet::new(),
        calls: BTreeMap::new(),
        bodies: BTreeMap::new(),
    };
    walker.begin(Rc::new(state), script);
    while let Some(run) = walker.runs.last_mut() {
        match run.steps.pop_front() {
            Some(step) if !walker.full => {
                walker.meter.charge(STEP);
                let lost = run.state.lost;
                walker.step(step);
                if lost {
                    walker.exceed(&limits::SHELL_DIRECTORIES);
                } else if walker.meter.exceeds(&limits::SHELL_STEPS) {
                    walker.exceed(&limits::SHELL_STEPS);
                }
            }
            _ if !walker.full && (walker.reads_on() || walker.goes_on()) => {}
            _ => walker.leave(),
        }
    }
    if walker.meter.exceeds(&limits::SHELL_STEPS) {
        walker.exceed(&limits::SHELL_STEPS);
    }
    walker.reading.steps = walker.meter.spent();
    walker.reading
}

struct Walker<'a> {
    /// What is left of the line.
    line: parse::Parser<'a>,
    /// The text that is being walked, and below it those that wait for it.
    runs: Vec<Run>,
    reading: Reading,
    pipelines: usize,
    /// Room for the canonical text of a command.
    spelled: String,
    /// No more commands are taken in.
    full: bool,
    /// The work so far.
    meter: Meter,
    /// The commands of each pipeline that may hand names to an `xargs`.
    stages: BTreeMap<usize, Vec<usize>>,
    /// What the line has written to files, where that is known.
    files: BTreeMap<String, String>,
    /// Functions that are walked where they are called, with what they are given.
    bodies: BTreeMap<String, Vec<Body>>,
    /// Functions that call themselves, with the arguments that they were followed with.
    recursions: BTreeSet<(CompactString, Vec<CompactString>)>,
    /// How often a function calls itself, and whether it goes on meanwhile.
    calls: BTreeMap<String, (usize, bool)>,
}

impl Walker<'_> {
    /// Reports a limit and takes in no more commands.
    fn exceed(&mut self, limit: &'static Limit) {
        self.reading.exceeded.get_or_insert(limit);
        self.full = true;
    }

    /// Begins with the line.
    fn begin(&mut self, state: Rc<State>, script: Script) {
        let pipeline = self.next_pipeline();
        self.reading.exceeded = script.exceeded;
        let doubts = script.flaws.into_iter().map(|(flaw, at)| Uncertainty { flaw, at, inner: false });
        self.reading.doubts.extend(doubts);
        self.runs.push(Run { steps: script.steps.into(), ..Run::new(state, pipeline) });
    }

    /// Reads the next commands of the line, once those before them are done; tells whether there are any.
    fn reads_on(&mut self) -> bool {
        let [run] = self.runs.as_mut_slice() else { return false };
        let Some(script) = self.line.next() else { return false };
        run.steps.extend(script.steps.drain(..));
        if !script.heredocs.is_empty() {
            run.heredocs = Rc::new(std::mem::take(&mut script.heredocs));
        }
        self.reading.exceeded = self.reading.exceeded.or(script.exceeded);
        let doubts = script.flaws.drain(..).map(|(flaw, at)| Uncertainty { flaw, at, inner: false });
        self.reading.doubts.extend(doubts);
        true
    }

    /// Begins with a text that the line holds; tells whether it can.
    fn enter(
        &mut self,
        text: &str,
        via: Vec<String>,
        mut state: Rc<State>,
        (span, shared): (Range<usize>, Shared),
        starter: usize,
    ) -> bool {
        let depth = 1 + self.runs.get(starter).map_or(0, |run| run.depth);
        if depth >= limits::SHELL_NESTING.most {
            self.reading.exceeded.get_or_insert(&limits::SHELL_NESTING);
            return false;
        }
        self.meter.charge(TEXT + text.len() / 8);
        // Each text counts its substitutions anew.
        if !state.outputs.is_empty() {
            Rc::make_mut(&mut state).outputs.clear();
        }
        let script = parse::parse(text);
        let doubts = script.flaws.into_iter().map(|(flaw, _)| Uncertainty { flaw, at: span.start, inner: true });
        self.reading.doubts.extend(doubts);
        self.reading.exceeded = self.reading.exceeded.or(script.exceeded);
        let pipeline = self.next_pipeline();
        self.runs.push(Run {
            starter,
            depth,
            steps: script.steps.into(),
            heredocs: Rc::new(script.heredocs),
            via,
            span: Some(span),
            shared,
            ..Run::new(state, pipeline)
        });
        true
    }

    fn doubt(&mut self, flaw: Unreadable, command: &Command) {
        self.reading.doubts.push(Uncertainty { flaw, at: command.span.start, inner: true });
    }

    fn next_pipeline(&mut self) -> usize {
        self.pipelines += 1;
        self.pipelines
    }

    fn step(&mut self, step: Step) {
        let pipeline = self.next_pipeline();
        let first = self.runs.len() == 1;
        let Some(run) = self.runs.last_mut() else { return };
        match step {
            Step::Simple(mut simple) => {
                self.simple(&mut simple);
                self.line.take_back(simple);
            }
            Step::Redirects(simple) => {
                // What a list prints goes elsewhere.
                run.level().output = run.level().output.take().filter(|_| run::prints_here(&simple));
                let redirects = run.redirects(&simple);
                let (cwd, elsewhere) = (run.state.cwd.clone(), run.state.elsewhere.clone());
                let (span, mounts) = (simple.span.clone(), run.state.mounts.clone());
                self.reading.loose.push(Command { redirects, cwd, elsewhere, span, mounts, ..Command::default() });
            }
            Step::Open(scope) => {
                let fed = run.level().fed || run.level().stage > 0 || scope == Scope::Sink;
                let outside = match scope {
                    Scope::Group => Outside::Same(Rc::clone(&run.state)),
                    Scope::Loop => {
                        let before = Rc::clone(&run.state);
                        run.begin_loop(&self.bodies);
                        Outside::Same(before)
                    }
                    Scope::Branch => Outside::Uncertainty(run.state.clone()),
                    Scope::Subshell | Scope::Sink => Outside::Restore(Rc::clone(&run.state)),
                    // Nothing is restored where it runs in the shell itself.
                    Scope::Substitution(number) if run.state.options.in_process => {
                        Outside::Substitution(number, Rc::default())
                    }
                    Scope::Substitution(number) => Outside::Substitution(number, Rc::clone(&run.state)),
                    Scope::Function(name) => {
                        self.reading.functions.insert(name.to_string());
                        if self.reading.functions.len() > limits::SHELL_FUNCTIONS.most {
                            return self.exceed(&limits::SHELL_FUNCTIONS);
                        }
                        // A function is walked where it is called, with what it is given. Which of several is in
                        // force depends on what happened: all of them count.
                        let body = run.take_body(first);
                        self.bodies.entry(name.to_string()).or_default().push(body);
                        return;
                    }
                };
                run.level().commands += 1;
                run.levels.push(Level::new(outside, pipeline, fed));
            }
            Step::Close => self.close(),
            Step::Pipe => run.level().stage += 1,
            Step::Then | Step::Else => {
                run.chain(step == Step::Else);
                run.level().next(pipeline);
            }
            Step::End | Step::Background => {
                run.end();
                run.level().next(pipeline);
            }
            Step::Loop(looped) => {
                let Loop { name, words } = *looped;
                let listed = words.is_some();
                let values: Vec<Arg> = expand::fields(words.into_iter().flatten(), &run.state);
                // A loop over nothing leaves the variable as it was.
                if listed && values.is_empty() {
                    return;
                }
                // The names that a pattern finds are as good as the pattern, for what is done to them.
                let value = Value::one_of(&values);
                // A pattern may find nothing.
                let found = values.iter().any(|value| value.glob);
                let value = if found {
                    run.state.value(&name).map_or(value.clone(), |before| value.or(Some(before)))
                } else {
                    value
                };
                // A loop can set what other programs obey, without an equals sign.
                if name.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
                    let known =
                        value.members().into_iter().map(|member| member.is_known().then(|| member.text.to_string()));
                    let env: Vec<(String, Option<String>)> = known.map(|value| (name.clone(), value)).collect();
                    let env = if env.is_empty() { vec![(name.clone(), None)] } else { env };
                    self.reading.loose.push(Command { env, ..Command::default() });
                }
                run.set(&name, value);
            }
            Step::Backquoted(quoted) => {
                let Backquoted { text, span, number } = *quoted;
                if text.trim().is_empty() {
                    return;
                }
                let (via, state, hidden) = (run.via.clone(), run.state.clone(), run.hidden);
                let span = run.span.clone().unwrap_or(span);
                let starter = self.runs.len().saturating_sub(1);
                if self.enter(&text, via, state, (span, Shared::No), starter)
                    && let Some(run) = self.runs.last_mut()
                {
                    run.hidden = hidden;
                    run.number = Some(number);
                }
            }
        }
    }

    fn simple(&mut self, simple: &mut Simple) {
        let Some(run) = self.runs.last_mut() else { return };
        let apart = run.is_apart();
        let value =
            |set: &Assignment| set.value.as_ref().map(|word| expand::values(word, &run.state)).unwrap_or_default();
        let values: Vec<Vec<Arg>> = simple.assignments.iter().map(value).collect();
        let mut env: Vec<(String, Option<String>)> = Vec::new();
        for (set, values) in simple.assignments.iter().zip(&values) {
            env.extend(values.iter().map(|value| (set.name.clone(), value_of(&set.name, value))));
            if values.is_empty() {
                env.push((set.name.clone(), None));
            }
        }
        let wordless = simple.words.is_empty();
        let (args, more) = expand::argument_lists(simple.words.drain(..), &run.state);
        if env
            .iter()
            .any(|(_, value)| value.as_ref().is_some_and(|value| value.contains("[$(") || value.contains("[`")))
        {
            let at = simple.span.start;
            self.reading.doubts.push(Uncertainty {
                flaw: Unreadable::Unclear("an expansion in a quoted subscript"),
                at,
                inner: true,
            });
        }
        let redirects = run.redirects(simple);
        let input = run.input(simple);
        let level = run.level();
        let (pipeline, stage) = (level.pipeline, level.stage);
        let (cwd, elsewhere) = (run.state.cwd.clone(), run.state.elsewhere.clone());
        let prints_here = run::prints_here(simple);
        let span = run.span.clone().unwrap_or_else(|| simple.span.clone());
        let (hidden, mounts) = (run.hidden, run.state.mounts.clone());
        let base = Command {
            env,
            redirects,
            input,
            pipeline,
            stage,
            cwd,
            elsewhere,
            span,
            hidden,
            mounts,
            ..Command::default()
        };
        if args.is_empty() {
            // A word that vanished could have been anything.
            if wordless && !apart {
                for (set, values) in simple.assignments.iter().zip(&values) {
                    let value = match values.as_slice() {
                        [only] => value_of(&set.name, only).map_or_else(|| Value::of(only), Value::Known),
                        several => Value::one_of(several),
                    };
                    match &set.list {
                        Some(words) => run.set_list(set, words),
                        None => run.set(&set.name, value),
                    }
                }
            }
            self.reading.loose.push(base);
            return;
        }
        let via = run.via.clone();
        // A function of that name prints what it wants.
        let speaks = more.is_empty()
            && args.first().is_some_and(|program| !self.reading.functions.contains(program.text.as_str()));
        let printed = if speaks { output(&args, &base, &run.state) } else { None };
        for (path, text) in run.written(&base.redirects, &args, &base.input, printed.as_ref()) {
            self.files.insert(path, text);
        }
        let Some(run) = self.runs.last_mut() else { return };
        run.level().output = printed.filter(|_| prints_here);
        run.level().commands += 1;
        let mut later = Later::default();
        if more.is_empty() {
            self.run(base, args, via, apart, &mut later);
            return self.go_on(later, if apart { Shared::No } else { Shared::Yes });
        }
        // It is one of these, and each begins where the others do.
        let before = Rc::clone(&run.state);
        let mut after: Option<Rc<State>> = None;
        for args in std::iter::once(args).chain(more) {
            self.run(base.clone(), args, via.clone(), apart, &mut later);
            let Some(run) = self.runs.last_mut() else { return };
            let state = std::mem::replace(&mut run.state, Rc::clone(&before));
            match &mut after {
                Some(after) => after.join(&state),
                None => after = Some(state),
            }
        }
        if let (Some(run), Some(after)) = (self.runs.last_mut(), after) {
            run.state = after;
        }
        self.go_on(later, if apart { Shared::No } else { Shared::Perhaps });
    }

    /// Notes a command and everything that it runs in turn.
    fn run(&mut self, base: Command, args: Vec<Arg>, via: Vec<String>, apart: bool, later: &mut Later) {
        let mut work = Vec::new();
        self.note(base, args, via, apart, later, &mut work);
        while let Some((base, args, via)) = work.pop() {
            self.note(base, args, via, apart, later, &mut work);
        }
    }

    /// Notes a command, and in `work` what it runs.
    fn note(
        &mut self,
        base: Command,
        mut args: Vec<Arg>,
        via: Vec<String>,
        apart: bool,
        later: &mut Later,
        work: &mut Vec<(Command, Vec<Arg>, Vec<String>)>,
    ) {
        if args.is_empty() {
            return;
        }
        let mut program = args.remove(0);
        if program.is_known() {
            program.text = canonical::tidy(program.text);
        }
        let limit = match () {
            () if self.reading.commands.len() >= limits::SHELL_COMMANDS.most => Some(&limits::SHELL_COMMANDS),
            () if via.len() > limits::SHELL_NESTING.most => Some(&limits::SHELL_NESTING),
            () if self.meter.exceeds(&limits::SHELL_STEPS) => Some(&limits::SHELL_STEPS),
            () => None,
        };
        if let Some(limit) = limit {
            work.clear();
            return self.exceed(limit);
        }
        // `"$@"` is whatever the text or the function was given.
        if matches!(program.text.as_str(), "$@" | "$*")
            && !program.is_known()
            && let Some(given) = self.runs.last().and_then(|run| run.state.given.clone())
            && given.first().is_some_and(|first| first.text != program.text)
        {
            work.push((base, given.into_iter().chain(args).collect(), via));
            return;
        }
        canonical::line_into(&mut self.spelled, &program, &args);
        let command = Command {
            canonical: self.spelled.as_str().into(),
            known: program.is_known() && !program.glob,
            program: canonical::program(&program.text).into(),
            args,
            via: via.clone(),
            ..base
        };
        if !command.args.is_empty() && evaluates(&command) {
            self.doubt(Unreadable::Unclear("an expansion in a quoted subscript"), &command);
        }
        if let Some(run) = self.runs.last()
            && run.function.as_deref() == Some(command.program.as_str())
        {
            let calls = self.calls.entry(command.program.to_string()).or_default();
            calls.0 += 1;
            calls.1 |= apart;
            // Starting itself twice, and waiting for neither.
            self.reading.bomb |= calls.0 > 1 && calls.1;
        }
        if is_lookalike(&command.program) {
            self.doubt(Unreadable::Lookalike, &command);
        }
        // `command` and `builtin` pass functions by.
        let behind = self.runs.last().and_then(|run| via.strip_prefix(run.via.as_slice()));
        let direct = behind.is_some_and(<[String]>::is_empty);
        let in_shell = behind.is_some_and(|behind| behind.iter().all(|by| by == "command" || by == "builtin"));
        let shadowed = direct && self.reading.functions.contains(command.program.as_str());
        if let Some(run) = self.runs.last_mut().filter(|_| in_shell && !apart && !shadowed) {
            run.builtin(&command);
        }
        if (direct || !in_shell) && self.bodies.contains_key(command.program.as_str()) && self.calls_anew(&command) {
            let around = Around { via: via.clone(), span: Some(command.span.clone()), env: command.env.clone() };
            later.called.push((command.program.clone(), command.args.clone(), around));
        }
        // Popped last to first, so that they come out in order.
        let mut inner = wrappers::inner(&command, &self.meter);
        inner.extend(self.just_written(&command));
        if matches!(command.program.as_str(), "xargs" | "gxargs")
            && let Some(start) = self.listed(&command)
        {
            inner.iter_mut().for_each(|inner| inner.found_below(&start, &self.meter));
        }
        let hidden = command.hidden || (!inner.is_empty() && wrappers::hides(&command));
        let via = if inner.is_empty() { via } else { within(via, &command.program) };
        let container = wrappers::container(&command);
        if container.as_ref().is_some_and(|container| container.mounts.len() > limits::CONTAINER_MOUNTS.most) {
            self.reading.exceeded.get_or_insert(&limits::CONTAINER_MOUNTS);
            self.full = true;
            return;
        }
        for inner in inner.into_iter().rev() {
            let mut fresh = Command { hidden, ..command.around() };
            if let Some(Container { mounts, workdir }) = &container {
                fresh.mounts = Some(Rc::from(mounts.as_slice())).filter(|_| !mounts.is_empty());
                fresh = workdir.as_deref().map_or(fresh.clone(), |workdir| moved(fresh, Some(workdir)));
            }
            match inner {
                Inner::Command { args, cwd, env } => {
                    let fresh = cwd.map_or(fresh.clone(), |cwd| moved(fresh, cwd.as_deref()));
                    let mut fresh = fresh;
                    fresh.env.extend(env);
                    work.push((fresh, args, via.clone()));
                }
                Inner::Text { text, shared } => {
                    // `bash -c 'text' name first second`
                    let given = wrappers::parameters(&command);
                    later.texts.push(Text { text, in_shell: shared, via: via.clone(), around: fresh, given });
                }
                Inner::Code { language, text } => {
                    for found in inline::calls(language, &text, &self.meter) {
                        match found {
                            inline::Call::Command(words) => {
                                let home = self.runs.last().and_then(|run| run.state.home.clone());
                                let literal = |word: String| match (word.strip_prefix("~/"), &home) {
                                    (Some(rest), Some(home)) => Arg::literal(format!("{home}/{rest}")),
                                    _ => Arg::literal(word),
                                };
                                let args =
                                    words.into_iter().map(|word| word.map_or_else(expand::hole, literal)).collect();
                                work.push((fresh.clone(), args, via.clone()));
                            }
                            inline::Call::Text(text) => {
                                let (via, around) = (via.clone(), fresh.clone());
                                later.texts.push(Text { text, in_shell: false, via, around, given: None });
                            }
                        }
                    }
                }
            }
        }
        // Its text is compared with patterns, and its words are looked through by several passes.
        let options = command.args.iter().filter(|arg| arg.text.starts_with('-')).count();
        self.meter.charge(COMMAND + command.canonical.len() / 4 + 4 * command.args.len() + OPTION * options);
        if self.meter.exceeds(&limits::SHELL_STEPS) {
            work.clear();
            return self.exceed(&limits::SHELL_STEPS);
        }
        if self.reading.sourced.is_none() && sources(&command) {
            self.reading.sourced = Some(command.span.start);
        }
        self.stages.entry(command.pipeline).or_default().push(self.reading.commands.len());
        self.reading.commands.push(command);
    }
}

/// Whether a command reads a file into the shell, which may define functions.
fn sources(command: &Command) -> bool {
    matches!(command.program.as_str(), "source" | ".")
        && command.args.first().is_some_and(|file| file.is_known() && !file.text.starts_with("/dev/"))
}

/// Room for the commands of a text. Of a long one it is the most that there can be, of which the system hands out what
/// is used; of a short one, what there usually are.
fn room_for(length: usize) -> usize {
    if length > 4 << 10 { (length / 2 + 1).min(limits::SHELL_COMMANDS.most) } else { length / 16 + 4 }
}

/// Another directory for a command.
fn moved(mut command: Command, to: Option<&str>) -> Command {
    let at = |from: Option<&str>| {
        let target = to.filter(|to| from.is_some() || to.starts_with('/'))?;
        let place = Place { cwd: from.unwrap_or_default().to_owned(), ..Place::default() };
        Some(Rc::from(AbsPath::resolve(target, &place).to_string()))
    };
    command.cwd = at(command.cwd.as_deref());
    for other in &mut command.elsewhere {
        other.at = at(other.at.as_deref());
    }
    command
}

/// Whether a program's name holds characters that cannot be seen, or letters of another alphabet.
fn is_lookalike(name: &str) -> bool {
    name.bytes().any(|byte| !byte.is_ascii() || byte.is_ascii_control())
}
