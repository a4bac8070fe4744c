//! Expansion of words to the arguments that a program gets, as far as they are known without running anything.

mod alternatives;
mod arguments;
mod arithmetic;
mod brace_names;
mod braces;
mod elements;
mod operators;
mod tilde;

pub(super) use arguments::expand_arguments;

use super::state::{ShellState, Value};
use super::syntax::{Variable, Word, WordPart};
use super::{Arg, FIELD_SEPARATOR};
use crate::verdict::limits::SHELL_STEPS;
use alternatives::{DefaultHandling, Splitting, expand_alternatives};
use arguments::Bindings;
use brace_names::split_names;
use braces::expand_braces;
use compact_str::CompactString;
use elements::{Elements, element_choices};
use tilde::{Tildes, expand_tildes, may_hold_tilde};

/// One element of a word between parsing and splitting into fields.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FieldChar {
    Char(char, Quoting),
    /// The boundary between two fields.
    Break,
    /// An unknown text, as it is written in the source.
    Unknown(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quoting {
    Bare,
    Quoted,
    /// From an unquoted variable: may be part of a glob, but not of a brace or tilde expansion.
    Expanded,
}

type FieldChars = Vec<FieldChar>;

/// The state of the shell, with some variables bound to one of their possible values.
#[derive(Clone, Copy)]
struct BoundState<'a> {
    state: &'a ShellState,
    /// `None` binds a variable as unset, so that its default applies.
    bindings: Option<&'a Bindings<'a>>,
    /// The elements that arrays with subscripts which are not known are bound to.
    elements: Option<&'a Elements<'a>>,
    ampersand: Ampersand,
}

/// What `&` is in the replacement of `${x/a/&}`.
#[derive(Clone, Copy)]
enum Ampersand {
    /// What the pattern matches, as in bash 5.2.
    Match,
    /// The character, as in older versions and in zsh.
    Character,
}

impl<'a> BoundState<'a> {
    fn new(state: &'a ShellState) -> Self {
        BoundState { state, bindings: None, elements: None, ampersand: Ampersand::Match }
    }

    fn binding(&self, name: &str) -> Option<&'a Option<Value>> {
        self.bindings.and_then(|bindings| bindings.get(name))
    }

    fn value(&self, name: &str) -> Option<&'a Value> {
        match self.binding(name) {
            Some(value) => value.as_ref(),
            None => self.state.value(name),
        }
    }

    /// The element that a variable with a subscript is bound to.
    fn element(&self, variable: &Variable) -> Option<&'a Option<Arg>> {
        self.elements?.get(variable.name.as_str())?.get(variable.subscript.as_deref()?)
    }

    fn is_exhausted(&self) -> bool {
        self.state.meter.exceeds(&SHELL_STEPS)
    }

    /// Charges for work and returns whether the meter allows it, see [`Meter::try_charge`].
    ///
    /// [`Meter::try_charge`]: crate::verdict::limits::Meter::try_charge
    fn charge(&self, steps: usize) -> bool {
        self.state.meter.try_charge(steps)
    }
}

/// Expands words to fields. A word can become any number of fields.
pub(super) fn expand_fields(words: impl IntoIterator<Item = Word>, state: &ShellState) -> Vec<Arg> {
    let mut fields = Vec::new();
    for word in words.into_iter().flat_map(|word| split_names(word, state)) {
        match literal_arg(word) {
            Ok(arg) => fields.push(arg),
            Err(word) => fields.extend(expand_word(&word, BoundState::new(state)).into_iter().flatten()),
        }
    }
    fields
}

