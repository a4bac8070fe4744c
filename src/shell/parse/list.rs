//! Lists of commands: separators, keywords, redirections, and the simple commands between them.

use super::super::PROCESS_SUBSTITUTION;
use super::super::syntax::{Instruction, RedirectOperator, Scope, SimpleCommand, Unreadable, Word, WordPart};
use super::assignment::parse_assignment;
use super::compound::{CaseHead, Compound, ForHead};
use super::cond::Conditional;
use super::redirect::leading_descriptor;
use super::{ArithForm, FrameKind, Parser};
use std::mem;

/// What ends a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListEnd {
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
pub(super) enum ListState {
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
enum LastToken {
    Nothing,
    Separator,
    /// `|`, `&&` or `||`: a command has to follow.
    Operator,
}

/// Whether the words before were `time` and `-p`, which take options of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TimePrefix {
    #[default]
    None,
    /// `time`
    Time,
    /// `time -p`
    TimeP,
}

#[derive(Debug)]
pub(super) struct List {
    pub(super) close: ListEnd,
    pub(super) state: ListState,
    last_token: LastToken,
    empty: bool,
    pub(super) simple: SimpleCommand,
    pub(super) pending_redirect: Option<RedirectOperator>,
    /// It is about another descriptor than the usual one.
    pub(super) other_descriptor: bool,
    /// The function whose body is being read ends with it.
    in_function: bool,
    coproc: bool,
    time_prefix: TimePrefix,
    /// The command stands behind `|`.
    piped: bool,
    /// The step that the chain of `&&` and `||` began with, and whether it is one.
    pub(super) chain_start: usize,
    has_chain: bool,
    /// Heredocs that were waiting for their bodies when the list began.
    pub(super) pending_heredocs: usize,
}

impl List {
    pub(super) fn new(close: ListEnd) -> Self {
        List {
            close,
            state: ListState::Start,
            last_token: LastToken::Nothing,
            empty: true,
            simple: SimpleCommand::default(),
            pending_redirect: None,
            other_descriptor: false,
            in_function: false,
            coproc: false,
            time_prefix: TimePrefix::None,
            piped: false,
            chain_start: 0,
            has_chain: false,
            pending_heredocs: 0,
        }
    }

    /// Whether its output or its file name is part of a word around it.
    pub(super) fn is_within_a_word(&self) -> bool {
        matches!(self.close, ListEnd::Process | ListEnd::Substitution { .. })
    }

    pub(super) fn name(&self) -> &'static str {
        match self.close {
            ListEnd::Eof => "text",
            ListEnd::Paren => "(",
            ListEnd::Process => "<(",
            ListEnd::Substitution { .. } => "$(",
            ListEnd::Brace => "{",
            ListEnd::Keyword(_) => "list",
            ListEnd::Clause => "case",
        }
    }
}

