//! Evaluation of simple commands and of the commands that they run.

use super::super::syntax::{Assignment, ScriptLanguage, SimpleCommand, Uncertainty, Unreadable};
use super::builtin::evaluates_subscript;
use super::deferred::{Deferred, DeferredText, extend_via};
use super::execution::ShellSharing;
use super::output::predict_output;
use super::redirects::prints_here;
use super::{Evaluator, env_value};
use crate::path::{AbsPath, Place};
use crate::shell::state::{ShellState, Value};
use crate::shell::wrappers::{self, Container, Inner};
use crate::shell::{Arg, Command, canonical, expand, inline};
use crate::verdict::limits;
use std::rc::Rc;

/// Steps for one command, from its words to its verdict.
const COMMAND_STEPS: usize = 120;

/// Steps for one option, which is compared with the names of all known options.
const OPTION_STEPS: usize = 60;

/// Reported for a subscript such as `'a[$(x)]'`, which bash expands although it is quoted.
const QUOTED_SUBSCRIPT: Unreadable = Unreadable::Ambiguous("an expansion in a quoted subscript");

/// The arguments of a command, including the program, and the properties that it inherits.
type Pending = (Command, Vec<Arg>);

impl Evaluator<'_> {
    /// Evaluates a simple command and takes its words.
    pub(super) fn execute_simple(&mut self, simple: &mut SimpleCommand) {
        let Some(execution) = self.executions.last_mut() else { return };
        let in_subshell = execution.is_in_subshell();
        let expand_value = |set: &Assignment| {
            set.value.as_ref().map(|word| expand::expand_value(word, &execution.state)).unwrap_or_default()
        };
        let values: Vec<Vec<Arg>> = simple.assignments.iter().map(expand_value).collect();
        let mut env: Vec<(String, Option<String>)> = Vec::new();
        for (set, values) in simple.assignments.iter().zip(&values) {
            env.extend(values.iter().map(|value| (set.name.clone(), env_value(&set.name, value))));
            if values.is_empty() {
                env.push((set.name.clone(), None));
            }
        }
        let has_words = !simple.words.is_empty();
        let (args, more) = expand::expand_arguments(simple.words.drain(..), &execution.state);
        let evaluated = |value: &String| value.contains("[$(") || value.contains("[`");
        if env.iter().any(|(_, value)| value.as_ref().is_some_and(evaluated)) {
            let at = simple.span.start;
            self.reading.uncertainties.push(Uncertainty { reason: QUOTED_SUBSCRIPT, at, inner: true });
        }
        let redirects = execution.redirects(simple);
        let input = execution.input(simple);
        let (pipeline, stage) = (execution.list().pipeline, execution.list().stage);
        let mut base = Command {
            env,
            redirects,
            input,
            pipeline,
            stage,
            cwd: execution.state.cwd.clone(),
            other_cwds: execution.state.other_cwds.clone(),
            span: execution.span.clone().unwrap_or_else(|| simple.span.clone()),
            hidden: execution.hidden,
            mounts: execution.state.mounts.clone(),
            ..Command::default()
        };
        if args.is_empty() {
            // If the words expand to nothing, the command may be any.
            if !has_words && !in_subshell {
                for (set, values) in simple.assignments.iter().zip(&values) {
                    let value = match values.as_slice() {
                        [only] => env_value(&set.name, only).map_or_else(|| Value::from_arg(only), Value::Known),
                        several => Value::from_args(several),
                    };
                    match &set.array {
                        Some(words) => execution.set_array(set, words),
                        None => execution.set(&set.name, value),
                    }
                }
            }
            self.reading.programless.push(base);
            return;
        }
        base.via = execution.via.clone();
        // The output of a function is not that of the program of the same name.
        let is_program = |program: &Arg| !self.reading.functions.contains(program.text.as_str());
        let is_predictable = more.is_empty() && args.first().is_some_and(is_program);
        let output = if is_predictable { predict_output(&args, &base, &execution.state) } else { None };
        self.files.extend(execution.written_files(&base.redirects, &args, &base.input, output.as_ref()));
        execution.list().output = output.filter(|_| prints_here(simple));
        execution.list().commands += 1;
        let mut deferred = Deferred::default();
        if more.is_empty() {
            self.run(base, args, in_subshell, &mut deferred);
            let sharing = if in_subshell { ShellSharing::Separate } else { ShellSharing::Same };
            return self.enter_deferred(deferred, sharing);
        }
        // One of the argument lists is the real one: each is evaluated from the same state.
        let before = Rc::clone(&execution.state);
        let mut after: Option<Rc<ShellState>> = None;
        for args in std::iter::once(args).chain(more) {
            self.run(base.clone(), args, in_subshell, &mut deferred);
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

    /// Records a command and the commands that it runs.
    fn run(&mut self, base: Command, args: Vec<Arg>, in_subshell: bool, deferred: &mut Deferred) {
        let mut work = vec![(base, args)];
        while let Some((base, args)) = work.pop() {
            self.record(base, args, in_subshell, deferred, &mut work);
        }
    }

    /// Records one command. Commands that it runs are added to `work`; texts and functions to `deferred`.
    fn record(
        &mut self,
        base: Command,
        mut args: Vec<Arg>,
        in_subshell: bool,
        deferred: &mut Deferred,
        work: &mut Vec<Pending>,
    ) {
        if args.is_empty() {
            return;
        }
        let mut program = args.remove(0);
        if program.is_known() {
            program.text = canonical::normalize(program.text);
        }
        if self.meter.is_exhausted() {
            return work.clear();
        }
        // A command that is longer than any text is not judged.
        if args.iter().map(|arg| arg.text.len()).sum::<usize>() > limits::SHELL_BYTES.most {
            return self.meter.report(&limits::SHELL_BYTES);
        }
        if self.reading.commands.len() >= limits::SHELL_COMMANDS.most {
            self.meter.report(&limits::SHELL_COMMANDS);
        }
        // `"$@"` runs the positional parameters.
        if matches!(program.text.as_str(), "$@" | "$*")
            && !program.is_known()
            && let Some(positional) = self.executions.last().and_then(|execution| execution.state.positional.clone())
            && positional.first().is_some_and(|first| first.text != program.text)
        {
            work.push((base, positional.into_iter().chain(args).collect()));
            return;
        }
        canonical::render_into(&mut self.canonical_buffer, &program, &args);
        let command = Command {
            canonical: self.canonical_buffer.as_str().into(),
            known: program.is_known() && !program.glob,
            program: canonical::program_name(&program.text).into(),
            args,
            ..base
        };
        self.check_command(&command, in_subshell);
        // `command` and `builtin` bypass functions.
        let runners = self.executions.last().and_then(|execution| command.via.strip_prefix(execution.via.as_slice()));
        let is_direct = runners.is_some_and(<[String]>::is_empty);
        let is_in_shell = runners.is_some_and(|runners| runners.iter().all(|by| by == "command" || by == "builtin"));
        let is_shadowed = is_direct && self.reading.functions.contains(command.program.as_str());
        if let Some(execution) = self.executions.last_mut().filter(|_| is_in_shell && !in_subshell && !is_shadowed) {
            execution.run_builtin(&command);
        }
        if (is_direct || !is_in_shell)
            && self.bodies.contains_key(command.program.as_str())
            && self.should_follow_call(&command)
        {
            deferred.calls.push(command.clone());
        }
        if command.via.len() > limits::SHELL_NESTING.most {
            self.meter.report(&limits::SHELL_NESTING);
        } else {
            self.add_inner(&command, deferred, work);
        }
        // The text is matched against patterns, and several passes look at the arguments.
        let options = command.args.iter().filter(|arg| arg.text.starts_with('-')).count();
        let steps = COMMAND_STEPS + command.canonical.len() / 4 + 4 * command.args.len() + OPTION_STEPS * options;
        // Each path is compared with each mount.
        let paths = 1 + command.args.len() + command.redirects.len();
        self.meter.charge(steps + command.mounts().len() * paths);
        if self.reading.sourced.is_none() && sources_file(&command) {
            self.reading.sourced = Some(command.span.start);
        }
        self.stages.entry(command.pipeline).or_default().push(self.reading.commands.len());
        self.reading.commands.push(command);
    }

    /// Reports uncertainties and fork bombs.
    fn check_command(&mut self, command: &Command, in_subshell: bool) {
        if !command.args.is_empty() && evaluates_subscript(command) {
            self.report(QUOTED_SUBSCRIPT, command.span.start);
        }
        if let Some(execution) = self.executions.last()
            && execution.function.as_deref() == Some(command.program.as_str())
        {
            let (calls, is_asynchronous) = self.self_calls.entry(command.program.to_string()).or_default();
            *calls += 1;
            *is_asynchronous |= in_subshell;
            self.reading.fork_bomb |= *calls > 1 && *is_asynchronous;
        }
        if is_lookalike(&command.program) {
            self.report(Unreadable::Lookalike, command.span.start);
        }
    }

    /// Adds what a command runs to `work` and `deferred`.
    fn add_inner(&mut self, command: &Command, deferred: &mut Deferred, work: &mut Vec<Pending>) {
        let mut inner = wrappers::inner(command, &self.meter);
        inner.extend(self.written_script(command));
        if matches!(command.program.as_str(), "xargs" | "gxargs")
            && let Some(start) = self.piped_names(command)
        {
            inner.iter_mut().for_each(|inner| inner.found_below(&start, &self.meter));
        }
        let container = wrappers::container(command);
        if container.as_ref().is_some_and(|container| container.mounts.len() > limits::CONTAINER_MOUNTS.most) {
            self.meter.report(&limits::CONTAINER_MOUNTS);
        }
        if inner.is_empty() {
            return;
        }
        let mut base = command.inner_base();
        base.hidden |= wrappers::hides(command);
        base.via = extend_via(command.via.clone(), &command.program);
        if let Some(Container { mounts, workdir }) = container {
            base.mounts = Some(Rc::from(mounts)).filter(|mounts: &Rc<[_]>| !mounts.is_empty());
            if let Some(workdir) = workdir {
                move_to_directory(&mut base, Some(&workdir));
            }
        }
        // `work` is a stack: the reverse order keeps the commands in order.
        for inner in inner.into_iter().rev() {
            let mut base = base.clone();
            match inner {
                Inner::Command { args, cwd, env } => {
                    if let Some(cwd) = cwd {
                        move_to_directory(&mut base, cwd.as_deref());
                    }
                    base.env.extend(env);
                    work.push((base, args));
                }
                Inner::Text { text, shared } => {
                    // `bash -c 'text' name first second`
                    let parameters = wrappers::parameters(command);
                    let language = ScriptLanguage::Bash;
                    deferred.texts.push(DeferredText { text, language, in_shell: shared, context: base, parameters });
                }
                Inner::PowerShell { text } => {
                    let language = ScriptLanguage::PowerShell;
                    let context = base;
                    deferred.texts.push(DeferredText { text, language, in_shell: false, context, parameters: None });
                }
                Inner::Code { language, text } => {
                    let home = self.executions.last().and_then(|execution| execution.state.home.clone());
                    let arg = |word: inline::Word| match (word.text.strip_prefix("~/"), &home) {
                        (Some(rest), Some(home)) => Arg {
                            text: format!("{home}/{rest}").trim_end_matches('/').into(),
                            known: word.known.map(|known| (known + home.len()).saturating_sub(1)),
                            glob: false,
                        },
                        _ => Arg { text: word.text.into(), known: word.known, glob: false },
                    };
                    for call in inline::calls(language, &text, &self.meter) {
                        // Only what the code runs as a program is hidden in it.
                        let hidden = base.hidden && matches!(call, inline::Call::Run(_) | inline::Call::Text(_));
                        let context = Command { hidden, ..base.clone() };
                        match call {
                            inline::Call::Run(words) | inline::Call::Same(words) => {
                                work.push((context, words.into_iter().map(arg).collect()));
                            }
                            inline::Call::Text(text) | inline::Call::Loose(text) => {
                                let language = ScriptLanguage::Bash;
                                let parameters = Some(vec![Arg::literal("sh"), expand::unknown_arg()]);
                                let text = DeferredText { text, language, in_shell: false, context, parameters };
                                deferred.texts.push(text);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Whether a command reads a file into the shell, which may define functions.
fn sources_file(command: &Command) -> bool {
    matches!(command.program.as_str(), "source" | ".")
        && command.args.first().is_some_and(|file| file.is_known() && !file.text.starts_with("/dev/"))
}

/// Resolves the directories of a command relative to `to`, or makes them unknown if `to` is.
fn move_to_directory(command: &mut Command, to: Option<&str>) {
    let resolve = |from: Option<&str>| {
        let target = to.filter(|to| from.is_some() || to.starts_with('/'))?;
        let place = Place { cwd: from.unwrap_or_default().to_owned(), ..Place::default() };
        Some(Rc::from(AbsPath::resolve(target, &place).to_string()))
    };
    command.cwd = resolve(command.cwd.as_deref());
    for other in &mut command.other_cwds {
        other.path = resolve(other.path.as_deref());
    }
}

/// Whether the name of a program has invisible characters or letters of another alphabet.
fn is_lookalike(name: &str) -> bool {
    name.bytes().any(|byte| !byte.is_ascii() || byte.is_ascii_control())
}
