//! Expansion: from words as they are written to words as a program gets them, as far as that can be known.

mod arguments;
mod braces;
mod tilde;
mod trim;

pub(super) use arguments::argument_lists;

use super::state::{State, Value};
use super::syntax::{Part, Variable, Word};
use super::{APART, Arg};
use crate::verdict::limits::SHELL_STEPS;
use braces::braces;
use compact_str::CompactString;
use tilde::{Tildes, may_hold_tilde, tilde};
use trim::trimmed;

/// A character or a hole, on the way from a written word to its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Char(char, Quoting),
    /// The next field begins here.
    Break,
    /// What cannot be known, as it is written.
    Hole(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quoting {
    Bare,
    Quoted,
    /// Came out of a variable without quotes: may be a pattern, but neither brace nor tilde.
    Expanded,
}

/// Whether a value without quotes falls into several words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Splitting {
    On,
    Off,
}

type Pieces = Vec<Piece>;

/// The state of the shell, with variables bound to one of the values that they can have.
#[derive(Clone, Copy)]
struct View<'a> {
    state: &'a State,
    /// `None` is a variable that nobody has set: its default applies.
    bound: &'a [(&'a str, Option<Value>)],
}

impl<'a> View<'a> {
    fn binding(&self, name: &str) -> Option<&'a Option<Value>> {
        self.bound.iter().find(|(bound, _)| *bound == name).map(|(_, value)| value)
    }

    fn value(&self, name: &str) -> Option<&'a Value> {
        match self.binding(name) {
            Some(value) => value.as_ref(),
            None => self.state.value(name),
        }
    }

    fn is_exhausted(&self) -> bool {
        self.state.meter.exceeds(&SHELL_STEPS)
    }

    /// Charges the meter; tells whether the work may go on.
    fn charge(&self, steps: usize) -> bool {
        self.state.meter.charge(steps);
        !self.is_exhausted()
    }
}

/// The fields that words become: each none, one, or several.
pub(super) fn fields(words: impl IntoIterator<Item = Word>, state: &State) -> Vec<Arg> {
    let view = View { state, bound: &[] };
    let mut fields = Vec::new();
    for word in words {
        match as_it_is(word) {
            Ok(arg) => fields.push(arg),
            Err(word) => fields.extend(choices(&word, view).into_iter().flatten()),
        }
    }
    fields
}

/// A default that holds no expansion of its own.
fn is_written_out(default: &str) -> bool {
    !default.contains(['$', '`'])
}

/// Most words hold nothing to expand, and need not be taken apart.
fn as_it_is(mut word: Word) -> Result<Arg, Word> {
    let plain = |byte: u8| !matches!(byte, b'{' | b'~' | b'*' | b'?' | b']');
    if let [Part::Plain(text)] = word.parts.as_mut_slice()
        && text.bytes().all(plain)
    {
        return Ok(Arg { text: std::mem::take(text), known: None, glob: false });
    }
    let mut glob = false;
    for (at, part) in word.parts.iter().enumerate() {
        match part {
            Part::Plain(text) if !(text.contains('{') || may_hold_tilde(at, text)) => {
                // A bracket that opens is a name, one that closes ends a pattern.
                glob |= text.contains(['*', '?', ']']);
            }
            Part::Quoted(_) => {}
            Part::Plain(_) | Part::Variable(_) | Part::Output { .. } | Part::List(_) | Part::Unknown { .. } => {
                return Err(word);
            }
        }
    }
    let mut text = CompactString::default();
    for part in word.parts {
        match part {
            Part::Plain(part) | Part::Quoted(part) if text.is_empty() => text = part,
            Part::Plain(part) | Part::Quoted(part) => text.push_str(&part),
            Part::Variable(_) | Part::Output { .. } | Part::List(_) | Part::Unknown { .. } => {}
        }
    }
    Ok(Arg { text, known: None, glob })
}

