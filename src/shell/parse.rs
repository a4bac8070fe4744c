//! From text to steps: a pushdown automaton over bytes.
//!
//! One pass, an explicit stack of frames, no recursion: a hostile text can neither overflow our stack nor make us
//! read it twice. What cannot be read is noted and passed over, so that what can be read still counts.

mod ansi;
mod assignment;
mod compound;
mod cond;
mod heredoc;
mod list;
mod redirect;
mod text;

use super::syntax::{Instruction, Scope, Script, SimpleCommand, Unreadable, Word, WordPart, WordParts};
use crate::verdict::limits::{SHELL_COMMANDS, SHELL_DEPTH};
use compound::{CaseHead, Compound, ForHead};
use cond::Conditional;
use list::List;
use std::collections::VecDeque;
use std::mem;

/// Commands of which the room is kept; most lines of a script have fewer.
const MAX_SPARE_COMMANDS: usize = 8;

/// Reads `text` as bash would.
pub(super) fn parse(text: &str) -> Script {
    let mut parser = Parser::new(text);
    while !parser.done {
        parser.parse_command();
    }
    parser.script
}

/// A construct that has begun and not ended.
#[derive(Debug)]
struct Frame {
    kind: FrameKind,
    /// The state of a list; unused in other frames.
    list: List,
    /// The word or text that is being read.
    parts: WordParts,
    /// Where the word began; `None` between words.
    started: Option<usize>,
    opened: usize,
}

#[derive(Debug)]
enum FrameKind {
    /// Commands, one after the other.
    List,
    /// The keyword command that lists stand in.
    Compound(Compound),
    For(ForHead),
    Case(CaseHead),
    /// `[[ … ]]`
    Cond(Conditional),
    /// `name=( … )`
    Array,
    /// `name[ … ]` where an assignment may stand.
    Subscript {
        depth: usize,
    },
    /// `"…"`
    Double,
    /// `${name …}`
    Param {
        name: String,
        quoted: bool,
    },
    /// `$(( … ))`, `(( … ))`, `$[ … ]`
    Arith {
        form: ArithForm,
        depth: usize,
    },
    /// A heredoc's body, with expansions.
    Body {
        number: usize,
        strip: bool,
        resume: usize,
        outer_end: usize,
    },
}

/// What an arithmetic expression is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArithForm {
    Word { quoted: bool },
    Bracket { quoted: bool },
    Command,
    For,
}

impl Frame {
    fn new(kind: FrameKind, close: list::ListEnd, opened: usize) -> Self {
        Frame { kind, list: List::new(close), parts: WordParts::new(), started: None, opened }
    }

    /// Adds characters to the word or text under construction.
    fn push(&mut self, text: &str, quoted: bool) {
        match (self.parts.last_mut(), quoted) {
            (Some(WordPart::Plain(last)), false) | (Some(WordPart::Quoted(last)), true) => last.push_str(text),
            (_, false) => self.parts.push(WordPart::Plain(text.into())),
            (_, true) => self.parts.push(WordPart::Quoted(text.into())),
        }
    }
}

pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// Where the text ends for the frames on top: the end of a heredoc's body, or of all.
    end: usize,
    /// INVARIANT: never empty, and the first frame is the list of the whole text.
    frames: Vec<Frame>,
    script: Script,
    /// Commands that are done with: the room that they took is there for others.
    #[expect(clippy::vec_box, reason = "it is their boxes that are used again")]
    spare: Vec<Box<SimpleCommand>>,
    commands: usize,
    substitutions: usize,
    errors: usize,
    /// Heredocs whose bodies have not come yet.
    pending: VecDeque<heredoc::PendingHeredoc>,
    /// A command of the outermost list has just ended.
    command_ended: bool,
    done: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Parser {
            text,
            at: 0,
            end: text.len(),
            frames: vec![Frame::new(FrameKind::List, list::ListEnd::Eof, 0)],
            script: Script::default(),
            spare: Vec::new(),
            commands: 0,
            substitutions: 0,
            errors: 0,
            pending: VecDeque::new(),
            command_ended: false,
            done: false,
        }
    }

    /// Reads the next commands of the text, with all that belongs to them, as a shell does; `None` at its end. What
    /// was read before is forgotten, so that a long text costs no more room than its longest command.
    pub(super) fn next(&mut self) -> Option<&mut Script> {
        if self.done {
            return None;
        }
        self.script.instructions.clear();
        self.script.heredocs.clear();
        self.list().chain_start = 0;
        self.parse_command();
        Some(&mut self.script)
    }

    /// Takes back a command that is done with.
    pub(super) fn recycle(&mut self, mut simple: Box<SimpleCommand>) {
        if self.spare.len() < MAX_SPARE_COMMANDS {
            let SimpleCommand { assignments, words, redirects, span } = simple.as_mut();
            assignments.clear();
            words.clear();
            redirects.clear();
            *span = 0..0;
            self.spare.push(simple);
        }
    }

    /// Reads to the end of a command of the outermost list, or of the text.
    fn parse_command(&mut self) {
        while self.script.exceeded.is_none() {
            if self.command_ended && self.frames.len() == 1 && self.pending.is_empty() {
                self.command_ended = false;
                return;
            }
            let Some(byte) = self.peek(0) else {
                if self.end_text() {
                    self.done = true;
                    return;
                }
                continue;
            };
            match &self.top().kind {
                FrameKind::List
                | FrameKind::Compound(_)
                | FrameKind::For(_)
                | FrameKind::Case(_)
                | FrameKind::Cond(_)
                | FrameKind::Array => {
                    self.parse_word_byte(byte);
                }
                FrameKind::Subscript { .. } => self.parse_subscript_byte(byte),
                FrameKind::Double => self.parse_double_quoted_byte(byte),
                FrameKind::Param { .. } => self.parse_param_byte(byte),
                FrameKind::Arith { .. } => self.parse_arith_byte(byte),
                FrameKind::Body { .. } => self.parse_body_byte(byte),
            }
        }
        self.done = true;
        // Past a limit: what is half read is ended here, so that its commands count.
        while self.frames.len() > 1 {
            self.close_unterminated();
        }
        self.finish_simple();
    }

    /// The text of the top frame is over; tells whether all is.
    fn end_text(&mut self) -> bool {
        if matches!(self.top().kind, FrameKind::Body { .. }) {
            self.close_body();
            return false;
        }
        self.end_word();
        if self.frames.len() == 1 {
            self.close_list_at_end();
            return true;
        }
        // A heredoc begun on the last line has an empty body; bash warns and goes on.
        let what = self.top().name();
        let opened = self.top().opened;
        self.report(Unreadable::Unterminated(what), opened);
        self.close_unterminated();
        false
    }

    /// Gives up the top frame, keeping the commands in it.
    fn close_unterminated(&mut self) {
        self.end_word();
        self.finish_simple();
        let Some(frame) = self.frames.pop() else { return };
        match frame.kind {
            FrameKind::List => self.emit(Instruction::Close),
            FrameKind::Compound(_) | FrameKind::For(_) | FrameKind::Case(_) => self.emit(Instruction::Close),
            FrameKind::Body { outer_end, resume, .. } => {
                self.end = outer_end;
                self.at = resume;
            }
            FrameKind::Cond(_)
            | FrameKind::Array
            | FrameKind::Subscript { .. }
            | FrameKind::Double
            | FrameKind::Param { .. }
            | FrameKind::Arith { .. } => {
                self.add(WordPart::Unknown { quoted: true });
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        if at < self.end { self.text.as_bytes().get(at).copied() } else { None }
    }

    fn looking_at(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    fn top(&mut self) -> &mut Frame {
        // INVARIANT: never empty; the fallback keeps this total.
        if self.frames.is_empty() {
            self.frames.push(Frame::new(FrameKind::List, list::ListEnd::Eof, 0));
        }
        let last = self.frames.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "the stack was just seen not to be empty")]
        &mut self.frames[last]
    }

    /// Opens a frame. Past the deepest one, reading ends.
    fn open(&mut self, kind: FrameKind) {
        self.open_until(kind, list::ListEnd::Eof);
    }

    fn open_until(&mut self, kind: FrameKind, close: list::ListEnd) {
        if self.frames.len() >= SHELL_DEPTH.most {
            self.script.exceeded.get_or_insert(&SHELL_DEPTH);
            return;
        }
        let opened = self.at;
        self.frames.push(Frame::new(kind, close, opened));
    }

    /// Opens a list of commands as a scope of its own.
    fn open_list(&mut self, close: list::ListEnd, scope: Scope) {
        self.emit(Instruction::Open(scope));
        self.open_until(FrameKind::List, close);
        let (waiting, began) = (self.pending.len(), self.script.instructions.len());
        let list = &mut self.top().list;
        list.pending_heredocs = waiting;
        list.chain_start = began;
    }

    fn emit(&mut self, step: Instruction) {
        if matches!(step, Instruction::Simple(_)) {
            self.commands += 1;
            if self.commands > SHELL_COMMANDS.most {
                self.script.exceeded.get_or_insert(&SHELL_COMMANDS);
            }
        }
        self.command_ended = matches!(step, Instruction::End | Instruction::Background);
        self.script.instructions.push(step);
    }

    fn report(&mut self, error: Unreadable, at: usize) {
        // One is enough to know, a few are enough to explain.
        if self.errors < 8 {
            self.errors += 1;
            self.script.errors.push((error, at));
        }
    }

    fn report_unexpected(&mut self, what: &str) {
        let at = self.at;
        let what: String = what.chars().take(20).collect();
        self.report(Unreadable::Syntax(what), at);
    }

    /// Adds characters to the word, beginning it where there is none.
    fn push(&mut self, text: &str, quoted: bool) {
        let at = self.at;
        // bash takes it for a letter, others for the end of a line.
        if !quoted && text.bytes().any(|byte| byte == b'\r') {
            self.report(Unreadable::Ambiguous("a carriage return outside of quotes"), at);
        }
        let top = self.top();
        top.started.get_or_insert(at);
        top.push(text, quoted);
    }

    /// Adds a part to the word, beginning it where there is none.
    fn add(&mut self, part: WordPart) {
        let at = self.at;
        let top = self.top();
        top.started.get_or_insert(at);
        top.parts.push(part);
    }

    /// One byte where words stand.
    fn parse_word_byte(&mut self, byte: u8) {
        let in_word = self.top().started.is_some();
        if self.take_pattern_byte(byte) {
            return;
        }
        match byte {
            b'\\' => self.parse_backslash(),
            b'\'' => self.parse_single_quotes(),
            b'"' => self.open_double(),
            b'$' => self.parse_dollar(false),
            b'`' => self.parse_backquotes(false),
            b' ' | b'\t' => {
                self.end_word();
                self.at += 1;
            }
            b'\n' => {
                self.end_word();
                self.at += 1;
                self.end_line();
            }
            b'#' if !in_word => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
            b'<' | b'>' if self.peek(1) == Some(b'(') => {
                self.begin_word();
                self.at += 2;
                self.open_list(
                    list::ListEnd::Process,
                    if byte == b'>' { Scope::OutputProcess } else { Scope::Subshell },
                );
            }
            b'[' if self.opens_subscript() => {
                self.push("[", false);
                self.at += 1;
                self.open(FrameKind::Subscript { depth: 0 });
            }
            b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => self.parse_operator(byte),
            0 => {
                let at = self.at;
                self.report(Unreadable::Nul, at);
                self.at += 1;
            }
            _ => {
                let rest = self.rest();
                let length = rest.bytes().position(is_special).unwrap_or(rest.len()).max(1);
                self.push(rest.get(..length).unwrap_or_default(), false);
                self.at += length;
            }
        }
    }

    /// Begins a word here, if none has begun.
    fn begin_word(&mut self) {
        let at = self.at;
        self.top().started.get_or_insert(at);
    }

    /// Ends the word under construction and hands it to the frame that it stands in.
    fn end_word(&mut self) {
        let at = self.at;
        let top = self.top();
        let Some(start) = top.started.take() else { return };
        let word = Word { parts: mem::take(&mut top.parts), span: start..at };
        match &top.kind {
            FrameKind::List => self.add_list_word(word),
            FrameKind::Compound(_) => self.report_unexpected("word"),
            FrameKind::For(_) => self.add_for_word(word),
            FrameKind::Case(_) => self.add_case_word(&word),
            FrameKind::Cond(_) => self.add_cond_word(&word),
            FrameKind::Array => top.list.simple.words.push(word),
            // Text, not a word: it stays where it is.
            FrameKind::Subscript { .. }
            | FrameKind::Double
            | FrameKind::Param { .. }
            | FrameKind::Arith { .. }
            | FrameKind::Body { .. } => {
                top.parts = word.parts;
            }
        }
    }

    fn end_line(&mut self) {
        match self.top().kind {
            FrameKind::List => self.end_list_line(),
            FrameKind::For(_) => self.end_for_line(),
            FrameKind::Case(_) | FrameKind::Cond(_) | FrameKind::Array | FrameKind::Compound(_) => {}
            FrameKind::Subscript { .. }
            | FrameKind::Double
            | FrameKind::Param { .. }
            | FrameKind::Arith { .. }
            | FrameKind::Body { .. } => {}
        }
        self.read_heredocs();
    }

    fn parse_operator(&mut self, byte: u8) {
        match self.top().kind {
            FrameKind::List => self.parse_list_operator(byte),
            FrameKind::For(_) => self.parse_for_operator(byte),
            FrameKind::Case(_) => self.parse_case_operator(byte),
            FrameKind::Cond(_) => self.parse_cond_operator(byte),
            FrameKind::Array if byte == b')' => {
                self.end_word();
                self.at += 1;
                let words = self.frames.pop().map(|frame| frame.list.simple.words).unwrap_or_default();
                self.add(WordPart::List(words));
            }
            FrameKind::Array | FrameKind::Compound(_) => {
                self.end_word();
                self.report_unexpected("operator");
                self.at += 1;
            }
            FrameKind::Subscript { .. }
            | FrameKind::Double
            | FrameKind::Param { .. }
            | FrameKind::Arith { .. }
            | FrameKind::Body { .. } => self.at += 1,
        }
    }
}

/// Whether a byte ends a run of plain text in a word. All such bytes are ASCII, so none is part of another character.
fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'
            | b'\n'
            | b'\\'
            | b'\''
            | b'"'
            | b'$'
            | b'`'
            | b';'
            | b'&'
            | b'|'
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'['
            | 0
    )
}

impl Frame {
    fn name(&self) -> &'static str {
        match &self.kind {
            FrameKind::List => self.list.name(),
            FrameKind::Compound(compound) => compound.name(),
            FrameKind::For(_) => "for",
            FrameKind::Case(_) => "case",
            FrameKind::Cond(_) => "[[",
            FrameKind::Array => "array",
            FrameKind::Subscript { .. } => "[",
            FrameKind::Double => "\"",
            FrameKind::Param { .. } => "${",
            FrameKind::Arith { .. } => "((",
            FrameKind::Body { .. } => "<<",
        }
    }
}
