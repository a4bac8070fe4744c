//! Lists of commands: separators, keywords, redirections, and the simple commands between them.

use super::super::PROCESS;
use super::super::syntax::{Direction, Part, Scope, Simple, Step, Unreadable, Word};
use super::assignment::assignment;
use super::compound::{Case, Compound, For};
use super::redirect::descriptor;
use super::{Arith, FrameKind, Parser};
use std::mem;

/// What ends a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Close {
    /// The end of the text.
    Eof,
    /// `)` of a subshell.
    Paren,
    /// `)` of `<(` or `>(`, which is part of a word.
    Process,
    /// `)` of `$(`, whose output is part of a word.
    Substitution { number: usize, quoted: bool },
    /// `}`
    Brace,
    /// One of these keywords of the compound command below.
    Keyword(&'static [&'static str]),
    /// `;;`, `;&`, `;;&` or `esac`.
    Clause,
}

/// Where in a command we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// A command may begin.
    Start,
    /// A command may begin behind `!`, `time` or `coproc`.
    Prefixed,
    /// Within a simple command.
    Words,
    /// Behind a compound command: redirections, or its end.
    Done,
    /// Behind `function`.
    FunctionName,
    /// Behind the name of a function: its body has to come.
    FunctionBody,
}

/// What came last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Nothing,
    Separator,
    /// `|`, `&&` or `||`: a command has to follow.
    Operator,
}

/// Whether the words before were `time` and `-p`, which take options of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Timed {
    #[default]
    No,
    Yes,
    Flagged,
}

#[derive(Debug)]
pub(super) struct List {
    pub(super) close: Close,
    pub(super) state: State,
    last: Last,
    empty: bool,
    pub(super) simple: Simple,
    pub(super) redirect: Option<Direction>,
    /// It is about another descriptor than the usual one.
    pub(super) aside: bool,
    /// The function whose body is being read ends with it.
    function: bool,
    coproc: bool,
    timed: Timed,
    /// The command stands behind `|`.
    piped: bool,
    /// The step that the chain of `&&` and `||` began with, and whether it is one.
    pub(super) began: usize,
    chained: bool,
    /// Heredocs that were waiting for their bodies when the list began.
    pub(super) waiting: usize,
}

impl List {
    pub(super) fn new(close: Close) -> Self {
        List {
            close,
            state: State::Start,
            last: Last::Nothing,
            empty: true,
            simple: Simple::default(),
            redirect: None,
            aside: false,
            function: false,
            coproc: false,
            timed: Timed::No,
            piped: false,
            began: 0,
            chained: false,
            waiting: 0,
        }
    }

    /// Whether its output or its file name is part of a word around it.
    pub(super) fn is_within_a_word(&self) -> bool {
        matches!(self.close, Close::Process | Close::Substitution { .. })
    }

    pub(super) fn name(&self) -> &'static str {
        match self.close {
            Close::Eof => "text",
            Close::Paren => "(",
            Close::Process => "<(",
            Close::Substitution { .. } => "$(",
            Close::Brace => "{",
            Close::Keyword(_) => "list",
            Close::Clause => "case",
        }
    }
}

