//! The execution of one text: its remaining instructions, its lists and its state.

use super::super::Arg;
use super::super::state::{PossibleCwd, ShellState, copy_cost};
use super::super::syntax::{Instruction, Scope, WordParts};
use super::function::FunctionBody;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::rc::Rc;

/// The execution of one text: the line, a text that a command runs, or the body of a function.
pub(super) struct Execution {
    pub instructions: VecDeque<Instruction>,
    pub heredocs: Rc<Vec<WordParts>>,
    /// The programs that run the text, outermost first.
    pub via: Vec<String>,
    /// The position in the line of the command that runs the text; `None` for the line itself.
    pub span: Option<Range<usize>>,
    /// The stack of open lists.
    pub lists: Vec<ListContext>,
    /// Shared with the enclosing lists until one of them changes it.
    pub state: Rc<ShellState>,
    /// The index of the execution that runs this one.
    pub starter: usize,
    /// How many texts run each other, up to this one.
    pub depth: usize,
    pub sharing: ShellSharing,
    /// What it prints is all that the command prints which runs it.
    pub forwards: bool,
    /// See [`Command::hidden`](crate::shell::Command::hidden).
    pub hidden: bool,
    /// The substitutions whose output a filter has changed.
    pub decoded: BTreeSet<usize>,
    /// The number of the substitution that the text is the content of.
    pub number: Option<usize>,
    /// The protected files that the output of the process substitution may name that was closed last.
    pub process_names: Rc<[Arg]>,
    /// The process substitutions of the next list that is opened at this depth have been evaluated.
    pub hoisted_at: Option<usize>,
    /// The function that the text is the body of.
    pub function: Option<String>,
    /// Whether it is the body of a function or a text that one evaluates.
    pub in_function: bool,
    /// The alias that the text is.
    pub alias: Option<String>,
    /// Local variables.
    pub locals: BTreeSet<String>,
    /// Local variables whose declaration may not have run.
    pub possible_locals: BTreeSet<String>,
    /// Variables that are set only while the text runs.
    pub temporary: BTreeSet<String>,
    /// Exit traps.
    pub traps: Vec<Trap>,
}

/// A text that runs when the shell exits.
pub(super) struct Trap {
    pub text: String,
    pub span: Range<usize>,
    /// The state at the `trap` command.
    pub state: Rc<ShellState>,
    /// The number of open lists at the `trap` command.
    pub depth: usize,
}

/// Whether a text runs in the shell of the text that runs it, as with `eval`, and so changes its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShellSharing {
    Separate,
    Same,
    /// The same shell, but the text may not run.
    MaybeSame,
}

impl ShellSharing {
    /// Returns the value for a text that may not run.
    pub(super) fn weaken(self) -> Self {
        match self {
            ShellSharing::Separate => self,
            ShellSharing::Same | ShellSharing::MaybeSame => ShellSharing::MaybeSame,
        }
    }
}

/// An open list of commands.
pub(super) struct ListContext {
    pub on_close: OnClose,
    pub pipeline: usize,
    /// The index of the current command in its pipeline.
    pub stage: usize,
    /// The standard input of the list is a pipe.
    pub fed: bool,
    /// The standard input of the list, if it is known.
    pub input: Option<Rc<str>>,
    /// The protected files that its standard input may name.
    pub names: Rc<[Arg]>,
    /// The output of the previous command of the pipeline, if it is known.
    pub output: Option<String>,
    /// A filter has changed the output of the previous command.
    pub is_decoded: bool,
    /// The output of the pipelines before the current one, if it is known.
    pub printed: Option<String>,
    /// The output of the current command is that of the list or of the next stage.
    pub prints: bool,
    /// The current pipeline has a command.
    pub has_command: bool,
    /// An earlier pipeline had one.
    pub had_command: bool,
    /// The row of its first command, and that of the first command of the list in it that was closed last.
    pub first: usize,
    pub closed: usize,
    /// The current chain of `&&` and `||`.
    pub chain: Option<Chain>,
    /// The possible directories if a `cd` of the current chain has failed.
    pub fallback: Vec<PossibleCwd>,
    /// The list certainly ends the text.
    pub exits: bool,
}

/// A chain of `&&` and `||`.
pub(super) struct Chain {
    /// The state if the chain ended at an earlier operator.
    pub exit_state: Rc<ShellState>,
    /// `||` has occurred.
    pub has_or: bool,
    /// A command after the last operator ends the text.
    pub exits: bool,
}

/// How the end of a list changes the state. Each variant holds the state before the list.
pub(super) enum OnClose {
    /// Changes remain, unless the list runs in a pipeline or in the background.
    Keep(Rc<ShellState>),
    /// Changes are dropped.
    Restore(Rc<ShellState>),
    /// Changes are dropped, and the output is read as a file.
    Process(Rc<ShellState>),
    /// Changes are dropped, and the output is that of the substitution with this number.
    Substitution(usize, Rc<ShellState>),
    /// The list may not have run.
    Join(Rc<ShellState>),
}

