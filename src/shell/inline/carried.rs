//! What code hands on: data in the address or the headers of a request, the whole environment, objects from another machine.

use super::expression::{Code, last_component};
use super::folds::Counts;
use super::token::{Piece, Token};
use super::{Call, Language};
use crate::programs::code::{self, CallEffect, effect_of, lists};
use crate::verdict::limits::SHELL_STEPS;
use std::cell::LazyCell;

/// The program that stands for code that shows all environment variables.
const ENVIRONMENT: &str = "code-environment";

/// Which tokens of a piece of code stand for literals, numbers, or names of such.
pub(super) struct PlainTokens {
    /// How many tokens before each one are not plain.
    others_before: Vec<usize>,
}

impl PlainTokens {
    pub(super) fn of(code: &Code<'_>) -> PlainTokens {
        let mut others = 0;
        let counts = code.tokens.iter().enumerate().map(|(at, token)| {
            others += usize::from(!is_plain(code, token, at));
            others
        });
        PlainTokens { others_before: std::iter::once(0).chain(counts).collect() }
    }

    /// Whether all tokens from `start` to before `end` are plain.
    pub(super) fn covers(&self, start: usize, end: usize) -> bool {
        let before = |at: usize| self.others_before.get(at).or(self.others_before.last());
        start >= end || before(start) == before(end)
    }
}

fn is_plain(code: &Code<'_>, token: &Token, at: usize) -> bool {
    match token {
        Token::Name(name) => is_plain_name(code, name, at),
        Token::Mixed(pieces) => pieces.iter().all(|piece| match piece {
            Piece::Text(_) => true,
            Piece::Code(inner) => {
                let mut words = inner.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
                words.all(|word| is_plain_variable(code, word))
            }
        }),
        Token::Command(_) => false,
        Token::Text(_) | Token::Sign(_) => true,
    }
}

fn is_plain_name(code: &Code<'_>, name: &str, at: usize) -> bool {
    let first = name.split('.').next().unwrap_or(name);
    match code.token(at + 1) {
        // The name of an argument or of a member.
        Some(Token::Sign('=' | ':')) => true,
        // A function that reads nothing.
        Some(Token::Sign('(')) => {
            !matches!(effect_of(last_component(name)), Some(CallEffect::Read | CallEffect::Open))
                && (!name.contains('.') || code.values_of(first).is_empty() || is_plain_variable(code, first))
                && !matches!(last_component(name), "read" | "read_text" | "read_bytes" | "readlines" | "readline")
        }
        _ => at > 0 && code.is_sign(at - 1, '.') || is_plain_variable(code, first),
    }
}

/// Whether a variable holds a literal or a number.
fn is_plain_variable(code: &Code<'_>, name: &str) -> bool {
    code.meter.charge(4);
    if code.meter.exceeds(&SHELL_STEPS) {
        return false;
    }
    name.starts_with(|c: char| c.is_ascii_digit())
        || lists(&code::CARRIED_CONSTANTS, name)
        || code.known(name).is_some_and(|known| !known.has_incomplete)
        || code.counts(name)
        || is_literal_object(code, name)
}

/// Whether a variable is only assigned objects of literals: `headers = {"Accept": "x"}`.
fn is_literal_object(code: &Code<'_>, name: &str) -> bool {
    let starts = code.assigned(name);
    let is_literal = |start: usize| {
        let end = code.close(start);
        code.meter.charge(end.saturating_sub(start));
        code.is_sign(start, '{')
            && (start..end).all(|at| match code.token(at) {
                Some(Token::Text(_) | Token::Sign(_)) => true,
                Some(Token::Name(name)) => {
                    matches!(code.token(at + 1), Some(Token::Sign(':')))
                        || name.starts_with(|c: char| c.is_ascii_digit())
                }
                _ => false,
            })
    };
    !starts.is_empty() && starts.iter().all(|start| is_literal(*start))
}

