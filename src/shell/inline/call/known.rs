//! Calls whose effect is known: their arguments, and the commands that do the same.

use super::super::expression::{Code, last_component};
use super::super::token::Token;
use super::super::value::Value;
use super::super::{Call, Language, Word, sql};
use super::argument::{Argument, arguments};
use super::build::build_calls;
use super::{Found, mode, reads};
use crate::programs::code::CallEffect;
use crate::verdict::limits::SHELL_STEPS;

/// The program that stands for the use of a file whose name the code decodes from something unknown.
pub(super) const COMPUTED_FILE: &str = "code-file";

/// Judges a call whose effect is known. `open` is the index of its bracket, or of its first argument.
pub(super) fn known_call(
    code: &Code<'_>,
    effect: Option<CallEffect>,
    name: &str,
    at: usize,
    open: usize,
    found: &mut Found,
) {
    let Some(effect) = effect else { return };
    let last = last_component(name);
    let language = code.language;
    // Only some languages allow calls without parentheses.
    let called = code.is_sign(open, '(');
    let plain = matches!(
        last,
        "system" | "exec" | "unlink" | "truncate" | "rmtree" | "remove_tree" | "rmdir" | "eval" | "chdir" | "open"
    );
    let bare = matches!(language, Language::Perl | Language::Ruby | Language::Php)
        && match code.token(open) {
            Some(Token::Text(_) | Token::Mixed(_)) => true,
            Some(Token::Name(_)) => {
                plain || effect == CallEffect::Rights || effect == CallEffect::Delete && language == Language::Ruby
            }
            Some(Token::Sign('{')) => language == Language::Perl && matches!(last, "system" | "exec"),
            _ => false,
        };
    let bare = bare || language == Language::Lua && matches!(code.token(open), Some(Token::Text(_)));
    // `fork` in Perl needs no parentheses.
    let alone = effect == CallEffect::Unknown && last == "fork" && language == Language::Perl;
    if !called && !bare && !alone {
        found.calls.extend(passed_on(code, effect, at));
        return;
    }
    if let Some(judged) = found.judged.get_mut(at) {
        *judged = effect != CallEffect::Unknown;
    }
    // Perl: `exec {"program"} "name", "argument"`.
    let open = if !called && code.is_sign(open, '{') { code.close(open) + 1 } else { open };
    let (start, end) = if called { (open + 1, code.close(open)) } else { (open, bare_end(code, open)) };
    let call = KnownCall { effect, last, at, start, end };
    let given = arguments(code, start, end);
    let possible = if effect == CallEffect::Chdir { vec![given] } else { possible_arguments(code, given) };
    for given in possible {
        judge_call(code, &call, &given, found);
    }
}

/// A call whose effect is known.
struct KnownCall<'a> {
    effect: CallEffect,
    /// The last component of its name.
    last: &'a str,
    /// The index of its name.
    at: usize,
    /// Where its arguments start and end.
    start: usize,
    end: usize,
}

/// Steps for judging a call with one of several values.
const VARIANT_STEPS: usize = 64;

/// The arguments of a call as they are written and, if variables have several possible values, also with each of these.
/// The other variables may then have any value.
fn possible_arguments(code: &Code<'_>, given: Vec<Argument>) -> Vec<Vec<Argument>> {
    let single = |argument: &Argument| match argument {
        Argument::OneOf(_) => Argument::Value(Value::unknown()),
        Argument::Keyword(..) | Argument::Value(_) | Argument::List(_) => argument.clone(),
    };
    let mut possible = Vec::new();
    for (at, argument) in given.iter().enumerate() {
        let Argument::OneOf(values) = argument else { continue };
        for value in values {
            code.meter.charge(VARIANT_STEPS * given.len() + value.length());
            if code.meter.exceeds(&SHELL_STEPS) {
                break;
            }
            let mut chosen: Vec<Argument> = given.iter().map(single).collect();
            if let Some(argument) = chosen.get_mut(at) {
                *argument = Argument::Value(value.clone());
            }
            possible.push(chosen);
        }
    }
    // The values of one variable say all, if they are known.
    let unsettled =
        |argument: &Argument| matches!(argument, Argument::OneOf(values) if !values.iter().all(Value::is_complete));
    let variables = given.iter().filter(|argument| matches!(argument, Argument::OneOf(_))).count();
    if variables != 1 || given.iter().any(unsettled) {
        possible.insert(0, given);
    }
    possible
}