impl Parser<'_> {
    pub(super) fn list(&mut self) -> &mut List {
        &mut self.top().list
    }

    pub(super) fn list_word(&mut self, word: Word) {
        let list = self.list();
        if let Some(direction) = list.redirect.take() {
            return self.redirect_to(direction, word);
        }
        match list.state {
            State::Start | State::Prefixed => self.first_word(word),
            State::Words => {
                if list.coproc && list.simple.words.len() == 1 && word.bare().is_some_and(is_opener) {
                    // `coproc NAME { …; }`: the word before was its name.
                    list.simple = Simple::default();
                    list.state = State::Prefixed;
                    return self.first_word(word);
                }
                // Behind the first word, what looks like an assignment is a word.
                let assigned = if list.simple.words.is_empty() { assignment(&word) } else { None };
                match assigned {
                    Some(assignment) => list.simple.assignments.push(assignment),
                    None => list.simple.words.push(word),
                }
            }
            State::Done => {
                if !self.keyword(&word) {
                    self.unexpected("word");
                }
            }
            State::FunctionName => {
                let name = word.bare().unwrap_or("?").to_owned();
                list.state = State::FunctionBody;
                list.function = true;
                self.step(Step::Open(Scope::Function(name.into())));
            }
            State::FunctionBody => {
                if !self.keyword(&word) {
                    self.unexpected("word");
                    self.begin(word);
                }
            }
        }
    }

    fn first_word(&mut self, word: Word) {
        if !self.keyword(&word) {
            self.begin(word);
        }
    }

    /// The first word of a simple command, or an assignment before it.
    fn begin(&mut self, word: Word) {
        let list = self.list();
        list.state = State::Words;
        list.simple.span.start = word.span.start;
        match assignment(&word) {
            Some(assignment) => list.simple.assignments.push(assignment),
            None => {
                // Most commands have a few.
                list.simple.words.reserve(4);
                list.simple.words.push(word);
            }
        }
    }

    /// Acts on a keyword where one may stand; tells whether it was one.
    fn keyword(&mut self, word: &Word) -> bool {
        let Some(text) = word.bare() else { return false };
        let at = word.span.start;
        let list = self.list();
        let starts = matches!(list.state, State::Start | State::Prefixed | State::FunctionBody);
        let ends = list.state == State::Done || list.state == State::Start;
        let timed = mem::take(&mut list.timed);
        // Behind `|` and `coproc`, `time` is a program.
        let keeps_time = !list.piped && !list.coproc;
        let close = list.close;
        match (text, close) {
            ("}", Close::Brace) if ends => self.close_list(),
            ("esac", Close::Clause) if ends => {
                self.close_list();
                self.finish_compound();
            }
            (keyword, Close::Keyword(keywords)) if ends && keywords.contains(&keyword) => {
                self.close_list();
                self.advance(keyword);
            }
            _ if !starts => return false,
            ("-p", _) if timed == Timed::Yes => list.timed = Timed::Flagged,
            ("--", _) if timed != Timed::No => {}
            ("time", _) if keeps_time => {
                list.state = State::Prefixed;
                list.timed = Timed::Yes;
            }
            ("!", _) => list.state = State::Prefixed,
            ("coproc", _) => {
                list.state = State::Prefixed;
                // It runs beside the shell, in one of its own.
                if !mem::replace(&mut list.coproc, true) {
                    self.step(Step::Open(Scope::Subshell));
                }
            }
            ("function", _) => list.state = State::FunctionName,
            ("{", _) => self.open_list(Close::Brace, Scope::Group),
            ("if", _) => self.open_compound(Compound::If, &["then"]),
            ("while" | "until", _) => self.open_compound(Compound::Loop, &["do"]),
            ("for" | "select", _) => {
                self.step(Step::Open(Scope::Loop));
                self.open(FrameKind::For(For::new()));
            }
            ("case", _) => {
                self.step(Step::Open(Scope::Group));
                self.open(FrameKind::Case(Case::new()));
            }
            ("[[", _) => self.open(FrameKind::Cond(super::cond::Cond::new())),
            ("then" | "elif" | "else" | "fi" | "do" | "done" | "esac" | "}" | "in" | "]]", _) => {
                self.flaw(Unreadable::Syntax(text.to_owned()), at);
            }
            _ => return false,
        }
        true
    }

    /// A compound command has ended.
    pub(super) fn compound_done(&mut self) {
        let list = self.list();
        list.state = State::Done;
        list.empty = false;
        if mem::take(&mut list.function) {
            self.step(Step::Close);
        }
    }

    pub(super) fn list_operator(&mut self, byte: u8) {
        // `2>` and `{fd}>`: the word before is a descriptor if nothing stands between.
        let usual = if byte == b'<' { "0" } else { "1" };
        let descriptor = descriptor(&self.top().parts).filter(|_| matches!(byte, b'<' | b'>'));
        if let Some(aside) = descriptor.map(|descriptor| descriptor != usual) {
            let top = self.top();
            top.parts.clear();
            top.started = None;
            top.list.aside = aside;
        }
        if byte == b'(' && self.opens_array() {
            self.at += 1;
            return self.open(FrameKind::Array);
        }
        self.end_word();
        if !matches!(self.top().kind, FrameKind::List) {
            return; // The word was a keyword that changed what operators mean; the byte is read again.
        }
        // `!` and `time` alone are commands only at the end of a list.
        if self.list().state == State::Prefixed && matches!(byte, b'|' | b'&' | b')') {
            self.unexpected("operator");
        }
        match byte {
            b'<' | b'>' => self.redirect_operator(),
            b'&' if self.looking_at("&>") => self.redirect_operator(),
            b'(' => self.open_paren(),
            b')' => self.close_paren(),
            b';' => self.semicolon(),
            b'&' if self.looking_at("&&") => self.separate(2, Step::Then, Last::Operator),
            b'&' => self.separate(1, Step::Background, Last::Separator),
            b'|' if self.looking_at("||") => self.separate(2, Step::Else, Last::Operator),
            b'|' if self.looking_at("|&") => self.separate(2, Step::Pipe, Last::Operator),
            _ => self.separate(1, Step::Pipe, Last::Operator),
        }
    }

    fn open_paren(&mut self) {
        let at = self.at;
        let list = self.list();
        match list.state {
            State::Start | State::Prefixed | State::FunctionBody => {
                let declared = list.state == State::FunctionBody && list.function;
                let rest = self.slice(at + 1, self.end).trim_start_matches([' ', '\t']);
                if declared && rest.starts_with(')') {
                    self.at = self.end - rest.len() + 1;
                } else if self.looking_at("((") && self.is_arith(at + 2) {
                    self.at += 2;
                    self.open(FrameKind::Arith { form: Arith::Command, depth: 0 });
                } else {
                    self.at += 1;
                    self.open_list(Close::Paren, Scope::Subshell);
                }
            }
            State::Words => self.define_function(),
            State::Done | State::FunctionName => {
                self.unexpected("(");
                self.at += 1;
            }
        }
    }

    /// `name ()`
    fn define_function(&mut self) {
        let rest = self.slice(self.at + 1, self.end).trim_start_matches([' ', '\t']);
        let after = self.end - rest.len() + 1;
        let closes = rest.starts_with(')');
        let list = self.list();
        let named =
            list.simple.words.len() == 1 && list.simple.assignments.is_empty() && list.simple.redirects.is_empty();
        if list.coproc && named && !closes {
            // `coproc NAME ( … )`
            list.simple = Simple::default();
            self.at += 1;
            return self.open_list(Close::Paren, Scope::Subshell);
        }
        if !(named && closes) {
            self.unexpected("(");
            self.at += 1;
            return;
        }
        let name = mem::take(&mut list.simple).words.first().and_then(Word::bare).unwrap_or("?").to_owned();
        list.state = State::FunctionBody;
        list.function = true;
        self.at = after;
        self.step(Step::Open(Scope::Function(name.into())));
    }

    fn close_paren(&mut self) {
        match self.list().close {
            Close::Paren | Close::Process | Close::Substitution { .. } => {
                self.at += 1;
                self.close_list();
            }
            Close::Eof | Close::Brace | Close::Keyword(_) | Close::Clause => {
                self.unexpected(")");
                self.at += 1;
            }
        }
    }

    fn semicolon(&mut self) {
        let clause = [";;&", ";;", ";&"].into_iter().find(|form| self.looking_at(form));
        match clause {
            Some(form) if self.list().close == Close::Clause => {
                self.at += form.len();
                self.close_list();
                self.clause_done();
            }
            Some(form) => {
                self.unexpected(form);
                self.at += form.len();
            }
            None => self.separate(1, Step::End, Last::Separator),
        }
    }

    /// A separator or an operator between commands.
    fn separate(&mut self, length: usize, step: Step, last: Last) {
        if !self.finish_simple() {
            self.unexpected("separator");
        }
        self.at += length;
        let list = self.list();
        list.last = last;
        list.piped = step == Step::Pipe;
        match step {
            Step::Then | Step::Else => list.chained = true,
            Step::End | Step::Background => {
                let (began, chained) = (list.began, mem::take(&mut list.chained));
                // What runs aside as a whole is a shell of its own.
                if chained && step == Step::Background {
                    self.script.steps.insert(began.min(self.script.steps.len()), Step::Open(Scope::Subshell));
                    self.step(Step::Close);
                }
                self.list().began = self.script.steps.len() + 1;
            }
            Step::Simple(_)
            | Step::Redirects(_)
            | Step::Open(_)
            | Step::Close
            | Step::Pipe
            | Step::Loop(_)
            | Step::Backquoted(_) => {}
        }
        self.step(step);
    }

    pub(super) fn list_line_end(&mut self) {
        // A function's body and what an operator demands may stand on the next line.
        if self.list().redirect.take().is_some() {
            self.unexpected("line end");
        }
        let waits = matches!(self.list().state, State::FunctionBody);
        if !waits && self.finish_simple() {
            self.list().last = Last::Separator;
            self.step(Step::End);
            let began = self.script.steps.len();
            let list = self.list();
            list.began = began;
            list.chained = false;
        }
    }

    /// Ends the command that is being read; tells whether there was one.
    pub(super) fn finish_simple(&mut self) -> bool {
        if !matches!(self.top().kind, FrameKind::List) {
            return false;
        }
        let at = self.at;
        let mut simple = self.spare.pop().unwrap_or_default();
        let list = self.list();
        let had = list.state != State::Start;
        let broken = list.redirect.take().is_some() || matches!(list.state, State::FunctionName | State::FunctionBody);
        let done = list.state == State::Done;
        let function = mem::take(&mut list.function);
        mem::swap(&mut *simple, &mut list.simple);
        list.state = State::Start;
        let coproc = mem::take(&mut list.coproc);
        list.empty &= !had;
        if had {
            list.last = Last::Separator;
        }
        if broken {
            self.unexpected("end of command");
        }
        if function {
            self.step(Step::Close);
        }
        if !simple.is_empty() {
            simple.span.end = at;
            self.step(if done { Step::Redirects(simple) } else { Step::Simple(simple) });
        } else {
            self.take_back(simple);
        }
        if coproc {
            self.step(Step::Close);
        }
        had
    }

    /// Ends the list on top, and with it what it is the body of.
    fn close_list(&mut self) {
        let had = self.finish_simple();
        let list = self.list();
        let (close, empty, dangling) = (list.close, list.empty, list.last == Last::Operator && !had);
        let within = list.is_within_a_word();
        let waiting = list.waiting;
        let heredocs = within && self.pending.len() > waiting;
        let may_be_empty = within || close == Close::Clause;
        if dangling || (empty && !may_be_empty) {
            self.unexpected("end of list");
        }
        if heredocs {
            let at = self.at;
            self.flaw(Unreadable::Unclear("a heredoc that begins on the line that its substitution ends on"), at);
        }
        self.frames.pop();
        self.step(Step::Close);
        match close {
            Close::Substitution { number, quoted } => self.add(Part::Output { number, quoted }),
            Close::Process => self.add(Part::Quoted(PROCESS.into())),
            Close::Paren => self.compound_done(),
            Close::Brace => self.brace_done(),
            Close::Clause | Close::Keyword(_) | Close::Eof => {}
        }
    }

    pub(super) fn close_list_at_end(&mut self) {
        let had = self.finish_simple();
        if self.list().last == Last::Operator && !had {
            self.unexpected("end of text");
        }
    }
}

fn is_opener(word: &str) -> bool {
    matches!(word, "{" | "if" | "while" | "until" | "for" | "select" | "case" | "[[")
}
