//! The possible texts of a word: one for each combination of the values that its variables may have.

use super::super::FIELD_SEPARATOR;
use super::super::state::Value;
use super::super::syntax::{Variable, Word, WordPart};
use super::arithmetic::evaluate;
use super::operators;
use super::{Ampersand, Arg, BoundState, FieldChar, FieldChars, Quoting, text_chars};
use std::collections::BTreeSet;

/// Whether an unquoted value is split into fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Splitting {
    On,
    Off,
}

/// What `${x:-y}` becomes if the line does not set `x`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DefaultHandling {
    /// Both the unknown value and the default.
    Apply,
    /// The unknown value only.
    Unknown,
}

/// Parts longer than this charge the meter.
const LONG_PART_CHARS: usize = 64;

/// Returns the possible texts of a word. If the meter is exhausted, the rest of the word is unknown.
pub(super) fn expand_alternatives(
    word: &Word,
    bound: BoundState<'_>,
    splitting: Splitting,
    defaults: DefaultHandling,
) -> Vec<FieldChars> {
    let mut all = vec![FieldChars::new()];
    for part in &word.parts {
        if bound.is_exhausted() {
            return unknown("$()");
        }
        let mut values = match part {
            WordPart::Plain(text) => vec![text_chars(text, Quoting::Bare)],
            WordPart::Quoted(text) => vec![text_chars(text, Quoting::Quoted)],
            WordPart::Output { number, quoted } => match bound.state.outputs.get(number) {
                Some(output) if !affords(bound, output.len()) => unknown("$()"),
                Some(_) if !quoted && splitting == Splitting::On && is_ifs_set(bound) => unknown("$()"),
                Some(output) if *quoted => vec![value_chars(output, Quoting::Quoted, Splitting::Off)],
                Some(output) => vec![value_chars(output, Quoting::Expanded, splitting)],
                None => {
                    let names = bound.state.listed.get(number).map(|names| &**names).unwrap_or_default().iter();
                    let named = names.map(|name| arg_chars(name, Quoting::Expanded, Splitting::Off));
                    unknown("$()").into_iter().chain(named).collect()
                }
            },
            WordPart::Variable(variable) if !affords(bound, bound.value(&variable.name).map_or(0, Value::size)) => {
                unknown("$()")
            }
            WordPart::Variable(variable) => variable_values(variable, bound, splitting, defaults),
            WordPart::Arithmetic { expression, .. } => match evaluate(expression, bound) {
                Some(number) => vec![text_chars(&number.to_string(), Quoting::Quoted)],
                None => unknown("$()"),
            },
            WordPart::Unknown { .. } | WordPart::List(_) => unknown("$()"),
        };
        let is_literal = matches!(part, WordPart::Plain(_) | WordPart::Quoted(_));
        let is_long = is_literal && values.iter().any(|value| value.len() > LONG_PART_CHARS);
        if values.len() > 1 || all.len() > 1 || is_long {
            let (before, added) = (all.iter().map(Vec::len).sum::<usize>(), values.iter().map(Vec::len).sum::<usize>());
            let steps = before.saturating_mul(values.len()).saturating_add(added.saturating_mul(all.len()));
            // The limit is reported. Further parts are not added to each of many texts.
            if !bound.charge(steps) {
                values = unknown("$()");
                all.truncate(1);
            }
        }
        match values.as_slice() {
            // Extends in place: a word with many parts must not be copied for each of them.
            [only] => all.iter_mut().for_each(|start| start.extend_from_slice(only)),
            several => {
                let extend = |start: &FieldChars| {
                    several.iter().map(|value| [start.as_slice(), value].concat()).collect::<Vec<_>>()
                };
                all = all.iter().flat_map(extend).collect();
            }
        }
    }
    all
}

/// Charges for a long value and returns whether the meter allows it.
fn affords(bound: BoundState<'_>, length: usize) -> bool {
    length <= LONG_PART_CHARS || bound.charge(length)
}

