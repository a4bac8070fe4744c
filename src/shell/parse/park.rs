//! Constructs that are nested more deeply than `SHELL_DEPTH`.
//!
//! The frames around them are parked: their commands are emitted as far as they have been read, and only what is needed to
//! find their ends is kept. When the deeper constructs have ended, a parked frame becomes a frame of the same kind again.

use super::super::syntax::{Instruction, Scope, Word, WordPart, WordParts};
use super::list::ListEnd;
use super::{Frame, FrameKind, Parser};
use crate::verdict::limits::SHELL_DEPTH;

/// Steps for parking and restoring one frame. They bound the memory for parked frames.
const PARK_STEPS: usize = 40;

/// What is kept of a frame around a construct that is nested too deeply.
pub(super) struct ParkedFrame {
    kind: FrameKind,
    close: ListEnd,
    parts: WordParts,
    started: Option<usize>,
    opened: usize,
}

impl Parser<'_> {
    /// Makes room for another frame: if there are too many, reports the limit and parks them.
    pub(super) fn make_room(&mut self) {
        self.top();
        if self.frames.len() < SHELL_DEPTH.most {
            return;
        }
        self.meter.report(&SHELL_DEPTH);
        self.meter.charge(PARK_STEPS * self.frames.len());
        let first = self.parked.len();
        while let Some(frame) = self.park_top() {
            self.parked.push(frame);
        }
        if let Some(added) = self.parked.get_mut(first..) {
            added.reverse();
        }
        self.restore();
    }

    /// Removes the top frame and emits the command in it.
    fn park_top(&mut self) -> Option<ParkedFrame> {
        let is_list = matches!(self.frames.last()?.kind, FrameKind::List);
        if is_list && self.top().started.is_some() {
            // The rest of the word follows the construct that is nested too deeply.
            self.add(WordPart::Unknown { quoted: false });
            self.end_word();
            // It gets no further words. Without this, a text of nested substitutions takes twice the memory.
            self.list().simple.words.shrink_to_fit();
        }
        self.finish_simple();
        let Frame { kind, list, parts, started, opened } = self.frames.pop()?;
        let mut close = list.close;
        if scope_of(&kind, close).is_some() {
            self.emit(Instruction::Close);
        }
        if let ListEnd::Substitution { number, .. } = &mut close {
            // The emitted part of the substitution may have a known output, which is not all of it.
            self.substitutions += 1;
            *number = self.substitutions;
        }
        Some(ParkedFrame { kind, close, parts, started, opened })
    }

    /// Restores the frame that was parked last, or the outermost list if there is none.
    pub(super) fn restore(&mut self) {
        let Some(ParkedFrame { kind, close, parts, started, opened }) = self.parked.pop() else {
            return self.frames.push(Frame::new(FrameKind::List, ListEnd::Eof, 0));
        };
        if let Some(scope) = scope_of(&kind, close) {
            self.emit(Instruction::Open(scope));
        }
        let mut frame = Frame { parts, started, ..Frame::new(kind, close, opened) };
        frame.list.chain_start = self.script.instructions.len();
        frame.list.pending_heredocs = self.pending.len();
        // The words of the array so far are lost.
        if matches!(frame.kind, FrameKind::Array) {
            let unknown = WordParts::from_elem(WordPart::Unknown { quoted: false }, 1);
            frame.list.simple.words.push(Word { parts: unknown, span: opened..opened });
        }
        self.frames.push(frame);
    }

    /// Whether the top frame is the list of the whole text.
    pub(super) fn is_outermost(&self) -> bool {
        self.frames.len() == 1 && self.parked.is_empty()
    }

    /// Returns the kind of the frame below the top one.
    pub(super) fn kind_below(&self) -> Option<&FrameKind> {
        let below = self.frames.iter().rev().nth(1).map(|frame| &frame.kind);
        below.or_else(|| self.parked.last().map(|frame| &frame.kind))
    }
}

/// Returns the scope of the commands in a restored frame, or `None` if the frame has no scope of its own.
fn scope_of(kind: &FrameKind, close: ListEnd) -> Option<Scope> {
    match (kind, close) {
        (FrameKind::List, ListEnd::Eof) => None,
        (FrameKind::List, ListEnd::Paren | ListEnd::Process | ListEnd::Substitution { .. }) => Some(Scope::Subshell),
        (FrameKind::List, ListEnd::Brace | ListEnd::Keyword(_) | ListEnd::Clause)
        | (FrameKind::Compound(_) | FrameKind::For(_) | FrameKind::Case(_), _) => Some(Scope::Branch),
        (
            FrameKind::Cond(_)
            | FrameKind::Array
            | FrameKind::Subscript { .. }
            | FrameKind::Double
            | FrameKind::Param { .. }
            | FrameKind::Arith { .. }
            | FrameKind::Body { .. },
            _,
        ) => None,
    }
}
