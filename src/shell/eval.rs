//! The evaluator: executes instructions in order and tracks the possible working directories and variables.

mod assigned;
mod builtin;
mod command;
mod deferred;
mod execution;
mod files;
mod filters;
mod function;
mod input;
mod listing;
mod loops;
mod mentioned;
mod obeyed;
mod output;
mod own_links;
mod recipes;
mod redirects;
mod scripts;
mod settings;
mod substitutes;
mod value_lines;
mod variables;
mod written;

use super::canonical;
use super::expand;
use super::parse;
use super::powershell;
use super::state::{ShellOptions, ShellState, Value};
use super::syntax::{Backquoted, Instruction, LoopVariable, Scope, Script, ScriptLanguage, Uncertainty, Unreadable};
use super::tool_roots;
use super::{Arg, Command, Reading};
use crate::path::Place;
use crate::programs::Catalogue;
use crate::verdict::limits;
use crate::verdict::limits::Meter;
use compact_str::CompactString;
use execution::{Execution, ListContext, OnClose, ShellSharing};
use files::Files;
use function::FunctionBody;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

pub use builtin::is_builtin;
pub use output::MKTEMP_PATH;
pub(super) use variables::env_value;
pub use written::written_text;

/// Steps for one instruction, besides what it copies.
const INSTRUCTION_STEPS: usize = 8;

/// Steps for entering one more text.
const TEXT_STEPS: usize = 250;

/// Evaluates a line of bash that runs in `place`.
pub(super) fn evaluate(line: &str, place: &Place, catalogue: &Catalogue) -> Reading {
    evaluate_script((line, Script::default()), line.len(), ShellOptions::default(), place, catalogue)
}

/// Evaluates PowerShell text of `bytes` bytes that was parsed into `script`.
pub(super) fn evaluate_powershell(script: Script, bytes: usize, place: &Place, catalogue: &Catalogue) -> Reading {
    let options = ShellOptions { in_process: true, ..ShellOptions::default() };
    evaluate_script(("", script), bytes, options, place, catalogue)
}

/// Evaluates `script` and then the commands that `line` parses.
fn evaluate_script(
    (line, script): (&str, Script),
    bytes: usize,
    options: ShellOptions,
    place: &Place,
    catalogue: &Catalogue,
) -> Reading {
    let cwd = Some(Rc::from(place.cwd.as_str())).filter(|cwd: &Rc<str>| !cwd.is_empty());
    let project = place.project.clone().or_else(|| cwd.as_deref().map(str::to_owned));
    let mut state = ShellState { home: place.home.clone(), project, cwd, options, ..ShellState::default() };
    let cwd = state.cwd.as_deref().map(str::to_owned);
    for (name, value) in [("HOME", state.home.clone()), ("PWD", cwd)] {
        if let Some(value) = value {
            state.variables.insert(name.to_owned(), Value::Known(value));
        }
    }
    let roots = tool_roots::variables(line, &state);
    state.variables.extend(roots);
    let mut evaluator = Evaluator {
        line: parse::Parser::new(line, &state.meter),
        executions: Vec::new(),
        // Unused capacity costs nothing; growing a vector of thousands of commands does.
        reading: Reading {
            commands: Vec::with_capacity(command_capacity(bytes)),
            catalogue: catalogue.clone(),
            ..Reading::default()
        },
        pipelines: 0,
        canonical_buffer: String::new(),
        stopped: false,
        meter: state.meter.clone(),
        stages: BTreeMap::new(),
        files: Files::default(),
        mentions: mentioned::Mentions::default(),
        obeyed: BTreeSet::new(),
        recursions: BTreeSet::new(),
        self_calls: BTreeMap::new(),
        bodies: BTreeMap::new(),
        last_word: Value::Unknown,
        links: BTreeMap::new(),
        aliases: BTreeMap::new(),
        uncalled: BTreeSet::new(),
    };
    let pipeline = evaluator.next_pipeline();
    script.exceeded.iter().for_each(|limit| evaluator.meter.report(limit));
    let uncertain = |(reason, at)| Uncertainty { reason, at, inner: false };
    evaluator.reading.uncertainties.extend(script.errors.into_iter().map(uncertain));
    let instructions = script.instructions.into();
    evaluator.executions.push(Execution { instructions, ..Execution::new(Rc::new(state), pipeline) });
    while let Some(execution) = evaluator.executions.last_mut() {
        match execution.instructions.pop_front() {
            Some(instruction) if !evaluator.stopped => {
                evaluator.meter.charge(INSTRUCTION_STEPS);
                evaluator.execute(instruction);
                evaluator.stopped |= evaluator.meter.is_exhausted();
            }
            _ if !evaluator.stopped && (evaluator.read_next_command() || evaluator.enter_exit_text()) => {}
            _ => evaluator.leave_text(),
        }
    }
    if evaluator.meter.exceeds(&limits::SHELL_STEPS) {
        evaluator.meter.report(&limits::SHELL_STEPS);
    }
    evaluator.reading.exceeded = evaluator.meter.exceeded();
    evaluator.reading.steps = evaluator.meter.spent();
    evaluator.reading
}

