//! Expressions: lists, members, assignments. What an expression computes is unknown unless it is written out; the
//! commands in it are read.

use super::{Lines, Reader, is_dash, is_double, is_name, is_single, literal, quoted, unknown, word};
use crate::shell::syntax::{Parts, Scope, Unreadable, Word};

/// Where an expression stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// A statement may assign.
    Statement,
    /// An argument of a method, an element of a list.
    Inner,
}

/// A value that an expression is made of.
pub(super) struct Primary {
    pub words: Vec<Word>,
    /// `[name]`
    pub type_name: Option<String>,
}

impl Primary {
    fn words(words: Vec<Word>) -> Self {
        Primary { words, type_name: None }
    }

    fn parts(parts: Parts) -> Self {
        Primary::words(vec![word(parts)])
    }
}

impl Reader<'_> {
    /// Reads an expression up to the end of its statement, a pipe, a redirection or a closing bracket; its elements.
    /// `None` for an assignment.
    pub(super) fn expression(&mut self, position: Position) -> Option<Vec<Word>> {
        let (mut elements, mut current): (Vec<Word>, Option<Vec<Word>>) = (Vec::new(), None);
        let mut targets = Vec::new();
        let (mut joins, mut computed, mut operand) = (false, false, true);
        loop {
            self.skip(if operand && !(elements.is_empty() && current.is_none()) { Lines::Cross } else { Lines::Stop });
            let Some(c) = self.peek() else { break };
            let start = self.at;
            match c {
                ';' | '\n' | '\r' | ')' | '}' | ']' | '|' | '&' | '>' => break,
                ',' => {
                    self.bump();
                    elements.extend(finish(current.take(), computed));
                    (joins, computed, operand) = (false, false, true);
                }
                '=' | '+' | '*' | '/' | '%' | '?' | '!' | ':' | '<' => {
                    self.bump();
                    let twice = self.eat("=");
                    if (c == '=' || twice) && position == Position::Statement {
                        let whole = elements.is_empty() && !computed;
                        self.assignment(targets, whole && !twice);
                        return None;
                    }
                    (joins, operand) = (c == '+' && !twice, true);
                    computed |= !joins && c != '!';
                }
                '.' if self.rest().starts_with("..") => {
                    self.at += 2;
                    (computed, operand) = (true, true);
                }
                c if is_dash(c) => {
                    self.bump();
                    let name = self.take_while(|c| c.is_ascii_alphabetic() || is_dash(c));
                    let twice = self.eat("=");
                    if twice && position == Position::Statement {
                        self.assignment(targets, false);
                        return None;
                    }
                    (computed, operand) = (true, !name.starts_with(is_dash));
                }
                _ => {
                    if !operand && !computed && matches!(c, '*' | '2'..='9') && self.redirect_follows() {
                        break;
                    }
                    let name = self.target_name();
                    let value = self.primary();
                    targets.extend(name.filter(|_| !computed));
                    // A type before a value converts it.
                    computed |= value.type_name.as_ref().is_some_and(|name| name != "string" && name != "array");
                    if value.type_name.is_none() {
                        current = Some(match current.take() {
                            Some(before) if joins => join(before, value.words),
                            None => value.words,
                            Some(_) => {
                                computed = true;
                                value.words
                            }
                        });
                        operand = false;
                    }
                    joins = false;
                }
            }
            if self.at == start {
                self.bump();
            }
        }
        elements.extend(finish(current, computed));
        Some(elements)
    }

    fn redirect_follows(&self) -> bool {
        self.second() == Some('>')
    }

    /// The name of the variable that stands here by itself.
    fn target_name(&self) -> Option<String> {
        let rest = self.rest().strip_prefix('$')?;
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let end = rest.find(|c: char| !is_name(c) && c != ':').unwrap_or(rest.len());
        let behind = rest.get(end..).unwrap_or_default();
        let part = behind.starts_with(['[', '.']);
        rest.get(..end).filter(|name| !name.is_empty() && !part).map(str::to_lowercase)
    }

    /// Reads what is assigned. The value is known where one variable is set to it as a `whole`.
    fn assignment(&mut self, targets: Vec<String>, whole: bool) {
        self.skip(Lines::Cross);
        let start = self.at;
        let words = self.captured(Self::statement);
        let words = Some(words).filter(|_| whole && targets.len() == 1);
        for target in targets {
            let name = target.rsplit(':').next().unwrap_or_default().to_owned();
            if target.starts_with("env:") {
                let value = words.as_ref().and_then(|words| words.first()).map_or_else(unknown, |w| w.parts.clone());
                self.export(&name, value, start);
            } else {
                self.assign(name, words.clone());
            }
        }
    }

    /// Emits `export NAME=value`.
    pub(super) fn export(&mut self, name: &str, value: Parts, start: usize) {
        self.out.exported.insert(name.to_lowercase());
        let mut parts = quoted(&format!("{}=", name.to_uppercase()));
        parts.extend(value);
        self.emit(vec![word(quoted("export")), word(parts)], Vec::new(), start);
    }

    /// Reads one value with its members and indices.
    pub(super) fn primary(&mut self) -> Primary {
        let Some(c) = self.peek() else { return Primary::parts(unknown()) };
        let value = match c {
            c if is_single(c) => Primary::parts(self.single()),
            c if is_double(c) => Primary::parts(self.double()),
            '$' if self.second() == Some('(') => {
                self.at += 2;
                Primary::words(self.substitution())
            }
            '$' => Primary::parts(self.variable()),
            '(' => {
                self.bump();
                Primary::words(self.substitution())
            }
            '@' => Primary::words(self.at_sign()),
            '[' => return self.type_literal(),
            '{' => {
                self.block(Scope::Loop);
                Primary::parts(unknown())
            }
            _ => {
                let text = self.take_while(|c| is_name(c) || c == '\\');
                if text.is_empty() {
                    self.bump();
                }
                Primary::parts(if text.is_empty() { unknown() } else { quoted(&text) })
            }
        };
        self.members(value)
    }

    /// `@'…'@`, `@"…"@`, `@(…)`, `@{…}`, `@name`
    fn at_sign(&mut self) -> Vec<Word> {
        self.bump();
        match self.peek() {
            Some('(') => {
                self.bump();
                self.substitution()
            }
            Some('{') => {
                self.bump();
                self.nested(Self::hash_table)
            }
            Some(c) if is_single(c) || is_double(c) => vec![word(self.here_string(c))],
            _ => {
                self.take_while(is_name);
                vec![word(unknown())]
            }
        }
    }

    /// Reads the entries of a hash table; its keys, which `.Keys` names.
    fn hash_table(&mut self) -> Vec<Word> {
        let mut keys = Vec::new();
        loop {
            self.skip(Lines::Cross);
            match self.peek() {
                None => {
                    self.flaw(Unreadable::Unterminated("@{"));
                    return keys;
                }
                Some('}') => {
                    self.bump();
                    return keys;
                }
                Some(';' | '=') => self.bump(),
                Some(_) => {
                    let start = self.at;
                    keys.extend(self.primary().words);
                    self.skip(Lines::Cross);
                    if self.eat("=") {
                        self.skip(Lines::Cross);
                        self.statement();
                    }
                    if self.at == start {
                        self.bump();
                    }
                }
            }
        }
    }

    /// `[type]`, or `[type]::Member(…)`
    fn type_literal(&mut self) -> Primary {
        self.bump();
        let mut depth = 1_usize;
        let start = self.at;
        while let Some(c) = self.take() {
            depth = match c {
                '[' => depth + 1,
                ']' => depth - 1,
                _ => depth,
            };
            if depth == 0 || c == '\n' {
                break;
            }
        }
        let name = self.text.get(start..self.at.saturating_sub(1)).unwrap_or_default().trim().to_lowercase();
        let value = Primary { words: vec![word(unknown())], type_name: Some(name) };
        if self.rest().starts_with("::") || self.peek() == Some('.') { self.members(value) } else { value }
    }

    /// Reads `.name`, `::name`, `[index]` and calls behind a value.
    pub(super) fn members(&mut self, mut value: Primary) -> Primary {
        loop {
            self.eat("?");
            let is_member = |c: Option<char>| c.is_some_and(|c| is_name(c) || "$'\"".contains(c));
            if self.rest().starts_with("::") {
                self.at += 2;
            } else if self.peek() == Some('.') && is_member(self.second()) {
                self.bump();
            } else if self.peek() == Some('[') {
                self.bump();
                self.skip(Lines::Cross);
                while !matches!(self.peek(), None | Some(']')) {
                    let start = self.at;
                    self.nested(|reader| reader.expression(Position::Inner));
                    self.skip(Lines::Cross);
                    if self.at == start {
                        self.bump();
                    }
                }
                self.bump();
                value = Primary::parts(unknown());
                continue;
            } else {
                return value;
            }
            let start = self.at;
            let name = self.take_while(is_name).to_lowercase();
            let name = if name.is_empty() {
                let inner = match self.peek() {
                    Some('$') => self.variable(),
                    Some(c) if is_single(c) => self.single(),
                    Some(c) if is_double(c) => self.double(),
                    _ => unknown(),
                };
                literal(&word(inner)).unwrap_or_default().to_lowercase()
            } else {
                name
            };
            if self.peek() != Some('(') {
                // The path of a file is what names it.
                if !matches!(name.as_str(), "path" | "fullname" | "providerpath" | "keys") || value.type_name.is_some()
                {
                    value = Primary::parts(unknown());
                }
                continue;
            }
            self.bump();
            let args = self.nested(Self::call_arguments);
            let words = self.method(value.type_name.as_deref(), &value.words, &name, args, start);
            value = Primary::words(words);
        }
    }

    fn call_arguments(&mut self) -> Vec<Word> {
        let mut args = Vec::new();
        loop {
            self.skip(Lines::Cross);
            let start = self.at;
            match self.peek() {
                None => {
                    self.flaw(Unreadable::Unterminated("("));
                    return args;
                }
                Some(')') => {
                    self.bump();
                    return args;
                }
                Some(_) => args.extend(self.expression(Position::Inner).into_iter().flatten()),
            }
            if self.at == start {
                self.bump();
            }
        }
    }
}

/// The words of an element; unknown where it was computed.
fn finish(words: Option<Vec<Word>>, computed: bool) -> Vec<Word> {
    words.map(|words| if computed { vec![word(unknown())] } else { words }).unwrap_or_default()
}

/// Two values as one text.
pub(super) fn join(mut before: Vec<Word>, behind: Vec<Word>) -> Vec<Word> {
    match (before.as_mut_slice(), behind.as_slice()) {
        ([one], [_]) => one.parts.extend(behind.into_iter().flat_map(|word| word.parts)),
        _ => before.extend(behind),
    }
    before
}