impl ListContext {
    pub(super) fn new(on_close: OnClose, pipeline: usize, fed: bool) -> Self {
        ListContext {
            on_close,
            pipeline,
            stage: 0,
            fed,
            input: None,
            names: Rc::default(),
            output: None,
            is_decoded: false,
            printed: Some(String::new()),
            prints: true,
            has_command: false,
            had_command: false,
            first: 0,
            closed: 0,
            chain: None,
            fallback: Vec::new(),
            exits: false,
        }
    }

    /// Begins the next pipeline of the list.
    pub(super) fn next(&mut self, pipeline: usize) {
        self.end_pipeline();
        self.pipeline = pipeline;
        self.stage = 0;
    }

    /// Adds the output of the current pipeline to that of the list.
    fn end_pipeline(&mut self) {
        if !std::mem::take(&mut self.has_command) {
            return;
        }
        self.had_command = true;
        let output = self.output.take();
        match (&mut self.printed, output) {
            (Some(printed), Some(output)) => printed.push_str(&output),
            (printed, _) => *printed = None,
        }
    }

    /// Returns all that the list has printed, if it is known.
    pub(super) fn take_printed(&mut self) -> Option<String> {
        self.end_pipeline();
        // An empty substitution stands for an unknown text.
        self.printed.take().filter(|_| self.had_command)
    }
}

impl Execution {
    /// Builds an execution without instructions.
    pub(super) fn new(state: Rc<ShellState>, pipeline: usize) -> Self {
        Execution {
            instructions: VecDeque::new(),
            heredocs: Rc::default(),
            via: Vec::new(),
            span: None,
            lists: vec![ListContext::new(OnClose::Keep(Rc::clone(&state)), pipeline, false)],
            state,
            starter: 0,
            depth: 0,
            sharing: ShellSharing::Separate,
            forwards: false,
            hidden: false,
            decoded: BTreeSet::new(),
            number: None,
            process_names: Rc::default(),
            hoisted_at: None,
            function: None,
            in_function: false,
            alias: None,
            locals: BTreeSet::new(),
            possible_locals: BTreeSet::new(),
            temporary: BTreeSet::new(),
            traps: Vec::new(),
        }
    }

