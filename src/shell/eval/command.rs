//! Evaluation of simple commands and of the commands that they run.

use super::super::syntax::{Assignment, ScriptLanguage, SimpleCommand, Uncertainty, Unreadable, WordPart};
use super::builtin::evaluates_subscript;
use super::deferred::{Deferred, DeferredText, extend_via};
use super::execution::ShellSharing;
use super::filters;
use super::redirects::{self, prints_here};
use super::{Evaluator, env_value};
use crate::path::{AbsPath, Place};
use crate::programs;
use crate::shell::parse::{parse_assignment, runs_in_subscript};
use crate::shell::state::{ShellState, Value};
use crate::shell::wrappers::{self, Inner};
use crate::shell::{Arg, Command, Input, Origin, canonical, descriptors, expand, inline};
use crate::verdict::limits;
use std::rc::Rc;

/// Steps for one command, from its words to its verdict.
const COMMAND_STEPS: usize = 120;

/// Steps for one option, which is compared with the names of all known options.
const OPTION_STEPS: usize = 60;

/// Reported for a subscript such as `'a[$(x)]'`, which bash expands although it is quoted.
pub(super) const QUOTED_SUBSCRIPT: Unreadable = Unreadable::Ambiguous("an expansion in a quoted subscript");

/// Reported for `galiases[x]=y`, which changes what the words of the line mean in zsh.
const ALIAS_ARRAY: Unreadable = Unreadable::Ambiguous("an alias as an element of an array");

/// The arguments of a command, including the program, and the properties that it inherits.
type Pending = (Command, Vec<Arg>);

/// The origin of the files that a command runs, and the statements in them.
type Found = (Option<Origin>, Option<String>);

