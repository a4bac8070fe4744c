//! Words and expressions: strings, variables, lists, members. What an expression computes is unknown unless it is
//! written out; the commands in it are read.

use super::cmdlets::Item;
use super::{Lines, Reader, is_dash, is_double, is_name, is_single, literal, quoted, unknown, word};
use crate::shell::syntax::{Part, Parts, Scope, Step, Unreadable, Variable, Word};

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

/// Appends to the last literal part where there is one.
fn push(parts: &mut Parts, text: &str) {
    match parts.last_mut() {
        Some(Part::Quoted(last)) => last.push_str(text),
        _ => parts.push(Part::Quoted(text.into())),
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
        self.out.substitutions += 1;
        let number = self.out.substitutions;
        self.step(Step::Open(Scope::Substitution(number)));
        let value = self.statement();
        self.step(Step::Close);
        let output = || vec![word(Parts::from_iter([Part::Output { number, quoted: true }]))];
        let value = value.or_else(|| self.feed.take());
        let words = Some(value.unwrap_or_else(output)).filter(|_| whole && targets.len() == 1);
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
                self.hash_table()
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
                Some(';' | '=') => {
                    self.bump();
                }
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
        while let Some(c) = self.bump() {
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
                    self.expression(Position::Inner);
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
            let args = self.call_arguments();
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

    /// `'…'`, in which `''` is a quote.
    fn single(&mut self) -> Parts {
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                None => {
                    self.flaw(Unreadable::Unterminated("'"));
                    break;
                }
                Some(c) if is_single(c) => {
                    if !self.peek().is_some_and(is_single) {
                        break;
                    }
                    self.bump();
                    text.push('\'');
                }
                Some(c) => text.push(c),
            }
        }
        quoted(&text)
    }

    /// `"…"`, in which variables and `$( … )` are expanded.
    fn double(&mut self) -> Parts {
        self.bump();
        let mut parts = quoted("");
        loop {
            match self.peek() {
                None => {
                    self.flaw(Unreadable::Unterminated("\""));
                    return parts;
                }
                Some(c) if is_double(c) => {
                    self.bump();
                    if !self.peek().is_some_and(is_double) {
                        return parts;
                    }
                    self.bump();
                    push(&mut parts, "\"");
                }
                Some(_) => self.expandable(&mut parts),
            }
        }
    }

    /// Reads one character or expansion of a text in double quotes.
    fn expandable(&mut self, parts: &mut Parts) {
        match self.peek() {
            Some('`') => {
                self.bump();
                self.escaped(parts);
            }
            Some('$') if self.second() == Some('(') => {
                self.at += 2;
                parts.extend(self.substitution().into_iter().next().map_or_else(unknown, |word| word.parts));
            }
            Some('$') if self.second().is_some_and(|c| is_name(c) || c == '{') => parts.extend(self.variable()),
            Some(c) => {
                self.bump();
                push(parts, c.encode_utf8(&mut [0; 4]));
            }
            None => {}
        }
    }

    /// The character behind a backtick.
    fn escaped(&mut self, parts: &mut Parts) {
        let text = match self.bump() {
            Some('n') => "\n".to_owned(),
            Some('t') => "\t".to_owned(),
            Some('r' | 'a' | 'b' | 'f' | 'v' | '0' | 'e') => String::new(),
            Some('u') if self.peek() == Some('{') => {
                self.bump();
                let code = self.take_while(|c| c != '}');
                self.bump();
                u32::from_str_radix(&code, 16).ok().and_then(char::from_u32).map(String::from).unwrap_or_default()
            }
            Some(c) => c.to_string(),
            None => String::new(),
        };
        push(parts, &text);
    }

    fn here_string(&mut self, quote: char) -> Parts {
        self.bump();
        self.take_while(|c| c == ' ' || c == '\t' || c == '\r');
        self.eat("\n");
        let end = if is_single(quote) { ["\n'@", "'@"] } else { ["\n\"@", "\"@"] };
        let mut parts = quoted("");
        loop {
            let [behind_line, at_start] = end;
            let is_start = self.text.get(..self.at).is_some_and(|before| before.ends_with('\n'));
            if self.eat(behind_line) || is_start && self.eat(at_start) {
                return parts;
            }
            if self.peek().is_none() {
                self.flaw(Unreadable::Unterminated("@"));
                return parts;
            }
            if is_single(quote) {
                self.bump().into_iter().for_each(|c| push(&mut parts, c.encode_utf8(&mut [0; 4])));
            } else {
                self.expandable(&mut parts);
            }
        }
    }

    /// `$name`, `${name}`, `$env:NAME`
    fn variable(&mut self) -> Parts {
        self.bump();
        let name = match self.peek() {
            Some('{') => {
                self.bump();
                let name = self.take_while(|c| c != '}');
                self.bump();
                name
            }
            Some('$' | '?' | '^') => {
                self.bump();
                String::new()
            }
            _ => {
                let mut name = self.take_while(is_name);
                if self.peek() == Some(':') && self.second().is_some_and(is_name) {
                    self.bump();
                    name.push(':');
                    name.push_str(&self.take_while(is_name));
                }
                name
            }
        };
        value_of(&name.to_lowercase())
    }

    /// Reads one argument of a command.
    pub(super) fn argument(&mut self) -> Item {
        let start = self.at;
        if self.peek().is_some_and(is_dash) {
            return self.parameter();
        }
        let mut all: Vec<Word> = Vec::new();
        loop {
            all.extend(self.token());
            // `a, b`: an element follows.
            let comma = self.rest().trim_start_matches([' ', '\t']).starts_with(',');
            if !comma || self.at == start {
                return Item::Words(all);
            }
            self.skip(Lines::Stop);
            self.eat(",");
            self.skip(Lines::Cross);
        }
    }

    /// `-Name`, `-Name:value`, and any other word that begins with a dash.
    fn parameter(&mut self) -> Item {
        let dashes = self.take_while(is_dash).chars().count();
        let name = self.take_while(|c| is_name(c) || c == '-' || c == '?');
        let is_name_only = dashes == 1 && name.starts_with(|c: char| c.is_ascii_alphabetic());
        if is_name_only && self.peek() == Some(':') {
            self.bump();
            self.skip(Lines::Stop);
            let value = self.argument().into_words();
            return Item::Parameter { name, value: Some(value) };
        }
        let ended = self.ends_token();
        if is_name_only && ended {
            return Item::Parameter { name, value: None };
        }
        let mut parts = quoted(&format!("{}{name}", "-".repeat(dashes)));
        if !ended {
            self.bare(&mut parts, Commas::Keep);
        }
        Item::Words(vec![word(parts)])
    }

    /// Reads one element of an argument: several words where it is a list.
    fn token(&mut self) -> Vec<Word> {
        let opens = self.peek().is_some_and(|c| "$(@[".contains(c));
        let is_type = self.peek() == Some('[');
        if opens && !is_type {
            let value = self.primary();
            let mut parts = Parts::new();
            if !self.ends_token() {
                self.bare(&mut parts, Commas::Split);
            }
            return if parts.is_empty() { value.words } else { join(value.words, vec![word(parts)]) };
        }
        let mut parts = Parts::new();
        self.bare(&mut parts, Commas::Split);
        vec![word(parts)]
    }

    fn ends_token(&self) -> bool {
        self.peek().is_none_or(|c| c.is_whitespace() || c == ',' || ENDS_WORD.contains(c))
    }

    /// Reads the characters, quotes and variables of a word.
    fn bare(&mut self, parts: &mut Parts, commas: Commas) {
        while let Some(c) = self.peek() {
            match c {
                ',' if commas == Commas::Split => break,
                c if c.is_whitespace() || ENDS_WORD.contains(c) => break,
                c if is_single(c) => parts.extend(self.single()),
                c if is_double(c) => parts.extend(self.double()),
                '$' | '`' => {
                    let before = self.at;
                    self.expandable(parts);
                    if self.at == before {
                        self.bump();
                    }
                }
                '*' | '?' => {
                    self.bump();
                    parts.push(Part::Plain(if c == '*' { "*".into() } else { "?".into() }));
                }
                c => {
                    self.bump();
                    push(parts, c.encode_utf8(&mut [0; 4]));
                }
            }
        }
    }
}

