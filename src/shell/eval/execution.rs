//! One text on its way: its lists, its state, and what a command in it reads and opens.

use super::super::state::{PossibleCwd, ShellState, Value, copy_cost};
use super::super::syntax::{
    Assignment, Instruction, RedirectOperator, RedirectTarget, SimpleCommand, Word, WordPart, WordParts,
};
use super::super::{Arg, FIELD_SEPARATOR, Input, Redirect, expand};
use super::function::FunctionBody;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

/// One text on its way.
pub(super) struct Execution {
    pub instructions: VecDeque<Instruction>,
    pub heredocs: Rc<Vec<WordParts>>,
    pub via: Vec<String>,
    /// Where it stands in the line, if it is not the line.
    pub span: Option<Range<usize>>,
    pub lists: Vec<ListContext>,
    /// ShellSharing with the scopes context it until one of them changes something.
    pub state: Rc<ShellState>,
    /// Which of the texts that wait has started it.
    pub starter: usize,
    /// In how many texts it stands.
    pub depth: usize,
    /// Whether it runs in the shell of that text, as `eval` does.
    pub shared: ShellSharing,
    /// It runs by an option or a line of code.
    pub hidden: bool,
    /// What it prints is the output of this number.
    pub number: Option<usize>,
    /// It is the body of this function.
    pub function: Option<String>,
    /// Variables that are its own, or perhaps are.
    pub locals: Vec<(String, bool)>,
    /// Variables that are set for it only, and for what it calls.
    pub temporary: Vec<String>,
    /// Texts that run when it ends.
    pub traps: Vec<Trap>,
}

/// A text that runs when the shell ends.
pub(super) struct Trap {
    pub text: String,
    pub span: Range<usize>,
    /// How things were when it was said.
    pub then: Rc<ShellState>,
    /// In how many lists it was said.
    pub depth: usize,
}

/// What a text leaves behind in the shell of the text that has started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShellSharing {
    Separate,
    Same,
    /// It is one of several that may execution.
    MaybeSame,
}

/// One list of commands extend_via a text.
pub(super) struct ListContext {
    pub outside: OnClose,
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
    pub fallback: Vec<PossibleCwd>,
    /// It ends the text for certain.
    pub exits: bool,
}

/// What came before in a chain of `&&` and `||`.
pub(super) struct Chain {
    /// How things are where it ended early, and went well so far.
    pub exit_state: Rc<ShellState>,
    /// We are behind `||`.
    pub has_or: bool,
    /// What stands there ends the text.
    pub exits: bool,
}

/// What is in force again when a list ends.
pub(super) enum OnClose {
    /// Unless the list is part of a pipeline, everything stays.
    Keep(Rc<ShellState>),
    Restore(Rc<ShellState>),
    /// The same, and what was printed is the output of this number.
    Substitution(usize, Rc<ShellState>),
    /// Whatever the list has changed may or may not be so.
    Join(Rc<ShellState>),
}

impl ListContext {
    pub(super) fn new(outside: OnClose, pipeline: usize, fed: bool) -> Self {
        ListContext {
            outside,
            pipeline,
            stage: 0,
            fed,
            output: None,
            commands: 0,
            chain: None,
            fallback: Vec::new(),
            exits: false,
        }
    }

    /// The next pipeline of the list.
    pub(super) fn next(&mut self, pipeline: usize) {
        self.pipeline = pipeline;
        self.stage = 0;
        self.output = None;
    }
}