/// Returns the possible values of a parameter expansion.
fn variable_values(
    variable: &Variable,
    bound: BoundState<'_>,
    splitting: Splitting,
    defaults: DefaultHandling,
) -> Vec<FieldChars> {
    let Variable { operator, default, quoted, .. } = variable;
    let splitting = if *quoted { Splitting::Off } else { splitting };
    let quoting = if *quoted { Quoting::Quoted } else { Quoting::Expanded };
    let unknown = || unknown(&format!("${}", variable.name));
    let chars = |text: &str| value_chars(text, quoting, splitting);
    let splits_by_ifs = splitting == Splitting::On && is_ifs_set(bound);
    let Some(Resolved { name, operator }) = resolve(variable, operator.as_deref(), bound) else {
        let known = |element: &Arg| arg_chars(element, quoting, splitting);
        return match bound.element(variable) {
            Some(Some(element)) => vec![known(element)],
            Some(None) => unknown(),
            None => any_element(variable, bound).iter().map(known).chain(unknown()).collect(),
        };
    };
    let (name, operator) = match (name, operator) {
        (Name::Text(text), _) => return vec![chars(&text)],
        (Name::Of(name), operator) => (name, operator),
    };
    let name = bound.state.namerefs.get(&name).cloned().unwrap_or(name);
    // zsh: the name of an array is all of its words, not the first one.
    if let Some(Value::Known(words)) = bound.value(&format!("{name}[@]"))
        && operator.is_none()
        && splitting == Splitting::On
        && words.contains(FIELD_SEPARATOR)
        && affords(bound, words.len())
    {
        let first = words.split(FIELD_SEPARATOR).next().unwrap_or_default();
        return vec![chars(first), chars(words)];
    }
    // The default is judged beside the unknown value, so its text says what the value is without one.
    let spelled = match default.as_deref().filter(|text| is_plain_name(text) && bound.state.value(&name).is_none()) {
        Some(default) => format!("${{{name}:-{default}}}"),
        None => format!("${name}"),
    };
    let unknown = || self::unknown(&spelled);
    let altered_in = |value: &str, bound: BoundState<'_>| match operator {
        None => Some(value.to_owned()),
        Some(by) if name == "@" => operators::apply_to_words(value, by, 1, bound),
        Some(by) if name.ends_with("[@]") => operators::apply_to_words(value, by, 0, bound),
        Some(by) => operators::apply(value, by, bound),
    };
    let altered = |value: &str| altered_in(value, bound);
    let has_ampersand = operator.is_some_and(|by| by.starts_with('/') && by.contains('&'));
    let all_altered = |value: &str| -> Option<Vec<FieldChars>> {
        let other = BoundState { ampersand: Ampersand::Character, ..bound };
        let all = std::iter::once(altered(value)).chain(has_ampersand.then(|| altered_in(value, other)));
        all.map(|text| text.map(|text| chars(&text))).collect()
    };
    match bound.value(&name) {
        // The default value of `IFS`, or a substring of it, is a separator.
        None if name == "IFS" => vec![chars(" ")],
        // The environment may set the variable; otherwise the default applies.
        None if defaults == DefaultHandling::Apply && default.as_deref().is_some_and(is_literal) => {
            let text = default.as_deref().unwrap_or_default();
            let text = match text.strip_prefix('~').zip(bound.state.home.as_deref()) {
                Some((rest, home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
                _ => text.to_owned(),
            };
            let set = if bound.binding(&name).is_some() { Vec::new() } else { unknown() };
            [set, vec![chars(&text)]].concat()
        }
        // `${x:+y}` is `y` or nothing.
        found
            if operator.is_some_and(|by| by.starts_with([':', '+']) && by.trim_start_matches(':').starts_with('+')) =>
        {
            let known = if let Some(Value::Known(value)) = found {
                altered(value).map(|text| vec![chars(&text)])
            } else {
                None
            };
            let either = || operators::alternative(operator?, bound).map(|text| vec![chars(&text), FieldChars::new()]);
            known.or_else(either).unwrap_or_else(unknown)
        }
        // The result of splitting by another `IFS` is unknown, or the value as a whole.
        Some(Value::Known(known)) if splits_by_ifs && !has_ampersand => match altered(known) {
            Some(text) => split_by_ifs(&text, quoting, bound).map_or_else(
                || [unknown(), vec![value_chars(&text, quoting, Splitting::Off)]].concat(),
                |split| vec![split],
            ),
            None => unknown(),
        },
        Some(_) if splits_by_ifs => unknown(),
        Some(value @ (Value::Known(_) | Value::OneOf(_))) if operator.is_some() => {
            let members = value.members();
            let changed = members.iter().map(|member| all_altered(&member.text));
            changed.collect::<Option<Vec<_>>>().map_or_else(unknown, |changed| changed.concat())
        }
        Some(Value::Known(known)) => vec![chars(known)],
        Some(Value::OneOf(values)) => values.iter().map(|known| chars(known)).collect(),
        Some(Value::PerhapsOneOf(members)) => {
            let changed = members.iter().filter_map(|member| match operator {
                None => Some(vec![arg_chars(member, quoting, splitting)]),
                Some(_) if member.is_known() => all_altered(&member.text),
                Some(_) => None,
            });
            changed.flatten().chain(unknown()).collect()
        }
        Some(Value::Words(words)) if operator.is_none() => {
            let mut all = FieldChars::new();
            for word in words {
                if !all.is_empty() {
                    all.push(FieldChar::Break);
                }
                all.extend(arg_chars(word, quoting, splitting));
            }
            vec![all]
        }
        Some(Value::Prefix(known)) if operator.is_none() && (*quoted || !known.text.contains(char::is_whitespace)) => {
            vec![arg_chars(known, quoting, splitting)]
        }
        _ => unknown(),
    }
}

/// The elements that a variable with a subscript may be, if the subscript is not known.
pub(super) fn possible_elements(variable: &Variable, bound: BoundState<'_>) -> Option<Vec<Arg>> {
    let is_unknown = resolve(variable, variable.operator.as_deref(), bound).is_none();
    is_unknown.then(|| any_element(variable, bound))
}

/// The elements of an array. An unknown subscript may select any of them.
fn any_element(variable: &Variable, bound: BoundState<'_>) -> Vec<Arg> {
    let is_element =
        variable.subscript.is_some() && !variable.name.starts_with(['!', '#']) && variable.operator.is_none();
    let elements = match bound.value(&format!("{}[@]", variable.name)).filter(|_| is_element) {
        Some(Value::Known(words)) if affords(bound, words.len()) => {
            words.split(FIELD_SEPARATOR).map(Arg::literal).collect()
        }
        Some(Value::Words(words)) if bound.charge(words.len()) => words.clone(),
        _ => Vec::new(),
    };
    let mut seen = BTreeSet::new();
    elements.into_iter().filter(|element| seen.insert(element.text.clone())).collect()
}

/// What a parameter expansion refers to.
enum Name {
    /// The variable of this name.
    Of(String),
    /// A text that is already known: the length of a value, or the names of variables.
    Text(String),
}

struct Resolved<'a> {
    name: Name,
    operator: Option<&'a str>,
}

