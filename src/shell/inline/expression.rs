//! The tokens of a piece of code, and the values of expressions in it.

use super::Language;
use super::decode::is_reversal;
use super::folds::{Folds, folds};
use super::known_values::KnownValues;
use super::lexis::Reading;
use super::listing::Loops;
use super::mutation::{Variable, is_about_home, is_loop};
use super::token::{Piece, Token, closing, tokens};
use super::value::{Joint, Part, Value};
use crate::programs::code::{self, lists};
use crate::verdict::limits::{Meter, SHELL_STEPS};
use std::collections::{BTreeMap, BTreeSet};

/// Steps for looking up a name.
pub(super) const NAME_STEPS: usize = 16;

/// The tokens of a piece of code with what is known about them.
pub(super) struct Code<'a> {
    pub language: Language,
    pub tokens: &'a [Token],
    /// The index of the closing bracket for each opening one, or the number of tokens if it is not closed.
    pub closing: Vec<usize>,
    /// The index of the opening bracket for each closing one.
    opening: BTreeMap<usize, usize>,
    /// The values that names may have.
    values: BTreeMap<&'a str, KnownValues>,
    /// Where the expressions begin that names are assigned.
    assigned: BTreeMap<&'a str, Vec<usize>>,
    /// Names of functions that the code defines: `f = fn…`.
    functions: BTreeSet<&'a str>,
    /// Names that loops bind to numbers.
    counters: BTreeSet<&'a str>,
    /// What loops over files need to know.
    pub(super) loops: Loops<'a>,
    /// It is the code of a value in a string.
    is_nested: bool,
    /// How many tokens before each one decode or join literals.
    folds: Vec<Folds>,
    pub meter: &'a Meter,
}