struct Evaluator<'a> {
    /// The rest of the line.
    line: parse::Parser<'a>,
    /// The stack of texts in evaluation; the last one is active.
    executions: Vec<Execution>,
    reading: Reading,
    /// The number of the last pipeline.
    pipelines: usize,
    /// Reused for the canonical text of each command.
    canonical_buffer: String,
    /// The steps are used up: no further commands are evaluated.
    stopped: bool,
    meter: Meter,
    /// Indices of the commands of each pipeline.
    stages: BTreeMap<usize, SmallVec<[usize; 2]>>,
    /// What is known about the files that the line writes.
    files: Files,
    /// The names of files that commands of the line mention.
    mentions: mentioned::Mentions,
    /// What files have made tools run that obey them, with the directories in which they ran.
    obeyed: BTreeSet<String>,
    /// Definitions of functions. Bodies are evaluated at each call, with its arguments.
    bodies: BTreeMap<String, Vec<FunctionBody>>,
    /// The last word of the command before, which is `$_`.
    last_word: Value,
    /// Where the symbolic links lead that the line makes, by their paths.
    links: BTreeMap<String, BTreeSet<String>>,
    /// The texts of aliases by their names. Each may apply to any later command.
    aliases: BTreeMap<String, BTreeSet<String>>,
    /// The functions that no command has called since their last definition.
    uncalled: BTreeSet<String>,
    /// Recursive calls that were followed, with their arguments.
    recursions: BTreeSet<(CompactString, Vec<CompactString>)>,
    /// For each function: how often it calls itself, and whether one of these calls is asynchronous.
    self_calls: BTreeMap<String, (usize, bool)>,
}

