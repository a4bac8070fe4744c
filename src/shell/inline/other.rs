//! Computed programs, files and functions in languages whose calls are not known by name.

use super::call::{Argument, arguments};
use super::expression::{Code, last_component};
use super::token::{Piece, Token};
use super::value::Value;
use super::words::{is_command_line, is_remover};
use super::{Call, Language, Word};
use crate::encoding::address::is_remote_code;
use crate::programs::code::{self, CallEffect, effect_of, lists};
use crate::verdict::limits::SHELL_STEPS;

/// Finds the calls whose arguments are put together.
pub(super) fn calls(code: &Code<'_>) -> Vec<Call> {
    let mut found = Vec::new();
    for at in 0..code.tokens.len() {
        if code.meter.exceeds(&SHELL_STEPS) {
            break;
        }
        match code.token(at) {
            Some(Token::Name(name)) => {
                found.extend(program_property(code, name, at));
                found.extend(received(code, name, at));
                if let Some((start, end)) = given(code, at) {
                    call(code, at, start, end, &mut found);
                }
            }
            // Scala: `Seq("a", "b").!`
            Some(Token::Sign('!')) if at > 1 && code.is_sign(at - 1, '.') => found.extend(receiver(code, at - 1)),
            _ => {}
        }
    }
    found
}

/// Where the arguments of the call at `at` are.
fn given(code: &Code<'_>, at: usize) -> Option<(usize, usize)> {
    if code.language != Language::Lisp {
        // AppleScript: `do shell script x`; Tcl: `eval [x]`
        if code.name(at) == Some("script") && at > 0 && code.name(at - 1) == Some("shell") {
            return Some((at + 1, code.statement_end(at + 1)));
        }
        let is_tcl = code.name(at) == Some("eval") && code.is_sign(at + 1, '[');
        return if is_tcl {
            Some((at + 1, code.close(at + 1) + 1))
        } else {
            code.is_sign(at + 1, '(').then(|| (at + 2, code.close(at + 1)))
        };
    }
    // `(f x)`, `(.f object x)`
    let is_method = at > 1 && code.is_sign(at - 1, '.');
    let open = at.checked_sub(1 + usize::from(is_method)).filter(|open| code.is_sign(*open, '('))?;
    let end = code.close(open);
    let mut start = if is_method { part_end(code, at + 1, end) } else { at + 1 };
    // Clojure: options before the command.
    if code.is_sign(start, '{') {
        start = code.close(start) + 1;
    }
    Some((start.min(end), end))
}

/// The end of one element of a list.
fn part_end(code: &Code<'_>, start: usize, end: usize) -> usize {
    let quoted = start + usize::from(code.is_sign(start, '\''));
    match code.token(quoted) {
        Some(Token::Sign('(' | '[' | '{')) => (code.close(quoted) + 1).min(end),
        _ => (quoted + 1).min(end),
    }
}

/// The first argument.
fn first(code: &Code<'_>, start: usize, end: usize) -> (usize, usize) {
    let behind =
        if code.language == Language::Lisp { part_end(code, start, end) } else { code.statement_end(start).min(end) };
    // The name of an argument: `parse(text = x)`.
    let is_named = code.name(start).is_some() && code.is_sign(behind, '=');
    if is_named { (behind + 1, code.statement_end(behind + 1).min(end)) } else { (start, behind) }
}

fn call(code: &Code<'_>, at: usize, start: usize, end: usize, found: &mut Vec<Call>) {
    let Some(name) = code.name(at) else { return };
    let last = last_component(name);
    let (from, to) = first(code, start, end);
    // Lua in Redis: `redis.call("flush" .. "all")`
    if matches!(name, "redis.call" | "redis.pcall") {
        let command = code.evaluate(from, to).text().map(|text| text.to_ascii_lowercase());
        if command.is_none_or(|command| lists(&code::STATEMENTS_REDIS_LOSE, &command)) {
            found.push(Call::same(&["psql", "-c", "drop table of_code"]));
        }
        return;
    }
    // AppleScript: `do shell script x`
    let is_other_script = name == "script" && code.name(at.wrapping_sub(1)) != Some("shell");
    if from >= to || is_other_script {
        return;
    }
    // Java: `Runtime.getRuntime().exec(x)`; `exec` is also a method of regular expressions and databases.
    let runs_java = last == "exec" && at > 3 && code.name(at - 4).is_some_and(|name| name.ends_with("getRuntime"));
    let is_lisp_exec = last == "exec" && code.language == Language::Lisp;
    if runs_java || is_lisp_exec || lists(&code::COMPUTED_RUN, last) || lists(&code::COMPUTED_RUN, name) {
        found.extend(run(code, from, to, end));
        return;
    }
    if lists(&code::COMPUTED_EVALUATE, last) {
        if !is_literal(code, from, to) && !shows_code(code, from, to) {
            found.push(Call::unknown());
        }
    } else if lists(&code::COMPUTED_LOOKUP, name) || lists(&code::COMPUTED_LOOKUP, last) {
        found.extend(looked_up(code, start, end));
    } else if lists(&code::COMPUTED_MODE, last) {
        let value = code.evaluate(from, to);
        if value == Value::home() {
            found.push(Call::same(&["chmod", "-R", "000", "~/"]));
        }
    }
    let is_install = name.ends_with("Pkg.add");
    if lists(&code::WORDS_LOADERS, last) || is_install {
        let texts = code.tokens.get(start..end).unwrap_or_default().iter();
        let addresses = texts.filter_map(|token| if let Token::Text(text) = token { Some(text.clone()) } else { None });
        let known = addresses.filter(|_| is_install).chain(code.fold(from, to).and_then(|value| value.text()));
        found.extend(known.filter(|text| is_remote_code(text)).map(|text| Call::fetched_code(&text)));
    }
    file(code, last, from, to, found);
}