/// What a word becomes that holds nothing but one expansion of which all or nothing is known, as most do that have one.
fn of_one(word: &Word, view: View<'_>) -> Option<Arg> {
    let is_nothing = |part: &&Part| matches!(part, Part::Quoted(text) if text.is_empty());
    let mut parts = word.parts.iter().filter(|part| !is_nothing(part));
    let (Some(part), None) = (parts.next(), parts.next()) else { return None };
    match part {
        Part::Unknown { .. } | Part::List(_) => Some(hole()),
        Part::Output { number, .. } => (!view.state.outputs.contains_key(number)).then(hole),
        Part::Variable(variable) => match (variable.as_ref(), view.value(&variable.name)) {
            (Variable { quoted: true, altered: false, trim: None, .. }, Some(Value::Known(text)))
                if !text.is_empty() && !text.contains(APART) =>
            {
                Some(if view.state.meter.affords(text.len()) { Arg::literal(text.as_str()) } else { hole() })
            }
            _ => None,
        },
        Part::Plain(_) | Part::Quoted(_) => None,
    }
}

/// The fields of a word for each value that the variables in it can have.
fn choices(word: &Word, view: View<'_>) -> Vec<Vec<Arg>> {
    if view.is_exhausted() {
        return vec![vec![hole()]];
    }
    match of_one(word, view) {
        Some(arg) => vec![vec![arg]],
        None => taken_apart(word, view),
    }
}

/// The same for any word.
fn taken_apart(word: &Word, view: View<'_>) -> Vec<Vec<Arg>> {
    // Quotes keep an empty word alive.
    let quoted = word.parts.iter().any(|part| matches!(part, Part::Quoted(_)));
    let choice = |alternative: Pieces| {
        let mut fields: Vec<Arg> = Vec::new();
        let listed = braces(alternative, view);
        // What braces have made is no assignment.
        let tildes = if listed.len() > 1 { Tildes::Start } else { Tildes::Word };
        for pieces in listed {
            let pieces = tilde(pieces, tildes, view.state);
            fields.extend(pieces.split(|piece| *piece == Piece::Break).filter(|field| !field.is_empty()).map(arg));
        }
        if fields.is_empty() && quoted {
            fields.push(Arg::default());
        }
        fields
    };
    alternatives(word, view, Splitting::On, Defaults::Apply).into_iter().map(choice).collect()
}

/// The one string that a word becomes where nothing is split: a redirection's target. Several where it may be one of
/// several.
pub(super) fn strings(word: &Word, state: &State) -> Vec<Arg> {
    unsplit(word, Tildes::Word, state)
}

/// The same for the value of an assignment and for a here-string.
pub(super) fn values(word: &Word, state: &State) -> Vec<Arg> {
    unsplit(word, Tildes::Value, state)
}

fn unsplit(word: &Word, tildes: Tildes, state: &State) -> Vec<Arg> {
    if let Ok(arg) = as_it_is(word.clone()) {
        return vec![arg];
    }
    let view = View { state, bound: &[] };
    if let Some(arg) = known_text(word, view) {
        return vec![arg];
    }
    let several = alternatives(word, view, Splitting::Off, Defaults::Apply);
    several.into_iter().map(|pieces| arg(tilde(pieces, tildes, state))).collect()
}

/// The text of a word whose parts are all known and hold nothing to expand further: `$a/x`, `"${a}y"`.
fn known_text(word: &Word, view: View<'_>) -> Option<Arg> {
    let mut found = Arg::default();
    let is_glob = |text: &str| text.contains(['*', '?', ']']);
    for part in &word.parts {
        if view.is_exhausted() {
            return Some(hole());
        }
        match part {
            Part::Plain(text) if !text.contains('~') => {
                found.glob |= is_glob(text);
                found.text.push_str(text);
            }
            Part::Quoted(text) => found.text.push_str(text),
            Part::Variable(variable) => match (variable.as_ref(), view.value(&variable.name)) {
                (Variable { altered: false, trim: None, quoted, .. }, Some(Value::Known(text)))
                    if !text.contains(APART) && !variable.name.starts_with('!') =>
                {
                    if !view.state.meter.affords(found.text.len() + text.len()) {
                        return Some(hole());
                    }
                    found.glob |= !quoted && is_glob(text);
                    found.text.push_str(text);
                }
                _ => return None,
            },
            Part::Plain(_) | Part::Output { .. } | Part::List(_) | Part::Unknown { .. } => return None,
        }
    }
    Some(found)
}