/// The program whose place the code looks up: `shutil.which("x")`, `execSync("which x")`.
pub(super) fn located_program(code: &Code<'_>, calls: &[Call]) -> Option<String> {
    let is_plain = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    let by_name = (0..code.tokens.len()).find_map(|at| match code.token(at + 2) {
        Some(Token::Text(program))
            if code.is_sign(at + 1, '(') && code.name(at).is_some_and(|name| last_component(name) == "which") =>
        {
            Some(program.as_str())
        }
        _ => None,
    });
    let by_shell = || {
        calls.iter().find_map(|call| match call {
            Call::Text(text) => text.strip_prefix("which ").or_else(|| text.strip_prefix("command -v ")).map(str::trim),
            Call::Run(_) | Call::Same(_) | Call::Loose(_) => None,
        })
    };
    by_name.or_else(by_shell).filter(|name| is_plain(name)).map(str::to_owned)
}

/// Whether the name at `at` is the whole environment and not one variable.
fn environment_at(code: &Code<'_>, at: usize) -> Option<Environment> {
    let name = code.name(at)?;
    let bare = name.trim_start_matches('%');
    if let Some((object, method)) = bare.rsplit_once('.')
        && lists(&code::CARRIED_ENVIRONMENT, object)
    {
        return lists(&code::CARRIED_VALUES, method).then_some(Environment::Values);
    }
    if lists(&code::CARRIED_ENVIRONMENT_CALLS, bare) {
        return (code.is_sign(at + 1, '(') && code.is_sign(at + 2, ')')).then_some(Environment::Values);
    }
    if !lists(&code::CARRIED_ENVIRONMENT, bare) || matches!(code.token(at + 1), Some(Token::Sign('[' | '{' | '='))) {
        return None;
    }
    // Perl has hashes with `%`, and `ENV` is no name of other languages.
    let is_hash = at > 0 && code.is_sign(at - 1, '%');
    match (bare, code.language) {
        ("ENV", Language::Perl) if is_hash => Some(Environment::Object),
        ("ENV", Language::Ruby) | ("ENVIRON", Language::Awk) => Some(Environment::Object),
        ("ENV" | "ENVIRON", _) => None,
        _ => Some(Environment::Object),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Environment {
    /// The object with all variables.
    Object,
    /// The variables with their values, one by one.
    Values,
}

/// Finds that code loads objects which stand in it, and which may call any function: `pickle.loads(b"…")`.
pub(super) fn shown_pickle(code: &Code<'_>) -> Option<Call> {
    let loads = |at: usize| {
        let module = code.name(at).and_then(|name| name.rsplit_once('.')).filter(|(_, last)| *last == "loads");
        let is_pickle = module.is_some_and(|(module, _)| lists(&code::CARRIED_PICKLES, last_component(module)));
        let end = code.close(at + 1);
        is_pickle
            && code.is_sign(at + 1, '(')
            && (matches!(code.token(at + 2), Some(Token::Text(_))) || code.has_fold(at + 2, end))
    };
    (0..code.tokens.len()).any(loads).then(Call::unknown)
}

/// Finds that code shows credentials which a library reads without naming their file: `netrc.netrc().hosts`.
pub(super) fn credentials(code: &Code<'_>) -> Option<Call> {
    let shows = |name: &str| is_shower(name) || name == "vars";
    let names = || code.tokens.iter().filter_map(|token| if let Token::Name(name) = token { Some(name) } else { None });
    let reads = |name: &&String| {
        lists(&code::CARRIED_CREDENTIALS, name) || lists(&code::CARRIED_CREDENTIALS, last_component(name))
    };
    (names().any(|name| reads(&name)) && names().any(|name| shows(name)))
        .then(|| Call::same(&["cat", "~/.aws/credentials"]))
}

/// Whether code uses the whole environment.
pub(super) fn has_environment(code: &Code<'_>) -> bool {
    (0..code.tokens.len()).any(|at| environment_at(code, at).is_some())
}

/// Finds that code shows all environment variables.
pub(super) fn environment(code: &Code<'_>) -> Option<Call> {
    // What holds for all of the code is found once, when it is first needed.
    let shows = LazyCell::new(|| {
        code.meter.charge(code.tokens.len());
        code.tokens.iter().any(|token| matches!(token, Token::Name(name) if is_shower(name)))
    });
    let shows_members = LazyCell::new(|| shows_members(code));
    let is_filtered = LazyCell::new(|| is_filtered(code));
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in code.tokens.iter().enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => open.push(at),
            Token::Sign(')' | ']' | '}') => {
                open.pop();
            }
            Token::Name(_) => {
                let Some(environment) = environment_at(code, at) else { continue };
                let is_alone = code.language == Language::Node && code.tokens.len() <= 2;
                let is_looped =
                    || is_looped(code, at) && (environment == Environment::Values || *shows_members) && *shows;
                if is_alone || (is_shown(code, at, &open) || is_looped()) && !*is_filtered {
                    return Some(Call::same(&[ENVIRONMENT]));
                }
            }
            Token::Text(_) | Token::Mixed(_) | Token::Command(_) | Token::Sign(_) => {}
        }
    }
    None
}

