//! Expressions: lists, members and assignments. Only literal values are known; commands in expressions are parsed.

use super::{
    LineEnds, PowerShellParser, is_dash, is_double_quote, is_name_char, is_single_quote, literal_text, quoted, unknown,
    word,
};
use crate::shell::syntax::{Scope, Unreadable, Word, WordParts};

/// The position of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpressionPosition {
    /// A statement, which may be an assignment.
    Statement,
    /// An argument of a method or an index.
    Inner,
}

/// An operand of an expression.
pub(super) struct PrimaryValue {
    pub words: Vec<Word>,
    /// `[name]`
    pub type_name: Option<String>,
}

impl PrimaryValue {
    fn words(words: Vec<Word>) -> Self {
        PrimaryValue { words, type_name: None }
    }

    fn parts(parts: WordParts) -> Self {
        PrimaryValue::words(vec![word(parts)])
    }
}

impl PowerShellParser<'_> {
    /// Parses an expression up to the end of its statement, a pipe, a redirection or a closing bracket. Returns its
    /// elements, or `None` for an assignment.
    pub(super) fn parse_expression(&mut self, position: ExpressionPosition) -> Option<Vec<Word>> {
        let (mut elements, mut current): (Vec<Word>, Option<Vec<Word>>) = (Vec::new(), None);
        let mut targets = Vec::new();
        let (mut joins, mut computed, mut operand) = (false, false, true);
        loop {
            self.skip_blanks(if operand && !(elements.is_empty() && current.is_none()) {
                LineEnds::Cross
            } else {
                LineEnds::Stop
            });
            let Some(c) = self.peek() else { break };
            let start = self.at;
            match c {
                ';' | '\n' | '\r' | ')' | '}' | ']' | '|' | '&' | '>' => break,
                ',' => {
                    self.advance();
                    elements.extend(finish_element(current.take(), computed));
                    (joins, computed, operand) = (false, false, true);
                }
                '=' | '+' | '*' | '/' | '%' | '?' | '!' | ':' | '<' => {
                    self.advance();
                    let twice = self.consume("=");
                    if (c == '=' || twice) && position == ExpressionPosition::Statement {
                        let whole = elements.is_empty() && !computed;
                        self.parse_assignment(targets, whole && !twice);
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
                    self.advance();
                    let name = self.take_while(|c| c.is_ascii_alphabetic() || is_dash(c));
                    let twice = self.consume("=");
                    if twice && position == ExpressionPosition::Statement {
                        self.parse_assignment(targets, false);
                        return None;
                    }
                    (computed, operand) = (true, !name.starts_with(is_dash));
                }
                _ => {
                    if !operand && !computed && matches!(c, '*' | '2'..='9') && self.is_at_redirect() {
                        break;
                    }
                    let name = self.target_name();
                    let value = self.parse_primary();
                    targets.extend(name.filter(|_| !computed));
                    // A type before a value is a cast.
                    computed |= value.type_name.as_ref().is_some_and(|name| name != "string" && name != "array");
                    if value.type_name.is_none() {
                        current = Some(match current.take() {
                            Some(before) if joins => concatenate(before, value.words),
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
                self.advance();
            }
        }
        elements.extend(finish_element(current, computed));
        Some(elements)
    }

    fn is_at_redirect(&self) -> bool {
        self.peek_second() == Some('>')
    }

    /// Returns the name of the variable at the position, without a member or an index.
    fn target_name(&self) -> Option<String> {
        let rest = self.rest().strip_prefix('$')?;
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let end = rest.find(|c: char| !is_name_char(c) && c != ':').unwrap_or(rest.len());
        let behind = rest.get(end..).unwrap_or_default();
        let part = behind.starts_with(['[', '.']);
        rest.get(..end).filter(|name| !name.is_empty() && !part).map(str::to_lowercase)
    }

    /// Parses the right side of an assignment. The value is known if one variable is set to the `whole` of it.
    fn parse_assignment(&mut self, targets: Vec<String>, whole: bool) {
        self.skip_blanks(LineEnds::Cross);
        let start = self.at;
        let words = self.parse_captured(Self::parse_statement);
        let words = Some(words).filter(|_| whole && targets.len() == 1);
        for target in targets {
            let name = target.rsplit(':').next().unwrap_or_default().to_owned();
            if target.starts_with("env:") {
                let value = words.as_ref().and_then(|words| words.first()).map_or_else(unknown, |w| w.parts.clone());
                self.push_export(&name, value, start);
            } else {
                self.push_assignment(name, words.clone());
            }
        }
    }

    /// Appends `export NAME=value`.
    pub(super) fn push_export(&mut self, name: &str, value: WordParts, start: usize) {
        self.out.exported.insert(name.to_lowercase());
        let mut parts = quoted(&format!("{}=", name.to_uppercase()));
        parts.extend(value);
        self.push_command(vec![word(quoted("export")), word(parts)], Vec::new(), start);
    }

    /// Parses one operand with its members and indices.
    pub(super) fn parse_primary(&mut self) -> PrimaryValue {
        let Some(c) = self.peek() else { return PrimaryValue::parts(unknown()) };
        let value = match c {
            c if is_single_quote(c) => PrimaryValue::parts(self.parse_single_quotes()),
            c if is_double_quote(c) => PrimaryValue::parts(self.parse_double_quotes()),
            '$' if self.peek_second() == Some('(') => {
                self.at += 2;
                PrimaryValue::words(self.parse_substitution())
            }
            '$' => PrimaryValue::parts(self.parse_variable()),
            '(' => {
                self.advance();
                PrimaryValue::words(self.parse_substitution())
            }
            '@' => PrimaryValue::words(self.parse_at_sign()),
            '[' => return self.parse_type_literal(),
            '{' => {
                self.parse_block(Scope::Loop);
                PrimaryValue::parts(unknown())
            }
            _ => {
                let text = self.take_while(|c| is_name_char(c) || c == '\\');
                if text.is_empty() {
                    self.advance();
                }
                PrimaryValue::parts(if text.is_empty() { unknown() } else { quoted(&text) })
            }
        };
        self.parse_members(value)
    }

    /// Parses `@'…'@`, `@"…"@`, `@(…)`, `@{…}` or `@name`.
    fn parse_at_sign(&mut self) -> Vec<Word> {
        self.advance();
        match self.peek() {
            Some('(') => {
                self.advance();
                self.parse_substitution()
            }
            Some('{') => {
                self.advance();
                self.parse_nested(Self::parse_hash_table)
            }
            Some(c) if is_single_quote(c) || is_double_quote(c) => vec![word(self.parse_here_string(c))],
            _ => {
                self.take_while(is_name_char);
                vec![word(unknown())]
            }
        }
    }

    /// Parses the entries of a hash table. Returns its keys, which are the value of `.Keys`.
    fn parse_hash_table(&mut self) -> Vec<Word> {
        let mut keys = Vec::new();
        loop {
            self.skip_blanks(LineEnds::Cross);
            match self.peek() {
                None => {
                    self.report_error(Unreadable::Unterminated("@{"));
                    return keys;
                }
                Some('}') => {
                    self.advance();
                    return keys;
                }
                Some(';' | '=') => self.advance(),
                Some(_) => {
                    let start = self.at;
                    keys.extend(self.parse_primary().words);
                    self.skip_blanks(LineEnds::Cross);
                    if self.consume("=") {
                        self.skip_blanks(LineEnds::Cross);
                        self.parse_statement();
                    }
                    if self.at == start {
                        self.advance();
                    }
                }
            }
        }
    }

    /// Parses `[type]` or `[type]::Member(…)`.
    fn parse_type_literal(&mut self) -> PrimaryValue {
        self.advance();
        let mut depth = 1_usize;
        let start = self.at;
        while let Some(c) = self.next_char() {
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
        let value = PrimaryValue { words: vec![word(unknown())], type_name: Some(name) };
        if self.rest().starts_with("::") || self.peek() == Some('.') { self.parse_members(value) } else { value }
    }

    /// Parses `.name`, `::name`, `[index]` and calls after a value.
    pub(super) fn parse_members(&mut self, mut value: PrimaryValue) -> PrimaryValue {
        loop {
            self.consume("?");
            let is_member = |c: Option<char>| c.is_some_and(|c| is_name_char(c) || "$'\"".contains(c));
            if self.rest().starts_with("::") {
                self.at += 2;
            } else if self.peek() == Some('.') && is_member(self.peek_second()) {
                self.advance();
            } else if self.peek() == Some('[') {
                self.advance();
                self.skip_blanks(LineEnds::Cross);
                while !matches!(self.peek(), None | Some(']')) {
                    let start = self.at;
                    self.parse_nested(|parser| parser.parse_expression(ExpressionPosition::Inner));
                    self.skip_blanks(LineEnds::Cross);
                    if self.at == start {
                        self.advance();
                    }
                }
                self.advance();
                value = PrimaryValue::parts(unknown());
                continue;
            } else {
                return value;
            }
            let start = self.at;
            let name = self.take_while(is_name_char).to_lowercase();
            let name = if name.is_empty() {
                let inner = match self.peek() {
                    Some('$') => self.parse_variable(),
                    Some(c) if is_single_quote(c) => self.parse_single_quotes(),
                    Some(c) if is_double_quote(c) => self.parse_double_quotes(),
                    _ => unknown(),
                };
                literal_text(&word(inner)).unwrap_or_default().to_lowercase()
            } else {
                name
            };
            if self.peek() != Some('(') {
                // The path of a file object is the word that names the file.
                if !matches!(name.as_str(), "path" | "fullname" | "providerpath" | "keys") || value.type_name.is_some()
                {
                    value = PrimaryValue::parts(unknown());
                }
                continue;
            }
            self.advance();
            let args = self.parse_nested(Self::parse_call_arguments);
            let words = self.push_method_call(value.type_name.as_deref(), &value.words, &name, args, start);
            value = PrimaryValue::words(words);
        }
    }

    fn parse_call_arguments(&mut self) -> Vec<Word> {
        let mut args = Vec::new();
        loop {
            self.skip_blanks(LineEnds::Cross);
            let start = self.at;
            match self.peek() {
                None => {
                    self.report_error(Unreadable::Unterminated("("));
                    return args;
                }
                Some(')') => {
                    self.advance();
                    return args;
                }
                Some(_) => args.extend(self.parse_expression(ExpressionPosition::Inner).into_iter().flatten()),
            }
            if self.at == start {
                self.advance();
            }
        }
    }
}

/// Returns the words of an element, or an unknown word if it is computed.
fn finish_element(words: Option<Vec<Word>>, computed: bool) -> Vec<Word> {
    words.map(|words| if computed { vec![word(unknown())] } else { words }).unwrap_or_default()
}

/// Concatenates two values.
pub(super) fn concatenate(mut before: Vec<Word>, behind: Vec<Word>) -> Vec<Word> {
    match (before.as_mut_slice(), behind.as_slice()) {
        ([one], [_]) => one.parts.extend(behind.into_iter().flat_map(|word| word.parts)),
        _ => before.extend(behind),
    }
    before
}
