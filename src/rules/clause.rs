//! Clauses: lists of phrases, of which every match of a pattern holds at least one of each list.
//!
//! They are made when the binary is built; within it, only tests make them.

use super::clue::{KEY, is_word, key_byte};
use super::walk::{Piece, Times, Walk};

/// A phrase, in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Clue {
    pub text: String,
    /// A word begins with it.
    pub left: bool,
    /// A word ends with it.
    pub right: bool,
}

/// Phrases of which a match holds one.
pub(crate) type Clause = Vec<Clue>;

/// Phrases that one list may have, and that may be made by joining two.
const MOST: usize = 256;
const MOST_JOINED: usize = 96;

/// The lists of a pattern; none where nothing can be told.
pub(crate) fn clauses(pattern: &str) -> Vec<Clause> {
    let mut walk = Walk::new(pattern);
    match alternatives(&mut walk) {
        Some((part, End::Pattern)) => part.needs(),
        _ => Vec::new(),
    }
}

impl Clue {
    /// The bytes it is looked up by.
    pub fn key(&self) -> Option<[u8; KEY]> {
        let end = self.right.then_some(b' ');
        let mut bytes = self.text.bytes().map(key_byte).chain(end);
        Some([bytes.next()?, bytes.next()?, bytes.next()?])
    }

    fn letter(c: char) -> Self {
        Clue { text: c.to_lowercase().collect(), left: false, right: false }
    }

    /// The place between a word and something else.
    fn edge() -> Self {
        Clue { text: String::new(), left: true, right: true }
    }

    fn then(&self, next: &Clue) -> Clue {
        match (self.text.is_empty(), next.text.is_empty()) {
            (true, true) => Clue { text: String::new(), left: self.left || next.left, right: self.left || next.left },
            // The end of one word may be where something else begins.
            (true, false) => {
                let begins = next.text.bytes().next().is_some_and(is_word);
                Clue { left: self.left && begins || next.left, ..next.clone() }
            }
            (false, true) => {
                let ends = self.text.bytes().next_back().is_some_and(is_word);
                Clue { right: self.right || next.right && ends, ..self.clone() }
            }
            (false, false) => Clue { text: format!("{}{}", self.text, next.text), left: self.left, right: next.right },
        }
    }
}

/// What is known of a part of a pattern.
struct Part {
    /// All that it can stand for, where that is little.
    exact: Option<Clause>,
    clauses: Vec<Clause>,
}

impl Part {
    fn needs(self) -> Vec<Clause> {
        self.clauses.into_iter().chain(self.exact.and_then(useful)).collect()
    }
}

/// Where a list of alternatives ends.
#[derive(PartialEq)]
enum End {
    Group(Times),
    Pattern,
}

fn alternatives(walk: &mut Walk<'_>) -> Option<(Part, End)> {
    let mut rows = Vec::new();
    loop {
        let mut row = Row::default();
        let end = loop {
            let (piece, times) = walk.next()?;
            match piece {
                Piece::Literal(c) => row.add(Some(vec![Clue::letter(c)]), Vec::new(), times),
                Piece::OneOf(letters) => row.add(Some(letters.chars().map(Clue::letter).collect()), Vec::new(), times),
                Piece::Edge => row.add(Some(vec![Clue::edge()]), Vec::new(), times),
                Piece::Start => {}
                Piece::Vague => row.flush(),
                Piece::Open => {
                    let (part, End::Group(times)) = alternatives(walk)? else { return None };
                    row.add(part.exact, part.clauses, times);
                }
                Piece::Or => break None,
                Piece::Close => break Some(End::Group(times)),
                Piece::End => break Some(End::Pattern),
            }
        };
        rows.push(row);
        if let Some(end) = end {
            // What follows on a group follows on each of its alternatives.
            let edge = walk.rest.strip_prefix("\\b").is_some_and(|rest| !rest.starts_with(['*', '+', '?', '{']));
            if end == End::Group(Times::Once) && edge {
                rows.iter_mut().for_each(|row| row.add(Some(vec![Clue::edge()]), Vec::new(), Times::Once));
            }
            return Some((either(rows.into_iter().map(Row::end).collect()), end));
        }
    }
}

/// One of several.
fn either(parts: Vec<Part>) -> Part {
    let exact: Option<Vec<&Clause>> = parts.iter().map(|part| part.exact.as_ref()).collect();
    if let Some(exact) = exact
        && exact.iter().map(|clause| clause.len()).sum::<usize>() <= MOST
    {
        return Part { exact: Some(exact.into_iter().flatten().cloned().collect()), clauses: Vec::new() };
    }
    let mut parts = parts;
    if parts.len() == 1 {
        return parts.pop().map_or(Part { exact: None, clauses: Vec::new() }, |part| part);
    }
    // The longest phrases of each tell most.
    let best: Option<Vec<Clause>> = parts
        .into_iter()
        .map(|part| part.needs().into_iter().max_by_key(|clause| clause.iter().map(|clue| clue.text.len()).min()))
        .collect();
    let one: Option<Clause> = best.map(|best| best.concat()).filter(|clause| clause.len() <= MOST);
    Part { exact: None, clauses: one.into_iter().collect() }
}

