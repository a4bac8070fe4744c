//! Values of expressions: strings, the home directory, and what is composed of them.

use super::listing::Loops;
use super::token::{Piece, Token, tokens};
use super::{Language, Word};
use crate::programs::code::{self, lists};
use crate::verdict::limits::{Meter, SHELL_STEPS};
use std::collections::{BTreeMap, BTreeSet};

/// The expansion that stands in shell text for a value that is not known.
const UNKNOWN: &str = "$1";

/// The length of the longest value that is followed through names. A longer one counts as unknown.
const MAX_VALUE_BYTES: usize = 16_384;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Home,
    Unknown,
}

/// The value of an expression, as far as it can be known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Value(Vec<Part>);

impl Value {
    pub fn unknown() -> Value {
        Value(vec![Part::Unknown])
    }

    pub fn of_text(text: &str) -> Value {
        Value(vec![Part::Text(text.to_owned())])
    }

    /// Whether nothing of it is known.
    pub fn is_unknown(&self) -> bool {
        !self.0.iter().any(|part| matches!(part, Part::Text(text) if !text.is_empty()) || *part == Part::Home)
    }

    /// The text, if all of it is known.
    pub fn text(&self) -> Option<String> {
        self.0.iter().map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None }).collect()
    }

    /// The path of a file below it.
    pub fn joined(mut self, below: &str) -> Value {
        self.push(Part::Text(below.to_owned()), &mut Joint::Path);
        self
    }

    fn length(&self) -> usize {
        self.0.iter().map(|part| if let Part::Text(text) = part { text.len() } else { 1 }).sum()
    }

    /// Whether it begins with the home directory.
    pub fn is_at_home(&self) -> bool {
        self.0.first() == Some(&Part::Home)
    }

    /// Whether it is more than one string.
    pub fn is_composed(&self) -> bool {
        self.0.len() > 1
    }

    /// The value as a path or a word.
    pub fn word(&self) -> Word {
        let mut word = Word { text: String::new(), known: None };
        for (index, part) in self.0.iter().enumerate() {
            match part {
                Part::Text(text) if index == 1 && word.text == "~/" => word.text.push_str(text.trim_start_matches('/')),
                Part::Text(text) => word.text.push_str(text),
                Part::Home if index == 0 => word.text.push_str("~/"),
                Part::Home | Part::Unknown => {
                    word.known = word.known.or(Some(word.text.len()));
                    word.text.push_str("$()");
                }
            }
        }
        word
    }

    /// The value as shell text.
    pub fn shell_text(&self) -> String {
        let mut shell = String::new();
        let (mut in_single, mut in_double) = (false, false);
        for part in &self.0 {
            let expansion = match part {
                Part::Text(text) => {
                    for c in text.chars() {
                        match c {
                            '\'' if !in_double => in_single = !in_single,
                            '"' if !in_single => in_double = !in_double,
                            _ => {}
                        }
                    }
                    shell.push_str(text);
                    continue;
                }
                Part::Home => "${HOME}",
                Part::Unknown => UNKNOWN,
            };
            if in_single {
                shell.extend(["'\"", expansion, "\"'"]);
            } else {
                shell.push_str(expansion);
            }
        }
        shell
    }

    fn push(&mut self, part: Part, joint: &mut Joint) {
        if *joint == Joint::Path && !self.0.is_empty() {
            let ends = matches!(self.0.last(), Some(Part::Text(text)) if text.ends_with('/'));
            let starts = matches!(&part, Part::Text(text) if text.starts_with('/'));
            if !ends && !starts {
                self.append("/");
            }
        }
        *joint = Joint::Text;
        match part {
            Part::Text(text) => self.append(&text),
            part @ (Part::Home | Part::Unknown) => self.0.push(part),
        }
    }

    fn append(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.0.push(Part::Text(text.to_owned())),
        }
    }

    fn extend(&mut self, value: Value, joint: &mut Joint) {
        value.0.into_iter().for_each(|part| self.push(part, joint));
    }

    /// The value with a part in place of each mark of a format: `%s`, `{}`.
    fn formatted(self, begin: char, end: &[char]) -> Value {
        let mut value = Value::default();
        for part in self.0 {
            let Part::Text(text) = part else {
                value.0.push(part);
                continue;
            };
            let mut rest = text.as_str();
            while let Some((before, behind)) = rest.split_once(begin) {
                value.append(before);
                value.0.push(Part::Unknown);
                rest = behind.find(end).and_then(|at| behind.get(at + 1..)).unwrap_or_default();
            }
            value.append(rest);
        }
        value
    }
}

