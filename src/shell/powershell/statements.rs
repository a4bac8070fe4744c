//! Statements that begin with a keyword: conditions, loops, functions.

use super::{LineEnds, PowerShellParser, is_name_char, word};
use crate::shell::syntax::{Instruction, Scope, Unreadable, Variable, Word, WordParts};

impl PowerShellParser<'_> {
    /// Returns the keyword at the position in lower case, or an empty string. It is not consumed.
    fn peek_keyword(&self) -> String {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or_default();
        let behind = rest.get(end..).unwrap_or_default();
        let next = behind.trim_start().chars().next();
        let name = name.to_ascii_lowercase();
        let fits = match name.as_str() {
            "if" | "elseif" | "while" | "for" | "foreach" | "until" | "param" => next == Some('('),
            "switch" => matches!(next, Some('(' | '-')),
            "try" | "do" | "finally" | "else" | "begin" | "process" | "end" | "dynamicparam" | "clean" => {
                next == Some('{')
            }
            "catch" | "trap" => matches!(next, Some('{' | '[')),
            "return" | "throw" | "exit" | "break" | "continue" | "function" | "filter" | "using" => {
                !behind.starts_with(|c: char| is_name_char(c) || "-./\\:=".contains(c))
            }
            _ => false,
        };
        if fits { name } else { String::new() }
    }

    /// Parses a statement. Returns the value of an expression for which no instruction was appended.
    pub(super) fn parse_statement(&mut self) -> Option<Vec<Word>> {
        let keyword = self.peek_keyword();
        self.at += keyword.len();
        self.feed = None;
        match keyword.as_str() {
            "" => return self.parse_chain(),
            "if" | "elseif" => {
                self.parse_condition();
                self.parse_block(Scope::Branch);
            }
            "else" | "finally" | "try" | "begin" | "process" | "end" | "dynamicparam" | "clean" => {
                self.parse_block(Scope::Branch);
            }
            "catch" | "trap" => {
                self.skip_blanks(LineEnds::Cross);
                self.take_while(|c| c != '{' && c != ';');
                self.parse_block(Scope::Branch);
            }
            "while" | "for" => self.parse_loop(|parser| parser.parse_condition()),
            "do" => self.parse_loop(|_| {}),
            "until" => self.parse_condition(),
            "foreach" => self.parse_loop(Self::parse_foreach_head),
            "switch" => self.parse_switch(),
            "function" | "filter" => self.parse_function(),
            "param" => {
                self.skip_blanks(LineEnds::Cross);
                self.advance();
                self.parse_parameters();
            }
            "using" => drop(self.take_while(|c| c != '\n' && c != ';')),
            // `return`, `throw`, `exit`, `break`, `continue`: statements after them are parsed, because they may run.
            _ => {
                self.skip_blanks(LineEnds::Stop);
                return if self.is_at_statement_end() { None } else { self.parse_chain() };
            }
        }
        self.feed = None;
        None
    }

    fn parse_loop(&mut self, head: impl FnOnce(&mut Self)) {
        self.push_instruction(Instruction::Open(Scope::Loop));
        head(self);
        self.skip_blanks(LineEnds::Cross);
        if self.peek() == Some('{') {
            self.parse_block(Scope::Branch);
        }
        self.push_instruction(Instruction::Close);
    }

    /// Parses `($x in a, b)`.
    fn parse_foreach_head(&mut self) {
        self.skip_blanks(LineEnds::Cross);
        self.advance();
        self.skip_blanks(LineEnds::Cross);
        self.consume("$");
        let name = self.take_while(is_name_char).to_lowercase();
        self.skip_blanks(LineEnds::Cross);
        self.take_while(|c| c.is_ascii_alphabetic());
        let words = self.parse_substitution();
        self.push_assignment(name, Some(words));
    }

    /// Parses `switch (x) { label { … } }`.
    fn parse_switch(&mut self) {
        self.take_while(|c| c != '(' && c != '{');
        self.parse_condition();
        self.skip_blanks(LineEnds::Cross);
        if !self.consume("{") {
            return self.report_error(Unreadable::Syntax("switch".to_owned()));
        }
        loop {
            self.skip_blanks(LineEnds::Cross);
            let start = self.at;
            match self.peek() {
                None => return self.report_error(Unreadable::Unterminated("switch")),
                Some('}') => {
                    self.advance();
                    return;
                }
                Some('{') => self.parse_block(Scope::Branch),
                Some(';' | ',') => self.advance(),
                Some(_) => drop(self.parse_argument()),
            }
            if self.at == start {
                self.advance();
            }
        }
    }

    /// Parses `function name($a, $b) { … }`. Each parameter may be any of the arguments of a call.
    fn parse_function(&mut self) {
        self.skip_blanks(LineEnds::Cross);
        let name = self.take_while(|c| !c.is_whitespace() && c != '(' && c != '{').to_lowercase();
        let name = name.rsplit(':').next().unwrap_or_default().to_owned();
        self.push_instruction(Instruction::Open(Scope::Function(name.into())));
        self.skip_blanks(LineEnds::Cross);
        if self.consume("(") {
            self.parse_parameters();
        }
        self.parse_block(Scope::Group);
        self.push_instruction(Instruction::Close);
    }

    /// Parses the parameters of a function or script after `(`.
    fn parse_parameters(&mut self) {
        let mut names = Vec::new();
        loop {
            self.skip_blanks(LineEnds::Cross);
            let start = self.at;
            match self.peek() {
                None => return self.report_error(Unreadable::Unterminated("(")),
                Some(')') => {
                    self.advance();
                    break;
                }
                Some(',' | '=') => self.advance(),
                Some('$') => {
                    let name = self.rest().get(1..).unwrap_or_default();
                    names.push(name.chars().take_while(|c| is_name_char(*c)).collect::<String>().to_lowercase());
                    self.parse_primary();
                }
                Some(_) => drop(self.parse_primary()),
            }
            if self.at == start {
                self.advance();
            }
        }
        for name in names {
            self.push_assignment(name, Some(vec![word(WordParts::from_iter([Variable::plain("@".to_owned(), true)]))]));
        }
    }
}
