//! Elements of arrays whose subscripts are not known: one choice for each element that words name several times.

use super::super::Arg;
use super::super::state::DYNAMIC_VARIABLES;
use super::super::syntax::{Variable, Word, WordPart};
use super::BoundState;
use super::alternatives::possible_elements;
use std::collections::BTreeMap;

/// Steps for one more choice.
const CHOICE_STEPS: usize = 8;

/// The choice for each name and subscript; `None` is a value that is not known.
pub(super) type Elements<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Option<Arg>>>;

/// Returns all combinations of the elements that `${a[$i]}` may be, where it occurs more than once: without a choice for
/// the whole command, each use would double the argument lists.
pub(super) fn element_choices<'a>(words: &'a [Word], bound: BoundState<'_>) -> Vec<Elements<'a>> {
    let mut uses: BTreeMap<(&str, &str), (usize, &Variable)> = BTreeMap::new();
    for variable in words.iter().flat_map(|word| &word.parts).filter_map(subscripted) {
        let key = (variable.name.as_str(), variable.subscript.as_deref().unwrap_or_default());
        uses.entry(key).or_insert((0, variable)).0 += 1;
    }
    let mut all = vec![Elements::new()];
    let mut bound_before = 1;
    for ((name, subscript), (_, variable)) in uses.into_iter().filter(|(_, (count, _))| *count > 1) {
        let Some(elements) = possible_elements(variable, bound).filter(|elements| !elements.is_empty()) else {
            continue;
        };
        let choices: Vec<Option<Arg>> = elements.into_iter().map(Some).chain([None]).collect();
        bound_before += 1;
        let count = all.len().saturating_mul(choices.len());
        if !bound.charge(CHOICE_STEPS.saturating_mul(count).saturating_mul(bound_before)) {
            // The limit is reported.
            all.truncate(1);
            all.iter_mut().for_each(|elements| drop(elements.entry(name).or_default().insert(subscript, None)));
            continue;
        }
        let with = |elements: &Elements<'a>, choice: &Option<Arg>| {
            let mut elements = elements.clone();
            elements.entry(name).or_default().insert(subscript, choice.clone());
            elements
        };
        all = all.iter().flat_map(|elements| choices.iter().map(|choice| with(elements, choice))).collect();
    }
    all
}

/// A variable with a subscript that is no plain number, and that is the same each time.
fn subscripted(part: &WordPart) -> Option<&Variable> {
    let WordPart::Variable(variable) = part else { return None };
    let changes = |subscript: &str| {
        ["++", "--", "=", "$(", "`"].iter().chain(&DYNAMIC_VARIABLES).any(|mark| subscript.contains(mark))
    };
    Some(&**variable).filter(|variable| variable.subscript.as_deref().is_some_and(|subscript| !changes(subscript)))
}