impl<'a> Code<'a> {
    pub fn new(language: Language, tokens: &'a [Token], meter: &'a Meter) -> Code<'a> {
        let mut code = Code { loops: Loops::of(tokens), ..Code::without_values(language, tokens, meter) };
        let has_loops = tokens.iter().any(|token| matches!(token, Token::Name(word) if is_loop(word)));
        // Variables that are assigned a path.
        let mut paths: BTreeSet<&str> = BTreeSet::new();
        for at in 0..tokens.len() {
            // The owner of the meter reports the limit.
            if meter.exceeds(&SHELL_STEPS) {
                break;
            }
            if let Some((name, change)) = code.mutation(at) {
                let known = code.values_of(name);
                let change = if code.is_list(name) { Code::of_list(known, change) } else { change };
                code.meter.charge(1 + change.length());
                let variable = Variable { has_loops, is_path: paths.contains(name) };
                code.values.entry(name).or_default().change(change, variable);
            } else if let Some((name, values)) = code.assignment(at) {
                if values.iter().any(Value::is_path_text) {
                    paths.insert(name);
                }
                code.assigned.entry(name).or_default().push(at + 2);
                let known = code.values.entry(name).or_default();
                known.is_list |= matches!(tokens.get(at + 2), Some(Token::Sign('[' | '(')));
                known.assign(values);
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
        let counters = tokens.windows(3).filter_map(|near| match near {
            [Token::Name(name), Token::Name(word), Token::Name(range)]
                if word == "in" && matches!(range.as_str(), "range" | "count") =>
            {
                Some(name.as_str())
            }
            _ => None,
        });
        let counters = counters.collect();
        Code {
            language,
            tokens,
            closing,
            opening,
            values: BTreeMap::new(),
            assigned: BTreeMap::new(),
            functions,
            counters,
            loops: Loops::default(),
            is_nested: false,
            folds: folds(tokens),
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
        self.values.get(name).map_or(&[], KnownValues::as_slice)
    }

    /// The same with what is known about all of them.
    pub fn known(&self, name: &str) -> Option<&KnownValues> {
        self.values.get(name)
    }

    /// Where the expressions begin that a name is assigned.
    pub fn assigned(&self, name: &str) -> &[usize] {
        self.assigned.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether a loop binds a name to numbers: `for n in range(9)`.
    pub fn counts(&self, name: &str) -> bool {
        self.counters.contains(name)
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
        while let Some(token) = self.token(at).filter(|_| !self.meter.exceeds(&SHELL_STEPS)) {
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

    /// Whether there is a function between two tokens that decodes or joins literals.
    pub fn has_fold(&self, start: usize, end: usize) -> bool {
        self.folds_before(start).all < self.folds_before(end).all
    }

    fn folds_before(&self, at: usize) -> Folds {
        self.folds.get(at.min(self.tokens.len())).copied().unwrap_or_default()
    }

    /// Whether there is a literal between two tokens that may be a path.
    pub fn has_path_text(&self, start: usize, end: usize) -> bool {
        self.folds_before(start).paths < self.folds_before(end).paths
    }

    /// Whether a literal or a name between two tokens is about a home directory, and no function there finds files.
    pub(super) fn says_home(&self, start: usize, end: usize) -> bool {
        let (before, behind) = (self.folds_before(start), self.folds_before(end));
        before.homes < behind.homes && before.finding == behind.finding
    }

    /// Whether a function between two tokens returns text that its arguments do not show.
    fn has_hidden_text(&self, start: usize, end: usize) -> bool {
        self.folds_before(start).hiding < self.folds_before(end).hiding
    }

    /// The value of the expression between two tokens.
    pub fn evaluate(&self, start: usize, end: usize) -> Value {
        if self.meter.exceeds(&SHELL_STEPS) {
            return Value::unknown();
        }
        if self.has_fold(start, end) && !self.is_nested {
            if let Some(value) = self.fold(start, end) {
                return value;
            }
            let value = self.operands(start, end);
            let hides = value.is_unknown() && self.has_hidden_text(start, end);
            return if hides { Value(vec![Part::Decoded]) } else { value };
        }
        self.operands(start, end)
    }

    /// The value of operands with signs between them.
    fn operands(&self, start: usize, end: usize) -> Value {
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
                Token::Text(text) => {
                    value.push(Part::Text(text.clone()), &mut joint);
                    // `"x/etc/passwd"[1:]`
                    if self.is_sign(at, '[') && text.contains('/') && !self.is_nested {
                        value = Value(vec![Part::Decoded]);
                        at = self.close(at) + 1;
                    }
                }
                // A string in a value of another string is not evaluated.
                Token::Mixed(_) if self.is_nested => value.push(Part::Unknown, &mut joint),
                Token::Mixed(pieces) => value.extend(self.interpolated(pieces), &mut joint),
                Token::Command(_) => value.push(Part::Unknown, &mut joint),
                Token::Name(name) => {
                    at = self.operand(name, at, &mut value, &mut joint);
                }
                Token::Sign('/' | ',') => joint = Joint::Path,
                // Lua: `("x"):gsub("a", "b")`
                Token::Sign(':')
                    if value.is_path_text()
                        && self.name(at).is_some_and(|name| lists(&code::DECODE_TRANSFORMS, name)) =>
                {
                    value = Value(vec![Part::Decoded]);
                    at = if self.is_sign(at + 1, '(') { self.close(at + 1) + 1 } else { at + 1 };
                }
                // Perl: `"x" =~ s/a/b/r`
                Token::Sign('=') if self.is_sign(at, '~') && value.is_path_text() => {
                    value = Value(vec![Part::Decoded]);
                    at = end;
                }
                // `["x", "/home/u"][::-1]`
                Token::Sign(']')
                    if is_reversal(self.tokens.get(at..at + 6).unwrap_or_default()) && !value.is_unknown() =>
                {
                    value = Value(vec![Part::Decoded]);
                    at += 6;
                }
                // A method of a value.
                Token::Sign('.') if matches!(self.token(at), Some(Token::Name(_))) && !value.0.is_empty() => {
                    let Some(method) = self.name(at) else { continue };
                    let arguments = if self.is_sign(at + 1, '(') { Some((at + 2, self.close(at + 1))) } else { None };
                    let method = last_component(method);
                    let computes = |(start, end): (usize, usize)| self.computes_home(method, start - 1, end);
                    if is_home(method) {
                        value = Value(vec![Part::Home]);
                    } else if value.is_unknown() && arguments.is_some_and(computes) {
                        value = Value(vec![Part::Decoded]);
                    } else if lists(&code::WORDS_TEMPORARY_ROOTS, method) {
                        value = Value::of_text("/tmp");
                    } else if method == "format" {
                        value = value.formatted('{', &['}']);
                    } else if lists(&code::DECODE_TRANSFORMS, method) && value.is_path_text() {
                        value = Value(vec![Part::Decoded]);
                    } else if !lists(&code::WORDS_PATHS, method) {
                        let hides = value.is_decoded() || value.text().is_some_and(|text| is_about_home(&text));
                        value = if hides { Value(vec![Part::Decoded]) } else { Value::unknown() };
                    } else if arguments.is_some_and(|(start, end)| start < end) {
                        // What it is given is read next, like a group. `require("path").join` is a function of a module.
                        if value.is_decoded() {
                            at = arguments.map_or(at + 1, |(_, end)| end + 1);
                            continue;
                        }
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
                // A list, as in `table.concat({"a", "b"}, "/")`.
                Token::Sign('{' | '}') if self.language == Language::Lua => {}
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
        self.meter.charge(NAME_STEPS);
        let bracket = matches!(self.token(at), Some(Token::Sign('(' | '[' | '{')));
        let close = if bracket { self.close(at) } else { at };
        let behind = if bracket { close + 1 } else { at };
        let last = last_component(name);
        if let Some((home, behind)) = self.home_at(at - 1) {
            value.extend(home, joint);
            return behind;
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
        if bracket && let Some(listed) = self.listing(at - 1) {
            value.extend(listed, joint);
            return behind;
        }
        if bracket
            && (self.transforms_path(name, at, close)
                || self.values_of(name).is_empty() && !self.is_nested && self.computes_home(name, at, close))
        {
            value.push(Part::Decoded, joint);
            return behind;
        }
        if let [only] = self.values_of(name) {
            self.meter.charge(only.length());
            value.extend(only.clone(), joint);
            return at;
        }
        if self.known(name).is_some_and(|known| known.has_decoded) {
            value.push(Part::Decoded, joint);
            return at;
        }
        // `f.slice(1)`
        if let Some((object, method)) = name.rsplit_once('.')
            && lists(&code::DECODE_TRANSFORMS, method)
            && self.known(object).is_some_and(|known| known.has_path_text || known.has_decoded)
        {
            value.push(Part::Decoded, joint);
            return behind;
        }
        // The name of a file that was opened.
        if let Some((object, "name" | "path")) = name.rsplit_once('.')
            && let [only] = self.values_of(object)
            && !only.is_unknown()
        {
            self.meter.charge(only.length());
            value.extend(only.clone(), joint);
            return at;
        }
        if lists(&code::WORDS_PATHS, last) && self.is_sign(at, '(') {
            // `p.joinpath("a")`
            if let Some([base]) = name.rsplit_once('.').map(|(object, _)| self.values_of(object))
                && !base.is_unknown()
            {
                self.meter.charge(base.length());
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

    /// The home directory, if the name at `at` stands for it or looks it up, and where the expression goes on.
    pub(super) fn home_at(&self, at: usize) -> Option<(Value, usize)> {
        let name = self.name(at)?;
        let open = at + 1;
        if is_home(name) && !self.is_sign(open, '[') {
            return Some((Value::home(), if self.is_sign(open, '(') { self.close(open) + 1 } else { open }));
        }
        // `environ["HOME"]`, `getenv("HOME")`, `$ENV{HOME}`, `expanduser("~")`
        if !matches!(self.token(open), Some(Token::Sign('(' | '[' | '{'))) {
            return None;
        }
        let close = self.close(open);
        let key = match self.tokens.get(open + 1..close.min(open + 4)).unwrap_or_default() {
            [Token::Text(key), ..] => key,
            [Token::Name(key)] => key,
            _ => return None,
        };
        let is_home =
            is_home_key(key) && (!lists(&code::WORDS_PATHS, last_component(name)) || self.is_only(open, close));
        is_home.then(|| (Value::home(), close + 1))
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
                    let inner = tokens(self.language, code, Reading::Usual);
                    let inner = Code { is_nested: true, ..Code::without_values(self.language, &inner, self.meter) };
                    let known = self.values_of(code.trim_matches(['$', '{', '}', ' ']));
                    let known = if known.is_empty() { self.values_of(code) } else { known };
                    match known {
                        [only] if !self.meter.exceeds(&SHELL_STEPS) => {
                            self.meter.charge(only.length());
                            value.extend(only.clone(), &mut joint);
                        }
                        _ if code.is_empty() => value.push(Part::Unknown, &mut joint),
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
