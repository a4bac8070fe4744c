//! Counts of the tokens that decode, join or hide literals, so that a range of them is examined in constant time.

use super::decode::{Decoder, is_reversal};
use super::expression::{is_home, last_component};
use super::mutation::may_hide_home;
use super::token::Token;
use crate::programs::code::{self, lists};

/// Counts of tokens that decode or join literals.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Folds {
    pub all: u32,
    /// Those that return text which their arguments do not show.
    pub hiding: u32,
    /// Literals that may be paths.
    pub paths: u32,
    /// Names of home directories, and literals that may become other paths of one.
    pub homes: u32,
    /// Functions that return names of files.
    pub finding: u32,
}

/// Counts, for each token, those before it that decode or join literals.
pub(super) fn folds(tokens: &[Token]) -> Vec<Folds> {
    let mut count = Folds::default();
    let mut folds = Vec::with_capacity(tokens.len() + 1);
    folds.push(count);
    for (at, token) in tokens.iter().enumerate() {
        let decoder = if let Token::Name(name) = token { Decoder::of(name) } else { None };
        let is_fold = match token {
            Token::Name(_) => decoder.is_some(),
            Token::Sign('%') => at.checked_sub(1).is_some_and(|at| matches!(tokens.get(at), Some(Token::Text(_)))),
            Token::Sign('[') => is_reversal(tokens.get(at..at + 6).unwrap_or_default()),
            Token::Text(_) | Token::Mixed(_) | Token::Command(_) | Token::Sign(_) => false,
        };
        count.paths += u32::from(matches!(token, Token::Text(text) if text.contains('/') && text.len() > 3));
        match token {
            Token::Text(text) => count.homes += u32::from(may_hide_home(text)),
            Token::Name(name) => {
                count.homes += u32::from(is_home(name));
                count.finding += u32::from(lists(&code::WORDS_FINDING, last_component(name)));
            }
            Token::Mixed(_) | Token::Command(_) | Token::Sign(_) => {}
        }
        count.all += u32::from(is_fold);
        count.hiding += u32::from(decoder.is_some_and(Decoder::hides));
        folds.push(count);
    }
    folds
}

/// How many tokens of a kind stand before each token.
pub(super) struct Counts(Vec<usize>);

impl Counts {
    pub fn of(tokens: &[Token], is_counted: impl Fn(&Token) -> bool) -> Counts {
        let mut count = 0;
        let counts = tokens.iter().map(|token| {
            count += usize::from(is_counted(token));
            count
        });
        Counts(std::iter::once(0).chain(counts).collect())
    }

    /// Whether there is one from `start` on, before `end`.
    pub fn any(&self, start: usize, end: usize) -> bool {
        let before = |at: usize| self.0.get(at).or(self.0.last());
        before(start) < before(end)
    }
}
