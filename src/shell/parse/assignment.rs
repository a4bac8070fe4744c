//! Assignments: words that set a variable, and where such words may stand.

use super::super::syntax::{Assignment, Word, WordPart, WordParts};
use super::list::ListState;
use super::{FrameKind, Parser};

/// Commands that take assignments as arguments.
const DECLARES: [&str; 8] = ["alias", "declare", "eval", "export", "let", "local", "readonly", "typeset"];

impl Parser<'_> {
    /// Whether an assignment may stand here.
    fn may_assign(&mut self) -> bool {
        let list = self.list();
        let declares = list.simple.words.first().and_then(Word::bare).is_some_and(|word| DECLARES.contains(&word));
        match list.state {
            ListState::Start | ListState::Prefixed => true,
            ListState::Words => list.pending_redirect.is_none() && (list.simple.words.is_empty() || declares),
            ListState::Done | ListState::FunctionName | ListState::FunctionBody => false,
        }
    }

    /// Whether the word so far is `name=`, where an array may follow.
    pub(super) fn opens_array(&mut self) -> bool {
        let parts = &self.top().parts;
        let named = match (parts.first(), parts.last()) {
            (Some(WordPart::Plain(first)), Some(WordPart::Plain(last))) => last.ends_with('=') && is_name_start(first),
            _ => false,
        };
        named && self.may_assign()
    }

    /// Whether the word so far is a name whose `[` begins a subscript, in which blanks and operators are text.
    pub(super) fn opens_subscript(&mut self) -> bool {
        let top = self.top();
        match (&top.kind, top.parts.as_slice()) {
            (FrameKind::Array, []) => true,
            (FrameKind::List, [WordPart::Plain(name)]) => is_name(name) && self.may_assign(),
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
pub(super) fn parse_assignment(word: &Word) -> Option<Assignment> {
    let Some(WordPart::Plain(first)) = word.parts.first() else { return None };
    let length = first.bytes().position(|byte| !byte.is_ascii_alphanumeric() && byte != b'_').unwrap_or(first.len());
    let (name, rest) = (first.get(..length)?, first.get(length..)?);
    if !is_name(name) {
        return None;
    }
    if rest.starts_with('[') {
        let closed = word
            .parts
            .iter()
            .any(|part| matches!(part, WordPart::Plain(text) if text.contains("]=") || text.contains("]+=")));
        return closed.then(|| Assignment { name: name.to_owned(), value: None, array: None, appends: false });
    }
    if rest.starts_with("+=") {
        return Some(Assignment { name: name.to_owned(), value: None, array: array_words(word), appends: true });
    }
    let value = rest.strip_prefix('=')?;
    let mut parts = WordParts::from_elem(WordPart::Plain(value.into()), 1);
    parts.extend(word.parts.iter().skip(1).cloned());
    parts.retain(|part| !matches!(part, WordPart::Plain(text) if text.is_empty()));
    let array = array_words(word).filter(|_| value.is_empty());
    let value = Word { parts, span: word.span.start + length + 1..word.span.end };
    Some(Assignment { name: name.to_owned(), value: array.is_none().then_some(value), array, appends: false })
}

/// The words of `name=(…)`.
fn array_words(word: &Word) -> Option<Vec<Word>> {
    match word.parts.as_slice() {
        [_, WordPart::List(words)] => Some(words.clone()),
        _ => None,
    }
}