/// How the next part is joined to those before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    Text,
    Path,
}

/// The tokens of a piece of code with what is known about them.
pub(super) struct Code<'a> {
    pub language: Language,
    pub tokens: &'a [Token],
    /// The index of the closing bracket for each opening one, or the number of tokens if it is not closed.
    pub closing: Vec<usize>,
    /// The index of the opening bracket for each closing one.
    opening: BTreeMap<usize, usize>,
    /// The values that names may have.
    values: BTreeMap<&'a str, Vec<Value>>,
    /// Names of functions that the code defines: `f = fn…`.
    functions: BTreeSet<&'a str>,
    /// What loops over files need to know.
    pub(super) loops: Loops<'a>,
    /// It is the code of a value in a string.
    is_nested: bool,
    pub meter: &'a Meter,
}

impl<'a> Code<'a> {
    pub fn new(language: Language, tokens: &'a [Token], meter: &'a Meter) -> Code<'a> {
        let mut code = Code { loops: Loops::of(tokens), ..Code::without_values(language, tokens, meter) };
        for at in 0..tokens.len() {
            if let Some((name, values)) = code.assignment(at) {
                let affordable = |value: Value| if value.length() > MAX_VALUE_BYTES { Value::unknown() } else { value };
                code.values.entry(name).or_default().extend(values.into_iter().map(affordable));
            }
        }
        code
    }

    fn without_values(language: Language, tokens: &'a [Token], meter: &'a Meter) -> Code<'a> {
        let closing = closing(tokens);
        let opening = closing.iter().enumerate().filter(|(_, close)| **close < tokens.len());
        let opening = opening.map(|(open, close)| (*close, open)).collect();
        let defined = tokens.windows(3).filter_map(|near| match near {
            [Token::Name(name), Token::Sign('='), Token::Name(word)]
                if matches!(word.as_str(), "fn" | "function" | "static" | "sub" | "lambda") =>
            {
                Some(name.as_str())
            }
            _ => None,
        });
        let functions = defined.collect();
        Code {
            language,
            tokens,
            closing,
            opening,
            values: BTreeMap::new(),
            functions,
            loops: Loops::default(),
            is_nested: false,
            meter,
        }
    }

    /// Whether the code defines a function of this name.
    pub fn defines(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    /// The beginning of the bracket that closes here.
    pub fn open(&self, at: usize) -> Option<usize> {
        self.opening.get(&at).copied()
    }

    pub fn token(&self, at: usize) -> Option<&'a Token> {
        self.tokens.get(at)
    }

    pub fn is_sign(&self, at: usize, sign: char) -> bool {
        self.tokens.get(at) == Some(&Token::Sign(sign))
    }

    pub fn name(&self, at: usize) -> Option<&'a str> {
        match self.tokens.get(at) {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// The end of the bracket that opens here.
    pub fn close(&self, at: usize) -> usize {
        self.closing.get(at).copied().unwrap_or(self.tokens.len())
    }

    /// The values that a name may have.
    pub fn values_of(&self, name: &str) -> &[Value] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// `name = value`, `for name in [values]`
    fn assignment(&self, at: usize) -> Option<(&'a str, Vec<Value>)> {
        let name = self.name(at)?;
        if let Some((name, value)) = self.bound_files(at) {
            return Some((name, vec![value]));
        }
        if self.name(at + 1).is_some_and(|word| word == "in" || word == "of") {
            let start = (at + 2..).find(|at| !matches!(self.token(*at), Some(Token::Name(_) | Token::Sign('('))))?;
            let literals = match self.token(at + 2)? {
                Token::Sign('[' | '(') => self.literals(at + 3, self.close(at + 2)),
                // `for x in glob("*.pyc")`
                Token::Name(_) => self.literals(start, start + 1),
                Token::Text(_) | Token::Mixed(_) | Token::Command(_) | Token::Sign(_) => Vec::new(),
            };
            return Some((name, literals)).filter(|(_, literals)| !literals.is_empty());
        }
        // `x = v`, `x := v`, `x <- v`
        let start = match (self.token(at + 1)?, self.token(at + 2)) {
            (Token::Sign('='), Some(Token::Sign('=' | '>' | '~'))) => return None,
            (Token::Sign('='), _) => at + 2,
            (Token::Sign(':'), Some(Token::Sign('='))) | (Token::Sign('<'), Some(Token::Sign('-'))) => at + 3,
            _ => return None,
        };
        let end = self.statement_end(start);
        let value = self.evaluate(start, end);
        Some((name, vec![value]))
    }

    /// The end of the expression that begins at `start`.
    pub fn statement_end(&self, start: usize) -> usize {
        let mut at = start;
        while let Some(token) = self.token(at) {
            self.meter.charge(1);
            at = match token {
                Token::Sign('(' | '[' | '{') => self.close(at) + 1,
                Token::Sign(';' | '\n' | ',' | ')' | ']' | '}' | '=') => return at,
                Token::Name(_) | Token::Text(_) | Token::Mixed(_) | Token::Command(_) | Token::Sign(_) => at + 1,
            };
        }
        self.tokens.len()
    }

    fn literals(&self, start: usize, end: usize) -> Vec<Value> {
        let texts = self.tokens.get(start..end).unwrap_or_default().iter();
        texts
            .filter_map(|token| if let Token::Text(text) = token { Some(Value::of_text(text)) } else { None })
            .collect()
    }

    /// The value of the expression between two tokens.
    pub fn evaluate(&self, start: usize, end: usize) -> Value {
        let mut value = Value::default();
        let mut joint = Joint::Text;
        let mut at = start;
        while at < end && !self.meter.exceeds(&SHELL_STEPS) {
            self.meter.charge(1);
            let Some(token) = self.token(at) else { break };
            at += 1;
            match token {
                Token::Text(text) if self.language == Language::Lisp && is_home_key(text) => {
                    value.push(Part::Home, &mut joint)
                }
                Token::Text(text) => value.push(Part::Text(text.clone()), &mut joint),
                // A string in a value of another string is not evaluated.
                Token::Mixed(_) if self.is_nested => value.push(Part::Unknown, &mut joint),
                Token::Mixed(pieces) => value.extend(self.interpolated(pieces), &mut joint),
                Token::Command(_) => value.push(Part::Unknown, &mut joint),
                Token::Name(name) => {
                    at = self.operand(name, at, &mut value, &mut joint);
                }
                Token::Sign('/' | ',') => joint = Joint::Path,
                // A method of a value.
                Token::Sign('.') if matches!(self.token(at), Some(Token::Name(_))) && !value.0.is_empty() => {
                    let Some(method) = self.name(at) else { continue };
                    let arguments = if self.is_sign(at + 1, '(') { Some((at + 2, self.close(at + 1))) } else { None };
                    let method = last_component(method);
                    if is_home(method) {
                        value = Value(vec![Part::Home]);
                    } else if lists(&code::WORDS_TEMPORARY_ROOTS, method) {
                        value = Value::of_text("/tmp");
                    } else if method == "format" {
                        value = value.formatted('{', &['}']);
                    } else if !lists(&code::WORDS_PATHS, method) {
                        value = Value::unknown();
                    } else if arguments.is_some_and(|(start, end)| start < end) {
                        // What it is given is read next, like a group. `require("path").join` is a function of a module.
                        if value.is_unknown() {
                            value = Value::default();
                        }
                        joint = Joint::Path;
                        at += 2;
                        continue;
                    }
                    at = arguments.map_or(at + 1, |(_, end)| end + 1);
                }
                Token::Sign('%') if !value.0.is_empty() => {
                    value = value.formatted('%', &['s', 'd', 'r', 'i', 'f']);
                    break;
                }
                Token::Sign(
                    '+' | '.' | '~' | '^' | '*' | '<' | '>' | '(' | ')' | '[' | ']' | '\n' | '\\' | '@' | '\'',
                ) => {}
                Token::Sign('{') => {
                    value.push(Part::Unknown, &mut joint);
                    at = self.close(at - 1) + 1;
                }
                Token::Sign(_) => value.push(Part::Unknown, &mut joint),
            }
        }
        value
    }

    /// Adds the value of a name, or of the call that it begins; returns where the expression goes on.
    fn operand(&self, name: &str, at: usize, value: &mut Value, joint: &mut Joint) -> usize {
        let bracket = matches!(self.token(at), Some(Token::Sign('(' | '[' | '{')));
        let close = if bracket { self.close(at) } else { at };
        let behind = if bracket { close + 1 } else { at };
        let last = last_component(name);
        let key = match self.tokens.get(at + 1..close.min(at + 4)).unwrap_or_default() {
            [Token::Text(key), ..] if bracket => Some(key),
            [Token::Name(key)] if bracket => Some(key),
            _ => None,
        };
        if is_home(name) && !matches!(self.token(at), Some(Token::Sign('['))) {
            value.push(Part::Home, joint);
            return if self.is_sign(at, '(') { behind } else { at };
        }
        if bracket && lists(&code::WORDS_TEMPORARY, last) {
            value.push(Part::Text("/tmp/tmp.code".to_owned()), joint);
            return behind;
        }
        if lists(&code::WORDS_TEMPORARY_ROOTS, last) {
            value.push(Part::Text("/tmp".to_owned()), joint);
            return behind;
        }
        // `sys.executable`, `process.execPath`
        if lists(&code::WORDS_INTERPRETERS, name) {
            value.push(Part::Text(self.language.program().to_owned()), joint);
            return at;
        }
        // `glob "*.x"`, `Dir["*.x"]`: the pattern stands for the files.
        if matches!(name, "glob" | "glob.glob" | "Dir.glob" | "Dir") && self.values_of(name).is_empty() {
            match self.token(at) {
                Some(Token::Sign('(' | '[')) => return at + 1,
                Some(Token::Text(_)) => return at,
                _ => {}
            }
        }
        // `environ["HOME"]`, `getenv("HOME")`, `$ENV{HOME}`, `expanduser("~")`
        if key.is_some_and(|key| is_home_key(key)) && (!lists(&code::WORDS_PATHS, last) || self.is_only(at, close)) {
            value.push(Part::Home, joint);
            return behind;
        }
        if let [only] = self.values_of(name) {
            self.meter.charge(only.length() / 16);
            value.extend(only.clone(), joint);
            return at;
        }
        // The name of a file that was opened.
        if let Some((object, "name" | "path")) = name.rsplit_once('.')
            && let [only] = self.values_of(object)
            && !only.is_unknown()
        {
            value.extend(only.clone(), joint);
            return at;
        }
        if lists(&code::WORDS_PATHS, last) && self.is_sign(at, '(') {
            // `p.joinpath("a")`
            if let Some([base]) = name.rsplit_once('.').map(|(object, _)| self.values_of(object))
                && !base.is_unknown()
            {
                value.extend(base.clone(), joint);
                *joint = Joint::Path;
            }
            // What it is given is read next, like a group.
            return at + 1;
        }
        // `new File(x)` and `await x`.
        if !bracket
            && matches!(
                name,
                "new" | "await" | "return" | "try" | "const" | "let" | "var" | "my" | "local" | "str" | "not"
            )
        {
            return at;
        }
        value.push(Part::Unknown, joint);
        behind
    }

    /// Whether a bracket holds a single token.
    fn is_only(&self, open: usize, close: usize) -> bool {
        close == open + 2
    }

    fn interpolated(&self, pieces: &[Piece]) -> Value {
        let mut value = Value::default();
        let mut joint = Joint::Text;
        for piece in pieces {
            match piece {
                Piece::Text(text) => value.push(Part::Text(text.clone()), &mut joint),
                Piece::Code(code) => {
                    let inner = tokens(self.language, code);
                    let inner = Code { is_nested: true, ..Code::without_values(self.language, &inner, self.meter) };
                    let known = self.values_of(code.trim_matches(['$', '{', '}', ' ']));
                    let known = if known.is_empty() { self.values_of(code) } else { known };
                    match known {
                        [only] => value.extend(only.clone(), &mut joint),
                        _ => value.extend(inner.evaluate(0, inner.tokens.len()), &mut joint),
                    }
                }
            }
        }
        value
    }

    /// The value of a token that is a string.
    pub fn string(&self, token: &Token) -> Option<Value> {
        match token {
            Token::Text(text) => Some(Value::of_text(text)),
            Token::Mixed(pieces) | Token::Command(pieces) => Some(self.interpolated(pieces)),
            Token::Name(_) | Token::Sign(_) => None,
        }
    }

    /// The end of the path expression that begins at `start`: operands with `/`, `+` and similar signs between them.
    pub fn expression_end(&self, start: usize, limit: usize) -> usize {
        let mut at = start;
        while at < limit {
            self.meter.charge(1);
            at = match self.token(at) {
                Some(Token::Text(_) | Token::Mixed(_)) => at + 1,
                Some(Token::Name(_)) => at + 1,
                _ => return at,
            };
            while matches!(self.token(at), Some(Token::Sign('(' | '[' | '{'))) && at < limit {
                at = self.close(at) + 1;
            }
            // A method that does not return a path uses it.
            if self.is_sign(at, '.')
                && self.name(at + 1).is_some_and(|method| !lists(&code::WORDS_PATHS, last_component(method)))
            {
                return at;
            }
            let operators = (at..limit)
                .take_while(|at| {
                    matches!(self.token(*at), Some(Token::Sign('/' | '+' | '.' | '~' | '^' | '*' | '<' | '>')))
                })
                .count();
            let adjoins = self.language == Language::Awk && matches!(self.token(at), Some(Token::Text(_)));
            if operators == 0 && !adjoins {
                return at;
            }
            at += operators;
        }
        at.min(limit)
    }
}