/// Characters that end a word outside of quotes.
const ENDS_WORD: &str = ";|&(){}<>";

/// Whether a comma ends a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commas {
    Split,
    Keep,
}

/// The words of an element; unknown where it was computed.
fn finish(words: Option<Vec<Word>>, computed: bool) -> Vec<Word> {
    words.map(|words| if computed { vec![word(unknown())] } else { words }).unwrap_or_default()
}

/// Two values as one text.
fn join(before: Vec<Word>, behind: Vec<Word>) -> Vec<Word> {
    match (before.as_slice(), behind.as_slice()) {
        ([one], [other]) => vec![word(one.parts.iter().chain(&other.parts).cloned().collect())],
        _ => before.into_iter().chain(behind).collect(),
    }
}

/// What a variable holds, by its name in lower case.
pub(super) fn value_of(name: &str) -> Parts {
    let variable = |name: &str| Parts::from_iter([Variable::plain(name.to_owned(), true)]);
    let below_home = |path: &str| {
        let mut parts = variable("HOME");
        parts.push(Part::Quoted(path.into()));
        parts
    };
    let plain = ["global:", "script:", "local:", "private:", "using:", "variable:"];
    let name = plain.iter().find_map(|scope| name.strip_prefix(scope)).unwrap_or(name);
    match name {
        "home" | "env:home" | "env:userprofile" => variable("HOME"),
        "pwd" | "env:pwd" => variable("PWD"),
        "env:appdata" => below_home("/AppData/Roaming"),
        "env:localappdata" => below_home("/AppData/Local"),
        "env:temp" | "env:tmp" | "env:tmpdir" => quoted("/tmp"),
        "env:systemdrive" => quoted("C:"),
        "env:systemroot" | "env:windir" => quoted("C:/Windows"),
        "env:programfiles" => quoted("C:/Program Files"),
        "env:programdata" => quoted("C:/ProgramData"),
        "null" => quoted(""),
        "_" | "psitem" => variable("psitem"),
        "args" => variable("@"),
        "" => unknown(),
        name if name.starts_with(|c: char| c.is_ascii_digit()) => unknown(),
        name => match name.strip_prefix("env:") {
            Some(name) => variable(&name.to_uppercase()),
            None => variable(name),
        },
    }
}
