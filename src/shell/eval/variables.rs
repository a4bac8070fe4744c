//! Assignments to variables and arrays.

use super::super::state::{DYNAMIC_VARIABLES, ShellState, Value, copy_cost};
use super::super::syntax::{Assignment, Word, WordPart};
use super::super::{Arg, FIELD_SEPARATOR, expand};
use super::execution::Execution;
use std::rc::Rc;

/// Steps for adding or removing one element of an array.
const ELEMENT_STEPS: usize = 40;

impl Execution {
    /// Sets a variable.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.state.meter.charge(2 * copy_cost(value.size()));
        // After an assignment to `x[0]`, the value of `x` is unknown.
        let (name, value) = name.split_once('[').map_or((name, value), |(name, _)| (name, Value::Unknown));
        // Some shells give these variables values of their own, whatever they are assigned.
        let value = if DYNAMIC_VARIABLES.contains(&name) { value.join(None) } else { value };
        let state = Rc::make_mut(&mut self.state);
        let value = if state.readonly.contains(name) { value.join(state.variables.get(name)) } else { value };
        let value = if state.options.has_nameref { value.join(None) } else { value };
        remove_elements(state, name);
        if name == "OLDPWD" {
            let path = if let Value::Known(path) = &value { Some(path.as_str()) } else { None };
            state.old_cwd = path.and_then(|path| state.resolve(path, state.cwd.as_deref()));
        }
        state.variables.insert(name.to_owned(), value);
    }

    /// Sets a variable to one of these values, or the element of an array.
    pub(super) fn assign(&mut self, set: &Assignment, values: &[Arg]) {
        if let Some(words) = &set.array {
            return self.set_array(set, words);
        }
        let value = match values {
            [only] => env_value(&set.name, only).map_or_else(|| Value::from_arg(only), Value::Known),
            several => Value::from_args(several),
        };
        match &set.subscript {
            Some(subscript) => self.set_element(&set.name, subscript, value),
            None => self.set(&set.name, value),
        }
    }

    /// Sets one element of an array. All elements are known if they have the indices 0, 1 and so on.
    fn set_element(&mut self, name: &str, subscript: &str, value: Value) {
        self.state.meter.charge(2 * copy_cost(value.size()));
        let state = Rc::make_mut(&mut self.state);
        let start = format!("{name}[");
        let index: Option<usize> = subscript.parse().ok();
        if state.readonly.contains(name) || state.options.has_nameref {
            return self.set(&format!("{start}{subscript}]"), Value::Unknown);
        }
        let all = format!("{start}@]");
        let element = |index: usize| format!("{start}{index}]");
        let before = index.and_then(|index| index.checked_sub(1)).map(element);
        let follows = before.is_some_and(|before| state.variables.contains_key(&before));
        let is_new = !state.variables.contains_key(&format!("{start}{subscript}]"));
        // The value of `x` is that of `x[0]`.
        if index == Some(0) {
            state.variables.insert(name.to_owned(), value.clone());
        }
        state.variables.insert(format!("{start}{subscript}]"), value.clone());
        match (state.variables.get_mut(&all), value) {
            (None, Value::Known(word)) => drop(state.variables.insert(all, Value::Known(word))),
            (Some(Value::Known(words)), Value::Known(word)) if follows && is_new => {
                words.push_str(FIELD_SEPARATOR);
                words.push_str(&word);
            }
            (Some(Value::Known(words)), Value::Known(word)) if index.is_some() && !is_new => {
                state.meter.charge(2 * copy_cost(words.len() + word.len()));
                let all = words.split(FIELD_SEPARATOR).enumerate();
                let changed = all.map(|(at, old)| if Some(at) == index { word.as_str() } else { old });
                *words = changed.collect::<Vec<_>>().join(FIELD_SEPARATOR);
            }
            _ => drop(state.variables.insert(all, Value::Unknown)),
        }
    }

    /// Returns the possible values after `name+=value`.
    pub(super) fn appended(&self, name: &str, values: &[Arg]) -> Vec<Arg> {
        let unknown = Arg { text: format!("${name}").into(), known: Some(0), glob: false };
        let before = match self.state.value(name) {
            // The environment may set the variable.
            None if name.ends_with("PATH") => vec![unknown],
            None => vec![Arg::default(), unknown],
            Some(value @ (Value::Known(_) | Value::OneOf(_))) => value.members(),
            Some(value) => value.members().into_iter().chain([unknown]).collect(),
        };
        let join = |before: &Arg, value: &Arg| Arg {
            known: before.known.or(value.known.map(|known| before.text.len() + known)),
            text: format!("{}{}", before.text, value.text).into(),
            glob: before.glob || value.glob,
        };
        let length: usize = before.iter().chain(values).map(|arg| arg.text.len()).sum();
        if !self.state.meter.affords(length.saturating_mul(before.len().max(values.len()))) {
            return vec![expand::unknown_arg()];
        }
        before.iter().flat_map(|before| values.iter().map(|value| join(before, value)).collect::<Vec<_>>()).collect()
    }

    /// Sets an array: `x[@]` for all elements, and `x[0]`, `x[1]` … if the indices are known.
    pub(super) fn set_array(&mut self, set: &Assignment, words: &[Word]) {
        // `x=([5]=y)`
        let has_indices =
            words.iter().any(|word| matches!(word.parts.first(), Some(WordPart::Plain(text)) if text.starts_with('[')));
        let mut elements = expand::expand_fields(words.iter().cloned(), &self.state);
        let keys: Vec<Option<String>> =
            elements.iter_mut().map(|element| take_key(element).filter(|_| has_indices)).collect();
        let all = format!("{}[@]", set.name);
        let before = self.state.value(&all).cloned();
        let count = match &before {
            _ if !set.appends || has_indices => None,
            Some(Value::Known(words)) => Some(words.split(FIELD_SEPARATOR).count()),
            _ => None,
        };
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
        // Elements that are appended to a known array follow the last one.
        if count.is_none() {
            self.set(&set.name, elements.first().filter(|_| is_indexed).map_or(Value::Unknown, Value::from_arg));
        }
        self.state.meter.charge(2 * copy_cost(value.size()) + ELEMENT_STEPS * elements.len());
        let variables = &mut Rc::make_mut(&mut self.state).variables;
        variables.insert(all, value);
        // After an element that may be several words, the indices are unknown.
        let counted = elements.iter().take_while(|element| element.is_known() && !element.glob);
        for (at, element) in counted.enumerate().filter(|_| is_indexed || count.is_some()) {
            let at = at + count.unwrap_or_default();
            variables.insert(format!("{}[{at}]", set.name), Value::from_arg(element));
        }
        for (key, element) in keys.into_iter().zip(&elements) {
            variables.extend(key.map(|key| (format!("{}[{key}]", set.name), Value::from_arg(element))));
        }
    }
}

/// Removes the key from `[key]=value`.
fn take_key(element: &mut Arg) -> Option<String> {
    let (key, _) = element.prefix().strip_prefix('[')?.split_once("]=")?;
    let key = key.to_owned();
    *element = element.behind(&format!("[{key}]="))?;
    Some(key)
}

/// Removes the elements of an array.
fn remove_elements(state: &mut ShellState, name: &str) {
    let start = format!("{name}[");
    let elements = state.variables.range(start.clone()..).map(|(name, _)| name.clone());
    let elements: Vec<String> = elements.take_while(|name| name.starts_with(&start)).collect();
    state.meter.charge(ELEMENT_STEPS * elements.len());
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
