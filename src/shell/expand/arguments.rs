//! The argument lists of a command: one for each combination of the values that its variables may have.

use super::super::Arg;
use super::super::state::{ShellState, Value};
use super::super::syntax::{Variable, Word, WordPart};
use super::alternatives::is_literal;
use super::brace_names::split_names;
use super::elements::element_choices;
use super::{BoundState, expand_word, literal_arg, unknown_arg};
use crate::verdict::limits::SHELL_COMMANDS;
use std::collections::{BTreeMap, BTreeSet};

/// Expands the words of a command. Returns the first argument list, and the further ones if variables in the words may
/// have several values.
pub(in super::super) fn expand_arguments(
    words: impl ExactSizeIterator<Item = Word>,
    state: &ShellState,
) -> (Vec<Arg>, Vec<Vec<Arg>>) {
    let mut first = Vec::with_capacity(words.len());
    let mut rest: Vec<Word> = Vec::new();
    for word in words {
        if !rest.is_empty() {
            rest.push(word);
            continue;
        }
        match literal_arg(word) {
            Ok(arg) => first.push(arg),
            Err(word) => rest.push(word),
        }
    }
    let rest: Vec<Word> = rest.into_iter().flat_map(|word| split_names(word, state)).collect();
    if rest.is_empty() {
        return (first, Vec::new());
    }
    let mut lists: Vec<Vec<Arg>> = Vec::new();
    for bindings in combinations(&rest, state) {
        let bound = BoundState { bindings: Some(&bindings), ..BoundState::new(state) };
        for (at, elements) in element_choices(&rest, bound).iter().enumerate() {
            if at > 0 && !bound.charge(COMBINATION_STEPS * (first.len() + rest.len())) {
                break;
            }
            lists.extend(expand_lists(&first, &rest, BoundState { elements: Some(elements), ..bound }));
        }
    }
    let mut lists = lists.into_iter().filter(|list| !list.is_empty());
    (lists.next().unwrap_or_default(), lists.collect())
}

/// One value for each variable that may have several.
pub(super) type Bindings<'a> = BTreeMap<&'a str, Option<Value>>;

/// Steps for one more combination of values.
const COMBINATION_STEPS: usize = 8;

/// Returns all combinations of the values of variables that may have several.
fn combinations<'a>(words: &'a [Word], state: &ShellState) -> Vec<Bindings<'a>> {
    let mut varying: Vec<(&str, Vec<Option<Value>>)> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut count = 1_usize;
    for variable in words.iter().flat_map(variables) {
        let name = variable.name.strip_prefix('!').unwrap_or(&variable.name);
        if seen.contains(name) {
            continue;
        }
        let values: Vec<Option<Value>> = match state.value(name) {
            Some(Value::OneOf(values)) => values.iter().cloned().map(|value| Some(Value::Known(value))).collect(),
            Some(Value::PerhapsOneOf(members)) => {
                members.iter().map(|member| Some(Value::from_arg(member))).chain([Some(Value::Unknown)]).collect()
            }
            None if name != "IFS" && variable.default.as_deref().is_some_and(is_literal) => {
                vec![Some(Value::Unknown), None]
            }
            _ => continue,
        };
        seen.insert(name);
        count = count.saturating_mul(values.len());
        varying.push((name, values));
    }
    if count > SHELL_COMMANDS.most {
        state.meter.report(&SHELL_COMMANDS);
        return combine_with_unknown(&varying, state);
    }
    let mut all = vec![Bindings::new()];
    for (name, values) in varying {
        state.meter.charge(COMBINATION_STEPS * all.len() * values.len());
        let extend = |bindings: &Bindings<'a>| {
            let bind = |value: &Option<Value>| bindings.clone().into_iter().chain([(name, value.clone())]).collect();
            values.iter().map(bind).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(extend).collect();
    }
    all
}

/// Returns one combination for each value, with the other variables unknown, for when the combinations of all values are too
/// many.
fn combine_with_unknown<'a>(varying: &[(&'a str, Vec<Option<Value>>)], state: &ShellState) -> Vec<Bindings<'a>> {
    let unknown: Bindings<'a> = varying.iter().map(|(name, _)| (*name, Some(Value::Unknown))).collect();
    let count: usize = varying.iter().map(|(_, values)| values.len()).sum();
    if !state.meter.try_charge(COMBINATION_STEPS.saturating_mul(count).saturating_mul(varying.len())) {
        return vec![unknown];
    }
    let with = |name, value: &Option<Value>| {
        let mut bindings = unknown.clone();
        bindings.insert(name, value.clone());
        bindings
    };
    varying.iter().flat_map(|(name, values)| values.iter().map(|value| with(*name, value))).collect()
}

fn variables(word: &Word) -> impl Iterator<Item = &Variable> {
    word.parts.iter().filter_map(|part| if let WordPart::Variable(variable) = part { Some(&**variable) } else { None })
}

/// Appends the expansions of words to the arguments before them.
fn expand_lists(before: &[Arg], words: &[Word], bound: BoundState<'_>) -> Vec<Vec<Arg>> {
    let mut lists = vec![before.to_vec()];
    for word in words {
        let several = match literal_arg(word.clone()) {
            Ok(arg) => vec![vec![arg]],
            Err(word) => expand_word(&word, bound),
        };
        let length: usize = lists.iter().map(Vec::len).sum();
        if several.len() > 1 && !bound.charge(several.len().saturating_mul(length)) {
            // The limit is reported. Further words are not added to each of many lists.
            lists.truncate(1);
            lists.iter_mut().for_each(|list| list.push(unknown_arg()));
            continue;
        }
        match several.as_slice() {
            [only] => lists.iter_mut().for_each(|list| list.extend_from_slice(only)),
            several => {
                let extend = |list: &Vec<Arg>| {
                    several.iter().map(|fields| [list.as_slice(), fields].concat()).collect::<Vec<_>>()
                };
                lists = lists.iter().flat_map(extend).collect();
            }
        }
    }
    lists
}