/// What is done with a text that is put together.
fn file(code: &Code<'_>, name: &str, start: usize, end: usize, found: &mut Vec<Call>) {
    if !code.has_fold(start, end) || lists(&code::WORDS_PATHS, name) || lists(&code::WORDS_NAMES, name) {
        return;
    }
    let Some(value) = code.fold(start, end) else { return };
    let word = value.word();
    if word.text.contains(['\n', '(']) {
        return;
    }
    let reads =
        lists(&code::COMPUTED_READ, name) || matches!(effect_of(name), Some(CallEffect::Read | CallEffect::Open));
    if reads && !word.text.contains("://") {
        found.push(Call::Same(vec![Word::known("cat"), word]));
    } else if is_remover(name) && word.text.starts_with(['/', '~']) {
        found.push(Call::Same(vec![Word::known("rm"), Word::known("-rf"), word]));
    } else if is_command_line(&word.text) {
        found.push(Call::Loose(value.shell_text()));
    }
}

/// The command that is the object of a method: `["a", "b"].execute()`.
fn received(code: &Code<'_>, name: &str, at: usize) -> Option<Call> {
    let is_method = at > 0 && code.is_sign(at - 1, '.') && code.is_sign(at + 1, '(') && code.is_sign(at + 2, ')');
    (is_method && name == "execute").then(|| receiver(code, at - 1))?
}

fn receiver(code: &Code<'_>, dot: usize) -> Option<Call> {
    let close = dot.checked_sub(1)?;
    let open = code.open(close)?;
    let named = open.checked_sub(1).filter(|at| code.name(*at).is_some());
    run(code, named.unwrap_or(open), close + 1, close + 1)
}

/// A program that is run with what stands between two tokens; `end` is the end of its arguments.
fn run(code: &Code<'_>, start: usize, to: usize, end: usize) -> Option<Call> {
    if is_literal(code, start, to) || start >= to {
        return None;
    }
    if let Some(words) = code.fold_list(start, to) {
        return Some(Call::Same(words.iter().map(Value::word).collect()));
    }
    let value = code.fold(start, to).unwrap_or_else(|| code.evaluate(start, to));
    let word = value.word();
    let is_known = |text: &str| word.known.is_none() || text.trim_start().contains(char::is_whitespace);
    if !is_known(word.text.get(..word.known.unwrap_or(word.text.len())).unwrap_or_default()) || value.is_unknown() {
        return Some(Call::unknown());
    }
    // The arguments of the program: `system2("rm", c("-rf", "x"))`.
    let more: Vec<Word> = if code.language == Language::Lisp {
        lisp_words(code, to, end)
    } else {
        let given = arguments(code, (to + 1).min(end), end);
        given
            .iter()
            .filter(|given| !matches!(given, Argument::Keyword(..)))
            .flat_map(Argument::values)
            .map(Value::word)
            .collect()
    };
    if word.text.contains(char::is_whitespace) || more.is_empty() {
        return Some(Call::Loose(value.shell_text()));
    }
    Some(Call::Same([word].into_iter().chain(more).collect()))
}

/// The strings and paths among the elements of a list.
fn lisp_words(code: &Code<'_>, start: usize, end: usize) -> Vec<Word> {
    let mut words = Vec::new();
    let mut at = start;
    while at < end {
        code.meter.charge(1);
        if let Some((home, behind)) = code.home_at(at).or_else(|| code.home_at(at + 1)) {
            words.push(home.word());
            at = behind.max(at + 1);
            continue;
        }
        match code.token(at) {
            Some(Token::Text(text)) if lists(&code::WORDS_HOME_KEYS, text) => words.push(Value::home().word()),
            Some(Token::Text(text)) => words.push(Word::known(text)),
            _ => {}
        }
        at += 1;
    }
    words
}