/// The text of a heredoc.
pub(super) fn texts(parts: &[Part], state: &State) -> Vec<Arg> {
    if let [Part::Quoted(text)] = parts {
        return vec![Arg::literal(text.clone())];
    }
    let word = Word { parts: parts.into(), span: 0..0 };
    let view = View { state, bound: &[] };
    alternatives(&word, view, Splitting::Off, Defaults::Unknown).into_iter().map(arg).collect()
}

/// A word of which nothing is known.
pub(super) fn hole() -> Arg {
    Arg { text: "$()".into(), known: Some(0), glob: false }
}

/// What becomes of `${x:-y}` where nobody has set `x`: both cases, or a text that cannot be known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Defaults {
    Apply,
    Unknown,
}

/// The pieces of a word; one sequence for each value that the variables in it can have.
fn alternatives(word: &Word, view: View<'_>, splitting: Splitting, defaults: Defaults) -> Vec<Pieces> {
    let state = view.state;
    let mut all = vec![Pieces::new()];
    for part in &word.parts {
        if view.is_exhausted() {
            return vec![vec![Piece::Hole("$()".to_owned())]];
        }
        let values = match part {
            Part::Plain(text) => vec![chars(text, Quoting::Bare)],
            Part::Quoted(text) => vec![chars(text, Quoting::Quoted)],
            Part::Unknown { .. } | Part::List(_) => vec![vec![Piece::Hole("$()".to_owned())]],
            Part::Output { number, quoted } => match state.outputs.get(number) {
                Some(_) if !quoted && splitting == Splitting::On && state.value("IFS").is_some() => {
                    vec![vec![Piece::Hole("$()".to_owned())]]
                }
                Some(printed) if *quoted => vec![value(printed, Quoting::Quoted, Splitting::Off)],
                Some(printed) => vec![value(printed, Quoting::Expanded, splitting)],
                None => vec![vec![Piece::Hole("$()".to_owned())]],
            },
            Part::Variable(variable) => {
                let Variable { name, altered, trim, default, quoted } = variable.as_ref();
                let splitting = if *quoted { Splitting::Off } else { splitting };
                let quoting = if *quoted { Quoting::Quoted } else { Quoting::Expanded };
                let hole = || vec![vec![Piece::Hole(format!("${name}"))]];
                // `${!x}` is the value of the variable that `x` names.
                let named = name.strip_prefix('!').and_then(|name| view.value(name));
                let (name, altered) = match named {
                    Some(Value::Known(name)) => (name, &false),
                    _ => (name, altered),
                };
                match view.value(name) {
                    // `$IFS`, and whatever is cut out of it, is a blank that nobody typed.
                    None if name == "IFS" => vec![value(" ", quoting, splitting)],
                    // Nobody has set it here: it may have a value, or else this one.
                    None if defaults == Defaults::Apply && default.as_deref().is_some_and(is_written_out) => {
                        let text = default.as_deref().unwrap_or_default();
                        let text = match text.strip_prefix('~').zip(state.home.as_deref()) {
                            Some((rest, home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
                            _ => text.to_owned(),
                        };
                        let unset = view.binding(name).is_some();
                        let set = if unset { Vec::new() } else { hole() };
                        [set, vec![value(&text, quoting, splitting)]].concat()
                    }
                    // What a value falls into when somebody has changed the separators is theirs to know, or it stays whole.
                    Some(Value::Known(known))
                        if splitting == Splitting::On && state.value("IFS").is_some() && !altered && trim.is_none() =>
                    {
                        [hole(), vec![value(known, quoting, Splitting::Off)]].concat()
                    }
                    Some(_) if splitting == Splitting::On && state.value("IFS").is_some() => hole(),
                    Some(Value::Known(_) | Value::Each(_))
                        if trim.as_ref().is_some_and(|trim| trim.pattern.is_some()) =>
                    {
                        let known = view.value(name).map(Value::members).unwrap_or_default();
                        let cut = known.iter().map(|known| trimmed(&known.text, trim.as_ref(), view));
                        let cut: Option<Vec<String>> = cut.map(|cut| cut.map(str::to_owned)).collect();
                        match cut {
                            Some(cut) => cut.iter().map(|known| value(known, quoting, splitting)).collect(),
                            None => hole(),
                        }
                    }
                    Some(Value::Known(known)) if !altered => vec![value(known, quoting, splitting)],
                    Some(Value::Each(each)) if !altered => {
                        each.iter().map(|known| value(known, quoting, splitting)).collect()
                    }
                    Some(Value::Maybe(some)) if !altered => {
                        let known = some.iter().map(|member| written(member, quoting, splitting));
                        known.chain(hole()).collect()
                    }
                    Some(Value::Words(words)) if !altered => {
                        let mut pieces = Pieces::new();
                        for word in words {
                            if !pieces.is_empty() {
                                pieces.push(Piece::Break);
                            }
                            pieces.extend(written(word, quoting, splitting));
                        }
                        vec![pieces]
                    }
                    Some(Value::Written(known))
                        if !altered && (*quoted || !known.text.contains(char::is_whitespace)) =>
                    {
                        vec![written(known, quoting, splitting)]
                    }
                    _ => hole(),
                }
            }
        };
        let values = if values.len() > 1 || all.len() > 1 || is_long(&values) {
            let (before, added) = (all.iter().map(Vec::len).sum::<usize>(), values.iter().map(Vec::len).sum::<usize>());
            let steps = before.saturating_mul(values.len()).saturating_add(added.saturating_mul(all.len()));
            if view.charge(steps) { values } else { vec![vec![Piece::Hole("$()".to_owned())]] }
        } else {
            values
        };
        match values.as_slice() {
            // The usual case, and the one that a hostile word repeats.
            [only] => all.iter_mut().for_each(|start| start.extend_from_slice(only)),
            several => {
                let longer =
                    |start: &Pieces| several.iter().map(|value| [start.as_slice(), value].concat()).collect::<Vec<_>>();
                all = all.iter().flat_map(longer).collect();
            }
        }
    }
    all
}

/// A word of which the end may be unknown.
fn written(arg: &Arg, quoting: Quoting, splitting: Splitting) -> Pieces {
    let start = arg.prefix();
    let mut pieces = value(start, quoting, splitting);
    if !arg.is_known() {
        pieces.push(Piece::Hole(arg.text.get(start.len()..).unwrap_or_default().to_owned()));
    }
    pieces
}

fn is_long(values: &[Pieces]) -> bool {
    values.iter().any(|value| value.len() > 64)
}

fn chars(text: &str, quoting: Quoting) -> Pieces {
    text.chars().map(|c| Piece::Char(c, quoting)).collect()
}

/// The value of a variable, with its blanks as breaks where it is split.
fn value(text: &str, quoting: Quoting, splitting: Splitting) -> Pieces {
    let blank = |c: char| (splitting == Splitting::On && matches!(c, ' ' | '\t' | '\n')) || APART.contains(c);
    text.chars().map(|c| if blank(c) { Piece::Break } else { Piece::Char(c, quoting) }).collect()
}

/// What is left of a field when quotes are gone.
fn arg(pieces: impl AsRef<[Piece]>) -> Arg {
    let mut found = Arg::default();
    for piece in pieces.as_ref() {
        match piece {
            Piece::Char(c, quoting) => {
                found.glob |= *quoting != Quoting::Quoted && matches!(c, '*' | '?' | ']');
                found.text.push(*c);
            }
            Piece::Break => found.text.push(' '),
            Piece::Hole(written) => {
                found.known.get_or_insert(found.text.len());
                found.text.push_str(written);
            }
        }
    }
    found
}

#[cfg(test)]
#[path = "../../tests/unit/shell/expand.rs"]
mod tests;
