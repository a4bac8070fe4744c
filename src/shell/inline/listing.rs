//! Names that loops bind to files: `for d in Path(".").rglob("x")`, `for root, dirs, files in os.walk(".")`.
//!
//! The value of such a name is a pattern for the files that it may be.

use super::token::{Piece, Token};
use super::value::{Code, Value, last_component};
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
        if !tokens.iter().any(|token| matches!(token, Token::Name(name) if name == "in")) {
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
        if self.name(at + 1) == Some("in") {
            let value = self.listed(at + 2)?;
            // A name without a directory is the only pattern that a test of its end narrows.
            let ending = self.tested_ending(name, at).filter(|_| value.text().as_deref() == Some("*"));
            return Some((name, ending.map_or(value, |ending| Value::of_text(&format!("*{ending}")))));
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
            return self.loops.lists.contains(name).then(|| Value::of_text("*"));
        }
        let close = self.close(start + 1);
        // `Path(".").rglob("x")`
        if self.is_sign(close + 1, '.')
            && self.is_sign(close + 3, '(')
            && lists(&code::WORDS_PATHS, last_component(name))
        {
            let pattern = self.evaluate(close + 4, self.close(close + 3));
            return found_below(self.evaluate(start, close + 1), self.name(close + 2)?, &pattern);
        }
        let pattern = self.evaluate(start + 2, self.statement_end(start + 2).min(close));
        match name.rsplit_once('.').unwrap_or(("", name)) {
            (_, "listdir" | "readdirSync") => Some(Value::of_text("*")),
            ("" | "glob" | "Dir", "glob" | "iglob") => None,
            (object, method) => match self.values_of(object) {
                [base] => found_below(base.clone(), method, &pattern),
                _ => None,
            },
        }
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

/// What a method of a directory finds in it.
fn found_below(base: Value, method: &str, pattern: &Value) -> Option<Value> {
    if base.is_unknown() {
        return None;
    }
    match (method, pattern.text()) {
        ("iterdir", _) => Some(base.joined("*")),
        ("glob", Some(pattern)) if !pattern.is_empty() => Some(base.joined(&pattern)),
        ("rglob", Some(pattern)) if !pattern.is_empty() => Some(base.joined(&format!("**/{pattern}"))),
        _ => None,
    }
}
