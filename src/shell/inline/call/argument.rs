//! The arguments of a call.

use super::super::token::Token;
use crate::verdict::limits::{Meter, SHELL_STEPS};

/// One argument of a call.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    /// `name=value`
    Keyword(String, Option<String>),
    Text(Option<String>),
    List(Vec<Option<String>>),
    Other,
}

/// Returns the index of the closing bracket for each opening one, or the number of tokens if it is not closed.
pub(super) fn closing(tokens: &[Token]) -> Vec<usize> {
    let mut closing = vec![tokens.len(); tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('(' | '{') => open.push(at),
            Token::Sign(')' | '}') => {
                if let Some(place) = open.pop().and_then(|start| closing.get_mut(start)) {
                    *place = at;
                }
            }
            Token::Sign(_) | Token::Name(_) | Token::Text(_) | Token::Command(_) => {}
        }
    }
    closing
}

/// Parses the arguments of a call from the token at `start`. Nested brackets are skipped, so that nested calls do not make
/// the work quadratic.
pub(super) fn arguments(tokens: &[Token], start: usize, closing: &[usize], meter: &Meter) -> Vec<Argument> {
    let mut arguments = Vec::new();
    let mut list: Option<Vec<Option<String>>> = None;
    let mut current: Option<Argument> = None;
    let mut next = start;
    while let Some(token) = tokens.get(next) {
        let at = next;
        next += 1;
        meter.charge(1);
        if meter.exceeds(&SHELL_STEPS) {
            break;
        }
        match token {
            Token::Name(name) if list.is_none() && tokens.get(at + 1) == Some(&Token::Sign('=')) => {
                let value = match tokens.get(at + 2) {
                    Some(Token::Text(text)) => text.clone(),
                    _ => None,
                };
                current = Some(Argument::Keyword(name.clone(), value));
            }
            Token::Text(_) | Token::Name(_) if matches!(current, Some(Argument::Keyword(..))) => {}
            // A list, or a tuple where an argument begins.
            Token::Sign('[' | '(') if current.is_none() && list.is_none() => list = Some(Vec::new()),
            Token::Sign(']' | ')') if list.is_some() => current = list.take().map(Argument::List),
            Token::Sign('(' | '{') => next = closing.get(at).map_or(next, |end| end + 1),
            Token::Sign(')' | '}' | ';') => break,
            Token::Sign(',') if list.is_none() => arguments.push(current.take().unwrap_or(Argument::Other)),
            Token::Sign(',') => {}
            Token::Text(text) => match (&mut list, &current) {
                (Some(list), _) => list.push(text.clone()),
                (None, None) => current = Some(Argument::Text(text.clone())),
                // Adjacent strings are concatenated in some way.
                (None, Some(_)) => current = Some(Argument::Text(None)),
            },
            Token::Name(_) | Token::Sign('+' | '%' | '.') => match &mut list {
                Some(list) if matches!(token, Token::Name(_)) => list.push(None),
                Some(_) => {}
                None => {
                    current = Some(match current.take() {
                        None | Some(Argument::Other) => Argument::Other,
                        Some(Argument::Text(_) | Argument::List(_) | Argument::Keyword(..)) => Argument::Text(None),
                    });
                }
            },
            Token::Command(_) | Token::Sign(_) => {}
        }
    }
    arguments.extend(current);
    arguments
}
