//! Heredocs: the delimiter after `<<`, and the body on the lines that follow.

use super::super::syntax::{Unreadable, Word, WordPart, WordParts};
use super::{FrameKind, Parser};
use std::borrow::Cow;

/// Bytes that are searched for a delimiter line in one step.
pub(super) const SEARCHED_BYTES_PER_STEP: usize = 8;

/// A heredoc whose body has not been reached.
#[derive(Clone, Debug)]
pub(super) struct PendingHeredoc {
    number: usize,
    delimiter: String,
    /// A quoted delimiter disables expansions in the body.
    quoted: bool,
    strip: bool,
}

impl Parser<'_> {
    /// Registers the heredoc with the delimiter `word` and returns its index.
    pub(super) fn register_heredoc(&mut self, word: &Word, strip: bool) -> usize {
        let mut delimiter = String::new();
        let mut quoted = false;
        for part in &word.parts {
            match part {
                WordPart::Plain(text) => delimiter.push_str(text),
                WordPart::Quoted(text) => {
                    delimiter.push_str(text);
                    quoted = true;
                }
                WordPart::Variable(_)
                | WordPart::Output { .. }
                | WordPart::List(_)
                | WordPart::Arithmetic { .. }
                | WordPart::Unknown { .. } => {
                    self.report_at(Unreadable::Ambiguous("an expansion in a heredoc's delimiter"), word.span.start);
                }
            }
        }
        let number = self.script.heredocs.len();
        self.script.heredocs.push(WordParts::new());
        if strip {
            delimiter = delimiter.trim_start_matches('\t').to_owned();
        }
        self.pending.push_back(PendingHeredoc { number, delimiter, quoted, strip });
        number
    }

    /// Reads the bodies of the pending heredocs, which begin here.
    pub(super) fn read_heredocs(&mut self) {
        let within = self.frames.iter().rev().find(|frame| frame.list.is_within_a_word());
        if within.is_some_and(|frame| frame.list.pending_heredocs > 0) && !self.pending.is_empty() {
            self.report(Unreadable::Ambiguous("a line end within a substitution, while a heredoc waits"));
        }
        while let Some(pending) = self.pending.pop_front() {
            let (body, resume) = self.find_body_end(&pending);
            // Nested heredocs without a delimiter line search the same lines again.
            self.meter.charge((body - self.at) / SEARCHED_BYTES_PER_STEP);
            if pending.quoted {
                let text = self.slice(self.at, body);
                let text = if pending.strip { strip_tabs(text) } else { text.to_owned() };
                if let Some(heredoc) = self.script.heredocs.get_mut(pending.number) {
                    heredoc.push(WordPart::Quoted(text.into()));
                }
                self.at = resume;
            } else {
                let kind =
                    FrameKind::Body { number: pending.number, strip: pending.strip, resume, outer_end: self.end };
                self.open(kind);
                self.end = body;
                return;
            }
        }
    }

    /// Returns where the body ends, and where the text continues after the delimiter line.
    fn find_body_end(&self, pending: &PendingHeredoc) -> (usize, usize) {
        let mut at = self.at;
        while at < self.end {
            let (line, next) = self.joined_line(at, pending.quoted);
            let content = if pending.strip { line.trim_start_matches('\t') } else { &line };
            if content == pending.delimiter {
                return (at, next);
            }
            at = next;
        }
        (self.end, self.end)
    }

    /// Returns the line that begins at `at`, and where the next one begins. In a body with expansions, bash joins the lines
    /// that end in a backslash with the next ones before it compares them with the delimiter.
    fn joined_line(&self, mut at: usize, quoted: bool) -> (Cow<'_, str>, usize) {
        let mut joined = Cow::Borrowed("");
        loop {
            let rest = self.slice(at, self.end);
            let length = rest.find('\n').unwrap_or(rest.len());
            let line = rest.get(..length).unwrap_or_default();
            at = (at + length + 1).min(self.end);
            let continues = !quoted && line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
            joined += if continues { line.get(..length - 1).unwrap_or_default() } else { line };
            if !continues || at >= self.end {
                return (joined, at);
            }
        }
    }

    /// Parses from a byte in a body with expansions.
    pub(super) fn parse_body_byte(&mut self, byte: u8) {
        let strips = matches!(self.top().kind, FrameKind::Body { strip: true, .. });
        let line_start = self.at == 0 || self.slice(self.at - 1, self.at) == "\n";
        match byte {
            b'\t' if strips && line_start => {
                let tabs = self.rest().bytes().take_while(|byte| *byte == b'\t').count();
                self.at += tabs;
            }
            b'\\' => self.parse_escape("$`\\"),
            b'$' => self.parse_dollar(true),
            b'`' => self.parse_backquotes(true),
            b'\n' => {
                self.push("\n", true);
                self.at += 1;
            }
            _ => self.push_until("\\$`\n"),
        }
    }

    pub(super) fn close_body(&mut self) {
        let Some(frame) = self.pop() else { return };
        if let FrameKind::Body { number, resume, outer_end, .. } = frame.kind {
            if let Some(heredoc) = self.script.heredocs.get_mut(number) {
                *heredoc = frame.parts;
            }
            self.end = outer_end;
            self.at = resume;
            self.read_heredocs();
        }
    }
}

fn strip_tabs(text: &str) -> String {
    text.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect()
}