/// The last component of a dotted name.
pub(super) fn last_component(name: &str) -> &str {
    name.rsplit(['.', ':', '/']).next().unwrap_or(name)
}

/// Whether a name stands for the home directory.
pub(super) fn is_home(name: &str) -> bool {
    // Most names are too short or too long.
    if name.len() < 4 || !name.to_ascii_lowercase().contains("home") && !name.contains("PROFILE") {
        return false;
    }
    let plain: String = last_component(name).chars().filter(char::is_ascii_alphanumeric).collect();
    lists(&code::WORDS_HOME, &plain.to_ascii_lowercase())
}

fn is_home_key(key: &str) -> bool {
    lists(&code::WORDS_HOME_KEYS, key)
}

/// Returns the index of the closing bracket for each opening one, or the number of tokens if it is not closed.
fn closing(tokens: &[Token]) -> Vec<usize> {
    let mut closing = vec![tokens.len(); tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('(' | '{' | '[') => open.push(at),
            Token::Sign(')' | '}' | ']') => {
                if let Some(place) = open.pop().and_then(|start| closing.get_mut(start)) {
                    *place = at;
                }
            }
            Token::Sign(_) | Token::Name(_) | Token::Text(_) | Token::Mixed(_) | Token::Command(_) => {}
        }
    }
    closing
}
