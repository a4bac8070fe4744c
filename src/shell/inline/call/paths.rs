//! Guesses of the paths that a piece of code composes.

use super::super::token::Token;
use super::name::makes_path;
use crate::verdict::limits::{Meter, SHELL_STEPS};
use std::collections::BTreeMap;

/// Names of the home directory.
const HOMES: [&str; 6] = ["HOME", "USERPROFILE", "expanduser", "home", "homedir", "~"];

/// Methods that return a path for a path.
const PATH_METHODS: [&str; 5] = ["absolute", "expanduser", "join", "joinpath", "resolve"];

/// Returns the paths that calls such as `join` and operators such as `/` compose from strings.
pub(super) fn joined_paths(tokens: &[Token], meter: &Meter) -> Vec<String> {
    let mut found = Vec::new();
    // The first assignment to a name counts.
    let mut values: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, text) in tokens.windows(3).filter_map(assigned) {
        values.entry(name).or_insert(text);
    }
    for (at, token) in tokens.iter().enumerate() {
        let after = tokens.get(at + 1..).unwrap_or_default();
        match token {
            Token::Name(maker)
                if (makes_path(maker) || is_home(token))
                    && !maker.ends_with("open")
                    && after.first() == Some(&Token::Sign('(')) =>
            {
                found.extend(joined(maker, expression(after, meter), &values));
            }
            // `home + "/.claude/x"`: the left operand is unknown.
            Token::Sign('+' | '.') => {
                let before = tokens.get(at.saturating_sub(6)..at).unwrap_or_default();
                if let Some(Token::Text(Some(text))) = after.first()
                    && (text.starts_with("/.") || (text.starts_with('/') && before.iter().any(is_home)))
                {
                    found.push(format!("~{text}"));
                    found.push(format!(".{text}"));
                }
            }
            Token::Name(_) | Token::Sign(_) | Token::Text(_) | Token::Command(_) => {}
        }
    }
    found
}

/// Whether the code names the home directory itself.
pub(super) fn names_home(tokens: &[Token]) -> bool {
    let ends = |at: usize| matches!(tokens.get(at), Some(Token::Sign(')' | ',' | ']' | ';' | '}')) | None);
    tokens.iter().enumerate().any(|(at, token)| {
        let called = tokens.get(at + 1) == Some(&Token::Sign('(')) && tokens.get(at + 2) == Some(&Token::Sign(')'));
        // `environ['HOME']` and `expanduser("~")`: skip the closing bracket.
        let after = match token {
            Token::Text(_) => at + 2,
            Token::Name(_) if called => at + 3,
            Token::Name(_) | Token::Sign(_) | Token::Command(_) => at + 1,
        };
        is_home(token) && ends(after)
    })
}

/// Returns the paths after an interpolated value: `f"{home}/.claude/x"`, `` `${home}/.claude/x` ``, `"#{home}/.claude/x"`.
pub(super) fn interpolated_paths(code: &str) -> Vec<String> {
    let behind = code.split('}').skip(1).filter(|rest| rest.starts_with("/."));
    let path = |rest: &str| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"._-/".contains(c)).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default().to_owned()
    };
    behind.map(path).flat_map(|path| [format!("~{path}"), format!(".{path}")]).collect()
}

/// Returns the tokens of a call and of the `/` operators and methods that follow it.
fn expression<'a>(tokens: &'a [Token], meter: &Meter) -> &'a [Token] {
    let mut depth = 0_usize;
    let mut end = 0;
    for (at, token) in tokens.iter().enumerate() {
        meter.charge(2);
        if meter.exceeds(&SHELL_STEPS) {
            break;
        }
        match token {
            Token::Sign('(' | '[') => depth += 1,
            Token::Sign('.')
                if depth == 0
                    && !matches!(tokens.get(at + 1), Some(Token::Name(name)) if PATH_METHODS.contains(&name.as_str())) =>
            {
                break;
            }
            Token::Sign(')' | ']') => depth = depth.saturating_sub(1),
            Token::Sign('/' | '.' | '+') | Token::Text(_) | Token::Name(_) => {}
            Token::Sign(_) | Token::Command(_) if depth == 0 => break,
            Token::Sign(_) | Token::Command(_) => {}
        }
        end = at + 1;
        let continues = matches!(tokens.get(at + 1), Some(Token::Sign('/' | '.' | '+')));
        if depth == 0 && matches!(token, Token::Sign(')') | Token::Text(_)) && !continues {
            break;
        }
    }
    tokens.get(..end).unwrap_or_default()
}

/// Parses `name = "text"`.
fn assigned(near: &[Token]) -> Option<(&str, &str)> {
    match near {
        [Token::Name(name), Token::Sign('='), Token::Text(Some(text))] => Some((name, text)),
        _ => None,
    }
}

fn joined(maker: &str, tokens: &[Token], values: &BTreeMap<&str, &str>) -> Option<String> {
    let texts = tokens.iter().filter_map(|token| match token {
        Token::Text(Some(text)) if !HOMES.contains(&text.as_str()) && !text.contains([' ', '\n', '*', '(']) => {
            Some(text.as_str())
        }
        Token::Name(name) => values.get(name.as_str()).copied(),
        Token::Text(_) | Token::Sign(_) | Token::Command(_) => None,
    });
    let parts: Vec<&str> = texts.map(|text| text.trim_end_matches('/')).filter(|part| !part.is_empty()).collect();
    let first = parts.first()?;
    let path = parts.join("/");
    let home = is_home(&Token::Name(maker.to_owned())) || tokens.iter().any(is_home);
    Some(if home && !first.starts_with(['/', '~']) { format!("~/{path}") } else { path })
}

fn is_home(token: &Token) -> bool {
    match token {
        Token::Text(Some(text)) => HOMES.contains(&text.as_str()),
        Token::Name(name) => {
            let last = name.rsplit(['.', ':']).next().unwrap_or(name);
            HOMES.contains(&last) && last != "expanduser"
        }
        Token::Text(None) | Token::Sign(_) | Token::Command(_) => false,
    }
}
