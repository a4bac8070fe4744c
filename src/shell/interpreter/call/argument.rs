//! The arguments of a call.

use super::super::token::Token;
use crate::limits::{Meter, SHELL_STEPS};

/// One argument of a call.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    /// `name=value`
    Keyword(String, Option<String>),
    Text(Option<String>),
    List(Vec<Option<String>>),
    Other,
}

/// The arguments up to the end of the call.
pub(super) fn arguments(tokens: &[Token], meter: &Meter) -> Vec<Argument> {
    let mut arguments = Vec::new();
    let mut depth = 0_usize;
    let mut list: Option<Vec<Option<String>>> = None;
    let mut current: Option<Argument> = None;
    for (at, token) in tokens.iter().enumerate() {
        meter.charge(1);
        if meter.exceeds(&SHELL_STEPS) {
            break;
        }
        match token {
            Token::Name(name) if depth == 0 && list.is_none() && tokens.get(at + 1) == Some(&Token::Sign('=')) => {
                let value = match tokens.get(at + 2) {
                    Some(Token::Text(text)) => text.clone(),
                    _ => None,
                };
                current = Some(Argument::Keyword(name.clone(), value));
            }
            Token::Text(_) | Token::Name(_) if matches!(current, Some(Argument::Keyword(..))) => {}
            // A list, or a tuple where an argument begins.
            Token::Sign('[' | '(') if depth == 0 && current.is_none() && list.is_none() => list = Some(Vec::new()),
            Token::Sign(']' | ')') if depth == 0 && list.is_some() => current = list.take().map(Argument::List),
            Token::Sign('(' | '{') => depth += 1,
            Token::Sign(')' | '}') if depth == 0 => break,
            Token::Sign(')' | '}') => depth -= 1,
            Token::Sign(';') if depth == 0 => break,
            Token::Sign(',') if depth == 0 && list.is_none() => {
                arguments.push(current.take().unwrap_or(Argument::Other))
            }
            Token::Sign(',') => {}
            Token::Text(text) if depth == 0 => match (&mut list, &current) {
                (Some(list), _) => list.push(text.clone()),
                (None, None) => current = Some(Argument::Text(text.clone())),
                // Two texts beside each other are put together by someone.
                (None, Some(_)) => current = Some(Argument::Text(None)),
            },
            Token::Name(_) | Token::Sign('+' | '%' | '.') if depth == 0 => match &mut list {
                Some(list) if matches!(token, Token::Name(_)) => list.push(None),
                Some(_) => {}
                None => {
                    current = Some(match current.take() {
                        None | Some(Argument::Other) => Argument::Other,
                        Some(Argument::Text(_) | Argument::List(_) | Argument::Keyword(..)) => Argument::Text(None),
                    });
                }
            },
            Token::Name(_) | Token::Text(_) | Token::Command(_) | Token::Sign(_) => {}
        }
    }
    arguments.extend(current);
    arguments
}
