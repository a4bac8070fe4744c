//! Names that loops bind to files: `for d in Path(".").rglob("x")`, `for root, dirs, files in os.walk(".")`.
//!
//! The value of such a name is a pattern for the files that it may be.

use super::Language;
use super::expression::{Code, is_home, last_component};
use super::token::{Piece, Token};
use super::value::Value;
use crate::programs::code::{self, lists};
use std::collections::{BTreeMap, BTreeSet};

/// What loops over files need to know about a piece of code.
#[derive(Default)]
pub(super) struct Loops<'a> {
    /// Names that hold lists of file names: the second and third target of `os.walk`.
    lists: BTreeSet<&'a str>,
    /// Where each name is used, also as the object of a method.
    uses: BTreeMap<&'a str, Vec<usize>>,
    /// Names in strings: `f"{x}"`.
    in_strings: BTreeSet<&'a str>,
}

impl<'a> Loops<'a> {
    pub fn of(tokens: &'a [Token]) -> Loops<'a> {
        let mut loops = Loops::default();
        let lists_files = |token: &Token| matches!(token, Token::Name(name) if name == "in" || is_listing(name));
        if !tokens.iter().any(lists_files) {
            return loops;
        }
        for (at, token) in tokens.iter().enumerate() {
            match token {
                Token::Name(name) => {
                    let first = name.split('.').next().unwrap_or(name);
                    loops.uses.entry(first).or_default().push(at);
                    if let Some([_, dirs, files]) = walk_targets(tokens, at) {
                        loops.lists.extend([dirs, files]);
                    }
                }
                Token::Mixed(pieces) | Token::Command(pieces) => {
                    let codes = pieces.iter().filter_map(|piece| match piece {
                        Piece::Code(code) => Some(code.as_str()),
                        Piece::Text(_) => None,
                    });
                    let words = codes.flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && c != '_'));
                    loops.in_strings.extend(words);
                }
                Token::Text(_) | Token::Sign(_) => {}
            }
        }
        loops
    }
}

/// `for root, dirs, files in os.walk(`: the three names, if the first is at `at`.
fn walk_targets(tokens: &[Token], at: usize) -> Option<[&str; 3]> {
    let keyword = at.checked_sub(1).and_then(|at| tokens.get(at));
    match (keyword, tokens.get(at..at + 8)?) {
        (
            Some(Token::Name(keyword)),
            [
                Token::Name(root),
                Token::Sign(','),
                Token::Name(dirs),
                Token::Sign(','),
                Token::Name(files),
                Token::Name(word),
                Token::Name(walk),
                Token::Sign('('),
            ],
        ) if keyword == "for" && word == "in" && last_component(walk) == "walk" => Some([root, dirs, files]),
        _ => None,
    }
}

impl<'a> Code<'a> {
    /// The files that a name at `at` is bound to by a loop, or by `with … as` to a temporary directory.
    pub(super) fn bound_files(&self, at: usize) -> Option<(&'a str, Value)> {
        let name = self.name(at)?;
        if let Some([root, ..]) = walk_targets(self.tokens, at) {
            let start = at + 8;
            let base = self.evaluate(start, self.statement_end(start));
            return Some((root, base.joined("**")));
        }
        if matches!(self.name(at + 1), Some("in" | "of")) {
            let value = self.listed(at + 2)?;
            if !value.is_listed() {
                return Some((name, value));
            }
            // A name without a directory is the only pattern that a test of its end narrows.
            let ending = self.tested_ending(name, at).filter(|_| value == any_file());
            let narrowed = value.narrowed(ending.unwrap_or_default(), self.hidden_names(name));
            return Some((name, narrowed));
        }
        if let Some((name, value)) = self.passed_files(name, at) {
            return Some((name, if value.is_listed() { value.narrowed("", self.hidden_names(name)) } else { value }));
        }
        // `with TemporaryDirectory() as d`
        let close = at.checked_sub(2).filter(|close| self.is_sign(*close, ')') && self.name(at - 1) == Some("as"))?;
        let start = self.open(close)?.checked_sub(1)?;
        let makes = self.name(start).is_some_and(|call| lists(&code::WORDS_TEMPORARY, last_component(call)));
        makes.then(|| (name, self.evaluate(start, close + 1)))
    }

