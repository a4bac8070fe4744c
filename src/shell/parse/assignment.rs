//! Assignments, and the positions at which they are allowed.

use super::super::syntax::{Assignment, Word, WordPart, WordParts};
use super::list::ListState;
use super::{FrameKind, Parser};
use compact_str::CompactString;

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
pub(in super::super) fn parse_assignment(word: &Word) -> Option<Assignment> {
    let Some(WordPart::Plain(first)) = word.parts.first() else { return None };
    let length = first.bytes().position(|byte| !byte.is_ascii_alphanumeric() && byte != b'_').unwrap_or(first.len());
    let (name, rest) = (first.get(..length)?, first.get(length..)?);
    if !is_name(name) {
        return None;
    }
    let name = name.to_owned();
    if rest.starts_with('[') {
        let assigns =
            |part: &WordPart| matches!(part, WordPart::Plain(text) if text.contains("]=") || text.contains("]+="));
        let Some((subscript, value, appends)) = element(word) else {
            let closed = word.parts.iter().any(assigns);
            let set = Assignment { name, subscript: None, value: None, array: None, appends: false };
            return closed.then_some(set);
        };
        let value = Some(Word { parts: value, span: word.span.clone() });
        return Some(Assignment { name, subscript: Some(subscript), value, array: None, appends });
    }
    let (value, appends) = match rest.strip_prefix("+=") {
        Some(value) => (value, true),
        None => (rest.strip_prefix('=')?, false),
    };
    let parts = value_parts(value, word.parts.iter().skip(1));
    let array = array_words(word).filter(|_| value.is_empty());
    let value = Word { parts, span: word.span.start + first.len() - value.len()..word.span.end };
    Some(Assignment { name, subscript: None, value: array.is_none().then_some(value), array, appends })
}

/// Builds the value from the rest of a part and the parts behind it.
fn value_parts<'a>(start: &str, rest: impl Iterator<Item = &'a WordPart>) -> WordParts {
    let mut parts = WordParts::from_elem(WordPart::Plain(start.into()), 1);
    parts.extend(rest.cloned());
    parts.retain(|part| !matches!(part, WordPart::Plain(text) if text.is_empty()));
    parts
}

/// Splits `name[subscript]=value` with a literal subscript into the subscript, the value and whether it is appended.
fn element(word: &Word) -> Option<(CompactString, WordParts, bool)> {
    let mut subscript = CompactString::default();
    let mut open = false;
    for (at, part) in word.parts.iter().enumerate() {
        match part {
            WordPart::Quoted(text) if open => subscript.push_str(text),
            WordPart::Plain(text) => {
                let text = if open { text.as_str() } else { text.split_once('[')?.1 };
                open = true;
                let Some((before, behind)) = text.split_once(']') else {
                    subscript.push_str(text);
                    continue;
                };
                subscript.push_str(before);
                let (value, appends) = match behind.strip_prefix("+=") {
                    Some(value) => (value, true),
                    None => (behind.strip_prefix('=')?, false),
                };
                return Some((subscript, value_parts(value, word.parts.iter().skip(at + 1)), appends));
            }
            WordPart::Quoted(_)
            | WordPart::Variable(_)
            | WordPart::Output { .. }
            | WordPart::List(_)
            | WordPart::Arithmetic { .. }
            | WordPart::Unknown { .. } => return None,
        }
    }
    None
}

/// Returns the words of `name=(…)`.
fn array_words(word: &Word) -> Option<Vec<Word>> {
    match word.parts.as_slice() {
        [_, WordPart::List(words)] => Some(words.clone()),
        _ => None,
    }
}