/// Whether a function shows what it is given.
fn is_shower(name: &str) -> bool {
    lists(&code::CARRIED_SHOWS, name) || lists(&code::CARRIED_SHOWS, last_component(name))
}

/// Whether what stands at `at` is given to a function that shows it.
fn is_shown(code: &Code<'_>, at: usize, open: &[usize]) -> bool {
    let head = |at: Option<usize>| at.and_then(|at| code.name(at));
    // `"X" in environ`
    if head(at.checked_sub(1)) == Some("in") {
        return false;
    }
    let has_values = environment_at(code, at) == Some(Environment::Values);
    let before = at.checked_sub(1 + usize::from(at > 0 && code.is_sign(at - 1, '%')));
    if head(before).is_some_and(is_shower) {
        return true;
    }
    for open in open.iter().rev() {
        code.meter.charge(1);
        if code.meter.exceeds(&SHELL_STEPS) {
            return false;
        }
        match head(open.checked_sub(1)) {
            Some(name) if is_shower(name) => return true,
            // A list of the object holds only its names.
            Some("list" | "sorted" | "set") if !has_values => return false,
            Some(name) if code.is_sign(*open, '(') && !lists(&code::CARRIED_WRAPS, last_component(name)) => {
                return false;
            }
            _ => {}
        }
    }
    false
}

/// Whether the values are gone through: `for k in x`, `x.each`, `Object.entries(x).forEach`.
fn is_looped(code: &Code<'_>, at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| code.name(at));
    let keys = ["in", "of", "keys", "each", "values", "foreach"];
    let each = code
        .name(at)
        .is_some_and(|name| name.ends_with(".each") || name.ends_with(".each_pair") || name.ends_with(".map"));
    let entries = before(2).is_some_and(|name| name.ends_with("entries"));
    let is_key = |name: Option<&str>| name.is_some_and(|name| keys.contains(&name));
    each || entries || is_key(before(1)) || is_key(before(2))
}

/// Whether the code takes variables by a name that is not a literal: `ENVIRON[k]`.
fn shows_members(code: &Code<'_>) -> bool {
    code.meter.charge(code.tokens.len());
    (0..code.tokens.len()).any(|at| match code.token(at) {
        Some(Token::Name(name)) => {
            lists(&code::CARRIED_ENVIRONMENT, name.trim_start_matches('$'))
                && matches!(code.token(at + 1), Some(Token::Sign('[' | '{')))
                && matches!(code.token(at + 2), Some(Token::Name(_)))
        }
        Some(Token::Mixed(pieces)) => pieces.iter().any(|piece| match piece {
            Piece::Code(inner) => ["ENV{$", "environ[", "env["].iter().any(|member| inner.contains(member)),
            Piece::Text(_) => false,
        }),
        _ => false,
    })
}

/// Whether a condition selects variables by a part of their names.
fn is_filtered(code: &Code<'_>) -> bool {
    (0..code.tokens.len()).any(|at| {
        code.meter.charge(1);
        let selects = code.name(at).is_some_and(|name| lists(&code::CARRIED_SELECTS, last_component(name)));
        let near = code.tokens.get(at + 1..(at + 12).min(code.tokens.len())).unwrap_or_default();
        let near = near.split(|token| *token == Token::Sign('\n')).next().unwrap_or_default();
        selects
            && near
                .iter()
                .any(|token| matches!(token, Token::Text(text) if text.len() > 1) || *token == Token::Sign('/'))
    })
}