    /// The files that an expression lists, as one pattern.
    fn listed(&self, start: usize) -> Option<Value> {
        // `sorted(os.listdir("."))`
        let sorts = self.is_sign(start + 1, '(')
            && self.name(start).is_some_and(|name| matches!(name, "sorted" | "list" | "set" | "reversed"));
        let start = if sorts { start + 2 } else { start };
        let name = self.name(start)?;
        if !self.is_sign(start + 1, '(') {
            let is_list = |name: &str| self.loops.lists.contains(name);
            return if is_list(name) { Some(any_file()) } else { self.files_of(name) };
        }
        let close = self.close(start + 1);
        if let Some(value) = self.listing(start) {
            return Some(value);
        }
        // `Path(".").rglob("x")`, `require("fs").readdirSync(".")`
        if self.is_sign(close + 1, '.') && self.is_sign(close + 3, '(') {
            if let Some(value) = self.listing(close + 2) {
                return Some(value);
            }
            if lists(&code::WORDS_PATHS, last_component(name)) || is_home(name) {
                let pattern = self.evaluate(close + 4, self.close(close + 3));
                return found_below(self.evaluate(start, close + 1), self.name(close + 2)?, &pattern);
            }
        }
        let pattern = self.evaluate(start + 2, self.statement_end(start + 2).min(close));
        match name.rsplit_once('.').unwrap_or(("", name)) {
            ("" | "glob" | "Dir", "glob" | "iglob") => None,
            (object, method) => match self.values_of(object) {
                [base] => found_below(base.clone(), method, &pattern),
                _ => None,
            },
        }
    }

    /// The files in the directory that the call at `at` lists.
    pub(super) fn listing(&self, at: usize) -> Option<Value> {
        let name = self.name(at)?;
        (is_listing(name) && self.is_sign(at + 1, '(')).then(any_file)
    }

    /// The files that a name stands for, if it holds the names in a listing or the files of a pattern.
    fn files_of(&self, name: &str) -> Option<Value> {
        let [value] = self.values_of(name) else { return None };
        let is_pattern = value.is_listed() || value.word().text.contains('*');
        is_pattern.then(|| value.clone())
    }

    /// The files that a function or a block is given one by one: `readdirSync(".").forEach(f => …)`,
    /// `Dir.each_child(".") { |f| … }`, `foreach (scandir(".") as $f)`, `… for glob("*")`.
    fn passed_files(&self, name: &'a str, at: usize) -> Option<(&'a str, Value)> {
        let before = |back: usize| at.checked_sub(back);
        let is_before = |back: usize, sign: char| before(back).is_some_and(|at| self.is_sign(at, sign));
        if matches!(name, "for" | "foreach") && matches!(self.language, Language::Perl) {
            let open = (at + 1..at + 4).find(|at| self.is_sign(*at, '('))?;
            let variable = (at + 1..open).rev().find_map(|at| self.name(at)).filter(|name| name.starts_with('$'));
            let value = self.files_at(open - 1).or_else(|| self.files_at(open + 1))?;
            return Some((variable.unwrap_or("$_"), value));
        }
        if before(1).and_then(|at| self.name(at)) == Some("as") {
            return Some((name, self.files_before(before(2)?)?));
        }
        if is_before(1, '|') && (is_before(2, '{') || before(2).and_then(|at| self.name(at)) == Some("do")) {
            return Some((name, self.files_before(before(3)?)?));
        }
        let arrow = at + 1 + usize::from(self.is_sign(at + 1, ')'));
        if self.is_sign(arrow, '=') && self.is_sign(arrow + 1, '>') {
            let open = if is_before(1, '(') && is_before(2, '(') { before(2)? } else { before(1)? };
            return Some((name, self.files_before(open.checked_sub(1).filter(|_| self.is_sign(open, '('))?)?));
        }
        None
    }

    /// The files that the call at `at` lists or finds by a pattern.
    fn files_at(&self, at: usize) -> Option<Value> {
        let name = self.name(at)?;
        if let Some(value) = self.listing(at) {
            return Some(value);
        }
        let finds = matches!(last_component(name), "glob" | "iglob" | "globSync" | "Dir") && self.is_sign(at + 1, '(');
        let value = finds.then(|| self.evaluate(at + 2, self.statement_end(at + 2).min(self.close(at + 1))))?;
        value.word().text.contains('*').then_some(value)
    }

    /// The files of the expression that ends with the token at `last`, through the methods that are called on it.
    fn files_before(&self, last: usize) -> Option<Value> {
        let mut last = last;
        loop {
            self.meter.charge(1);
            let at = match self.open(last) {
                Some(open) => open.checked_sub(1)?,
                None => last,
            };
            let name = self.name(at)?;
            if let Some(value) = self.files_at(at) {
                return Some(value);
            }
            match at.checked_sub(1).filter(|dot| self.is_sign(*dot, '.')) {
                Some(dot) => last = dot.checked_sub(1)?,
                None => return self.files_of(name.split('.').next().unwrap_or(name)),
            }
        }
    }