    pub(super) fn list(&mut self) -> &mut ListContext {
        if self.lists.is_empty() {
            let on_close = OnClose::Keep(Rc::clone(&self.state));
            self.lists.push(ListContext::new(on_close, 0, false));
        }
        let last = self.lists.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "the stack is not empty")]
        &mut self.lists[last]
    }

    /// Removes the instructions up to the end of the list that was just opened.
    fn take_scope(&mut self) -> VecDeque<Instruction> {
        let mut taken = VecDeque::new();
        let mut depth = 0_usize;
        while let Some(instruction) = self.instructions.pop_front() {
            if matches!(instruction, Instruction::Open(_)) {
                depth += 1;
            } else if instruction == Instruction::Close {
                let Some(outer) = depth.checked_sub(1) else { break };
                depth = outer;
            }
            taken.push_back(instruction);
        }
        taken
    }

    /// Removes the body of the function whose definition was just opened. `is_line` says that the text is the line.
    pub(super) fn take_body(&mut self, is_line: bool) -> FunctionBody {
        let unconditional = |list: &ListContext| matches!(list.on_close, OnClose::Keep(_)) && list.chain.is_none();
        let unconditional = self.lists.iter().all(unconditional)
            && (is_line || self.sharing == ShellSharing::Same)
            && self.list().stage == 0;
        let (heredocs, span) = (Rc::clone(&self.heredocs), self.span.clone());
        FunctionBody { instructions: self.take_scope(), heredocs, unconditional, span }
    }

    /// Moves the process substitutions of the redirections behind the list that was just opened before it, as bash evaluates
    /// them. Returns whether they have been evaluated already; `None` if they come now, and the list after them.
    pub(super) fn hoist_processes(&mut self, scope: &Scope) -> Option<bool> {
        if !matches!(scope, Scope::Loop | Scope::Group | Scope::Branch | Scope::Subshell) {
            return Some(false);
        }
        if self.hoisted_at.take_if(|depth| *depth == self.lists.len()).is_some() {
            return Some(true);
        }
        let mut depth = 0_usize;
        let mut close = None;
        for (at, instruction) in self.instructions.iter().enumerate() {
            if matches!(instruction, Instruction::Open(_)) {
                depth += 1;
            } else if matches!(instruction, Instruction::Close) {
                let Some(outer) = depth.checked_sub(1) else {
                    close = Some(at);
                    break;
                };
                depth = outer;
            }
        }
        self.state.meter.charge(close.unwrap_or(self.instructions.len()) / 8);
        let Some(start) = close.map(|close| close + 1) else { return Some(false) };
        if self.instructions.get(start) != Some(&Instruction::Open(Scope::InputProcess)) {
            return Some(false);
        }
        let mut open = 0_usize;
        let is_end = |instruction: &Instruction| {
            if matches!(instruction, Instruction::Open(_)) {
                open += 1;
            } else if matches!(instruction, Instruction::Close) {
                open = open.saturating_sub(1);
            }
            open == 0 && matches!(instruction, Instruction::Redirects(_))
        };
        let Some(length) = self.instructions.iter().skip(start).position(is_end) else { return Some(false) };
        self.state.meter.charge(length);
        let moved: Vec<Instruction> = self.instructions.drain(start..start + length).collect();
        self.instructions.push_front(Instruction::Open(scope.clone()));
        moved.into_iter().rev().for_each(|instruction| self.instructions.push_front(instruction));
        self.hoisted_at = Some(self.lists.len());
        None
    }

    /// Closes the current list and applies its effects to the state.
    pub(super) fn close_list(&mut self) {
        self.end_chain();
        let Some(mut list) = self.lists.pop() else { return };
        self.list().closed = list.first;
        let printed = list.take_printed();
        let is_certain = matches!(list.on_close, OnClose::Keep(_) | OnClose::Restore(_)) && !list.exits;
        if !matches!(list.on_close, OnClose::Substitution(..) | OnClose::Process(_)) {
            self.list().output = printed.clone().filter(|_| is_certain);
        }
        match list.on_close {
            OnClose::Keep(before) => {
                if self.is_in_subshell() {
                    self.state = before;
                } else if self.is_last_stage() {
                    self.state.join(&before);
                } else if list.exits {
                    self.mark_exit();
                }
            }
            OnClose::Restore(state) | OnClose::Process(state) => self.state = state,
            OnClose::Substitution(number, state) => {
                if !self.state.options.in_process {
                    self.state = state;
                }
                if list.is_decoded {
                    self.decoded.insert(number);
                }
                self.set_output(number, printed);
            }
            OnClose::Join(before) => self.state.join(&before),
        }
    }

    /// Sets the output of the substitution with this number, or removes it if it is unknown.
    pub(super) fn set_output(&mut self, number: usize, output: Option<String>) {
        match output {
            Some(output) => {
                self.state.meter.charge(copy_cost(output.len()));
                let output = output.trim_end_matches('\n').to_owned();
                Rc::make_mut(&mut self.state).outputs.insert(number, output);
            }
            None if self.state.outputs.contains_key(&number) => {
                Rc::make_mut(&mut self.state).outputs.remove(&number);
            }
            None => {}
        }
    }

    /// Continues after `||` if `is_or`, else after `&&`: the next command may not run.
    pub(super) fn chain(&mut self, is_or: bool) {
        let state = Rc::clone(&self.state);
        let fallback = self.list().fallback.clone();
        let chain = self.list().chain.get_or_insert_with(|| Chain {
            exit_state: Rc::clone(&state),
            has_or: false,
            exits: false,
        });
        chain.exit_state.join(&state);
        chain.has_or |= is_or;
        if chain.has_or {
            let exit_state = Rc::clone(&chain.exit_state);
            self.state.join(&exit_state);
        }
        if is_or {
            self.add_fallback(fallback);
        }
    }

    /// Ends a chain: any prefix of it may have run, and a `cd` in it may have failed.
    pub(super) fn end_chain(&mut self) {
        let fallback = std::mem::take(&mut self.list().fallback);
        match self.list().chain.take() {
            // `a || exit`: if the text continues, the chain ended at an earlier operator.
            Some(chain) if chain.exits && chain.has_or => self.state = chain.exit_state,
            Some(chain) if chain.exits => {
                self.state = chain.exit_state;
                self.add_fallback(fallback);
            }
            Some(chain) => {
                self.state.join(&chain.exit_state);
                self.add_fallback(fallback);
            }
            None if self.state.options.errexit => {}
            None => self.add_fallback(fallback),
        }
    }

    /// Adds the directories for a failed `cd`.
    fn add_fallback(&mut self, fallback: Vec<PossibleCwd>) {
        if !fallback.is_empty() {
            let cwds = self.state.possible_cwds().into_iter().chain(fallback).collect();
            Rc::make_mut(&mut self.state).set_possible_cwds(cwds);
        }
    }

    /// Notes that the current command ends the text.
    pub(super) fn mark_exit(&mut self) {
        match &mut self.list().chain {
            Some(chain) => chain.exits = true,
            None => self.list().exits = true,
        }
    }

    /// Whether the current command certainly runs, if the text does.
    pub(super) fn is_certain(&self) -> bool {
        self.lists.iter().all(|list| !matches!(list.on_close, OnClose::Join(_)) && list.chain.is_none())
    }

    /// Whether the current command runs in a subshell: in a pipeline, except in PowerShell, or in the background.
    pub(super) fn is_in_subshell(&mut self) -> bool {
        let is_first = matches!(self.instructions.front(), Some(Instruction::Pipe));
        let is_piped = is_first || self.list().stage > 0 && !self.state.options.lastpipe;
        is_piped && !self.state.options.in_process || matches!(self.instructions.front(), Some(Instruction::Background))
    }

    /// Whether the current command is the last stage of a pipeline and may run in the shell itself or in a subshell.
    pub(super) fn is_last_stage(&mut self) -> bool {
        self.state.options.lastpipe && self.list().stage > 0 && !self.is_in_subshell()
    }
}
