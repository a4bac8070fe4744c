//! The possible texts of a word: one for each combination of the values that its variables may have.

use super::super::FIELD_SEPARATOR;
use super::super::state::Value;
use super::super::syntax::{Variable, Word, WordPart};
use super::trim::trim_value;
use super::{Arg, BoundState, FieldChar, FieldChars, Quoting, text_chars};

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
                None => unknown("$()"),
            },
            WordPart::Variable(variable) if !affords(bound, bound.value(&variable.name).map_or(0, Value::size)) => {
                unknown("$()")
            }
            WordPart::Variable(variable) => variable_values(variable, bound, splitting, defaults),
            WordPart::Unknown { .. } | WordPart::List(_) => unknown("$()"),
        };
        let is_literal = matches!(part, WordPart::Plain(_) | WordPart::Quoted(_));
        let is_long = is_literal && values.iter().any(|value| value.len() > LONG_PART_CHARS);
        if values.len() > 1 || all.len() > 1 || is_long {
            let (before, added) = (all.iter().map(Vec::len).sum::<usize>(), values.iter().map(Vec::len).sum::<usize>());
            let steps = before.saturating_mul(values.len()).saturating_add(added.saturating_mul(all.len()));
            if !bound.charge(steps) {
                values = unknown("$()");
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
    let Variable { name, altered, trim, default, quoted } = variable;
    let splitting = if *quoted { Splitting::Off } else { splitting };
    let quoting = if *quoted { Quoting::Quoted } else { Quoting::Expanded };
    let unknown = || unknown(&format!("${name}"));
    let chars = |text: &str| value_chars(text, quoting, splitting);
    let splits_by_ifs = splitting == Splitting::On && is_ifs_set(bound);
    // `${!x}` is the value of the variable that `x` names.
    let (name, altered) = match name.strip_prefix('!').and_then(|name| bound.value(name)) {
        Some(Value::Known(name)) => (name, false),
        _ => (name, *altered),
    };
    match bound.value(name) {
        // The default value of `IFS`, or a substring of it, is a separator.
        None if name == "IFS" => vec![chars(" ")],
        // The environment may set the variable; otherwise the default applies.
        None if defaults == DefaultHandling::Apply && default.as_deref().is_some_and(is_literal) => {
            let text = default.as_deref().unwrap_or_default();
            let text = match text.strip_prefix('~').zip(bound.state.home.as_deref()) {
                Some((rest, home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
                _ => text.to_owned(),
            };
            let set = if bound.binding(name).is_some() { Vec::new() } else { unknown() };
            [set, vec![chars(&text)]].concat()
        }
        // The result of splitting by another `IFS` is unknown, or the value as a whole.
        Some(Value::Known(known)) if splits_by_ifs && !altered && trim.is_none() => {
            [unknown(), vec![value_chars(known, quoting, Splitting::Off)]].concat()
        }
        Some(_) if splits_by_ifs => unknown(),
        Some(value @ (Value::Known(_) | Value::OneOf(_)))
            if trim.as_ref().is_some_and(|trim| trim.pattern.is_some()) =>
        {
            let members = value.members();
            let trimmed = members.iter().map(|member| trim_value(&member.text, trim.as_ref(), bound).map(chars));
            trimmed.collect::<Option<Vec<FieldChars>>>().unwrap_or_else(unknown)
        }
        Some(Value::Known(known)) if !altered => vec![chars(known)],
        Some(Value::OneOf(values)) if !altered => values.iter().map(|known| chars(known)).collect(),
        Some(Value::PerhapsOneOf(members)) if !altered => {
            members.iter().map(|member| arg_chars(member, quoting, splitting)).chain(unknown()).collect()
        }
        Some(Value::Words(words)) if !altered => {
            let mut all = FieldChars::new();
            for word in words {
                if !all.is_empty() {
                    all.push(FieldChar::Break);
                }
                all.extend(arg_chars(word, quoting, splitting));
            }
            vec![all]
        }
        Some(Value::Prefix(known)) if !altered && (*quoted || !known.text.contains(char::is_whitespace)) => {
            vec![arg_chars(known, quoting, splitting)]
        }
        _ => unknown(),
    }
}

fn unknown(source: &str) -> Vec<FieldChars> {
    vec![vec![FieldChar::Unknown(source.to_owned())]]
}

fn is_ifs_set(bound: BoundState<'_>) -> bool {
    bound.state.value("IFS").is_some()
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