    /// Patterns for the hidden files that a name of a listing may be, by what it is compared with.
    fn hidden_names(&self, name: &str) -> Vec<String> {
        let uses = self.loops.uses.get(name).map(Vec::as_slice).unwrap_or_default();
        let mut names = Vec::new();
        let mut is_tested = false;
        for &at in uses {
            self.meter.charge(8);
            let before = |back: usize| at.checked_sub(back).and_then(|at| self.token(at));
            let texts = |end: usize| {
                let near = self.tokens.get(at + 1..end.min(at + 12)).unwrap_or_default().iter();
                near.filter_map(|token| if let Token::Text(text) = token { Some(text.as_str()) } else { None })
            };
            let method = self.name(at).and_then(|name| name.split_once('.')).map_or("", |(_, method)| method);
            let function = before(2).filter(|_| before(1) == Some(&Token::Sign('(')));
            let function = if let Some(Token::Name(function)) = function { last_component(function) } else { "" };
            let close = self.close(at + 1);
            let last = last_component(method);
            if matches!(last, "startswith" | "startsWith" | "start_with") {
                let skips = (close..close + 5).any(|at| matches!(self.name(at), Some("continue" | "next" | "return")));
                let is_negated = skips
                    || matches!(before(1), Some(Token::Sign('!')))
                    || matches!(before(1), Some(Token::Name(word)) if word == "not" || word == "unless");
                is_tested = true;
                names.extend(texts(close).filter(|_| !is_negated).map(|text| format!("{text}*")));
            } else if matches!(last, "endswith" | "endsWith" | "end_with" | "suffix" | "extname")
                || matches!(function, "splitext" | "extname")
            {
                let end = if self.is_sign(at + 1, '(') { close } else { at + 8 };
                for text in texts(end) {
                    is_tested = true;
                    names.extend(
                        [format!(".*{text}"), text.to_owned()].into_iter().filter(|name| name.starts_with('.')),
                    );
                }
            } else if matches!(function, "fnmatch" | "minimatch") {
                is_tested = true;
                names.extend(texts(at + 4).map(str::to_owned));
            } else if let (Some(Token::Text(text)), Some(Token::Name(word))) = (before(2), before(1))
                && word == "in"
            {
                is_tested = true;
                names.push(format!(".*{text}*"));
            } else if let (Token::Sign('='), Token::Sign('='), Token::Text(text)) = (
                self.token(at + 1).unwrap_or(&Token::Sign(' ')),
                self.token(at + 2).unwrap_or(&Token::Sign(' ')),
                self.token(at + 3).unwrap_or(&Token::Sign(' ')),
            ) {
                is_tested = true;
                names.push(text.clone());
            }
        }
        if !is_tested {
            names.push(".*".to_owned());
        }
        names
    }

    /// The ending that the name of a loop is tested for before its only use: `if f.endswith(".x"): os.remove(f)`, and
    /// `[os.remove(f) for f in y if f.endswith(".x")]`.
    fn tested_ending(&self, name: &str, bound: usize) -> Option<&'a str> {
        let uses = self.loops.uses.get(name)?;
        let (&[first, second, third], false) = (uses.as_slice(), self.loops.in_strings.contains(name)) else {
            return None;
        };
        let tests = |at: &usize| {
            let call = self.name(*at).and_then(|call| call.split_once('.'));
            call.is_some_and(|(_, method)| matches!(method, "endswith" | "endsWith" | "end_with?"))
        };
        let test = [first, second, third].into_iter().find(tests)?;
        let close = self.close(test + 1);
        let Some(Token::Text(ending)) = self.token(test + 2).filter(|_| close == test + 3) else { return None };
        let plain = ending.starts_with('.') && ending.len() > 1 && !ending.contains(['*', '?', '[', '/']);
        let is_condition = self.name(test.checked_sub(1)?) == Some("if");
        let used = if bound == first {
            // The statement behind the condition is a call that is given the name.
            let call = (close + 2..).find(|at| !self.is_sign(*at, '\n'))?;
            let is_call = self.is_sign(close + 1, ':') && self.name(call).is_some() && self.is_sign(call + 1, '(');
            is_call && test == second && (call + 1..self.close(call + 1)).contains(&third)
        } else {
            bound == second && test == third && matches!(self.token(close + 1), Some(Token::Sign(']' | ')')))
        };
        (plain && is_condition && used).then_some(ending.as_str())
    }
}

/// Whether a function of this name lists a directory.
fn is_listing(name: &str) -> bool {
    lists(&code::WORDS_LISTINGS, last_component(name)) || lists(&code::WORDS_LISTINGS, name)
}

/// Any file in a directory.
fn any_file() -> Value {
    Value::listed("", vec![".*".to_owned()])
}

/// What a method of a directory finds in it.
fn found_below(base: Value, method: &str, pattern: &Value) -> Option<Value> {
    if base.is_unknown() {
        return None;
    }
    match (method, pattern.text()) {
        ("iterdir", _) => {
            let mut files = base.joined("/");
            files.attach(any_file());
            Some(files)
        }
        ("glob", Some(pattern)) if !pattern.is_empty() => Some(base.joined(&pattern)),
        ("rglob", Some(pattern)) if !pattern.is_empty() => Some(base.joined(&format!("**/{pattern}"))),
        _ => None,
    }
}
