//! The walk: steps in order, with the directory and the variables that are in force at each.

mod loops;
mod builtin;
mod function;
mod deferred;
mod output;
mod execution;

use super::canonical;
use super::expand;
use super::parse;
use super::state::{ShellState, Value, is_positional};
use super::syntax::{Assignment, Backquoted, Instruction, LoopVariable, Scope, SimpleCommand, Uncertainty, Unreadable};
use super::{Arg, Command, Reading};
use crate::path::AbsPath;
use crate::path::Place;
use crate::shell::inline;
use crate::shell::wrappers;
use crate::shell::wrappers::{Container, Inner};
use crate::verdict::limits;
use crate::verdict::limits::{Limit, Meter};
use builtin::evaluates_subscript;
use compact_str::CompactString;
use deferred::{Deferred, DeferredText, extend_via};
use execution::{Execution, ListContext, OnClose, ShellSharing};
use function::{CallContext, FunctionBody};
use output::predict_output;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

pub use builtin::is_builtin;
pub(super) use execution::value_of;
pub use output::MKTEMP_PATH;

/// What one step of a text costs, besides what it copies.
const INSTRUCTION_STEPS: usize = 8;

/// What one command costs, from its words to its verdict.
const COMMAND_STEPS: usize = 120;

/// What one of its options costs: each is compared with the names of all that mean something.
const OPTION_STEPS: usize = 60;

/// What one more text costs that a command runs.
const TEXT_STEPS: usize = 250;

pub(super) fn evaluate(line: &str, place: &Place) -> Reading {
    let cwd = Some(Rc::from(place.cwd.as_str())).filter(|cwd: &Rc<str>| !cwd.is_empty());
    let project = place.project.clone().or_else(|| cwd.as_deref().map(str::to_owned));
    let mut state = ShellState { home: place.home.clone(), project, cwd, ..ShellState::default() };
    let cwd = state.cwd.as_deref().map(str::to_owned);
    for (name, value) in [("HOME", state.home.clone()), ("PWD", cwd)] {
        if let Some(value) = value {
            state.variables.insert(name.to_owned(), Value::Known(value));
        }
    }
    let mut evaluator = Evaluator {
        line: parse::Parser::new(line),
        executions: Vec::new(),
        // Room that nobody comes to use costs nothing; moving thousands of rows does.
        reading: Reading { commands: Vec::with_capacity(command_capacity(line.len())), ..Reading::default() },
        pipelines: 0,
        canonical_buffer: String::new(),
        stopped: false,
        meter: state.meter.clone(),
        stages: BTreeMap::new(),
        files: BTreeMap::new(),
        recursions: BTreeSet::new(),
        calls: BTreeMap::new(),
        bodies: BTreeMap::new(),
    };
    evaluator.begin(Rc::new(state));
    while let Some(execution) = evaluator.executions.last_mut() {
        match execution.instructions.pop_front() {
            Some(step) if !evaluator.stopped => {
                evaluator.meter.charge(INSTRUCTION_STEPS);
                let lost = execution.state.exceeds_directories;
                evaluator.execute(step);
                if lost {
                    evaluator.exceed(&limits::SHELL_DIRECTORIES);
                } else if evaluator.meter.exceeds(&limits::SHELL_STEPS) {
                    evaluator.exceed(&limits::SHELL_STEPS);
                }
            }
            _ if !evaluator.stopped && (evaluator.read_next_commands() || evaluator.enter_exit_text()) => {}
            _ => evaluator.leave_text(),
        }
    }
    if evaluator.meter.exceeds(&limits::SHELL_STEPS) {
        evaluator.exceed(&limits::SHELL_STEPS);
    }
    evaluator.reading.steps = evaluator.meter.spent();
    evaluator.reading
}

struct Evaluator<'a> {
    /// What is left of the line.
    line: parse::Parser<'a>,
    /// The text that is being walked, and below it those that wait for it.
    executions: Vec<Execution>,
    reading: Reading,
    pipelines: usize,
    /// Room for the canonical text of a command.
    canonical_buffer: String,
    /// No more commands are taken in.
    stopped: bool,
    /// The work so far.
    meter: Meter,
    /// The commands of each pipeline that may hand names to an `xargs`.
    stages: BTreeMap<usize, Vec<usize>>,
    /// What the line has written to files, where that is known.
    files: BTreeMap<String, String>,
    /// Functions that are walked where they are called, with what they are given.
    bodies: BTreeMap<String, Vec<FunctionBody>>,
    /// Functions that call themselves, with the arguments that they were followed with.
    recursions: BTreeSet<(CompactString, Vec<CompactString>)>,
    /// How often a function calls itself, and whether it absolute_cwds on meanwhile.
    calls: BTreeMap<String, (usize, bool)>,
}

