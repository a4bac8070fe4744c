//! Quotes, escapes and backquotes.

use super::super::syntax::{Backquoted, Instruction, Unreadable, WordPart};
use super::{FrameKind, Parser, ansi};

impl Parser<'_> {
    /// Parses `\x` outside quotes.
    pub(super) fn parse_backslash(&mut self) {
        match self.rest().chars().nth(1) {
            // POSIX 2.2.1: a backslash before a line end joins the lines, also inside a word.
            Some('\n') => self.at += 2,
            Some(c) => {
                self.push(&c.to_string(), true);
                self.at += 1 + c.len_utf8();
            }
            None => {
                self.push("\\", true);
                self.at += 1;
            }
        }
    }

    /// Parses `\x` where the backslash escapes only some characters.
    pub(super) fn parse_escape(&mut self, escapable: &str) {
        match self.rest().chars().nth(1) {
            Some('\n') => self.at += 2,
            Some(c) if escapable.contains(c) => {
                self.push(&c.to_string(), true);
                self.at += 2;
            }
            _ => {
                self.push("\\", true);
                self.at += 1;
            }
        }
    }

    /// Parses `'…'`.
    pub(super) fn parse_single_quotes(&mut self) {
        let inner = self.rest().get(1..).unwrap_or_default();
        let length = inner.find('\'');
        let text = inner.get(..length.unwrap_or(inner.len())).unwrap_or_default();
        if length.is_none() {
            self.report(Unreadable::Unterminated("'"));
        }
        self.push(text, true);
        self.at = (self.at + text.len() + 2).min(self.end);
    }

    /// Reports single quotes whose content bash expands nevertheless: in a subscript and in `"${x:-…}"`.
    pub(super) fn check_evaluated_quotes(&mut self) {
        let inner = self.rest().get(1..).unwrap_or_default().split('\'').next().unwrap_or_default();
        if inner.contains("$(") || inner.contains('`') || inner.contains("<(") {
            self.report(Unreadable::Ambiguous("an expansion in quotes that are only characters here"));
        }
    }

    /// Parses `$'…'`.
    pub(super) fn parse_ansi_c_quotes(&mut self) {
        let inner = self.rest().get(2..).unwrap_or_default();
        let (text, end) = ansi::decode(inner);
        if end.is_none() {
            self.report(Unreadable::Unterminated("$'"));
        }
        self.push(&text, true);
        self.at += 2 + end.map_or(inner.len(), |end| end + 1);
    }

    pub(super) fn open_double(&mut self) {
        self.begin_word();
        self.at += 1;
        self.open(FrameKind::Double);
    }

    /// Parses from a byte within `"…"`.
    pub(super) fn parse_double_quoted_byte(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.at += 1;
                let Some(frame) = self.pop() else { return };
                self.push("", true);
                for part in frame.parts {
                    if let WordPart::Quoted(text) | WordPart::Plain(text) = &part {
                        self.push(text, true);
                    } else {
                        self.add(part);
                    }
                }
            }
            b'\\' => self.parse_escape("$`\"\\"),
            b'$' => self.parse_dollar(true),
            b'`' => self.parse_backquotes(true),
            _ => self.push_until("\"\\$`"),
        }
    }

    /// Appends the characters up to the next of `special` as quoted text.
    pub(super) fn push_until(&mut self, special: &str) {
        let rest = self.rest();
        let length = rest.find(|c| special.contains(c)).unwrap_or(rest.len());
        self.push(rest.get(..length).unwrap_or_default(), true);
        self.at += length.max(1);
    }

    /// Parses `` `…` `` and removes its escapes. The text is parsed as a script when it is evaluated.
    pub(super) fn parse_backquotes(&mut self, quoted: bool) {
        self.begin_word();
        let start = self.at + 1;
        let mut text = String::new();
        let mut chars = self.slice(start, self.end).char_indices();
        let escapable = if quoted { "`\\$\"" } else { "`\\$" };
        let mut length = None;
        while let Some((at, c)) = chars.next() {
            match c {
                '`' => {
                    length = Some(at);
                    break;
                }
                '\\' => match chars.next() {
                    Some((_, next)) if escapable.contains(next) => text.push(next),
                    Some((_, next)) => text.extend(['\\', next]),
                    None => text.push('\\'),
                },
                c => text.push(c),
            }
        }
        if length.is_none() {
            self.report(Unreadable::Unterminated("`"));
        }
        let end = length.map_or(self.end, |length| start + length);
        self.substitutions += 1;
        let number = self.substitutions;
        self.emit(Instruction::Backquoted(Box::new(Backquoted { text, span: start..end, number })));
        self.at = (end + 1).min(self.end);
        self.add(WordPart::Output { number, quoted });
    }
}