impl Parser<'_> {
    pub(super) fn list(&mut self) -> &mut List {
        &mut self.top().list
    }

    pub(super) fn add_list_word(&mut self, word: Word) {
        let list = self.list();
        if let Some(direction) = list.pending_redirect.take() {
            return self.add_redirect(direction, word);
        }
        match list.state {
            ListState::Start | ListState::Prefixed => self.first_word(word),
            ListState::Words => {
                if list.coproc && list.simple.words.len() == 1 && word.bare().is_some_and(is_opener) {
                    // `coproc NAME { …; }`: the word before was its name.
                    list.simple = SimpleCommand::default();
                    list.state = ListState::Prefixed;
                    return self.first_word(word);
                }
                // Behind the first word, what looks like an assignment is a word.
                let assigned = if list.simple.words.is_empty() { parse_assignment(&word) } else { None };
                match assigned {
                    Some(assignment) => list.simple.assignments.push(assignment),
                    None => list.simple.words.push(word),
                }
            }
            ListState::Done => {
                if !self.take_keyword(&word) {
                    self.report_unexpected("word");
                }
            }
            ListState::FunctionName => {
                let name = word.bare().unwrap_or("?").to_owned();
                list.state = ListState::FunctionBody;
                list.in_function = true;
                self.emit(Instruction::Open(Scope::Function(name.into())));
            }
            ListState::FunctionBody => {
                if !self.take_keyword(&word) {
                    self.report_unexpected("word");
                    self.begin_simple(word);
                }
            }
        }
    }

    fn first_word(&mut self, word: Word) {
        if !self.take_keyword(&word) {
            self.begin_simple(word);
        }
    }

    /// The first word of a simple command, or an assignment before it.
    fn begin_simple(&mut self, word: Word) {
        let list = self.list();
        list.state = ListState::Words;
        list.simple.span.start = word.span.start;
        match parse_assignment(&word) {
            Some(assignment) => list.simple.assignments.push(assignment),
            None => {
                // Most commands have a few.
                list.simple.words.reserve(4);
                list.simple.words.push(word);
            }
        }
    }

    /// Acts on a keyword where one may stand; tells whether it was one.
    fn take_keyword(&mut self, word: &Word) -> bool {
        let Some(text) = word.bare() else { return false };
        let at = word.span.start;
        let list = self.list();
        let starts = matches!(list.state, ListState::Start | ListState::Prefixed | ListState::FunctionBody);
        let ends = list.state == ListState::Done || list.state == ListState::Start;
        let time_prefix = mem::take(&mut list.time_prefix);
        // Behind `|` and `coproc`, `time` is a program.
        let keeps_time = !list.piped && !list.coproc;
        let close = list.close;
        match (text, close) {
            ("}", ListEnd::Brace) if ends => self.close_list(),
            ("esac", ListEnd::Clause) if ends => {
                self.close_list();
                self.finish_compound();
            }
            (keyword, ListEnd::Keyword(keywords)) if ends && keywords.contains(&keyword) => {
                self.close_list();
                self.open_next_list(keyword);
            }
            _ if !starts => return false,
            ("-p", _) if time_prefix == TimePrefix::Time => list.time_prefix = TimePrefix::TimeP,
            ("--", _) if time_prefix != TimePrefix::None => {}
            ("time", _) if keeps_time => {
                list.state = ListState::Prefixed;
                list.time_prefix = TimePrefix::Time;
            }
            ("!", _) => list.state = ListState::Prefixed,
            ("coproc", _) => {
                list.state = ListState::Prefixed;
                // It runs beside the shell, in one of its own.
                if !mem::replace(&mut list.coproc, true) {
                    self.emit(Instruction::Open(Scope::Subshell));
                }
            }
            ("function", _) => list.state = ListState::FunctionName,
            ("{", _) => self.open_list(ListEnd::Brace, Scope::Group),
            ("if", _) => self.open_compound(Compound::If, &["then"]),
            ("while" | "until", _) => self.open_compound(Compound::Loop, &["do"]),
            ("for" | "select", _) => {
                self.emit(Instruction::Open(Scope::Loop));
                self.open(FrameKind::For(ForHead::new()));
            }
            ("case", _) => {
                self.emit(Instruction::Open(Scope::Group));
                self.open(FrameKind::Case(CaseHead::new()));
            }
            ("[[", _) => self.open(FrameKind::Cond(Conditional::new())),
            ("then" | "elif" | "else" | "fi" | "do" | "done" | "esac" | "}" | "in" | "]]", _) => {
                self.report(Unreadable::Syntax(text.to_owned()), at);
            }
            _ => return false,
        }
        true
    }

    /// A compound command has ended.
    pub(super) fn mark_compound_done(&mut self) {
        let list = self.list();
        list.state = ListState::Done;
        list.empty = false;
        if mem::take(&mut list.in_function) {
            self.emit(Instruction::Close);
        }
    }

    pub(super) fn parse_list_operator(&mut self, byte: u8) {
        // `2>` and `{fd}>`: the word before is a descriptor if nothing stands between.
        let usual = if byte == b'<' { "0" } else { "1" };
        let descriptor = leading_descriptor(&self.top().parts).filter(|_| matches!(byte, b'<' | b'>'));
        if let Some(other_descriptor) = descriptor.map(|descriptor| descriptor != usual) {
            let top = self.top();
            top.parts.clear();
            top.started = None;
            top.list.other_descriptor = other_descriptor;
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
        if self.list().state == ListState::Prefixed && matches!(byte, b'|' | b'&' | b')') {
            self.report_unexpected("operator");
        }
        match byte {
            b'<' | b'>' => self.parse_redirect_operator(),
            b'&' if self.looking_at("&>") => self.parse_redirect_operator(),
            b'(' => self.open_paren(),
            b')' => self.close_paren(),
            b';' => self.parse_semicolon(),
            b'&' if self.looking_at("&&") => self.end_command(2, Instruction::And, LastToken::Operator),
            b'&' => self.end_command(1, Instruction::Background, LastToken::Separator),
            b'|' if self.looking_at("||") => self.end_command(2, Instruction::Or, LastToken::Operator),
            b'|' if self.looking_at("|&") => self.end_command(2, Instruction::Pipe, LastToken::Operator),
            _ => self.end_command(1, Instruction::Pipe, LastToken::Operator),
        }
    }

    fn open_paren(&mut self) {
        let at = self.at;
        let list = self.list();
        match list.state {
            ListState::Start | ListState::Prefixed | ListState::FunctionBody => {
                let declared = list.state == ListState::FunctionBody && list.in_function;
                let rest = self.slice(at + 1, self.end).trim_start_matches([' ', '\t']);
                if declared && rest.starts_with(')') {
                    self.at = self.end - rest.len() + 1;
                } else if self.looking_at("((") && self.is_arith(at + 2) {
                    self.at += 2;
                    self.open(FrameKind::Arith { form: ArithForm::Command, depth: 0 });
                } else {
                    self.at += 1;
                    self.open_list(ListEnd::Paren, Scope::Subshell);
                }
            }
            ListState::Words => self.define_function(),
            ListState::Done | ListState::FunctionName => {
                self.report_unexpected("(");
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
            list.simple = SimpleCommand::default();
            self.at += 1;
            return self.open_list(ListEnd::Paren, Scope::Subshell);
        }
        if !(named && closes) {
            self.report_unexpected("(");
            self.at += 1;
            return;
        }
        let name = mem::take(&mut list.simple).words.first().and_then(Word::bare).unwrap_or("?").to_owned();
        list.state = ListState::FunctionBody;
        list.in_function = true;
        self.at = after;
        self.emit(Instruction::Open(Scope::Function(name.into())));
    }

    fn close_paren(&mut self) {
        match self.list().close {
            ListEnd::Paren | ListEnd::Process | ListEnd::Substitution { .. } => {
                self.at += 1;
                self.close_list();
            }
            ListEnd::Eof | ListEnd::Brace | ListEnd::Keyword(_) | ListEnd::Clause => {
                self.report_unexpected(")");
                self.at += 1;
            }
        }
    }

    fn parse_semicolon(&mut self) {
        let clause = [";;&", ";;", ";&"].into_iter().find(|form| self.looking_at(form));
        match clause {
            Some(form) if self.list().close == ListEnd::Clause => {
                self.at += form.len();
                self.close_list();
                self.finish_clause();
            }
            Some(form) => {
                self.report_unexpected(form);
                self.at += form.len();
            }
            None => self.end_command(1, Instruction::End, LastToken::Separator),
        }
    }

    /// A separator or an operator between commands.
    fn end_command(&mut self, length: usize, step: Instruction, last: LastToken) {
        if !self.finish_simple() {
            self.report_unexpected("separator");
        }
        self.at += length;
        let list = self.list();
        list.last_token = last;
        list.piped = step == Instruction::Pipe;
        match step {
            Instruction::And | Instruction::Or => list.has_chain = true,
            Instruction::End | Instruction::Background => {
                let (began, chained) = (list.chain_start, mem::take(&mut list.has_chain));
                // What runs other_descriptor as a whole is a shell of its own.
                if chained && step == Instruction::Background {
                    self.script
                        .instructions
                        .insert(began.min(self.script.instructions.len()), Instruction::Open(Scope::Subshell));
                    self.emit(Instruction::Close);
                }
                self.list().chain_start = self.script.instructions.len() + 1;
            }
            Instruction::Simple(_)
            | Instruction::Redirects(_)
            | Instruction::Open(_)
            | Instruction::Close
            | Instruction::Pipe
            | Instruction::LoopVariable(_)
            | Instruction::Backquoted(_) => {}
        }
        self.emit(step);
    }

    pub(super) fn end_list_line(&mut self) {
        // A function's body and what an operator demands may stand on the next line.
        if self.list().pending_redirect.take().is_some() {
            self.report_unexpected("line end");
        }
        let waits = matches!(self.list().state, ListState::FunctionBody);
        if !waits && self.finish_simple() {
            self.list().last_token = LastToken::Separator;
            self.emit(Instruction::End);
            let began = self.script.instructions.len();
            let list = self.list();
            list.chain_start = began;
            list.has_chain = false;
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
        let had = list.state != ListState::Start;
        let broken = list.pending_redirect.take().is_some()
            || matches!(list.state, ListState::FunctionName | ListState::FunctionBody);
        let done = list.state == ListState::Done;
        let function = mem::take(&mut list.in_function);
        mem::swap(&mut *simple, &mut list.simple);
        list.state = ListState::Start;
        let coproc = mem::take(&mut list.coproc);
        list.empty &= !had;
        if had {
            list.last_token = LastToken::Separator;
        }
        if broken {
            self.report_unexpected("end of command");
        }
        if function {
            self.emit(Instruction::Close);
        }
        if !simple.is_empty() {
            simple.span.end = at;
            self.emit(if done { Instruction::Redirects(simple) } else { Instruction::Simple(simple) });
        } else {
            self.recycle(simple);
        }
        if coproc {
            self.emit(Instruction::Close);
        }
        had
    }

    /// Ends the list on top, and with it what it is the body of.
    fn close_list(&mut self) {
        let had = self.finish_simple();
        let list = self.list();
        let (close, empty, dangling) = (list.close, list.empty, list.last_token == LastToken::Operator && !had);
        let within = list.is_within_a_word();
        let waiting = list.pending_heredocs;
        let heredocs = within && self.pending.len() > waiting;
        let may_be_empty = within || close == ListEnd::Clause;
        if dangling || (empty && !may_be_empty) {
            self.report_unexpected("end of list");
        }
        if heredocs {
            let at = self.at;
            self.report(Unreadable::Ambiguous("a heredoc that begins on the line that its substitution ends on"), at);
        }
        self.frames.pop();
        self.emit(Instruction::Close);
        match close {
            ListEnd::Substitution { number, quoted } => self.add(WordPart::Output { number, quoted }),
            ListEnd::Process => self.add(WordPart::Quoted(PROCESS_SUBSTITUTION.into())),
            ListEnd::Paren => self.mark_compound_done(),
            ListEnd::Brace => self.finish_brace(),
            ListEnd::Clause | ListEnd::Keyword(_) | ListEnd::Eof => {}
        }
    }

    pub(super) fn close_list_at_end(&mut self) {
        let had = self.finish_simple();
        if self.list().last_token == LastToken::Operator && !had {
            self.report_unexpected("end of text");
        }
    }
}

fn is_opener(word: &str) -> bool {
    matches!(word, "{" | "if" | "while" | "until" | "for" | "select" | "case" | "[[")
}