/// Finds that code makes objects, which may run code, from what it has fetched or is fed.
pub(super) fn unpickled(code: &Code<'_>, fetches: bool) -> Option<Call> {
    let inputs = Counts::of(code.tokens, |token| matches!(token, Token::Name(name) if name.contains("stdin")));
    let is_fed = |at: usize| inputs.any(at + 2, code.close(at + 1));
    let makes = |at: &usize| {
        let Some((module, method)) = code.name(*at).and_then(|name| name.rsplit_once('.')) else { return false };
        matches!(method, "load" | "loads" | "Unpickler")
            && lists(&code::CARRIED_PICKLES, module)
            && code.is_sign(at + 1, '(')
    };
    let unpickles = (0..code.tokens.len()).filter(makes).any(|at| fetches || is_fed(at));
    unpickles.then(Call::unknown)
}

/// Finds the names of processes that code ends.
pub(super) fn ended_processes(code: &Code<'_>) -> Vec<Call> {
    let names = || {
        code.tokens.iter().filter_map(|token| if let Token::Name(name) = token { Some(name.as_str()) } else { None })
    };
    let all = |at: usize| code.is_sign(at + 1, '(') && code.is_sign(at + 2, '-') && code.name(at + 3) == Some("1");
    let kills = |name: &str| matches!(last_component(name), "kill" | "terminate" | "killpg" | "suspend");
    let mut found = Vec::new();
    if (0..code.tokens.len()).any(|at| code.name(at).is_some_and(kills) && all(at)) {
        found.push(Call::same(&["kill", "-9", "-1"]));
    }
    let is_list = |name: &str| lists(&code::CARRIED_PROCESSES, last_component(name));
    let lists_processes =
        names().any(is_list) || code.tokens.iter().any(|token| matches!(token, Token::Text(text) if text == "/proc"));
    if lists_processes && names().any(kills) {
        let compared = (0..code.tokens.len()).filter_map(|at| {
            let before = at.checked_sub(1).and_then(|at| code.token(at));
            let is_compared = matches!(before, Some(Token::Sign('=')))
                || matches!(code.name(at + 1), Some("in"))
                || at > 1
                    && code.is_sign(at - 1, '(')
                    && code.name(at - 2).is_some_and(|name| lists(&code::WORDS_TEXT, last_component(name)));
            match code.token(at) {
                Some(Token::Text(text)) if is_compared && !text.starts_with('/') => Some(text),
                _ => None,
            }
        });
        let compared: Vec<Call> = compared.map(|name| Call::same(&["pkill", "-f", name])).collect();
        found.extend(if compared.is_empty() { vec![Call::unknown()] } else { compared });
    }
    found
}

/// Finds requests with data of files, in languages whose calls are not known by name.
pub(super) fn sent(code: &Code<'_>) -> Vec<Call> {
    let is_address = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    let reads = (0..code.tokens.len()).any(|at| {
        let reader = code
            .name(at)
            .map(last_component)
            .is_some_and(|name| lists(&code::COMPUTED_READ, name) || matches!(effect_of(name), Some(CallEffect::Read)));
        let file = (at + 1..at + 3)
            .find_map(|at| if let Some(Token::Text(text)) = code.token(at) { Some(text) } else { None });
        reader && file.is_some_and(|file| !is_address(file))
    });
    if !reads {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in code.tokens.iter().enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => open.push(at),
            Token::Sign(')' | ']' | '}') => {
                open.pop();
            }
            Token::Text(text) if is_address(text) => {
                let end = open.last().map_or_else(|| code.statement_end(at), |open| code.close(*open));
                if (at + 1..end).any(|at| {
                    code.name(at).is_some() && matches!(code.token(at + 1), Some(Token::Sign('(')))
                        || code.language == Language::Lisp && code.is_sign(at, '(') && code.name(at + 1).is_some()
                }) {
                    found.push(Call::same(&["curl", "--data", "@-", text]));
                }
            }
            Token::Name(_) | Token::Text(_) | Token::Mixed(_) | Token::Command(_) | Token::Sign(_) => {}
        }
    }
    found
}