impl Execution {
    /// A text without any steps yet, in a shell of this state.
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
            shared: ShellSharing::Separate,
            hidden: false,
            number: None,
            function: None,
            locals: Vec::new(),
            temporary: Vec::new(),
            traps: Vec::new(),
        }
    }

    pub(super) fn list(&mut self) -> &mut ListContext {
        if self.lists.is_empty() {
            let outside = OnClose::Keep(Rc::clone(&self.state));
            self.lists.push(ListContext::new(outside, 0, false));
        }
        let last = self.lists.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "the stack was just seen not to be empty")]
        &mut self.lists[last]
    }

    /// Takes the steps up to the end of the list that has just begun.
    pub(super) fn take_scope(&mut self) -> VecDeque<Instruction> {
        let mut taken = VecDeque::new();
        let mut depth = 0_usize;
        while let Some(step) = self.instructions.pop_front() {
            match step {
                Instruction::Open(_) => depth += 1,
                Instruction::Close if depth == 0 => break,
                Instruction::Close => depth -= 1,
                Instruction::Simple(_)
                | Instruction::Redirects(_)
                | Instruction::Pipe
                | Instruction::And
                | Instruction::Or
                | Instruction::End
                | Instruction::Background
                | Instruction::LoopVariable(_)
                | Instruction::Backquoted(_) => {}
            }
            taken.push_back(step);
        }
        taken
    }

    /// Takes the body of the function that has just begun.
    pub(super) fn take_body(&mut self, first: bool) -> FunctionBody {
        let plain = |list: &ListContext| matches!(list.outside, OnClose::Keep(_)) && list.chain.is_none();
        let certain =
            self.lists.iter().all(plain) && (first || self.shared == ShellSharing::Same) && self.list().stage == 0;
        let (heredocs, span) = (Rc::clone(&self.heredocs), self.span.clone());
        FunctionBody { instructions: self.take_scope(), heredocs, called: false, certain, span }
    }

    pub(super) fn close(&mut self) {
        self.end();
        let Some(list) = self.lists.pop() else { return };
        match list.outside {
            OnClose::Keep(before) => {
                if self.is_in_subshell() {
                    self.state = before;
                } else if list.exits {
                    self.mark_exit();
                }
            }
            OnClose::Restore(state) => self.state = state,
            OnClose::Substitution(number, state) => {
                self.state = state;
                // One command, whose words say what it prints.
                let printed = list.output.filter(|_| list.commands == 1);
                self.set_output(number, printed);
            }
            OnClose::Join(before) => self.state.join(&before),
        }
    }

    /// The substitution of this number prints this, or nobody knows what.
    pub(super) fn set_output(&mut self, number: usize, printed: Option<String>) {
        match printed {
            Some(printed) => {
                self.state.meter.charge(copy_cost(printed.len()));
                let printed = printed.trim_end_matches('\n').to_owned();
                Rc::make_mut(&mut self.state).outputs.insert(number, printed);
            }
            None if self.state.outputs.contains_key(&number) => {
                Rc::make_mut(&mut self.state).outputs.remove(&number);
            }
            None => {}
        }
    }

    /// `&&` or `||`: what comes next may not execution, and runs if what came before went well, or if it did not.
    pub(super) fn chain(&mut self, or: bool) {
        let state = Rc::clone(&self.state);
        let fallback = self.list().fallback.clone();
        let chain = self.list().chain.get_or_insert_with(|| Chain {
            exit_state: Rc::clone(&state),
            has_or: false,
            exits: false,
        });
        chain.exit_state.join(&state);
        chain.has_or |= or;
        if chain.has_or {
            let ends = Rc::clone(&chain.exit_state);
            self.state.join(&ends);
        }
        if or {
            self.add_fallback(fallback);
        }
    }

    /// A chain ends, and so does what is certain extend_via it.
    pub(super) fn end(&mut self) {
        let fallback = std::mem::take(&mut self.list().fallback);
        match self.list().chain.take() {
            // Whoever absolute_cwds on has come through.
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

    /// We may also be where we were.
    fn add_fallback(&mut self, fallback: Vec<PossibleCwd>) {
        if !fallback.is_empty() {
            let places = self.state.possible_cwds().into_iter().chain(fallback).collect();
            Rc::make_mut(&mut self.state).set_possible_cwds(places);
        }
    }

    /// Nothing behind this runs.
    pub(super) fn mark_exit(&mut self) {
        match &mut self.list().chain {
            Some(chain) => chain.exits = true,
            None => self.list().exits = true,
        }
    }

    /// Whether what is read here runs in a shell of its own: part of a pipeline, or in the background.
    pub(super) fn is_in_subshell(&mut self) -> bool {
        matches!(self.instructions.front(), Some(Instruction::Pipe | Instruction::Background)) || self.list().stage > 0
    }

    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.state.meter.charge(2 * copy_cost(value.size()));
        // `x[0]` is part of `x`, and nobody knows what is left of it.
        let (name, value) = name.split_once('[').map_or((name, value), |(name, _)| (name, Value::Unknown));
        let state = Rc::make_mut(&mut self.state);
        let fixed = state.readonly.contains(name);
        let value = if fixed { value.join(state.variables.get(name)) } else { value };
        let value = if state.options.has_nameref { value.join(None) } else { value };
        forget_elements(state, name);
        state.variables.insert(name.to_owned(), value);
    }

    /// The elements of an array, each by its number and all of them together.
    pub(super) fn set_list(&mut self, set: &Assignment, words: &[Word]) {
        // `([5]=x)` says itself where it stands.
        let numbered =
            words.iter().any(|word| matches!(word.parts.first(), Some(WordPart::Plain(text)) if text.starts_with('[')));
        let elements = expand::expand_fields(words.iter().cloned(), &self.state);
        let all = format!("{}[@]", set.name);
        let before = self.state.value(&all).cloned();
        let value = match (before, join_words(&elements)) {
            (_, value) if !set.appends => value,
            // An array that nobody has set is empty.
            (None, value) => value,
            (Some(Value::Known(before)), Value::Known(more)) => {
                Value::Known(format!("{before}{FIELD_SEPARATOR}{more}"))
            }
            (before, _) => {
                let known = match before {
                    Some(Value::Known(before)) => before.split(FIELD_SEPARATOR).map(Arg::literal).collect(),
                    Some(Value::Words(words)) => words,
                    _ => vec![expand::unknown_arg()],
                };
                Value::Words(known.into_iter().chain(elements.iter().cloned()).collect())
            }
        };
        self.set(
            &set.name,
            elements.first().filter(|_| !set.appends && !numbered).map_or(Value::Unknown, Value::from_arg),
        );
        self.state.meter.charge(2 * copy_cost(value.size()));
        let variables = &mut Rc::make_mut(&mut self.state).variables;
        variables.insert(all, value);
        // Behind what may be several words, nobody knows the numbers.
        let counted = elements.iter().take_while(|element| element.is_known() && !element.glob);
        for (at, element) in counted.enumerate().filter(|_| !set.appends && !numbered) {
            variables.insert(format!("{}[{at}]", set.name), Value::from_arg(element));
        }
    }

    /// What a command writes to files, where both are known.
    pub(super) fn written_files(
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

    pub(super) fn redirects(&self, simple: &SimpleCommand) -> Vec<Redirect> {
        if simple.redirects.is_empty() {
            return Vec::new();
        }
        let files = simple.redirects.iter().filter_map(|redirect| match &redirect.target {
            RedirectTarget::Word(word) => Some((redirect.operator, word)),
            RedirectTarget::Heredoc(_) => None,
        });
        let opened = files.filter_map(|(direction, word)| {
            let (writes, reads) = match direction {
                RedirectOperator::Output => (true, false),
                RedirectOperator::Input => (false, true),
                RedirectOperator::InputOutput => (true, true),
                RedirectOperator::DuplicateOutput
                | RedirectOperator::DuplicateInput
                | RedirectOperator::HereString
                | RedirectOperator::Heredoc { .. } => return None,
            };
            let targets = expand::expand_string(word, &self.state).into_iter();
            Some(targets.map(move |target| Redirect { writes, reads, target }))
        });
        opened.flatten().collect()
    }

    /// What the command reads: its last redirection of input, else the pipe.
    pub(super) fn input(&mut self, simple: &SimpleCommand) -> Input {
        let list = self.list();
        let (fed, stage) = (list.fed, list.stage);
        if stage == 0 && simple.redirects.is_empty() {
            return if fed { Input::Pipe } else { Input::Inherited };
        }
        let output = list.output.clone();
        // Where it may be one of several texts, all of them count.
        let known_or_not = |args: Vec<Arg>| {
            let texts: Option<Vec<String>> = args.iter().map(known_text).collect();
            texts.map_or(Input::Unknown, |texts| Input::Text(texts.join("\n")))
        };
        // `3<<x <&3`
        let copied = simple.redirects.iter().any(|redirect| redirect.operator == RedirectOperator::DuplicateInput);
        let given = simple.redirects.iter().rev().filter(|redirect| copied || !redirect.other_descriptor);
        let redirected = given.clone().find_map(|redirect| match (&redirect.target, redirect.operator) {
            (RedirectTarget::Heredoc(number), _) => {
                let parts = self.heredocs.get(*number).map(WordParts::as_slice).unwrap_or_default();
                Some(known_or_not(expand::expand_heredoc(parts, &self.state)))
            }
            (RedirectTarget::Word(word), RedirectOperator::HereString) => {
                Some(known_or_not(expand::expand_value(word, &self.state)))
            }
            (RedirectTarget::Word(word), RedirectOperator::Input | RedirectOperator::InputOutput) => {
                let empty = expand::expand_string(word, &self.state).iter().all(|file| file.text == "/dev/null");
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
pub(super) fn prints_here(simple: &SimpleCommand) -> bool {
    !simple.redirects.iter().any(|redirect| {
        !redirect.other_descriptor
            && matches!(
                redirect.operator,
                RedirectOperator::Output | RedirectOperator::InputOutput | RedirectOperator::DuplicateOutput
            )
    })
}

/// An array that is set anew has none of its elements any more.
fn forget_elements(state: &mut ShellState, name: &str) {
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
pub(super) fn join_words(words: &[Arg]) -> Value {
    let known = words.iter().all(Arg::is_known);
    let all = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(FIELD_SEPARATOR);
    if known { Value::Known(all) } else { Value::Words(words.to_vec()) }
}

pub(super) fn known_text(arg: &Arg) -> Option<String> {
    arg.is_known().then(|| arg.text.to_string())
}

/// The value of an assignment; a list that absolute_cwds on with what it was before counts as one that begins so.
pub(in super::super) fn value_of(name: &str, arg: &Arg) -> Option<String> {
    // Only a list of places may go on with what it was.
    if arg.is_known() || !name.ends_with("PATH") {
        return known_text(arg);
    }
    let before = format!("${name}");
    let rest = arg.text.replace(&before, "/usr/bin");
    // What comes behind all that was there before is asked last.
    let appended = arg.text.strip_prefix(&before).is_some_and(|rest| rest.starts_with(':'));
    let rest = if appended && name == "PATH" { rest.replace("$()", "/usr/local") } else { rest };
    (arg.text.contains(&before) && !rest.contains('$')).then_some(rest)
}
