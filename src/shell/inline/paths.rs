//! Paths that expressions give, and what statements with a function that removes name.

use super::expression::{Code, is_home, last_component};
use super::token::Token;
use super::words::is_remover;
use super::{Call, Language, Word};
use crate::programs::code::{self, lists};

pub(super) fn only_names(name: &str) -> bool {
    lists(&code::WORDS_NAMES, last_component(name))
}

/// Whether a path expression begins at a token.
pub(super) fn begins_path(code: &Code<'_>, at: usize) -> bool {
    match code.token(at) {
        Some(Token::Mixed(_)) => true,
        Some(Token::Text(_)) => matches!(code.token(at + 1), Some(Token::Sign('/' | '+' | '.' | '<' | '^' | '*'))),
        Some(Token::Name(name)) => {
            let last = last_component(name);
            is_home(name)
                || code.is_sign(at + 1, '(') && lists(&code::WORDS_PATHS, last)
                || matches!(code.token(at + 1), Some(Token::Sign('(' | '[' | '{')))
                    && matches!(code.token(at + 2), Some(Token::Text(key) | Token::Name(key)) if lists(&code::WORDS_HOME_KEYS, key))
                || matches!(code.values_of(name), [value] if value.is_at_home())
        }
        _ => false,
    }
}

/// The paths that the expressions between two tokens give.
pub(super) fn paths_in(code: &Code<'_>, start: usize, end: usize) -> Vec<Word> {
    let mut paths = Vec::new();
    let mut at = start;
    while at < end {
        code.meter.charge(1);
        if begins_path(code, at) {
            let behind = code.expression_end(at, end);
            let value = code.evaluate(at, behind);
            if !value.is_unknown() {
                paths.push(value.word());
            }
            at = behind.max(at + 1);
            continue;
        }
        match code.token(at) {
            Some(Token::Text(key)) if code.language == Language::Lisp && lists(&code::WORDS_HOME_KEYS, key) => {
                paths.push(Word::known("~/"));
            }
            Some(Token::Text(text)) => paths.push(Word::known(text)),
            _ => {}
        }
        at += 1;
    }
    paths.retain(|path| !path.is_unknown() && !path.text.is_empty() && !path.text.contains(['\n', '(']));
    paths
}

/// The paths in a piece of code that an unknown file may be.
pub(super) fn named_paths(code: &Code<'_>) -> Vec<Word> {
    let mut paths: Vec<Word> = Vec::new();
    let mut at = 0;
    while at < code.tokens.len() {
        code.meter.charge(1);
        let is_path =
            |word: &Word| !word.is_unknown() && !word.text.is_empty() && !word.text.contains([' ', '\n', '*', '(']);
        if begins_path(code, at) {
            let end = code.expression_end(at, code.tokens.len());
            let word = code.evaluate(at, end).word();
            paths.extend(Some(word).filter(is_path));
            at = end.max(at + 1);
            continue;
        }
        // Assigned to a name, or passed to a call that opens it.
        if let Some(Token::Text(text)) = code.token(at) {
            let before = at.checked_sub(1);
            let opened = before.is_some_and(|open| code.is_sign(open, '('))
                && at
                    .checked_sub(2)
                    .and_then(|at| code.name(at))
                    .is_some_and(|name| matches!(last_component(name), "open" | "readFileSync" | "read" | "File"));
            let assigned = before.is_some_and(|at| code.is_sign(at, '=')) && text.contains(['/', '.']);
            paths.extend(Some(Word::known(text)).filter(|word| (opened || assigned) && is_path(word)));
        }
        at += 1;
    }
    paths
}

/// What the statements with a function that removes name.
pub(super) fn removals(code: &Code<'_>) -> Vec<Call> {
    let mut found = Vec::new();
    let mut start = 0;
    // `rm(x; force=true)` is one statement, and so is a call with it.
    let mut open: Vec<char> = Vec::new();
    for at in 0..=code.tokens.len() {
        match code.token(at) {
            Some(Token::Sign(sign @ ('(' | '[' | '{'))) => open.push(*sign),
            Some(Token::Sign(')' | ']' | '}')) => {
                open.pop();
            }
            _ => {}
        }
        let is_inside = matches!(open.last(), Some('(' | '[')) && code.token(at).is_some();
        let ends = matches!(code.token(at), Some(Token::Sign(';' | '\n')) | None);
        if !ends || is_inside {
            continue;
        }
        // `do.call("unlink", …)` names the function.
        let named = |at: usize| match (code.token(at), at.checked_sub(2).and_then(|at| code.name(at))) {
            (Some(Token::Text(text)), Some(name)) if lists(&code::COMPUTED_LOOKUP, name) => Some(text.as_str()),
            _ => code.name(at),
        };
        let names = (start..at).filter_map(named);
        let is_searched = code.language.is_searched();
        if is_searched || names.into_iter().any(is_remover) {
            let is_source = code.language == Language::Source;
            let is_place = |word: &Word| {
                if is_source { is_rooted(word) } else { word.text.contains('/') || word.text.starts_with('~') }
            };
            let paths =
                paths_in(code, start, at).into_iter().filter(|word| is_place(word) && (!is_searched || is_short(word)));
            found.extend(paths.map(removal));
        }
        start = at + 1;
    }
    found
}

/// Whether a path is the home directory, below it, or close to the root.
pub(super) fn is_short(word: &Word) -> bool {
    let path = word.text.trim_end_matches(['*', '/']);
    word.text.starts_with('~') || word.text.starts_with('/') && path.matches('/').count() < 3
}

/// Whether a path is in the home directory or below a directory of the system, and not one of an address.
fn is_rooted(word: &Word) -> bool {
    let first = word.text.strip_prefix('/').map(|path| path.split('/').next().unwrap_or_default());
    word.text.starts_with('~') || first.is_some_and(|first| lists(&code::WORDS_SYSTEM_DIRECTORIES, first))
}

pub(super) fn removal(path: Word) -> Call {
    // `~` in a string means the home directory to most of these functions.
    let path = if path.text == "~" { Word::known("~/") } else { path };
    Call::Same(vec![Word::known("rm"), Word::known("-rf"), path])
}
