//! Keywords and parentheses at the start of a command, and definitions of functions.

use super::super::syntax::{Instruction, Scope, SimpleCommand, Unreadable, Word};
use super::compound::{CaseHead, Compound, ForHead};
use super::cond::Conditional;
use super::list::{ListEnd, ListState, TimePrefix};
use super::{ArithForm, FrameKind, Parser};
use std::mem;

impl Parser<'_> {
    /// Handles the word as a keyword if it is one at this position. Returns whether it was.
    pub(super) fn take_keyword(&mut self, word: &Word) -> bool {
        let Some(text) = word.bare() else { return false };
        let at = word.span.start;
        let list = self.list();
        let starts = matches!(list.state, ListState::Start | ListState::Prefixed | ListState::FunctionBody);
        let ends = list.state == ListState::Done || list.state == ListState::Start;
        let time_prefix = mem::take(&mut list.time_prefix);
        // After `|` and `coproc`, `time` is a program.
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
                if !mem::replace(&mut list.coproc, true) {
                    self.emit(Instruction::Open(Scope::Subshell));
                }
            }
            ("function", _) => list.state = ListState::FunctionName,
            ("{", _) => self.open_list(ListEnd::Brace, Scope::Group),
            ("if", _) => self.open_compound(Compound::If, &["then"]),
            ("while" | "until", _) => self.open_compound(Compound::Loop, &["do"]),
            ("for" | "select", _) => self.open_scope(FrameKind::For(ForHead::new()), Scope::Loop),
            ("case", _) => self.open_scope(FrameKind::Case(CaseHead::new()), Scope::Group),
            ("[[", _) => self.open(FrameKind::Cond(Conditional::new())),
            ("then" | "elif" | "else" | "fi" | "do" | "done" | "esac" | "}" | "in" | "]]", _) => {
                self.report_at(Unreadable::Syntax(text.to_owned()), at);
            }
            _ => return false,
        }
        true
    }

    /// Continues after a compound command.
    pub(super) fn mark_compound_done(&mut self) {
        let list = self.list();
        list.state = ListState::Done;
        list.empty = false;
        if mem::take(&mut list.in_function) {
            self.emit(Instruction::Close);
        }
    }

    /// Parses `(` where it is not part of a word.
    pub(super) fn open_paren(&mut self) {
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

    /// Parses `()` after the name of a function.
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
}

/// Whether a word begins a compound command.
pub(super) fn is_opener(word: &str) -> bool {
    matches!(word, "{" | "if" | "while" | "until" | "for" | "select" | "case" | "[[")
}
