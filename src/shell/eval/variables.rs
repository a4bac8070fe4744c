//! Assignments to variables and arrays.

use super::super::state::{ShellState, Value, copy_cost};
use super::super::syntax::{Assignment, Word, WordPart};
use super::super::{Arg, FIELD_SEPARATOR, expand};
use super::execution::Execution;
use std::rc::Rc;

impl Execution {
    /// Sets a variable.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.state.meter.charge(2 * copy_cost(value.size()));
        // After an assignment to `x[0]`, the value of `x` is unknown.
        let (name, value) = name.split_once('[').map_or((name, value), |(name, _)| (name, Value::Unknown));
        let state = Rc::make_mut(&mut self.state);
        let value = if state.readonly.contains(name) { value.join(state.variables.get(name)) } else { value };
        let value = if state.options.has_nameref { value.join(None) } else { value };
        remove_elements(state, name);
        state.variables.insert(name.to_owned(), value);
    }

    /// Sets an array: `x[@]` for all elements, and `x[0]`, `x[1]` … if the indices are known.
    pub(super) fn set_array(&mut self, set: &Assignment, words: &[Word]) {
        // `x=([5]=y)`
        let has_indices =
            words.iter().any(|word| matches!(word.parts.first(), Some(WordPart::Plain(text)) if text.starts_with('[')));
        let elements = expand::expand_fields(words.iter().cloned(), &self.state);
        let all = format!("{}[@]", set.name);
        let before = self.state.value(&all).cloned();
        let value = match (before, join_words(&elements)) {
            (_, value) if !set.appends => value,
            (None, value) => value,
            (Some(Value::Known(before)), Value::Known(more)) => {
                Value::Known(format!("{before}{FIELD_SEPARATOR}{more}"))
            }
            (before, _) => {
                let known = match before {
                    Some(Value::Known(before)) => before.split(FIELD_SEPARATOR).map(Arg::literal).collect(),
                    Some(Value::Words(words)) => words,
                    _ => vec![expand::unknown_arg()],
                };
                Value::Words(known.into_iter().chain(elements.iter().cloned()).collect())
            }
        };
        let is_indexed = !set.appends && !has_indices;
        self.set(&set.name, elements.first().filter(|_| is_indexed).map_or(Value::Unknown, Value::from_arg));
        self.state.meter.charge(2 * copy_cost(value.size()));
        let variables = &mut Rc::make_mut(&mut self.state).variables;
        variables.insert(all, value);
        // After an element that may be several words, the indices are unknown.
        let counted = elements.iter().take_while(|element| element.is_known() && !element.glob);
        for (at, element) in counted.enumerate().filter(|_| is_indexed) {
            variables.insert(format!("{}[{at}]", set.name), Value::from_arg(element));
        }
    }
}

/// Removes the elements of an array.
fn remove_elements(state: &mut ShellState, name: &str) {
    let start = format!("{name}[");
    let elements = state.variables.range(start.clone()..).map(|(name, _)| name.clone());
    let elements: Vec<String> = elements.take_while(|name| name.starts_with(&start)).collect();
    for name in elements {
        state.variables.remove(&name);
    }
}

/// Builds the value of an array or of `$@`, which expands to these words again.
pub(super) fn join_words(words: &[Arg]) -> Value {
    let known = words.iter().all(Arg::is_known);
    let all = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(FIELD_SEPARATOR);
    if known { Value::Known(all) } else { Value::Words(words.to_vec()) }
}

/// Returns the text of an argument if all of it is known.
pub(super) fn known_text(arg: &Arg) -> Option<String> {
    arg.is_known().then(|| arg.text.to_string())
}

/// Returns the value of an assignment if it is known. In `PATH=$PATH:x` the previous value counts as `/usr/bin`.
pub(in super::super) fn env_value(name: &str, arg: &Arg) -> Option<String> {
    if arg.is_known() || !name.ends_with("PATH") {
        return known_text(arg);
    }
    let before = format!("${name}");
    let rest = arg.text.replace(&before, "/usr/bin");
    // An unknown directory at the end of `PATH` is searched last.
    let appended = arg.text.strip_prefix(&before).is_some_and(|rest| rest.starts_with(':'));
    let rest = if appended && name == "PATH" { rest.replace("$()", "/usr/local") } else { rest };
    (arg.text.contains(&before) && !rest.contains('$')).then_some(rest)
}
