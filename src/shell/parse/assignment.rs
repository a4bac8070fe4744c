//! Assignments: words that set a variable, and where such words may stand.

use super::super::syntax::{Assignment, Part, Parts, Word};
use super::list::State;
use super::{FrameKind, Parser};

/// Commands that take assignments as arguments.
const DECLARES: [&str; 8] = ["alias", "declare", "eval", "export", "let", "local", "readonly", "typeset"];

impl Parser<'_> {
    /// Whether an assignment may stand here.
    fn may_assign(&mut self) -> bool {
        let list = self.list();
        let declares = list.simple.words.first().and_then(Word::bare).is_some_and(|word| DECLARES.contains(&word));
        match list.state {
            State::Start | State::Prefixed => true,
            State::Words => list.redirect.is_none() && (list.simple.words.is_empty() || declares),
            State::Done | State::FunctionName | State::FunctionBody => false,
        }
    }

    /// Whether the word so far is `name=`, where an array may follow.
    pub(super) fn opens_array(&mut self) -> bool {
        let parts = &self.top().parts;
        let named = match (parts.first(), parts.last()) {
            (Some(Part::Plain(first)), Some(Part::Plain(last))) => last.ends_with('=') && is_name_start(first),
            _ => false,
        };
        named && self.may_assign()
    }

    /// Whether the word so far is a name whose `[` begins a subscript, in which blanks and operators are text.
    pub(super) fn opens_subscript(&mut self) -> bool {
        let top = self.top();
        match (&top.kind, top.parts.as_slice()) {
            (FrameKind::Array, []) => true,
            (FrameKind::List, [Part::Plain(name)]) => is_name(name) && self.may_assign(),
            _ => false,
        }
    }
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// `name=`, `name+=` or `name[`: the start of an assignment.
fn is_name_start(text: &str) -> bool {
    let end = text.find(['=', '[', '+']).unwrap_or(text.len());
    text.get(..end).is_some_and(is_name)
}

/// The assignment that a word is, if it is one.
pub(super) fn assignment(word: &Word) -> Option<Assignment> {
    let Some(Part::Plain(first)) = word.parts.first() else { return None };
    let length = first.bytes().position(|byte| !byte.is_ascii_alphanumeric() && byte != b'_').unwrap_or(first.len());
    let (name, rest) = (first.get(..length)?, first.get(length..)?);
    if !is_name(name) {
        return None;
    }
    if rest.starts_with('[') {
        let closed = word
            .parts
            .iter()
            .any(|part| matches!(part, Part::Plain(text) if text.contains("]=") || text.contains("]+=")));
        return closed.then(|| Assignment { name: name.to_owned(), value: None, list: None, appends: false });
    }
    if rest.starts_with("+=") {
        return Some(Assignment { name: name.to_owned(), value: None, list: list(word), appends: true });
    }
    let value = rest.strip_prefix('=')?;
    let mut parts = Parts::from_elem(Part::Plain(value.into()), 1);
    parts.extend(word.parts.iter().skip(1).cloned());
    parts.retain(|part| !matches!(part, Part::Plain(text) if text.is_empty()));
    let list = list(word).filter(|_| value.is_empty());
    let value = Word { parts, span: word.span.start + length + 1..word.span.end };
    Some(Assignment { name: name.to_owned(), value: list.is_none().then_some(value), list, appends: false })
}

/// The words of `name=(…)`.
fn list(word: &Word) -> Option<Vec<Word>> {
    match word.parts.as_slice() {
        [_, Part::List(words)] => Some(words.clone()),
        _ => None,
    }
}