impl Evaluator<'_> {
    /// Reports a limit and takes in no more commands.
    fn exceed(&mut self, limit: &'static Limit) {
        self.reading.exceeded.get_or_insert(limit);
        self.stopped = true;
    }

    /// Begins with the line.
    fn begin(&mut self, state: Rc<ShellState>) {
        let pipeline = self.next_pipeline();
        self.executions.push(Execution::new(state, pipeline));
    }

    /// Reads the next commands of the line, once those before them are done; tells whether there are any.
    fn read_next_commands(&mut self) -> bool {
        let [execution] = self.executions.as_mut_slice() else { return false };
        let Some(script) = self.line.next() else { return false };
        execution.instructions.extend(script.instructions.drain(..));
        if !script.heredocs.is_empty() {
            execution.heredocs = Rc::new(std::mem::take(&mut script.heredocs));
        }
        self.reading.exceeded = self.reading.exceeded.or(script.exceeded);
        let uncertainties = script.errors.drain(..).map(|(reason, at)| Uncertainty { reason, at, inner: false });
        self.reading.uncertainties.extend(uncertainties);
        true
    }

    /// Begins with a text that the line holds; tells whether it can.
    fn enter_text(
        &mut self,
        text: &str,
        via: Vec<String>,
        mut state: Rc<ShellState>,
        (span, shared): (Range<usize>, ShellSharing),
        starter: usize,
    ) -> bool {
        let depth = 1 + self.executions.get(starter).map_or(0, |execution| execution.depth);
        if depth >= limits::SHELL_NESTING.most {
            self.reading.exceeded.get_or_insert(&limits::SHELL_NESTING);
            return false;
        }
        self.meter.charge(TEXT_STEPS + text.len() / 8);
        // Each text counts its substitutions anew.
        if !state.outputs.is_empty() {
            Rc::make_mut(&mut state).outputs.clear();
        }
        let script = parse::parse(text);
        let uncertainties =
            script.errors.into_iter().map(|(reason, _)| Uncertainty { reason, at: span.start, inner: true });
        self.reading.uncertainties.extend(uncertainties);
        self.reading.exceeded = self.reading.exceeded.or(script.exceeded);
        let pipeline = self.next_pipeline();
        self.executions.push(Execution {
            starter,
            depth,
            instructions: script.instructions.into(),
            heredocs: Rc::new(script.heredocs),
            via,
            span: Some(span),
            shared,
            ..Execution::new(state, pipeline)
        });
        true
    }

    fn report(&mut self, reason: Unreadable, command: &Command) {
        self.reading.uncertainties.push(Uncertainty { reason, at: command.span.start, inner: true });
    }

    fn next_pipeline(&mut self) -> usize {
        self.pipelines += 1;
        self.pipelines
    }

    fn execute(&mut self, step: Instruction) {
        let pipeline = self.next_pipeline();
        let first = self.executions.len() == 1;
        let Some(execution) = self.executions.last_mut() else { return };
        match step {
            Instruction::Simple(mut simple) => {
                self.simple(&mut simple);
                self.line.recycle(simple);
            }
            Instruction::Redirects(simple) => {
                // What a list prints absolute_cwds other_cwds.
                execution.list().output = execution.list().output.take().filter(|_| execution::prints_here(&simple));
                let redirects = execution.redirects(&simple);
                let (cwd, other_cwds) = (execution.state.cwd.clone(), execution.state.other_cwds.clone());
                let (span, mounts) = (simple.span.clone(), execution.state.mounts.clone());
                self.reading.programless.push(Command {
                    redirects,
                    cwd,
                    other_cwds,
                    span,
                    mounts,
                    ..Command::default()
                });
            }
            Instruction::Open(scope) => {
                let fed = execution.list().fed || execution.list().stage > 0 || scope == Scope::OutputProcess;
                let outside = match scope {
                    Scope::Group => OnClose::Keep(Rc::clone(&execution.state)),
                    Scope::Loop => {
                        let before = Rc::clone(&execution.state);
                        execution.begin_loop(&self.bodies);
                        OnClose::Keep(before)
                    }
                    Scope::Branch => OnClose::Join(execution.state.clone()),
                    Scope::Subshell | Scope::OutputProcess => OnClose::Restore(Rc::clone(&execution.state)),
                    Scope::Substitution(number) => OnClose::Substitution(number, Rc::clone(&execution.state)),
                    Scope::Function(name) => {
                        self.reading.functions.insert(name.to_string());
                        if self.reading.functions.len() > limits::SHELL_FUNCTIONS.most {
                            return self.exceed(&limits::SHELL_FUNCTIONS);
                        }
                        // A function is walked where it is called, with what it is given. Which of several is in
                        // force depends on what happened: all of them count.
                        let body = execution.take_body(first);
                        self.bodies.entry(name.to_string()).or_default().push(body);
                        return;
                    }
                };
                execution.list().commands += 1;
                execution.lists.push(ListContext::new(outside, pipeline, fed));
            }
            Instruction::Close => self.close(),
            Instruction::Pipe => execution.list().stage += 1,
            Instruction::And | Instruction::Or => {
                execution.chain(step == Instruction::Or);
                execution.list().next(pipeline);
            }
            Instruction::End | Instruction::Background => {
                execution.end();
                execution.list().next(pipeline);
            }
            Instruction::LoopVariable(looped) => {
                let LoopVariable { name, words } = *looped;
                let listed = words.is_some();
                let values: Vec<Arg> = expand::expand_fields(words.into_iter().flatten(), &execution.state);
                // A loop over nothing leaves the variable as it was.
                if listed && values.is_empty() {
                    return;
                }
                // The names that a pattern finds are as good as the pattern, for what is done to them.
                let value = Value::from_args(&values);
                // A pattern may find nothing.
                let found = values.iter().any(|value| value.glob);
                let value = if found {
                    execution.state.value(&name).map_or(value.clone(), |before| value.join(Some(before)))
                } else {
                    value
                };
                // A loop can set what other programs obey, without an equals sign.
                if name.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
                    let known =
                        value.members().into_iter().map(|member| member.is_known().then(|| member.text.to_string()));
                    let env: Vec<(String, Option<String>)> = known.map(|value| (name.clone(), value)).collect();
                    let env = if env.is_empty() { vec![(name.clone(), None)] } else { env };
                    self.reading.programless.push(Command { env, ..Command::default() });
                }
                execution.set(&name, value);
            }
            Instruction::Backquoted(quoted) => {
                let Backquoted { text, span, number } = *quoted;
                if text.trim().is_empty() {
                    return;
                }
                let (via, state, hidden) = (execution.via.clone(), execution.state.clone(), execution.hidden);
                let span = execution.span.clone().unwrap_or(span);
                let starter = self.executions.len().saturating_sub(1);
                if self.enter_text(&text, via, state, (span, ShellSharing::Separate), starter)
                    && let Some(execution) = self.executions.last_mut()
                {
                    execution.hidden = hidden;
                    execution.number = Some(number);
                }
            }
        }
    }

    fn simple(&mut self, simple: &mut SimpleCommand) {
        let Some(execution) = self.executions.last_mut() else { return };
        let in_subshell = execution.is_in_subshell();
        let value = |set: &Assignment| {
            set.value.as_ref().map(|word| expand::expand_value(word, &execution.state)).unwrap_or_default()
        };
        let values: Vec<Vec<Arg>> = simple.assignments.iter().map(value).collect();
        let mut env: Vec<(String, Option<String>)> = Vec::new();
        for (set, values) in simple.assignments.iter().zip(&values) {
            env.extend(values.iter().map(|value| (set.name.clone(), value_of(&set.name, value))));
            if values.is_empty() {
                env.push((set.name.clone(), None));
            }
        }
        let wordless = simple.words.is_empty();
        let (args, more) = expand::expand_arguments(simple.words.drain(..), &execution.state);
        if env
            .iter()
            .any(|(_, value)| value.as_ref().is_some_and(|value| value.contains("[$(") || value.contains("[`")))
        {
            let at = simple.span.start;
            self.reading.uncertainties.push(Uncertainty {
                reason: Unreadable::Ambiguous("an expansion in a quoted subscript"),
                at,
                inner: true,
            });
        }
        let redirects = execution.redirects(simple);
        let input = execution.input(simple);
        let list = execution.list();
        let (pipeline, stage) = (list.pipeline, list.stage);
        let (cwd, other_cwds) = (execution.state.cwd.clone(), execution.state.other_cwds.clone());
        let prints_here = execution::prints_here(simple);
        let span = execution.span.clone().unwrap_or_else(|| simple.span.clone());
        let (hidden, mounts) = (execution.hidden, execution.state.mounts.clone());
        let base = Command {
            env,
            redirects,
            input,
            pipeline,
            stage,
            cwd,
            other_cwds,
            span,
            hidden,
            mounts,
            ..Command::default()
        };
        if args.is_empty() {
            // A word that vanished could have been sets_anything.
            if wordless && !in_subshell {
                for (set, values) in simple.assignments.iter().zip(&values) {
                    let value = match values.as_slice() {
                        [only] => value_of(&set.name, only).map_or_else(|| Value::from_arg(only), Value::Known),
                        several => Value::from_args(several),
                    };
                    match &set.array {
                        Some(words) => execution.set_list(set, words),
                        None => execution.set(&set.name, value),
                    }
                }
            }
            self.reading.programless.push(base);
            return;
        }
        let via = execution.via.clone();
        // A function of that name prints what it wants.
        let speaks = more.is_empty()
            && args.first().is_some_and(|program| !self.reading.functions.contains(program.text.as_str()));
        let printed = if speaks { predict_output(&args, &base, &execution.state) } else { None };
        for (path, text) in execution.written_files(&base.redirects, &args, &base.input, printed.as_ref()) {
            self.files.insert(path, text);
        }
        let Some(execution) = self.executions.last_mut() else { return };
        execution.list().output = printed.filter(|_| prints_here);
        execution.list().commands += 1;
        let mut deferred = Deferred::default();
        if more.is_empty() {
            self.run(base, args, via, in_subshell, &mut deferred);
            return self
                .enter_deferred(deferred, if in_subshell { ShellSharing::Separate } else { ShellSharing::Same });
        }
        // It is one of these, and each begins where the others do.
        let before = Rc::clone(&execution.state);
        let mut after: Option<Rc<ShellState>> = None;
        for args in std::iter::once(args).chain(more) {
            self.run(base.clone(), args, via.clone(), in_subshell, &mut deferred);
            let Some(execution) = self.executions.last_mut() else { return };
            let state = std::mem::replace(&mut execution.state, Rc::clone(&before));
            match &mut after {
                Some(after) => after.join(&state),
                None => after = Some(state),
            }
        }
        if let (Some(execution), Some(after)) = (self.executions.last_mut(), after) {
            execution.state = after;
        }
        self.enter_deferred(deferred, if in_subshell { ShellSharing::Separate } else { ShellSharing::MaybeSame });
    }

    /// Notes a command and everything that it runs in turn.
    fn run(&mut self, base: Command, args: Vec<Arg>, via: Vec<String>, in_subshell: bool, deferred: &mut Deferred) {
        let mut work = Vec::new();
        self.note(base, args, via, in_subshell, deferred, &mut work);
        while let Some((base, args, via)) = work.pop() {
            self.note(base, args, via, in_subshell, deferred, &mut work);
        }
    }

    /// Notes a command, and in `work` what it runs.
    fn note(
        &mut self,
        base: Command,
        mut args: Vec<Arg>,
        via: Vec<String>,
        in_subshell: bool,
        deferred: &mut Deferred,
        work: &mut Vec<(Command, Vec<Arg>, Vec<String>)>,
    ) {
        if args.is_empty() {
            return;
        }
        let mut program = args.remove(0);
        if program.is_known() {
            program.text = canonical::normalize(program.text);
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
            && let Some(given) = self.executions.last().and_then(|execution| execution.state.positional.clone())
            && given.first().is_some_and(|first| first.text != program.text)
        {
            work.push((base, given.into_iter().chain(args).collect(), via));
            return;
        }
        canonical::render_into(&mut self.canonical_buffer, &program, &args);
        let command = Command {
            canonical: self.canonical_buffer.as_str().into(),
            known: program.is_known() && !program.glob,
            program: canonical::program_name(&program.text).into(),
            args,
            via: via.clone(),
            ..base
        };
        if !command.args.is_empty() && evaluates_subscript(&command) {
            self.report(Unreadable::Ambiguous("an expansion in a quoted subscript"), &command);
        }
        if let Some(execution) = self.executions.last()
            && execution.function.as_deref() == Some(command.program.as_str())
        {
            let calls = self.calls.entry(command.program.to_string()).or_default();
            calls.0 += 1;
            calls.1 |= in_subshell;
            // Starting itself twice, and waiting for neither.
            self.reading.fork_bomb |= calls.0 > 1 && calls.1;
        }
        if is_lookalike(&command.program) {
            self.report(Unreadable::Lookalike, &command);
        }
        // `command` and `builtin` pass functions by.
        let behind = self.executions.last().and_then(|execution| via.strip_prefix(execution.via.as_slice()));
        let direct = behind.is_some_and(<[String]>::is_empty);
        let in_shell = behind.is_some_and(|behind| behind.iter().all(|by| by == "command" || by == "builtin"));
        let shadowed = direct && self.reading.functions.contains(command.program.as_str());
        if let Some(execution) = self.executions.last_mut().filter(|_| in_shell && !in_subshell && !shadowed) {
            execution.builtin(&command);
        }
        if (direct || !in_shell)
            && self.bodies.contains_key(command.program.as_str())
            && self.should_follow_call(&command)
        {
            let context = CallContext { via: via.clone(), span: Some(command.span.clone()), env: command.env.clone() };
            deferred.calls.push((command.program.clone(), command.args.clone(), context));
        }
        // Popped last to first, so that they come out in order.
        let mut inner = wrappers::inner(&command, &self.meter);
        inner.extend(self.written_script(&command));
        if matches!(command.program.as_str(), "xargs" | "gxargs")
            && let Some(start) = self.piped_names(&command)
        {
            inner.iter_mut().for_each(|inner| inner.found_below(&start, &self.meter));
        }
        let hidden = command.hidden || (!inner.is_empty() && wrappers::hides(&command));
        let via = if inner.is_empty() { via } else { extend_via(via, &command.program) };
        let container = wrappers::container(&command);
        if container.as_ref().is_some_and(|container| container.mounts.len() > limits::CONTAINER_MOUNTS.most) {
            self.reading.exceeded.get_or_insert(&limits::CONTAINER_MOUNTS);
            self.stopped = true;
            return;
        }
        for inner in inner.into_iter().rev() {
            let mut fresh = Command { hidden, ..command.inner_base() };
            if let Some(Container { mounts, workdir }) = &container {
                fresh.mounts = Some(Rc::from(mounts.as_slice())).filter(|_| !mounts.is_empty());
                fresh = workdir.as_deref().map_or(fresh.clone(), |workdir| move_to_directory(fresh, Some(workdir)));
            }
            match inner {
                Inner::Command { args, cwd, env } => {
                    let fresh = cwd.map_or(fresh.clone(), |cwd| move_to_directory(fresh, cwd.as_deref()));
                    let mut fresh = fresh;
                    fresh.env.extend(env);
                    work.push((fresh, args, via.clone()));
                }
                Inner::Text { text, shared } => {
                    // `bash -c 'text' name first second`
                    let given = wrappers::parameters(&command);
                    deferred.texts.push(DeferredText {
                        text,
                        in_shell: shared,
                        via: via.clone(),
                        context: fresh,
                        given,
                    });
                }
                Inner::Code { language, text } => {
                    for found in inline::calls(language, &text, &self.meter) {
                        match found {
                            inline::Call::Command(words) => {
                                let home = self.executions.last().and_then(|execution| execution.state.home.clone());
                                let literal = |word: String| match (word.strip_prefix("~/"), &home) {
                                    (Some(rest), Some(home)) => Arg::literal(format!("{home}/{rest}")),
                                    _ => Arg::literal(word),
                                };
                                let args = words
                                    .into_iter()
                                    .map(|word| word.map_or_else(expand::unknown_arg, literal))
                                    .collect();
                                work.push((fresh.clone(), args, via.clone()));
                            }
                            inline::Call::Text(text) => {
                                let (via, context) = (via.clone(), fresh.clone());
                                deferred.texts.push(DeferredText { text, in_shell: false, via, context, given: None });
                            }
                        }
                    }
                }
            }
        }
        // Its text is compared with patterns, and its words are looked through by several passes.
        let options = command.args.iter().filter(|arg| arg.text.starts_with('-')).count();
        self.meter
            .charge(COMMAND_STEPS + command.canonical.len() / 4 + 4 * command.args.len() + OPTION_STEPS * options);
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
fn command_capacity(length: usize) -> usize {
    if length > 4 << 10 { (length / 2 + 1).min(limits::SHELL_COMMANDS.most) } else { length / 16 + 4 }
}

/// Another directory for a command.
fn move_to_directory(mut command: Command, to: Option<&str>) -> Command {
    let at = |from: Option<&str>| {
        let target = to.filter(|to| from.is_some() || to.starts_with('/'))?;
        let place = Place { cwd: from.unwrap_or_default().to_owned(), ..Place::default() };
        Some(Rc::from(AbsPath::resolve(target, &place).to_string()))
    };
    command.cwd = at(command.cwd.as_deref());
    for other in &mut command.other_cwds {
        other.at = at(other.at.as_deref());
    }
    command
}

/// Whether a program's name holds characters that cannot be seen, or letters of another alphabet.
fn is_lookalike(name: &str) -> bool {
    name.bytes().any(|byte| !byte.is_ascii() || byte.is_ascii_control())
}
