//! Assignments, and the positions at which they are allowed.

use super::super::syntax::{Assignment, Word, WordPart, WordParts};
use super::list::ListState;
use super::{FrameKind, Parser};

/// Builtins that take assignments as arguments.
const DECLARATION_BUILTINS: [&str; 8] = ["alias", "declare", "eval", "export", "let", "local", "readonly", "typeset"];

impl Parser<'_> {
    /// Whether an assignment is allowed here.
    fn may_assign(&mut self) -> bool {
        let list = self.list();
        let declares =
            list.simple.words.first().and_then(Word::bare).is_some_and(|word| DECLARATION_BUILTINS.contains(&word));
        match list.state {
            ListState::Start | ListState::Prefixed => true,
            ListState::Words => list.pending_redirect.is_none() && (list.simple.words.is_empty() || declares),
            ListState::Done | ListState::FunctionName | ListState::FunctionBody => false,
        }
    }

    /// Whether the current word is `name=`, after which `(` begins an array.
    pub(super) fn opens_array(&mut self) -> bool {
        let parts = &self.top().parts;
        let named = match (parts.first(), parts.last()) {
            (Some(WordPart::Plain(first)), Some(WordPart::Plain(last))) => last.ends_with('=') && is_name_start(first),
            _ => false,
        };
        named && self.may_assign()
    }

    /// Whether `[` after the current word begins a subscript, in which blanks and operators are literal.
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

/// Whether a text begins like an assignment: `name=`, `name+=` or `name[`.
fn is_name_start(text: &str) -> bool {
    let end = text.find(['=', '[', '+']).unwrap_or(text.len());
    text.get(..end).is_some_and(is_name)
}

/// Parses a word as an assignment.
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

/// Returns the words of `name=(…)`.
fn array_words(word: &Word) -> Option<Vec<Word>> {
    match word.parts.as_slice() {
        [_, WordPart::List(words)] => Some(words.clone()),
        _ => None,
    }
}
