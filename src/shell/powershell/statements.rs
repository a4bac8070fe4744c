//! Statements that begin with a keyword: conditions, loops, functions.

use super::{Lines, Reader, is_name, word};
use crate::shell::syntax::{Parts, Scope, Step, Unreadable, Variable, Word};

impl Reader<'_> {
    /// The keyword that a statement begins with, in lower case; not yet consumed.
    fn keyword(&self) -> String {
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
                !behind.starts_with(|c: char| is_name(c) || "-./\\:=".contains(c))
            }
            _ => false,
        };
        if fits { name } else { String::new() }
    }

    /// Reads a statement; the value of an expression that nothing has been emitted for.
    pub(super) fn statement(&mut self) -> Option<Vec<Word>> {
        let keyword = self.keyword();
        self.at += keyword.len();
        self.feed = None;
        match keyword.as_str() {
            "" => return self.chain(),
            "if" | "elseif" => {
                self.condition();
                self.block(Scope::Branch);
            }
            "else" | "finally" | "try" | "begin" | "process" | "end" | "dynamicparam" | "clean" => {
                self.block(Scope::Branch);
            }
            "catch" | "trap" => {
                self.skip(Lines::Cross);
                self.take_while(|c| c != '{' && c != ';');
                self.block(Scope::Branch);
            }
            "while" | "for" => self.looped(|reader| reader.condition()),
            "do" => self.looped(|_| {}),
            "until" => self.condition(),
            "foreach" => self.looped(Self::foreach),
            "switch" => self.switch(),
            "function" | "filter" => self.function(),
            "param" => {
                self.skip(Lines::Cross);
                self.bump();
                self.parameters();
            }
            "using" => drop(self.take_while(|c| c != '\n' && c != ';')),
            // `return`, `throw`, `exit`, `break`, `continue`: what follows may not run, and is read all the same.
            _ => {
                self.skip(Lines::Stop);
                return if self.ends() { None } else { self.chain() };
            }
        }
        self.feed = None;
        None
    }

    fn looped(&mut self, head: impl FnOnce(&mut Self)) {
        self.step(Step::Open(Scope::Loop));
        head(self);
        self.skip(Lines::Cross);
        if self.peek() == Some('{') {
            self.block(Scope::Branch);
        }
        self.step(Step::Close);
    }

    /// `($x in a, b)`
    fn foreach(&mut self) {
        self.skip(Lines::Cross);
        self.bump();
        self.skip(Lines::Cross);
        self.eat("$");
        let name = self.take_while(is_name).to_lowercase();
        self.skip(Lines::Cross);
        self.take_while(|c| c.is_ascii_alphabetic());
        let words = self.substitution();
        self.assign(name, Some(words));
    }

    /// `switch (x) { label { … } }`
    fn switch(&mut self) {
        self.take_while(|c| c != '(' && c != '{');
        self.condition();
        self.skip(Lines::Cross);
        if !self.eat("{") {
            return self.flaw(Unreadable::Syntax("switch".to_owned()));
        }
        loop {
            self.skip(Lines::Cross);
            let start = self.at;
            match self.peek() {
                None => return self.flaw(Unreadable::Unterminated("switch")),
                Some('}') => {
                    self.bump();
                    return;
                }
                Some('{') => self.block(Scope::Branch),
                Some(';' | ',') => self.bump(),
                Some(_) => drop(self.argument()),
            }
            if self.at == start {
                self.bump();
            }
        }
    }

    /// `function name($a, $b) { … }`: each parameter may be any of the words that the function is given.
    fn function(&mut self) {
        self.skip(Lines::Cross);
        let name = self.take_while(|c| !c.is_whitespace() && c != '(' && c != '{').to_lowercase();
        let name = name.rsplit(':').next().unwrap_or_default().to_owned();
        self.step(Step::Open(Scope::Function(name.into())));
        self.skip(Lines::Cross);
        if self.eat("(") {
            self.parameters();
        }
        self.block(Scope::Group);
        self.step(Step::Close);
    }

    /// Reads the parameters of a function or script behind `(`.
    fn parameters(&mut self) {
        let mut names = Vec::new();
        loop {
            self.skip(Lines::Cross);
            let start = self.at;
            match self.peek() {
                None => return self.flaw(Unreadable::Unterminated("(")),
                Some(')') => {
                    self.bump();
                    break;
                }
                Some(',' | '=') => self.bump(),
                Some('$') => {
                    let name = self.rest().get(1..).unwrap_or_default();
                    names.push(name.chars().take_while(|c| is_name(*c)).collect::<String>().to_lowercase());
                    self.primary();
                }
                Some(_) => drop(self.primary()),
            }
            if self.at == start {
                self.bump();
            }
        }
        for name in names {
            self.assign(name, Some(vec![word(Parts::from_iter([Variable::plain("@".to_owned(), true)]))]));
        }
    }
}
