//! The parser: a pushdown automaton that turns shell text into instructions.
//!
//! It makes one pass over the bytes with an explicit stack of frames and without recursion. Time is linear in the length
//! of the text. After a syntax error, and within constructs that are nested too deeply, parsing continues, so that the
//! remaining commands are still found.

pub(super) mod ansi;
mod assignment;
mod compound;
mod cond;
mod expansion;
mod frame;
mod heredoc;
mod keyword;
mod list;
mod park;
mod quotes;
mod redirect;
mod subscript;

pub(super) use assignment::parse_assignment;
pub(super) use subscript::runs_in_subscript;

use super::syntax::{Instruction, Scope, Script, SimpleCommand, Unreadable, Word, WordPart};
use crate::verdict::limits::{Meter, SHELL_COMMANDS};
use frame::{ArithForm, Frame, FrameKind};
use list::ListEnd;
use park::ParkedFrame;
use std::collections::VecDeque;
use std::mem;

/// How many allocations of finished commands are kept for reuse.
const MAX_SPARE_COMMANDS: usize = 8;

/// How many errors are reported. One makes the whole text unreadable, so a further one adds nothing to the verdict.
const MAX_ERRORS: usize = 8;

/// Parses a text as bash would.
pub(super) fn parse(text: &str, meter: &Meter) -> Script {
    let mut parser = Parser::new(text, meter);
    while !parser.done {
        parser.parse_command();
    }
    parser.script
}