/// Judges a call with arguments that it may have.
fn judge_call(code: &Code<'_>, call: &KnownCall<'_>, given: &[Argument], found: &mut Found) {
    let KnownCall { effect, last, at, start, end } = *call;
    let first = given.first().map(Argument::values);
    let with_mode = if effect == CallEffect::Rights { mode::first(code, start, end, given) } else { Vec::new() };
    let given = if with_mode.is_empty() { given } else { &with_mode };
    match effect {
        CallEffect::Resolve => {
            if !found.is_plain(code, start, end) {
                found.hosts.extend(first.into_iter().flatten().map(Value::word));
            }
        }
        CallEffect::Chdir => {
            if let Some(values) = first {
                code.meter.charge(values.iter().map(|value| 1 + value.length()).sum());
                found.directories = values.to_vec();
            }
        }
        CallEffect::Code => match first {
            Some([value, ..]) if value.text().is_some() => {
                let text = if matches!(last, "Function" | "create_function") {
                    given.last().and_then(|argument| argument.values().first())
                } else {
                    Some(value)
                };
                found.evaluated.extend(text.and_then(Value::text));
            }
            // `eval { … }` in Perl and `instance_eval { }` in Ruby contain their code.
            None => {}
            Some(_) => found.calls.push(Call::unknown()),
        },
        // Python: `exec` runs code.
        CallEffect::Run if last == "exec" && code.language == Language::Python => match first {
            Some([value, ..]) if value.text().is_some() => found.evaluated.extend(value.text()),
            _ => found.calls.push(Call::unknown()),
        },
        // SQL is no shell text.
        CallEffect::Run if sql::is_sql(&given_text(given)) => {
            found.calls.extend(sql::sql_loss(&given_text(given)));
        }
        CallEffect::Run
        | CallEffect::Spawn
        | CallEffect::Delete
        | CallEffect::Write
        | CallEffect::Rights
        | CallEffect::Open
        | CallEffect::Move
        | CallEffect::Copy
        | CallEffect::Fetch
        | CallEffect::Send
        | CallEffect::Read
        | CallEffect::Unknown
        | CallEffect::WriteObject
        | CallEffect::Lookup
        | CallEffect::Lose => match build_in_directories(code, effect, given, &found.directories) {
            Some(calls) => {
                let is_file = matches!(
                    effect,
                    CallEffect::Delete
                        | CallEffect::Write
                        | CallEffect::Rights
                        | CallEffect::Open
                        | CallEffect::Move
                        | CallEffect::Copy
                        | CallEffect::Read
                );
                let is_read = |call: &Call| matches!(call, Call::Same(words) if reads(words) || words.first().is_some_and(|verb| verb.text == "cp"));
                let others = matches!(effect, CallEffect::Move | CallEffect::Copy | CallEffect::Open);
                let others = given.get(1..).unwrap_or_default().iter().filter(|_| others);
                let other: Vec<Value> = others.flat_map(Argument::values).cloned().collect();
                let files = if is_file { computed_files(first.unwrap_or_default()) } else { Vec::new() };
                let more = if is_file { computed_files(&other) } else { Vec::new() };
                let is_shown = calls.iter().any(is_read);
                found.calls.extend(files.into_iter().chain(more).filter(|file| is_shown || !is_read(file)));
                let is_request = |call: &Call| matches!(call, Call::Same(words) if matches!(words.as_slice(), [curl, _] if curl.text == "curl"));
                if calls.iter().any(is_request) && !found.is_plain(code, start, end) {
                    found.requests.push(found.calls.len());
                }
                found.calls.extend(calls);
            }
            None => {
                if let Some(judged) = found.judged.get_mut(at) {
                    *judged = false;
                }
            }
        },
    }
}

/// The commands that do the same as a call, in each directory that the code may be in.
fn build_in_directories(
    code: &Code<'_>,
    effect: CallEffect,
    given: &[Argument],
    directories: &[Value],
) -> Option<Vec<Call>> {
    if directories.is_empty() {
        return build_calls(effect, given, None);
    }
    let values: usize = given.iter().map(|argument| argument.values().len()).sum();
    let mut all = Vec::new();
    for directory in directories {
        code.meter.charge(4 * VARIANT_STEPS * (1 + values));
        if code.meter.exceeds(&SHELL_STEPS) {
            break;
        }
        all.extend(build_calls(effect, given, Some(directory))?);
    }
    Some(all)
}

/// The files with names that the code decodes or takes from a listing, other than those that the call shows.
pub(super) fn computed_files(values: &[Value]) -> Vec<Call> {
    let decoded = values.iter().filter(|value| value.is_decoded()).map(|_| Call::same(&[COMPUTED_FILE]));
    let hidden = values.iter().flat_map(Value::hidden_words);
    decoded.chain(hidden.map(|word| Call::Same(vec![Word::known("cat"), word]))).collect()
}

fn given_text(arguments: &[Argument]) -> String {
    arguments.first().and_then(|argument| argument.values().first()).and_then(Value::text).unwrap_or_default()
}

/// The end of the arguments of a call without parentheses.
fn bare_end(code: &Code<'_>, start: usize) -> usize {
    let mut at = start;
    while let Some(token) = code.token(at) {
        code.meter.charge(1);
        at = match token {
            Token::Sign('(' | '[' | '{') => code.close(at) + 1,
            Token::Sign(';' | '\n' | ')' | ']' | '}') => return at,
            Token::Name(word) if matches!(word.as_str(), "if" | "unless" | "or" | "and" | "for" | "while") => {
                return at;
            }
            Token::Name(_) | Token::Text(_) | Token::Mixed(_) | Token::Command(_) | Token::Sign(_) => at + 1,
        };
    }
    code.tokens.len()
}

/// A function that is given to another one: `map(os.remove, files)`. It gets what else that one is given.
fn passed_on(code: &Code<'_>, effect: CallEffect, at: usize) -> Vec<Call> {
    let serious = matches!(
        effect,
        CallEffect::Run | CallEffect::Spawn | CallEffect::Delete | CallEffect::Code | CallEffect::Unknown
    );
    let is_argument = at.checked_sub(1).is_some_and(|at| matches!(code.token(at), Some(Token::Sign('(' | ',' | '&'))))
        && matches!(code.token(at + 1), Some(Token::Sign(',' | ')')));
    if !serious || !is_argument {
        return Vec::new();
    }
    let end = code.statement_end(at + 1);
    let end = if code.is_sign(end, ',') { code.statement_end(end + 1).max(end + 1) } else { end };
    let texts = code.tokens.get(at + 1..end).unwrap_or_default().iter();
    let values: Vec<Value> = texts.filter_map(|token| code.string(token)).collect();
    if values.is_empty() && !matches!(effect, CallEffect::Run | CallEffect::Delete | CallEffect::Code) {
        return Vec::new();
    }
    let values = if values.is_empty() { vec![Value::unknown()] } else { values };
    let calls = values.into_iter().map(|value| build_calls(effect, &[Argument::Value(value)], None));
    calls.flatten().flatten().collect()
}