/// Parts that follow on each other.
struct Row {
    /// All that can stand here since something could not be told.
    run: Clause,
    clauses: Vec<Clause>,
    flushed: bool,
}

impl Default for Row {
    fn default() -> Self {
        Row { run: vec![Clue::default()], clauses: Vec::new(), flushed: false }
    }
}

impl Row {
    fn add(&mut self, exact: Option<Clause>, clauses: Vec<Clause>, times: Times) {
        let exact = match (exact, times) {
            (Some(mut exact), Times::Maybe) => {
                exact.push(Clue::default());
                exact
            }
            (None, Times::Maybe) | (_, Times::Perhaps) => return self.flush(),
            (Some(exact), Times::Once | Times::Often) => exact,
            (None, Times::Once | Times::Often) => {
                self.flush();
                return self.clauses.extend(clauses);
            }
        };
        let most = if self.run.len() == 1 || exact.len() == 1 { MOST } else { MOST_JOINED };
        if self.run.len() * exact.len() <= most {
            self.run = self.run.iter().flat_map(|one| exact.iter().map(|next| one.then(next))).collect();
        } else {
            self.flush();
            self.run = exact;
        }
        // A part that stands several times is known up to the end of the first.
        if times == Times::Often {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.flushed = true;
        self.clauses.extend(useful(std::mem::replace(&mut self.run, vec![Clue::default()])));
    }

    fn end(mut self) -> Part {
        if !self.flushed {
            return Part { exact: Some(self.run), clauses: Vec::new() };
        }
        self.flush();
        Part { exact: None, clauses: self.clauses }
    }
}

/// A list in which every phrase can be looked up, without those that hold another of them.
fn useful(mut clause: Clause) -> Option<Clause> {
    if clause.len() > MOST || clause.iter().any(|clue| clue.key().is_none()) {
        return None;
    }
    clause.sort_by_key(|clue| clue.text.len());
    let mut kept: Clause = Vec::new();
    for clue in clause {
        let held = |short: &Clue| !short.left && !short.right && clue.text.contains(&short.text) || *short == clue;
        if !kept.iter().any(held) {
            kept.push(clue);
        }
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex_lite::Regex;

    fn holds(clue: &Clue, text: &str) -> bool {
        text.match_indices(&clue.text).any(|(at, _)| {
            let before = text.as_bytes()[..at].last();
            let behind = text.as_bytes()[at + clue.text.len()..].first();
            let joined = clue.left && before.is_some_and(|byte| is_word(*byte))
                || clue.right && behind.is_some_and(|byte| is_word(*byte));
            !joined
        })
    }

    fn phrases(pattern: &str) -> Vec<Vec<String>> {
        let written = |clue: &Clue| {
            format!("{}{}{}", if clue.left { "<" } else { "" }, clue.text, if clue.right { ">" } else { "" })
        };
        clauses(pattern).iter().map(|clause| clause.iter().map(written).collect()).collect()
    }

    #[test]
    fn a_pattern_is_taken_apart_into_what_it_needs() {
        for (pattern, expected) in [
            (
                "\\b(ignore|forget) (all )?rules\\b",
                vec![vec!["<ignore rules>", "<forget rules>", "<ignore all rules>", "<forget all rules>"]],
            ),
            ("\\bagents?\\b.*\\bmust\\b", vec![vec!["<agent>", "<agents>"], vec!["<must>"]]),
            ("(ai|llm)\\b", vec![vec!["ai>", "llm>"]]),
            ("(ai|llm)", vec![]),
            ("ab*cdef", vec![vec!["cdef"]]),
            ("abc+def", vec![vec!["abc"], vec!["def"]]),
            ("\\b(an [a-z]+|ai|llm)\\b", vec![vec!["an ", "ai>", "llm>"]]),
            ("\\bai[_-]note\\b", vec![vec!["<ai_note>", "<ai-note>"]]),
            ("(one x|two y[a-z]|three)", vec![vec!["one x", "two y", "three"]]),
            ("\\b\\$home", vec![vec!["$home"]]),
        ] {
            assert_eq!(phrases(pattern), expected, "{pattern}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 8_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_match_lacks_its_clues(
            pattern in "(abc|ab|ba?c|a+|(ab|cd)+|(a|b)?|\\\\b|\\.|\\^|\\||\\(|\\)| |[abc]{3}|\\(abc\\|bcd\\)|\\(ab \\|b\\)\\?|\\[ab\\]|\\[ -\\]|\\{0,2\\}|\\*|\\?){1,7}",
            text in "([abcd]|[ .]|abc|bcd|ab ){0,8}",
        ) {
            if let Ok(regex) = Regex::new(&pattern) && regex.is_match(&text) {
                for clause in clauses(&pattern) {
                    prop_assert!(clause.iter().any(|clue| holds(clue, &text)), "{:?} {:?} {:?}", pattern, text, clause);
                }
            }
        }
    }
}