/// Converts a word without expansions, which is the common case. Returns other words unchanged.
fn literal_arg(mut word: Word) -> Result<Arg, Word> {
    let plain = |byte: u8| !matches!(byte, b'{' | b'~' | b'*' | b'?' | b']');
    if let [WordPart::Plain(text)] = word.parts.as_mut_slice()
        && text.bytes().all(plain)
    {
        return Ok(Arg { text: std::mem::take(text), known: None, glob: false });
    }
    let mut glob = false;
    for (at, part) in word.parts.iter().enumerate() {
        match part {
            WordPart::Plain(text) if !(text.contains('{') || may_hold_tilde(at, text)) => glob |= is_glob(text),
            WordPart::Quoted(_) => {}
            WordPart::Plain(_)
            | WordPart::Variable(_)
            | WordPart::Output { .. }
            | WordPart::List(_)
            | WordPart::Arithmetic { .. }
            | WordPart::Unknown { .. } => return Err(word),
        }
    }
    let mut text = CompactString::default();
    for part in word.parts {
        if let WordPart::Plain(part) | WordPart::Quoted(part) = part {
            text = if text.is_empty() { part } else { text + &part };
        }
    }
    Ok(Arg { text, known: None, glob })
}

/// Whether unquoted text is a pattern for file names. A bracket expression counts by its closing bracket.
fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', ']'])
}

/// Expands a word that consists of a single expansion that is either completely known or completely unknown.
fn expand_single_part(word: &Word, bound: BoundState<'_>) -> Option<Arg> {
    let is_empty = |part: &&WordPart| matches!(part, WordPart::Quoted(text) if text.is_empty());
    let mut parts = word.parts.iter().filter(|part| !is_empty(part));
    let (Some(part), None) = (parts.next(), parts.next()) else { return None };
    match part {
        WordPart::Unknown { .. } | WordPart::List(_) => Some(unknown_arg()),
        WordPart::Output { number, .. } => {
            let state = bound.state;
            (!state.outputs.contains_key(number) && !state.listed.contains_key(number)).then(unknown_arg)
        }
        WordPart::Variable(variable) => match (variable.as_ref(), bound.value(&variable.name)) {
            (variable @ Variable { quoted: true, .. }, Some(Value::Known(text)))
                if variable.is_plain() && !text.is_empty() && !text.contains(FIELD_SEPARATOR) =>
            {
                Some(if bound.state.meter.affords(text.len()) { Arg::literal(text.as_str()) } else { unknown_arg() })
            }
            _ => None,
        },
        WordPart::Plain(_) | WordPart::Quoted(_) | WordPart::Arithmetic { .. } => None,
    }
}

/// Expands a word to one list of fields for each combination of values of its variables.
fn expand_word(word: &Word, bound: BoundState<'_>) -> Vec<Vec<Arg>> {
    if bound.is_exhausted() {
        return vec![vec![unknown_arg()]];
    }
    match expand_single_part(word, bound) {
        Some(arg) => vec![vec![arg]],
        None => expand_parts(word, bound),
    }
}

/// Does what [`expand_word`] does, without the shortcut for words with one part.
fn expand_parts(word: &Word, bound: BoundState<'_>) -> Vec<Vec<Arg>> {
    // A quoted empty word is a field.
    let quoted = word.parts.iter().any(|part| matches!(part, WordPart::Quoted(_)));
    let split = |alternative: FieldChars| {
        let mut fields: Vec<Arg> = Vec::new();
        let words = expand_braces(alternative, bound);
        // A result of brace expansion is not an assignment.
        let tildes = if words.len() > 1 { Tildes::Start } else { Tildes::Word };
        for word in words {
            let chars = expand_tildes(word, tildes, bound.state);
            fields.extend(chars.split(|c| *c == FieldChar::Break).filter(|field| !field.is_empty()).map(to_arg));
        }
        if fields.is_empty() && quoted {
            fields.push(Arg::default());
        }
        fields
    };
    expand_alternatives(word, bound, Splitting::On, DefaultHandling::Apply).into_iter().map(split).collect()
}

/// Expands a word without field splitting, such as the target of a redirection. Returns each possible result.
pub(super) fn expand_string(word: &Word, state: &ShellState) -> Vec<Arg> {
    expand_unsplit(word, Tildes::Word, state)
}

