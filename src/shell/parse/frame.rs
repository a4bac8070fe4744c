//! The parser's stack frames.

use super::super::syntax::{WordPart, WordParts};
use super::compound::{CaseHead, Compound, ForHead};
use super::cond::Conditional;
use super::list::{List, ListEnd};

/// A construct that is open.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    /// The state of a list. Arrays keep their words in it; other frames do not use it.
    pub(super) list: List,
    /// The current word or text.
    pub(super) parts: WordParts,
    /// Where the current word began, or `None` between words.
    pub(super) started: Option<usize>,
    /// Where the construct began.
    pub(super) opened: usize,
}

#[derive(Debug)]
pub(super) enum FrameKind {
    /// A list of commands.
    List,
    /// `if`, `while` or `until`, around its lists.
    Compound(Compound),
    For(ForHead),
    Case(CaseHead),
    /// `[[ … ]]`
    Cond(Conditional),
    /// `name=( … )`
    Array,
    /// `name[ … ]` where an assignment is allowed
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
    /// The body of a heredoc with expansions. Parsing continues at `resume` with the end `outer_end`.
    Body {
        number: usize,
        strip: bool,
        resume: usize,
        outer_end: usize,
    },
}

/// The construct that an arithmetic expression is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArithForm {
    Word { quoted: bool },
    Bracket { quoted: bool },
    Command,
    For,
}

impl Frame {
    pub(super) fn new(kind: FrameKind, close: ListEnd, opened: usize) -> Self {
        Frame { kind, list: List::new(close), parts: WordParts::new(), started: None, opened }
    }

    /// Appends characters to the current word or text.
    pub(super) fn push(&mut self, text: &str, quoted: bool) {
        match (self.parts.last_mut(), quoted) {
            (Some(WordPart::Plain(last)), false) | (Some(WordPart::Quoted(last)), true) => last.push_str(text),
            (_, false) => self.parts.push(WordPart::Plain(text.into())),
            (_, true) => self.parts.push(WordPart::Quoted(text.into())),
        }
    }

    /// Returns the opening token, for the error about a missing end.
    pub(super) fn name(&self) -> &'static str {
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
