//! Words: strings, variables and the arguments of commands.

use super::cmdlets::Item;
use super::expression::join;
use super::{Lines, Reader, is_dash, is_double, is_name, is_single, quoted, unknown, word};
use crate::shell::syntax::{Part, Parts, Unreadable, Variable, Word};

/// Appends to the last literal part where there is one.
fn push(parts: &mut Parts, text: &str) {
    match parts.last_mut() {
        Some(Part::Quoted(last)) => last.push_str(text),
        _ => parts.push(Part::Quoted(text.into())),
    }
}

impl Reader<'_> {
    /// `'…'`, in which `''` is a quote.
    pub(super) fn single(&mut self) -> Parts {
        self.bump();
        let mut text = String::new();
        loop {
            match self.take() {
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
    pub(super) fn double(&mut self) -> Parts {
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
        let text = match self.take() {
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

    pub(super) fn here_string(&mut self, quote: char) -> Parts {
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
                self.take().into_iter().for_each(|c| push(&mut parts, c.encode_utf8(&mut [0; 4])));
            } else {
                self.expandable(&mut parts);
            }
        }
    }

    /// `$name`, `${name}`, `$env:NAME`
    pub(super) fn variable(&mut self) -> Parts {
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
        self.value_of(&name.to_lowercase())
    }

    /// What a variable holds, by its name in lower case.
    pub(super) fn value_of(&self, name: &str) -> Parts {
        let set = name.strip_prefix("env:").filter(|name| self.out.exported.contains(*name));
        match set {
            Some(name) => Parts::from_iter([Variable::plain(name.to_uppercase(), true)]),
            None => value_of(name),
        }
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
            let value = self.nested(Self::argument).into_words();
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
        let continued = self.peek() == Some('`') && matches!(self.second(), Some('\n' | '\r'));
        continued || self.peek().is_none_or(|c| c.is_whitespace() || c == ',' || ENDS_WORD.contains(c))
    }

    /// Reads the characters, quotes and variables of a word.
    fn bare(&mut self, parts: &mut Parts, commas: Commas) {
        while let Some(c) = self.peek() {
            match c {
                ',' if commas == Commas::Split => break,
                c if c.is_whitespace() || ENDS_WORD.contains(c) => break,
                // The line goes on, and the word does not.
                '`' if matches!(self.second(), Some('\n' | '\r')) => break,
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

/// What a variable holds that the text does not set.
fn value_of(name: &str) -> Parts {
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
