//! Lists of commands: separators, keywords, and the simple commands between them.

use super::super::PROCESS_SUBSTITUTION;
use super::super::syntax::{Instruction, RedirectOperator, Scope, SimpleCommand, Unreadable, Word, WordPart};
use super::assignment::parse_assignment;
use super::keyword::is_opener;
use super::redirect::leading_descriptor;
use super::{FrameKind, Parser};
use std::mem;

/// The token that ends a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListEnd {
    /// The end of the text
    Eof,
    /// `)` of a subshell
    Paren,
    /// `)` of `<(` or `>(`
    Process,
    /// `)` of `$(`
    Substitution { number: usize, quoted: bool },
    /// `}`
    Brace,
    /// One of these keywords of the compound command in the frame below.
    Keyword(&'static [&'static str]),
    /// `;;`, `;&`, `;;&` or `esac`
    Clause,
}

/// The position within a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListState {
    /// A command may begin.
    Start,
    /// After `!`, `time` or `coproc`: a command may begin.
    Prefixed,
    /// Within a simple command.
    Words,
    /// After a compound command: only redirections may follow.
    Done,
    /// After `function`.
    FunctionName,
    /// After the name of a function: its body must follow.
    FunctionBody,
}

/// The last token of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastToken {
    Nothing,
    Separator,
    /// `|`, `&&` or `||`: a command must follow.
    Operator,
}

/// The words before the command, if they are `time` with its options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TimePrefix {
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
    pub(super) last_token: LastToken,
    /// It has no command yet.
    pub(super) empty: bool,
    /// The current command.
    pub(super) simple: SimpleCommand,
    /// A redirection operator whose word has not been reached.
    pub(super) pending_redirect: Option<RedirectOperator>,
    /// The pending redirection is for another descriptor than standard input or output.
    pub(super) other_descriptor: bool,
    /// The next compound command is the body of a function.
    pub(super) in_function: bool,
    /// The command runs as a coprocess.
    pub(super) coproc: bool,
    pub(super) time_prefix: TimePrefix,
    /// The command follows `|`.
    pub(super) piped: bool,
    /// Index of the first instruction of the current chain of `&&` and `||`.
    pub(super) chain_start: usize,
    /// `&&` or `||` has occurred since then.
    pub(super) has_chain: bool,
    /// How many heredocs were without body when the list began.
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

    /// Whether the list is a substitution, which is part of a word.
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
                    // `coproc NAME { …; }`: the previous word was the name.
                    list.simple = SimpleCommand::default();
                    list.state = ListState::Prefixed;
                    return self.first_word(word);
                }
                // After the first word, `a=b` is a word.
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

    /// Begins a simple command with its first word or an assignment.
    pub(super) fn begin_simple(&mut self, word: Word) {
        let list = self.list();
        list.state = ListState::Words;
        list.simple.span.start = word.span.start;
        match parse_assignment(&word) {
            Some(assignment) => list.simple.assignments.push(assignment),
            None => {
                list.simple.words.reserve(4);
                list.simple.words.push(word);
            }
        }
    }

    pub(super) fn parse_list_operator(&mut self, byte: u8) {
        // `2>` and `{fd}>`: the word directly before the operator is a descriptor.
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
            return; // The word was a keyword and opened a frame, which parses this byte again.
        }
        // `!` and `time` without a command are valid only before `;` and a line end.
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

    /// Ends the current command at a separator or operator of this length.
    fn end_command(&mut self, length: usize, separator: Instruction, last: LastToken) {
        if !self.finish_simple() {
            self.report_unexpected("separator");
        }
        self.at += length;
        let list = self.list();
        list.last_token = last;
        list.piped = separator == Instruction::Pipe;
        if last == LastToken::Separator {
            let (start, has_chain) = (list.chain_start, mem::take(&mut list.has_chain));
            // `a && b &`: the whole chain runs in a background shell.
            if has_chain && separator == Instruction::Background {
                let start = start.min(self.script.instructions.len());
                self.script.instructions.insert(start, Instruction::Open(Scope::Subshell));
                self.emit(Instruction::Close);
            }
            self.list().chain_start = self.script.instructions.len() + 1;
        } else {
            list.has_chain |= !list.piped;
        }
        self.emit(separator);
    }

    pub(super) fn end_list_line(&mut self) {
        if self.list().pending_redirect.take().is_some() {
            self.report_unexpected("line end");
        }
        // The body of a function may begin on the next line.
        if self.list().state != ListState::FunctionBody && self.finish_simple() {
            self.list().last_token = LastToken::Separator;
            self.emit(Instruction::End);
            let began = self.script.instructions.len();
            let list = self.list();
            list.chain_start = began;
            list.has_chain = false;
        }
    }

    /// Ends the current command. Returns whether there was one.
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

    /// Closes the list in the top frame.
    pub(super) fn close_list(&mut self) {
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
            self.report(Unreadable::Ambiguous("a heredoc that begins on the line that its substitution ends on"));
        }
        self.pop();
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