pub(super) struct Parser<'a> {
    text: &'a str,
    /// The current byte offset.
    at: usize,
    /// Where the text ends for the top frame: the end of a heredoc's body, or of the whole text.
    end: usize,
    /// If it is empty, the next frame is the last of `parked`. The first frame is the list of the whole text.
    frames: Vec<Frame>,
    /// The frames below `frames`, if more than `SHELL_DEPTH` are open.
    parked: Vec<ParkedFrame>,
    /// Limits are reported to it.
    meter: Meter,
    /// How many bytes the lookahead at `((` has read.
    lookahead: usize,
    script: Script,
    /// Allocations of finished commands.
    #[expect(clippy::vec_box, reason = "the boxes are reused")]
    spare: Vec<Box<SimpleCommand>>,
    commands: usize,
    substitutions: usize,
    errors: usize,
    /// Heredocs whose bodies have not been reached.
    pending: VecDeque<heredoc::PendingHeredoc>,
    /// The last instruction ends a command.
    command_ended: bool,
    done: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, meter: &Meter) -> Self {
        Parser {
            text,
            at: 0,
            end: text.len(),
            frames: vec![Frame::new(FrameKind::List, ListEnd::Eof, 0)],
            parked: Vec::new(),
            meter: meter.clone(),
            lookahead: 0,
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

    /// Parses the next command of the outermost list, or returns `None` at the end of the text. The previous command is
    /// dropped, so that memory is bounded by the longest command.
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

    /// Takes back the allocation of a finished command.
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

    /// Parses up to the end of a command of the outermost list, or of the text.
    fn parse_command(&mut self) {
        while !self.meter.is_exhausted() {
            if self.command_ended && self.is_outermost() && self.pending.is_empty() {
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
                | FrameKind::Array => self.parse_word_byte(byte),
                FrameKind::Subscript { .. } => self.parse_subscript_byte(byte),
                FrameKind::Double => self.parse_double_quoted_byte(byte),
                FrameKind::Param { .. } => self.parse_param_byte(byte),
                FrameKind::Arith { .. } => self.parse_arith_byte(byte),
                FrameKind::Body { .. } => self.parse_body_byte(byte),
            }
        }
        self.done = true;
        // The steps are used up: close all frames, so that the commands in them still count. Parked ones hold no commands.
        self.parked.clear();
        while self.frames.len() > 1 {
            self.close_unterminated();
        }
        self.finish_simple();
    }

    /// Handles the end of the top frame's text. Returns whether the whole text has ended.
    fn end_text(&mut self) -> bool {
        if matches!(self.top().kind, FrameKind::Body { .. }) {
            self.close_body();
            return false;
        }
        self.end_word();
        if self.is_outermost() {
            self.close_list_at_end();
            return true;
        }
        let (name, opened) = (self.top().name(), self.top().opened);
        self.report_at(Unreadable::Unterminated(name), opened);
        self.close_unterminated();
        false
    }

    /// Removes the top frame, and keeps the commands in it.
    fn close_unterminated(&mut self) {
        self.end_word();
        self.finish_simple();
        let Some(frame) = self.pop() else { return };
        match frame.kind {
            FrameKind::List | FrameKind::Compound(_) | FrameKind::For(_) | FrameKind::Case(_) => {
                self.emit(Instruction::Close)
            }
            FrameKind::Body { outer_end, resume, .. } => {
                self.end = outer_end;
                self.at = resume;
            }
            FrameKind::Cond(_)
            | FrameKind::Array
            | FrameKind::Subscript { .. }
            | FrameKind::Double
            | FrameKind::Param { .. }
            | FrameKind::Arith { .. } => self.add(WordPart::Unknown { quoted: true }),
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
        self.slice(self.at, self.end)
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    fn top(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.restore();
        }
        let last = self.frames.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "the stack is not empty")]
        &mut self.frames[last]
    }

    /// Removes the top frame, also if it has not been restored yet.
    fn pop(&mut self) -> Option<Frame> {
        self.top();
        self.frames.pop()
    }

    /// Opens a frame that is not a list.
    fn open(&mut self, kind: FrameKind) {
        self.open_until(kind, ListEnd::Eof);
    }

    fn open_until(&mut self, kind: FrameKind, close: ListEnd) {
        self.make_room();
        self.frames.push(Frame::new(kind, close, self.at));
    }

    /// Opens a compound command in a scope.
    fn open_scope(&mut self, kind: FrameKind, scope: Scope) {
        self.make_room();
        self.emit(Instruction::Open(scope));
        self.open(kind);
    }

    /// Opens a list of commands in a scope.
    fn open_list(&mut self, close: ListEnd, scope: Scope) {
        self.make_room();
        self.emit(Instruction::Open(scope));
        self.open_until(FrameKind::List, close);
        let (pending_heredocs, chain_start) = (self.pending.len(), self.script.instructions.len());
        let list = self.list();
        list.pending_heredocs = pending_heredocs;
        list.chain_start = chain_start;
    }

    fn emit(&mut self, instruction: Instruction) {
        if matches!(instruction, Instruction::Simple(_)) {
            self.commands += 1;
            if self.commands > SHELL_COMMANDS.most {
                self.meter.report(&SHELL_COMMANDS);
            }
        }
        self.command_ended = matches!(instruction, Instruction::End | Instruction::Background);
        self.script.instructions.push(instruction);
    }

    fn report_at(&mut self, error: Unreadable, at: usize) {
        if self.errors < MAX_ERRORS {
            self.errors += 1;
            self.script.errors.push((error, at));
        }
    }

    fn report(&mut self, error: Unreadable) {
        self.report_at(error, self.at);
    }

    fn report_unexpected(&mut self, token: &str) {
        self.report(Unreadable::Syntax(token.to_owned()));
    }

    /// Appends characters to the current word, or begins one.
    fn push(&mut self, text: &str, quoted: bool) {
        // bash treats it as an ordinary character, other shells as part of a line end.
        if !quoted && text.contains('\r') {
            self.report(Unreadable::Ambiguous("a carriage return outside of quotes"));
        }
        self.begin_word();
        self.top().push(text, quoted);
    }

    /// Appends a part to the current word, or begins one.
    fn add(&mut self, part: WordPart) {
        self.begin_word();
        self.top().parts.push(part);
    }

    /// Begins a word here unless one has begun.
    fn begin_word(&mut self) {
        let at = self.at;
        self.top().started.get_or_insert(at);
    }

    /// Parses from a byte in a frame that consists of words.
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
            b'<' | b'>' if self.peek(1) == Some(b'(') => self.open_process_substitution(byte),
            b'[' if self.opens_subscript() => {
                self.push("[", false);
                self.at += 1;
                self.open(FrameKind::Subscript { depth: 0 });
            }
            b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => self.parse_operator(byte),
            0 => {
                self.report(Unreadable::Nul);
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

    /// Opens `<(` or `>(`.
    fn open_process_substitution(&mut self, byte: u8) {
        self.begin_word();
        self.at += 2;
        self.open_list(ListEnd::Process, if byte == b'>' { Scope::OutputProcess } else { Scope::InputProcess });
    }

    /// Ends the current word and adds it to the top frame.
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
            // These frames hold one text, not words.
            FrameKind::Subscript { .. }
            | FrameKind::Double
            | FrameKind::Param { .. }
            | FrameKind::Arith { .. }
            | FrameKind::Body { .. } => top.parts = word.parts,
        }
    }

    fn end_line(&mut self) {
        if matches!(self.top().kind, FrameKind::List) {
            self.end_list_line();
        } else if matches!(self.top().kind, FrameKind::For(_)) {
            self.end_for_line();
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
                let words = self.pop().map(|frame| frame.list.simple.words).unwrap_or_default();
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
#[rustfmt::skip]
fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b'\\' | b'\'' | b'"' | b'$' | b'`' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' | b'[' | 0
    )
}