/// Resolves `${!x}`, `${#x}` and subscripts. Returns `None` if what it refers to is unknown.
fn resolve<'a>(variable: &Variable, operator: Option<&'a str>, bound: BoundState<'_>) -> Option<Resolved<'a>> {
    let known = |name: &str| if let Some(Value::Known(value)) = bound.value(name) { Some(value) } else { None };
    let plain = |name: Name| Some(Resolved { name, operator: None });
    if let Some(target) = variable.name.strip_prefix('!').filter(|name| !name.is_empty()) {
        // `${!prefix*}`: the names of the variables that the line sets. The environment may have more.
        if let Some("*" | "@") = operator {
            let names = bound.state.variables.range(target.to_owned()..).map(|(name, _)| name.as_str());
            let names = names.take_while(|name| name.starts_with(target)).filter(|name| !name.contains('['));
            return plain(Name::Text(names.collect::<Vec<_>>().join(FIELD_SEPARATOR)));
        }
        // `${!x}` is the value of the variable that `x` names.
        let name = known(target).filter(|_| !target.contains('['))?.clone();
        return Some(Resolved { name: Name::Of(name), operator: operator.filter(|operator| !operator.is_empty()) });
    }
    if let Some(target) = variable.name.strip_prefix('#').filter(|name| !name.is_empty()) {
        let length = match target.strip_suffix("[@]") {
            Some(_) => known(target)?.split(FIELD_SEPARATOR).count(),
            None => known(target)?.chars().count(),
        };
        return (variable.subscript.is_none() && operator == Some(""))
            .then(|| Resolved { name: Name::Text(length.to_string()), operator: None });
    }
    let Some(subscript) = &variable.subscript else {
        return Some(Resolved { name: Name::Of(variable.name.clone()), operator });
    };
    let element = |index: &str| format!("{}[{index}]", variable.name);
    if bound.value(&element(subscript)).is_some() {
        return Some(Resolved { name: Name::Of(element(subscript)), operator });
    }
    // An associative array may have a key that is the value of a variable.
    let key = subscript.strip_prefix('$').and_then(known).map(|key| element(key));
    if let Some(key) = key.filter(|key| bound.value(key).is_some()) {
        return Some(Resolved { name: Name::Of(key), operator });
    }
    let index = evaluate(subscript, bound)?;
    let index = match usize::try_from(index) {
        Ok(index) => index,
        Err(_) => {
            let count = possible(bound.value(&element("@"))?)?.split(FIELD_SEPARATOR).count();
            count.checked_sub(usize::try_from(index.checked_neg()?).ok()?)?
        }
    };
    Some(Resolved { name: Name::Of(element(&index.to_string())), operator })
}