impl Evaluator<'_> {
    /// Evaluates a simple command and takes its words.
    pub(super) fn execute_simple(&mut self, simple: &mut SimpleCommand) {
        let active = self.executions.len().saturating_sub(1);
        let Some(execution) = self.executions.get_mut(active) else { return };
        let before = execution.is_last_stage().then(|| Rc::clone(&execution.state));
        self.execute_in_stage(simple);
        if let Some((execution, before)) = self.executions.get_mut(active).zip(before) {
            execution.state.join(&before);
        }
    }

    /// Evaluates a simple command. What it sets remains, unless it runs in a subshell.
    fn execute_in_stage(&mut self, simple: &mut SimpleCommand) {
        let Some(execution) = self.executions.last_mut() else { return };
        let in_subshell = execution.is_in_subshell();
        let sharing = match in_subshell {
            true => ShellSharing::Separate,
            false if execution.is_last_stage() => ShellSharing::MaybeSame,
            false => ShellSharing::Same,
        };
        if reads_last_word(simple) {
            execution.set("_", self.last_word.clone());
        }
        let expand_value = |set: &Assignment| {
            let values =
                set.value.as_ref().map(|word| expand::expand_value(word, &execution.state)).unwrap_or_default();
            if set.appends && set.subscript.is_none() { execution.appended(&set.name, &values) } else { values }
        };
        let values: Vec<Vec<Arg>> = simple.assignments.iter().map(expand_value).collect();
        let mut env: Vec<(String, Option<String>)> = Vec::new();
        for (set, values) in simple.assignments.iter().zip(&values) {
            // Beside an unknown output, the others are only names that it may hold.
            let is_output = values.first().is_some_and(|first| first.text == "$()" && !first.is_known());
            let possible = values.iter().take(if is_output { 1 } else { values.len() });
            let meter = &self.meter;
            let text = |value: &Arg| env_value(&set.name, value).filter(|_| meter.try_charge(value.text.len()));
            env.extend(possible.map(|value| (set.name.clone(), text(value))));
            if values.is_empty() {
                env.push((set.name.clone(), None));
            }
        }
        // In zsh, an element of these arrays is an alias.
        let is_alias = |set: &Assignment| matches!(set.name.as_str(), "galiases" | "saliases" | "dis_galiases");
        if simple.assignments.iter().any(is_alias) {
            let at = simple.span.start;
            self.reading.uncertainties.push(Uncertainty { reason: ALIAS_ARRAY, at, inner: true });
        }
        let has_words = !simple.words.is_empty();
        let arrays = declared_arrays(simple);
        let is_decoded =
            |part: &WordPart| matches!(part, WordPart::Output { number, .. } if execution.decoded.contains(number));
        let decodes_program = simple.words.first().is_some_and(|word| word.parts.iter().any(is_decoded));
        let (mut args, more) = expand::expand_arguments(simple.words.drain(..), &execution.state);
        if execution.state.options.keyword {
            env.extend(take_keywords(&mut args));
        }
        let evaluated = |value: &String| value.contains("[$(") || value.contains("[`") || runs_in_subscript(value);
        if env.iter().any(|(_, value)| value.as_ref().is_some_and(evaluated)) {
            let at = simple.span.start;
            self.reading.uncertainties.push(Uncertainty { reason: QUOTED_SUBSCRIPT, at, inner: true });
        }
        let redirects = execution.redirects(simple);
        let here_text = execution.unknown_here_text(simple);
        let input = execution.input(simple);
        let (pipeline, stage) = (execution.list().pipeline, execution.list().stage);
        let is_decoded = stage > 0 && execution.list().is_decoded;
        let mut base = Command {
            runs: decodes_program.then_some(Origin::Generated),
            env,
            redirects,
            input,
            here_text,
            pipeline,
            stage,
            cwd: execution.state.cwd.clone(),
            other_cwds: execution.state.other_cwds.clone(),
            span: execution.span.clone().unwrap_or_else(|| simple.span.clone()),
            hidden: execution.hidden,
            container: execution.state.container.clone(),
            is_decoded,
            is_diverted: !prints_here(simple),
            ..Command::default()
        };
        if args.is_empty() {
            if has_words || !simple.redirects.is_empty() {
                execution.list().has_command = true;
                execution.list().output = None;
            }
            // If the words expand to nothing, the command may be any.
            if !has_words && !in_subshell {
                for (set, values) in simple.assignments.iter().zip(&values) {
                    execution.assign(set, values);
                }
            }
            self.reading.programless.push(base);
            return;
        }
        base.via = execution.via.clone();
        self.last_word = args.last().map_or(Value::Unknown, Value::from_arg);
        // `< file`: the line may have written the file.
        if base.input == Input::Unknown
            && let Some(file) = base.redirects.iter().rev().find(|redirect| redirect.reads && !redirect.writes)
        {
            let file = file.target.clone();
            self.read_redirected(&file, &mut base);
        }
        if let ([program], true) = (args.as_slice(), simple.redirects.iter().any(redirects::sets_input))
            && program.text == "exec"
            && let Some(execution) = self.executions.last_mut().filter(|_| !in_subshell)
        {
            execution.keep_input(&base.input);
        }
        // The output of a function is not that of the program of the same name.
        let is_program = |program: &Arg| !self.reading.functions.contains(canonical::program_name(&program.text));
        let is_predictable = more.is_empty() && args.first().is_some_and(is_program);
        let output = if is_predictable { self.predict(&args, &base) } else { None };
        let name = args.first().map_or("", |program| canonical::program_name(&program.text));
        if more.is_empty() && (name == "tee" || base.redirects.iter().any(|redirect| redirect.writes)) {
            let draft = || self.executions.last().and_then(|execution| execution.draft(name, &args, simple));
            if let Some(text) = output.clone().or_else(draft) {
                let is_certain = self.executions.iter().all(|execution| execution.is_certain());
                self.files.note_output(self.reading.commands.len(), text, is_certain);
            }
        }
        let Some(execution) = self.executions.last_mut() else { return };
        let list = execution.list();
        list.is_decoded = filters::changes_text(name) || list.is_decoded && list.stage > 0;
        list.prints = prints_here(simple);
        list.output = if list.prints { output } else { Some(String::new()) };
        list.has_command = true;
        // In POSIX mode and in other shells, what is set for a special builtin remains set.
        let is_special = args.first().is_some_and(|program| is_special_builtin(&program.text)) && !in_subshell;
        for (set, values) in simple.assignments.iter().zip(&values).filter(|_| is_special) {
            let before = execution.state.variables.get(&set.name).cloned();
            execution.assign(set, values);
            let after = execution.state.variables.get(&set.name).map(|value| value.join(before.as_ref()));
            after.into_iter().for_each(|value| execution.set(&set.name, value));
        }
        let mut deferred = Deferred::default();
        if more.is_empty() {
            self.run(base, args, in_subshell, &mut deferred);
            if let Some(execution) = self.executions.last_mut().filter(|_| !in_subshell) {
                arrays.iter().for_each(|set| execution.assign(set, &[]));
            }
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
        self.enter_deferred(deferred, sharing.weaken());
    }

    /// Sets the input of a command to the content of a file that the line has written.
    fn read_redirected(&mut self, file: &Arg, command: &mut Command) {
        if let Some(text) = self.text_of(file, command) {
            command.input = Input::Text(text.as_str().into());
        }
    }

    /// Records a command and the commands that it runs.
    fn run(&mut self, base: Command, args: Vec<Arg>, in_subshell: bool, deferred: &mut Deferred) {
        let mut work = vec![(base, args)];
        while let Some((base, args)) = work.pop() {
            let others = self.by_own_links(&base, &args);
            self.record(base, args, in_subshell, deferred, &mut work);
            for (base, args) in others {
                let state = self.executions.last().map(|execution| Rc::clone(&execution.state));
                self.record(base, args, in_subshell, deferred, &mut work);
                // `cd -P` leads to either directory.
                if let Some((execution, state)) = self.executions.last_mut().zip(state) {
                    execution.state.join(&state);
                }
            }
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
        if args.is_empty() {
            // Thousands of commands without arguments keep no room for them.
            args = Vec::new();
        }
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
        let home = self.executions.last().and_then(|execution| execution.state.home.as_deref());
        args.iter_mut().for_each(|arg| wrappers::expand_own_program(arg, home));
        args.iter_mut().for_each(descriptors::normalize);
        canonical::render_into(&mut self.canonical_buffer, &program, &args);
        let name = canonical::program_name(&program.text);
        let parsed = self.reading.catalogue.find(name).map(|entry| {
            let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
            Rc::new(programs::parse(entry, &words))
        });
        let mut command = Command {
            canonical: self.canonical_buffer.as_str().into(),
            known: program.is_known() && !program.glob,
            program: name.into(),
            args,
            parsed,
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
            && let Some(call) = self.followed_call(&command)
        {
            deferred.calls.push(call);
        }
        self.add_substitutes(&command, deferred);
        self.add_value_lines(&command, deferred);
        self.note_links(&command);
        if command.via.len() > limits::SHELL_NESTING.most {
            self.meter.report(&limits::SHELL_NESTING);
        } else {
            let (runs, statements) = self.add_inner(&command, deferred, work);
            command.runs = command.runs.max(runs);
            if let Some(statements) = statements.filter(|_| command.input == Input::Inherited) {
                command.input = Input::Text(statements.into());
            }
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
        // `read x <<< 'a[$(y)]'; ((x))`
        let reads = matches!(command.program.as_str(), "read" | "mapfile" | "readarray");
        let reads_subscript = matches!(&command.input, Input::Text(text) if reads && runs_in_subscript(text));
        // `f 'a[$(y)]'` and `set 'a[$(y)]'; (($1))`
        let takes_parameters = command.program == "set" || self.bodies.contains_key(command.program.as_str());
        let gives_subscript = takes_parameters && command.args.iter().any(|arg| runs_in_subscript(&arg.text));
        if reads_subscript || gives_subscript || !command.args.is_empty() && evaluates_subscript(command) {
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

    /// Adds what a command runs to `work` and `deferred`. Returns what is known about the files that it runs.
    fn add_inner(&mut self, command: &Command, deferred: &mut Deferred, work: &mut Vec<Pending>) -> Found {
        let mut inner = wrappers::inner(command, &self.meter);
        let scripts = self.written_scripts(command);
        inner.extend(scripts.inner);
        if (wrappers::reads_names(command) || matches!(command.program.as_str(), "xargs" | "gxargs" | "parallel"))
            && let Some(start) = wrappers::Names::with(self.piped_names(command), &self.listed_for(command))
        {
            inner.iter_mut().for_each(|inner| inner.found_below(&start, &self.meter));
        }
        let container = wrappers::container(command);
        if container.as_ref().is_some_and(|(container, _)| container.mounts.len() > limits::CONTAINER_MOUNTS.most) {
            self.meter.report(&limits::CONTAINER_MOUNTS);
        }
        if inner.is_empty() {
            return (scripts.origin, scripts.statements);
        }
        let mut base = command.inner_base();
        base.hidden |= wrappers::hides(command) && !scripts.are_visible;
        base.via = extend_via(command.via.clone(), &command.program);
        if let Some((container, workdir)) = container {
            base.container = Some(Rc::new(container));
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
                    deferred.texts.push(DeferredText {
                        text,
                        language,
                        in_shell: shared,
                        context: base,
                        parameters,
                        alias: None,
                    });
                }
                Inner::PowerShell { text } => {
                    let language = ScriptLanguage::PowerShell;
                    let context = base;
                    deferred.texts.push(DeferredText {
                        text,
                        language,
                        in_shell: false,
                        context,
                        parameters: None,
                        alias: None,
                    });
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
                                let text =
                                    DeferredText { text, language, in_shell: false, context, parameters, alias: None };
                                deferred.texts.push(text);
                            }
                        }
                    }
                }
            }
        }
        (scripts.origin, scripts.statements)
    }
}