impl Evaluator<'_> {
    /// Parses the next command of the line, if the line is the active text. Returns whether there was one.
    fn read_next_command(&mut self) -> bool {
        let [execution] = self.executions.as_mut_slice() else { return false };
        let Some(script) = self.line.next() else { return false };
        execution.instructions.extend(script.instructions.drain(..));
        if !script.heredocs.is_empty() {
            execution.heredocs = Rc::new(std::mem::take(&mut script.heredocs));
        }
        let uncertainties = script.errors.drain(..).map(|(reason, at)| Uncertainty { reason, at, inner: false });
        self.reading.uncertainties.extend(uncertainties);
        true
    }

    /// Begins the evaluation of a text that the execution with the index `starter` runs. Returns `false` if the nesting
    /// limit is exceeded.
    fn enter_text(
        &mut self,
        (text, language): (&str, ScriptLanguage),
        via: Vec<String>,
        mut state: Rc<ShellState>,
        (span, sharing): (Range<usize>, ShellSharing),
        starter: usize,
    ) -> bool {
        let depth = 1 + self.executions.get(starter).map_or(0, |execution| execution.depth);
        if depth >= limits::SHELL_NESTING.most {
            self.meter.report(&limits::SHELL_NESTING);
            return false;
        }
        self.meter.charge(TEXT_STEPS + text.len() / 8);
        // The numbers of substitutions are unique only within one text.
        if !state.outputs.is_empty() || !state.listed.is_empty() {
            let state = Rc::make_mut(&mut state);
            state.outputs.clear();
            state.listed.clear();
        }
        let script = match language {
            ScriptLanguage::Bash => parse::parse(text, &self.meter),
            ScriptLanguage::PowerShell => {
                Rc::make_mut(&mut state).options.in_process = true;
                powershell::parse(text)
            }
        };
        script.exceeded.iter().for_each(|limit| self.meter.report(limit));
        let uncertain = |(reason, _)| Uncertainty { reason, at: span.start, inner: true };
        self.reading.uncertainties.extend(script.errors.into_iter().map(uncertain));
        let pipeline = self.next_pipeline();
        self.executions.push(Execution {
            starter,
            depth,
            instructions: script.instructions.into(),
            heredocs: Rc::new(script.heredocs),
            via,
            span: Some(span),
            sharing,
            ..Execution::new(state, pipeline)
        });
        true
    }

    /// Reports an uncertainty in an expanded command.
    fn report(&mut self, reason: Unreadable, at: usize) {
        self.reading.uncertainties.push(Uncertainty { reason, at, inner: true });
    }

    fn next_pipeline(&mut self) -> usize {
        self.pipelines += 1;
        self.pipelines
    }

    fn execute(&mut self, instruction: Instruction) {
        let pipeline = self.next_pipeline();
        let Some(execution) = self.executions.last_mut() else { return };
        match instruction {
            Instruction::Simple(mut simple) => {
                self.execute_simple(&mut simple);
                self.line.recycle(simple);
            }
            Instruction::Redirects(simple) => {
                let list = execution.list();
                let is_diverted = !redirects::prints_here(&simple);
                list.output = list.output.take().filter(|_| !is_diverted);
                let redirects = execution.redirects(&simple);
                let first = execution.list().closed;
                let inside = self.reading.commands.iter_mut().skip(first);
                inside.for_each(|command| command.is_diverted |= is_diverted);
                let ShellState { cwd, other_cwds, container, .. } = execution.state.as_ref();
                let command = Command {
                    redirects,
                    cwd: cwd.clone(),
                    other_cwds: other_cwds.clone(),
                    container: container.clone(),
                    span: simple.span,
                    ..Command::default()
                };
                if command.redirects.iter().any(|redirect| redirect.writes) {
                    self.files.note_list(command.clone(), first);
                }
                self.reading.programless.push(command);
            }
            Instruction::Open(scope) => self.open(scope, pipeline),
            Instruction::Close => self.close(),
            Instruction::Pipe => execution.list().stage += 1,
            Instruction::And | Instruction::Or => {
                execution.chain(instruction == Instruction::Or);
                execution.list().next(pipeline);
            }
            Instruction::End | Instruction::Background => {
                execution.end_chain();
                execution.list().next(pipeline);
            }
            Instruction::LoopVariable(variable) => self.set_loop_variable(*variable),
            Instruction::Arithmetic(expression) => execution.run_arithmetic(&expression),
            Instruction::Backquoted(backquoted) => {
                let Backquoted { text, span, number } = *backquoted;
                if text.trim().is_empty() {
                    return;
                }
                let (via, state, hidden) = (execution.via.clone(), execution.state.clone(), execution.hidden);
                let span = execution.span.clone().unwrap_or(span);
                let starter = self.executions.len().saturating_sub(1);
                if self.enter_text((&text, ScriptLanguage::Bash), via, state, (span, ShellSharing::Separate), starter)
                    && let Some(execution) = self.executions.last_mut()
                {
                    execution.hidden = hidden;
                    execution.number = Some(number);
                    execution.list().first = self.reading.commands.len();
                }
            }
        }
    }

    fn open(&mut self, scope: Scope, pipeline: usize) {
        let is_line = self.executions.len() == 1;
        let Some(execution) = self.executions.last_mut() else { return };
        let fed = execution.list().fed || execution.list().stage > 0 || scope == Scope::OutputProcess;
        if execution.list().stage > 0 {
            for row in self.stages.get(&execution.list().pipeline).into_iter().flatten() {
                self.reading.commands.get_mut(*row).into_iter().for_each(|command| command.is_captured = true);
            }
        }
        let (listed_pipeline, listed_stage) = (execution.list().pipeline, execution.list().stage);
        let Some(hoisted) = execution.hoist_processes(&scope) else { return };
        let input = execution.list_input(scope != Scope::OutputProcess);
        let names = match listed_stage {
            _ if hoisted => execution.process_names.to_vec(),
            0 => Vec::new(),
            stage => self.listed_before(listed_pipeline, stage),
        };
        let Some(execution) = self.executions.last_mut() else { return };
        let before = Rc::clone(&execution.state);
        let on_close = match scope {
            Scope::Group => OnClose::Keep(before),
            Scope::Loop => {
                execution.begin_loop(&self.bodies);
                OnClose::Keep(before)
            }
            Scope::Branch => OnClose::Join(before),
            Scope::InputProcess => OnClose::Process(before),
            Scope::Subshell | Scope::OutputProcess => OnClose::Restore(before),
            // The state is not restored, so it is not shared with the list and can be changed in place.
            Scope::Substitution(number) if before.options.in_process => OnClose::Substitution(number, Rc::default()),
            Scope::Substitution(number) => OnClose::Substitution(number, before),
            Scope::Function(name) => {
                // A function may have the name of a file: `function /bin/ls { …; }`.
                let name = canonical::program_name(&name);
                self.reading.functions.insert(name.to_string());
                if self.reading.functions.len() > limits::SHELL_FUNCTIONS.most {
                    self.meter.report(&limits::SHELL_FUNCTIONS);
                }
                // If there are several definitions, any of them may be in force at a call.
                let body = execution.take_body(is_line);
                self.bodies.entry(name.to_string()).or_default().push(body);
                self.uncalled.insert(name.to_string());
                return;
            }
        };
        execution.list().has_command = true;
        let first = self.reading.commands.len();
        execution.lists.push(ListContext {
            input,
            first,
            names: names.into(),
            ..ListContext::new(on_close, pipeline, fed)
        });
    }

    fn set_loop_variable(&mut self, LoopVariable { name, words }: LoopVariable) {
        let Some(execution) = self.executions.last_mut() else { return };
        let has_words = words.is_some();
        let values: Vec<Arg> = expand::expand_fields(words.into_iter().flatten(), &execution.state);
        // A loop over nothing does not set the variable.
        if has_words && values.is_empty() {
            return;
        }
        if values.iter().any(|value| parse::runs_in_subscript(&value.text)) {
            let at = execution.span.as_ref().map_or(0, |span| span.start);
            self.reading.uncertainties.push(Uncertainty { reason: command::QUOTED_SUBSCRIPT, at, inner: true });
        }
        // A glob stands for the names that it matches. It may match nothing, which does not set the variable. `${x:=y}` does
        // not set a variable that has a value.
        let mut value = Value::from_args(&values);
        if (!has_words || values.iter().any(|value| value.glob))
            && let Some(before) = execution.state.value(&name)
        {
            value = value.join(Some(before));
        }
        // The variable may be exported and configure another program.
        if name.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
            let known = value.members().into_iter().map(|member| member.is_known().then(|| member.text.to_string()));
            let env: Vec<(String, Option<String>)> = known.map(|value| (name.clone(), value)).collect();
            let env = if env.is_empty() { vec![(name.clone(), None)] } else { env };
            self.reading.programless.push(Command { env, ..Command::default() });
        }
        execution.set(&name, value);
    }
}

/// Returns the capacity for the commands of a text: the maximum for a long one, of which the system commits only the used
/// pages, and a typical number for a short one.
fn command_capacity(length: usize) -> usize {
    if length > 4 << 10 { (length / 2 + 1).min(limits::SHELL_COMMANDS.most) } else { length / 16 + 4 }
}
