//! The words of a command, once for each combination of the values that its variables can have.

use super::super::Arg;
use super::super::state::{State, Value};
use super::super::syntax::{Part, Variable, Word};
use super::{View, as_it_is, choices, hole, is_written_out};
use crate::limits::SHELL_COMMANDS;

/// The words of a command, and further lists where a variable in it may have one of several values: one list for each
/// combination of the values.
pub(in super::super) fn argument_lists(
    words: impl ExactSizeIterator<Item = Word>,
    state: &State,
) -> (Vec<Arg>, Vec<Vec<Arg>>) {
    let mut first = Vec::with_capacity(words.len());
    let mut rest: Vec<Word> = Vec::new();
    for word in words {
        if !rest.is_empty() {
            rest.push(word);
            continue;
        }
        match as_it_is(word) {
            Ok(arg) => first.push(arg),
            Err(word) => rest.push(word),
        }
    }
    if rest.is_empty() {
        return (first, Vec::new());
    }
    let mut lists: Vec<Vec<Arg>> = Vec::new();
    for bound in combinations(&rest, state) {
        lists.extend(lists_of(&first, &rest, View { state, bound: &bound }));
    }
    let mut lists = lists.into_iter().filter(|list| !list.is_empty());
    (lists.next().unwrap_or_default(), lists.collect())
}

/// A value for each variable that can have several.
type Binding<'a> = Vec<(&'a str, Option<Value>)>;

/// All combinations of the values of variables that can have several.
fn combinations<'a>(words: &'a [Word], state: &State) -> Vec<Binding<'a>> {
    let mut varying: Vec<(&str, Vec<Option<Value>>)> = Vec::new();
    let mut count = 1_usize;
    for variable in words.iter().flat_map(variables) {
        let name = variable.name.strip_prefix('!').unwrap_or(&variable.name);
        if varying.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let known = |values: &[String]| values.iter().cloned().map(|value| Some(Value::Known(value))).collect();
        let values: Vec<Option<Value>> = match state.value(name) {
            Some(Value::Each(values)) => known(values),
            Some(Value::Maybe(members)) => {
                members.iter().map(|member| Some(Value::of(member))).chain([Some(Value::Unknown)]).collect()
            }
            None if name != "IFS" && variable.default.as_deref().is_some_and(is_written_out) => {
                vec![Some(Value::Unknown), None]
            }
            _ => continue,
        };
        count = count.saturating_mul(values.len());
        // So many commands exceed their limit anyway.
        if count > SHELL_COMMANDS.most {
            state.meter.charge(usize::MAX);
            return vec![Vec::new()];
        }
        varying.push((name, values));
    }
    let mut all: Vec<Binding<'a>> = vec![Vec::new()];
    for (name, values) in varying {
        state.meter.charge(COMBINATION * all.len() * values.len());
        let with = |binding: &Binding<'a>| {
            let longer = |value: &Option<Value>| binding.iter().cloned().chain([(name, value.clone())]).collect();
            values.iter().map(longer).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// What one more combination of values costs, in steps.
const COMBINATION: usize = 8;

fn variables(word: &Word) -> impl Iterator<Item = &Variable> {
    word.parts.iter().filter_map(|part| match part {
        Part::Variable(variable) => Some(variable.as_ref()),
        Part::Plain(_) | Part::Quoted(_) | Part::Output { .. } | Part::List(_) | Part::Unknown { .. } => None,
    })
}

/// The lists that words become behind those that are known.
fn lists_of(before: &[Arg], words: &[Word], view: View<'_>) -> Vec<Vec<Arg>> {
    let mut lists = vec![before.to_vec()];
    for word in words {
        let several = match as_it_is(word.clone()) {
            Ok(arg) => vec![vec![arg]],
            Err(word) => choices(&word, view),
        };
        let length: usize = lists.iter().map(|list| list.len()).sum();
        if several.len() > 1 && !view.charge(several.len().saturating_mul(length)) {
            lists.iter_mut().for_each(|list| list.push(hole()));
            continue;
        }
        match several.as_slice() {
            [only] => lists.iter_mut().for_each(|list| list.extend_from_slice(only)),
            several => {
                let with = |list: &Vec<Arg>| {
                    let joined = |other: &Vec<Arg>| list.iter().chain(other).cloned().collect::<Vec<_>>();
                    several.iter().map(joined).collect::<Vec<_>>()
                };
                lists = lists.iter().flat_map(with).collect();
            }
        }
    }
    lists
}