/// Whether an argument is a literal, which is judged as such.
fn is_literal(code: &Code<'_>, start: usize, end: usize) -> bool {
    let tokens = code.tokens.get(start..end).unwrap_or_default();
    let is_plain = |token: &Token| match token {
        Token::Text(_) | Token::Command(_) | Token::Sign('\'' | ',' | ':') => true,
        Token::Mixed(pieces) => {
            matches!(pieces.first(), Some(Piece::Text(text)) if text.trim_start().contains(char::is_whitespace))
        }
        Token::Name(_) | Token::Sign(_) => false,
    };
    match tokens {
        [Token::Sign('\''), ..] => true,
        [Token::Name(name)] => matches!(name.as_str(), "nil" | "null" | "None" | "true" | "false" | "TRUE" | "FALSE"),
        [Token::Sign('[' | '('), inner @ .., Token::Sign(']' | ')')]
        | [Token::Name(_), Token::Sign('('), inner @ .., Token::Sign(')')]
            if code.close(end - 1 - inner.len() - 1) == end - 1 =>
        {
            let is_list = match tokens.first() {
                Some(Token::Name(name)) => lists(&code::COMPUTED_LIST, last_component(name)),
                _ => true,
            };
            is_list && inner.iter().all(is_plain)
        }
        tokens => !tokens.is_empty() && tokens.iter().all(is_plain),
    }
}

/// Whether code that is evaluated stands in the code: `eval(quote(x))`, `eval(parse(text = "x"))`.
fn shows_code(code: &Code<'_>, start: usize, end: usize) -> bool {
    if code.has_fold(start, end) {
        return false;
    }
    let is_shown = |at: usize| match code.token(at) {
        Some(Token::Name(_)) => matches!(code.token(at + 1), Some(Token::Sign('(' | '='))),
        Some(Token::Sign(sign)) => matches!(sign, '(' | ')' | '=' | ',' | '\'' | ':'),
        Some(Token::Text(_)) => true,
        _ => false,
    };
    let quotes = code.name(start).is_some_and(|name| matches!(name, "quote" | "expression" | "bquote"));
    quotes || (start..end).all(is_shown) && (start..end).any(|at| matches!(code.token(at), Some(Token::Text(_))))
}

/// A function whose name is put together.
fn looked_up(code: &Code<'_>, start: usize, end: usize) -> Option<Call> {
    let is_sign = |at: usize| matches!(code.token(at), Some(Token::Sign('(' | '[' | '+' | '*' | '.' | '&' | '^')));
    // The second argument of `getfield` names the function.
    let (mut begin, mut to) = first(code, start, end);
    if code.name(start.saturating_sub(2)).is_some_and(|name| name == "getfield") {
        (begin, to) = first(code, to + 1, end);
    }
    let is_function = code.name(begin) == Some("function");
    if is_function || !(begin..to).any(is_sign) {
        return None;
    }
    let name = code.fold(begin, to).and_then(|value| value.text());
    let is_harmless =
        name.is_some_and(|name| effect_of(&name).is_none() && !is_remover(&name) && !lists(&code::COMPUTED_RUN, &name));
    (!is_harmless).then(Call::unknown)
}

/// `p.executableURL = URL(fileURLWithPath: "/bin/" + x)`
fn program_property(code: &Code<'_>, name: &str, at: usize) -> Option<Call> {
    let (_, property) = name.rsplit_once('.')?;
    if !lists(&code::COMPUTED_PROPERTY, property) || !code.is_sign(at + 1, '=') {
        return None;
    }
    let end = code.statement_end(at + 2);
    let value = match (at + 2..end).find(|at| code.is_sign(*at, '(')) {
        Some(open) => {
            let texts = code.tokens.get(open..end).unwrap_or_default().iter();
            let texts: Vec<&Token> = texts.filter(|token| matches!(token, Token::Text(_))).collect();
            if let [Token::Text(text)] = texts.as_slice() { Value::of_text(text) } else { Value::unknown() }
        }
        None => code.evaluate(at + 2, end),
    };
    if value.is_unknown() {
        return Some(Call::unknown());
    }
    let is_arguments = |at: &usize| {
        code.is_sign(at + 1, '=') && code.name(*at).is_some_and(|name| last_component(name) == "arguments")
    };
    let list = (at..code.tokens.len()).find(is_arguments).map(|at| at + 2);
    let words = list.map(|open| arguments(code, open + 1, code.close(open))).unwrap_or_default();
    let words = words.iter().flat_map(Argument::values).map(Value::word);
    Some(Call::Same([value.word()].into_iter().chain(words).collect()))
}
