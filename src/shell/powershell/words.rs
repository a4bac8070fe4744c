//! Words: strings, variables and the arguments of commands.

use super::arguments::Argument;
use super::expression::concatenate;
use super::{
    LineEnds, PowerShellParser, is_dash, is_double_quote, is_name_char, is_single_quote, quoted, unknown, word,
};
use crate::shell::syntax::{Unreadable, Variable, Word, WordPart, WordParts};

/// Appends literal text, to the last part if that is literal.
fn push_quoted(parts: &mut WordParts, text: &str) {
    match parts.last_mut() {
        Some(WordPart::Quoted(last)) => last.push_str(text),
        _ => parts.push(WordPart::Quoted(text.into())),
    }
}

impl PowerShellParser<'_> {
    /// Parses `'…'`, in which `''` is a quote.
    pub(super) fn parse_single_quotes(&mut self) -> WordParts {
        self.advance();
        let mut text = String::new();
        loop {
            match self.next_char() {
                None => {
                    self.report_error(Unreadable::Unterminated("'"));
                    break;
                }
                Some(c) if is_single_quote(c) => {
                    if !self.peek().is_some_and(is_single_quote) {
                        break;
                    }
                    self.advance();
                    text.push('\'');
                }
                Some(c) => text.push(c),
            }
        }
        quoted(&text)
    }

    /// Parses `"…"`, in which variables and `$( … )` are expanded.
    pub(super) fn parse_double_quotes(&mut self) -> WordParts {
        self.advance();
        let mut parts = quoted("");
        loop {
            match self.peek() {
                None => {
                    self.report_error(Unreadable::Unterminated("\""));
                    return parts;
                }
                Some(c) if is_double_quote(c) => {
                    self.advance();
                    if !self.peek().is_some_and(is_double_quote) {
                        return parts;
                    }
                    self.advance();
                    push_quoted(&mut parts, "\"");
                }
                Some(_) => self.parse_expandable(&mut parts),
            }
        }
    }

    /// Parses one character or expansion in double quotes.
    fn parse_expandable(&mut self, parts: &mut WordParts) {
        match self.peek() {
            Some('`') => {
                self.advance();
                self.parse_escape(parts);
            }
            Some('$') if self.peek_second() == Some('(') => {
                self.at += 2;
                parts.extend(self.parse_substitution().into_iter().next().map_or_else(unknown, |word| word.parts));
            }
            Some('$') if self.peek_second().is_some_and(|c| is_name_char(c) || c == '{') => {
                parts.extend(self.parse_variable())
            }
            Some(c) => {
                self.advance();
                push_quoted(parts, c.encode_utf8(&mut [0; 4]));
            }
            None => {}
        }
    }

    /// Parses the character after a backtick.
    fn parse_escape(&mut self, parts: &mut WordParts) {
        let text = match self.next_char() {
            Some('n') => "\n".to_owned(),
            Some('t') => "\t".to_owned(),
            Some('r' | 'a' | 'b' | 'f' | 'v' | '0' | 'e') => String::new(),
            Some('u') if self.peek() == Some('{') => {
                self.advance();
                let code = self.take_while(|c| c != '}');
                self.advance();
                u32::from_str_radix(&code, 16).ok().and_then(char::from_u32).map(String::from).unwrap_or_default()
            }
            Some(c) => c.to_string(),
            None => String::new(),
        };
        push_quoted(parts, &text);
    }

    pub(super) fn parse_here_string(&mut self, quote: char) -> WordParts {
        self.advance();
        self.take_while(|c| c == ' ' || c == '\t' || c == '\r');
        self.consume("\n");
        let end = if is_single_quote(quote) { ["\n'@", "'@"] } else { ["\n\"@", "\"@"] };
        let mut parts = quoted("");
        loop {
            let [behind_line, at_start] = end;
            let is_start = self.text.get(..self.at).is_some_and(|before| before.ends_with('\n'));
            if self.consume(behind_line) || is_start && self.consume(at_start) {
                return parts;
            }
            if self.peek().is_none() {
                self.report_error(Unreadable::Unterminated("@"));
                return parts;
            }
            if is_single_quote(quote) {
                self.next_char().into_iter().for_each(|c| push_quoted(&mut parts, c.encode_utf8(&mut [0; 4])));
            } else {
                self.parse_expandable(&mut parts);
            }
        }
    }

    /// Parses `$name`, `${name}` or `$env:NAME`.
    pub(super) fn parse_variable(&mut self) -> WordParts {
        self.advance();
        let name = match self.peek() {
            Some('{') => {
                self.advance();
                let name = self.take_while(|c| c != '}');
                self.advance();
                name
            }
            Some('$' | '?' | '^') => {
                self.advance();
                String::new()
            }
            _ => {
                let mut name = self.take_while(is_name_char);
                if self.peek() == Some(':') && self.peek_second().is_some_and(is_name_char) {
                    self.advance();
                    name.push(':');
                    name.push_str(&self.take_while(is_name_char));
                }
                name
            }
        };
        self.variable_parts(&name.to_lowercase())
    }

    /// Returns the value of a variable, by its name in lower case.
    pub(super) fn variable_parts(&self, name: &str) -> WordParts {
        let set = name.strip_prefix("env:").filter(|name| self.out.exported.contains(*name));
        match set {
            Some(name) => WordParts::from_iter([Variable::plain(name.to_uppercase(), true)]),
            None => default_variable_parts(name),
        }
    }

    /// Parses one argument of a command.
    pub(super) fn parse_argument(&mut self) -> Argument {
        let start = self.at;
        if self.peek().is_some_and(is_dash) {
            return self.parse_parameter();
        }
        let mut all: Vec<Word> = Vec::new();
        loop {
            all.extend(self.parse_element());
            // `a, b`: another element follows.
            let comma = self.rest().trim_start_matches([' ', '\t']).starts_with(',');
            if !comma || self.at == start {
                return Argument::Words(all);
            }
            self.skip_blanks(LineEnds::Stop);
            self.consume(",");
            self.skip_blanks(LineEnds::Cross);
        }
    }

    /// Parses `-Name`, `-Name:value`, or any other word that begins with a dash.
    fn parse_parameter(&mut self) -> Argument {
        let dashes = self.take_while(is_dash).chars().count();
        let name = self.take_while(|c| is_name_char(c) || c == '-' || c == '?');
        let is_name_only = dashes == 1 && name.starts_with(|c: char| c.is_ascii_alphabetic());
        if is_name_only && self.peek() == Some(':') {
            self.advance();
            self.skip_blanks(LineEnds::Stop);
            let value = self.parse_nested(Self::parse_argument).into_words();
            return Argument::Parameter { name, value: Some(value) };
        }
        let ended = self.is_at_word_end();
        if is_name_only && ended {
            return Argument::Parameter { name, value: None };
        }
        let mut parts = quoted(&format!("{}{name}", "-".repeat(dashes)));
        if !ended {
            self.parse_bare_word(&mut parts, Commas::Keep);
        }
        Argument::Words(vec![word(parts)])
    }

    /// Parses one element of an argument. A list has several words.
    fn parse_element(&mut self) -> Vec<Word> {
        let opens = self.peek().is_some_and(|c| "$(@[".contains(c));
        let is_type = self.peek() == Some('[');
        if opens && !is_type {
            let value = self.parse_primary();
            let mut parts = WordParts::new();
            if !self.is_at_word_end() {
                self.parse_bare_word(&mut parts, Commas::Split);
            }
            return if parts.is_empty() { value.words } else { concatenate(value.words, vec![word(parts)]) };
        }
        let mut parts = WordParts::new();
        self.parse_bare_word(&mut parts, Commas::Split);
        vec![word(parts)]
    }

    fn is_at_word_end(&self) -> bool {
        let continued = self.peek() == Some('`') && matches!(self.peek_second(), Some('\n' | '\r'));
        continued || self.peek().is_none_or(|c| c.is_whitespace() || c == ',' || ENDS_WORD.contains(c))
    }

    /// Parses the characters, quotes and variables of a word.
    fn parse_bare_word(&mut self, parts: &mut WordParts, commas: Commas) {
        while let Some(c) = self.peek() {
            match c {
                ',' if commas == Commas::Split => break,
                c if c.is_whitespace() || ENDS_WORD.contains(c) => break,
                // A continued line ends the word.
                '`' if matches!(self.peek_second(), Some('\n' | '\r')) => break,
                c if is_single_quote(c) => parts.extend(self.parse_single_quotes()),
                c if is_double_quote(c) => parts.extend(self.parse_double_quotes()),
                '$' | '`' => {
                    let before = self.at;
                    self.parse_expandable(parts);
                    if self.at == before {
                        self.advance();
                    }
                }
                '*' | '?' => {
                    self.advance();
                    parts.push(WordPart::Plain(if c == '*' { "*".into() } else { "?".into() }));
                }
                c => {
                    self.advance();
                    push_quoted(parts, c.encode_utf8(&mut [0; 4]));
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

/// Returns the value of a variable that the text does not set.
fn default_variable_parts(name: &str) -> WordParts {
    let variable = |name: &str| WordParts::from_iter([Variable::plain(name.to_owned(), true)]);
    let below_home = |path: &str| {
        let mut parts = variable("HOME");
        parts.push(WordPart::Quoted(path.into()));
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