/// Expands the value of an assignment or a here-string. Returns each possible result.
pub(super) fn expand_value(word: &Word, state: &ShellState) -> Vec<Arg> {
    expand_unsplit(word, Tildes::Value, state)
}

fn expand_unsplit(word: &Word, tildes: Tildes, state: &ShellState) -> Vec<Arg> {
    if let Ok(arg) = literal_arg(word.clone()) {
        return vec![arg];
    }
    let bound = BoundState::new(state);
    if let Some(arg) = expand_known(word, bound) {
        return vec![arg];
    }
    let alternatives = unsplit_alternatives(word, state, DefaultHandling::Apply);
    alternatives.into_iter().map(|chars| to_arg(expand_tildes(chars, tildes, state))).collect()
}

/// The possible texts of a word that is not split, for each choice of the elements that it names several times.
fn unsplit_alternatives(word: &Word, state: &ShellState, defaults: DefaultHandling) -> Vec<FieldChars> {
    let choices = element_choices(std::slice::from_ref(word), BoundState::new(state));
    let bound = |elements| BoundState { elements: Some(elements), ..BoundState::new(state) };
    let alternatives =
        choices.iter().map(|elements| expand_alternatives(word, bound(elements), Splitting::Off, defaults));
    alternatives.flatten().collect()
}

/// Expands a word whose parts are all known and need no further expansion: `$a/x`, `"${a}y"`.
fn expand_known(word: &Word, bound: BoundState<'_>) -> Option<Arg> {
    let mut found = Arg::default();
    for part in &word.parts {
        if bound.is_exhausted() {
            return Some(unknown_arg());
        }
        match part {
            WordPart::Plain(text) if !text.contains('~') => {
                found.glob |= is_glob(text);
                found.text.push_str(text);
            }
            WordPart::Quoted(text) => found.text.push_str(text),
            WordPart::Variable(variable) => match (variable.as_ref(), bound.value(&variable.name)) {
                (variable @ Variable { quoted, .. }, Some(Value::Known(text)))
                    if variable.is_plain() && !text.contains(FIELD_SEPARATOR) =>
                {
                    if !bound.state.meter.affords(found.text.len() + text.len()) {
                        return Some(unknown_arg());
                    }
                    found.glob |= !quoted && is_glob(text);
                    found.text.push_str(text);
                }
                _ => return None,
            },
            WordPart::Plain(_)
            | WordPart::Output { .. }
            | WordPart::List(_)
            | WordPart::Arithmetic { .. }
            | WordPart::Unknown { .. } => return None,
        }
    }
    Some(found)
}

/// Expands the body of a heredoc. Returns each possible result.
pub(super) fn expand_heredoc(parts: &[WordPart], state: &ShellState) -> Vec<Arg> {
    if let [WordPart::Quoted(text)] = parts {
        return vec![Arg::literal(text.clone())];
    }
    let word = Word { parts: parts.into(), span: 0..0 };
    unsplit_alternatives(&word, state, DefaultHandling::Unknown).into_iter().map(to_arg).collect()
}

/// Builds an argument of which nothing is known.
pub(super) fn unknown_arg() -> Arg {
    Arg { text: "$()".into(), known: Some(0), glob: false }
}

fn text_chars(text: &str, quoting: Quoting) -> FieldChars {
    text.chars().map(|c| FieldChar::Char(c, quoting)).collect()
}

/// Removes quotes from one field.
fn to_arg(chars: impl AsRef<[FieldChar]>) -> Arg {
    let mut found = Arg::default();
    for c in chars.as_ref() {
        match c {
            FieldChar::Char(c, quoting) => {
                found.glob |= *quoting != Quoting::Quoted && matches!(c, '*' | '?' | ']');
                found.text.push(*c);
            }
            FieldChar::Break => found.text.push(' '),
            FieldChar::Unknown(source) => {
                found.known.get_or_insert(found.text.len());
                found.text.push_str(source);
            }
        }
    }
    found
}

#[cfg(test)]
#[path = "../../tests/unit/shell/expand.rs"]
mod tests;