/// The only known text that a value may have.
fn possible(value: &Value) -> Option<String> {
    let members = value.members();
    let [only] = members.as_slice() else { return None };
    only.is_known().then(|| only.text.to_string())
}

/// Splits a value by the `IFS` that the line sets, if that is known.
fn split_by_ifs(text: &str, quoting: Quoting, bound: BoundState<'_>) -> Option<FieldChars> {
    let Some(Value::Known(separators)) = bound.value("IFS") else { return None };
    let chars = text.chars().map(|c| match c {
        c if separators.contains(c) || FIELD_SEPARATOR.contains(c) => FieldChar::Break,
        c => FieldChar::Char(c, quoting),
    });
    Some(chars.collect())
}

fn unknown(source: &str) -> Vec<FieldChars> {
    vec![vec![FieldChar::Unknown(source.to_owned())]]
}

fn is_ifs_set(bound: BoundState<'_>) -> bool {
    bound.state.value("IFS").is_some()
}

/// Whether a default is a relative path without anything special.
fn is_plain_name(default: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    !default.is_empty()
        && !default.starts_with(['/', '-', '.'])
        && !default.contains("..")
        && default.bytes().all(is_plain)
}

/// Whether a default contains no expansion.
pub(super) fn is_literal(default: &str) -> bool {
    !default.contains(['$', '`'])
}

/// Converts an argument whose end may be unknown.
fn arg_chars(arg: &Arg, quoting: Quoting, splitting: Splitting) -> FieldChars {
    let start = arg.prefix();
    let mut chars = value_chars(start, quoting, splitting);
    if !arg.is_known() {
        chars.push(FieldChar::Unknown(arg.text.get(start.len()..).unwrap_or_default().to_owned()));
    }
    chars
}

/// Converts the value of a variable. Blanks become breaks if the value is split.
fn value_chars(text: &str, quoting: Quoting, splitting: Splitting) -> FieldChars {
    let blank = |c: char| (splitting == Splitting::On && matches!(c, ' ' | '\t' | '\n')) || FIELD_SEPARATOR.contains(c);
    text.chars().map(|c| if blank(c) { FieldChar::Break } else { FieldChar::Char(c, quoting) }).collect()
}