/// Takes the assignments behind the program, as `set -k` does.
fn take_keywords(args: &mut Vec<Arg>) -> Vec<(String, Option<String>)> {
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_assignment = |arg: &Arg| arg.text.split_once('=').is_some_and(|(name, _)| is_name(name));
    let (taken, kept) = std::mem::take(args).into_iter().partition(is_assignment);
    *args = kept;
    let taken: Vec<Arg> = taken;
    let pair = |arg: &Arg| {
        let (name, value) = arg.text.split_once('=')?;
        Some((name.to_owned(), arg.is_known().then(|| value.to_owned())))
    };
    taken.iter().filter_map(pair).collect()
}

/// Whether a command contains `$_`, the last word of the command before it.
fn reads_last_word(simple: &SimpleCommand) -> bool {
    let is_last_word = |part: &WordPart| matches!(part, WordPart::Variable(variable) if variable.name == "_");
    let values = simple.assignments.iter().filter_map(|set| set.value.as_ref());
    simple.words.iter().chain(values).any(|word| word.parts.iter().any(is_last_word))
}

/// Whether a builtin is special in the sense of POSIX 2.14.
fn is_special_builtin(name: &str) -> bool {
    matches!(
        name,
        ":" | "."
            | "break"
            | "continue"
            | "eval"
            | "exec"
            | "exit"
            | "export"
            | "readonly"
            | "return"
            | "set"
            | "shift"
            | "source"
            | "times"
            | "trap"
            | "unset"
    )
}

/// Returns the arrays that `declare` and the like set: `local a=(x y)`.
fn declared_arrays(simple: &SimpleCommand) -> Vec<Assignment> {
    let Some((first, operands)) = simple.words.split_first() else { return Vec::new() };
    let declares = matches!(first.bare(), Some("declare" | "export" | "local" | "readonly" | "typeset"));
    let sets = operands.iter().filter(|_| declares).filter_map(parse_assignment);
    sets.filter(|set| set.array.is_some()).collect()
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
