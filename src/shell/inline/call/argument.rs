//! The arguments of a call.

use super::super::expression::Code;
use super::super::token::Token;
use super::super::value::Value;
use crate::verdict::limits::SHELL_STEPS;

/// Steps for one word of a list that a name stands for.
const WORD_STEPS: usize = 6;

/// One argument of a call.
#[derive(Clone, Debug)]
pub(in crate::shell::inline) enum Argument {
    /// `name=value`
    Keyword(String, Value),
    Value(Value),
    /// A name with several possible values.
    OneOf(Vec<Value>),
    List(Vec<Value>),
}

impl Argument {
    /// The values, one after the other.
    pub fn values(&self) -> &[Value] {
        match self {
            Argument::Keyword(_, value) | Argument::Value(value) => std::slice::from_ref(value),
            Argument::OneOf(values) | Argument::List(values) => values,
        }
    }
}

/// Parses the arguments of a call from the token at `start` up to its end. Nested brackets are skipped, so that nested calls
/// do not make the work quadratic.
pub(in crate::shell::inline) fn arguments(code: &Code<'_>, start: usize, end: usize) -> Vec<Argument> {
    parts(code, start, end).into_iter().map(|(start, end)| argument(code, start, end)).collect()
}

/// The ranges between commas.
fn parts(code: &Code<'_>, start: usize, end: usize) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let (mut begin, mut at) = (start, start);
    while at < end {
        code.meter.charge(1);
        at = match code.token(at) {
            Some(Token::Sign('(' | '[' | '{')) => code.close(at) + 1,
            Some(Token::Sign(',')) => {
                parts.push((begin, at));
                begin = at + 1;
                at + 1
            }
            _ => at + 1,
        };
    }
    if begin < end {
        parts.push((begin, end));
    }
    parts
}

fn argument(code: &Code<'_>, start: usize, end: usize) -> Argument {
    let is_equals = code.is_sign(start + 1, '=') && !code.is_sign(start + 2, '=');
    if let Some(name) = code.name(start).filter(|_| is_equals) {
        return Argument::Keyword(name.to_owned(), code.evaluate(start + 2, end));
    }
    // An object holds arguments only if it says so: `{args: ["-rf", "x"]}`.
    if code.is_sign(start, '{') {
        let list = (start..end).find(|at| code.name(*at) == Some("args")).map(|at| at + 2);
        let list = list.filter(|open| code.is_sign(*open, '['));
        let words = list.map(|open| parts(code, open + 1, code.close(open))).unwrap_or_default();
        return Argument::List(words.into_iter().map(|(start, end)| code.evaluate(start, end)).collect());
    }
    // A list, a tuple, or a call that makes one: `c("a", "b")`.
    let open = start + usize::from(code.name(start).is_some_and(|name| matches!(name, "c" | "list" | "vec" | "array")));
    if matches!(code.token(open), Some(Token::Sign('[' | '('))) && code.close(open) + 1 == end {
        let words = parts(code, open + 1, end - 1);
        return Argument::List(words.into_iter().map(|(start, end)| code.evaluate(start, end)).collect());
    }
    // `x[1:]`: any of the words of a list.
    if code.name(start).is_some_and(|name| code.is_list(name)) && code.is_sign(start + 1, '[') {
        return Argument::Value(Value::unknown());
    }
    let name = code.name(start).filter(|_| end == start + 1);
    if let Some(words) = name.and_then(|name| list_of(code, name)) {
        return Argument::List(words);
    }
    match name.map(|name| code.values_of(name)) {
        Some(values) if values.len() > 1 => {
            code.meter.charge(values.iter().map(|value| 1 + value.length() / 16).sum());
            Argument::OneOf(values.to_vec())
        }
        _ => Argument::Value(code.evaluate(start, end)),
    }
}

/// The words of a list that a name is assigned once: `x = ["a", "b"]`. Of what is added to it later, nothing is known.
fn list_of(code: &Code<'_>, name: &str) -> Option<Vec<Value>> {
    let [start] = code.assigned(name) else { return None };
    let end = code.close(*start);
    let values = code.values_of(name);
    // `for x in ["a", "b"]` gives one word at a time.
    let is_assignment = start.checked_sub(1).is_some_and(|before| code.is_sign(before, '='));
    if !is_assignment
        || !code.is_sign(*start, '[')
        || code.statement_end(*start) != end + 1
        || code.known(name).is_some_and(|known| known.has_incomplete)
    {
        return None;
    }
    // The list is read again at each use.
    code.meter.charge(WORD_STEPS * (end - start));
    if code.meter.exceeds(&SHELL_STEPS) {
        return None;
    }
    let words = parts(code, start + 1, end).into_iter().map(|(start, end)| code.evaluate(start, end));
    Some(words.chain((values.len() > 1).then(Value::unknown)).collect())
}
