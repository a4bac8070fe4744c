//! Brace expansion behind a variable that is written without braces. bash expands the braces first, so `$x{a,b}` is
//! `$xa $xb`: the text of a choice continues the name of the variable.

use super::super::state::ShellState;
use super::super::syntax::{Variable, Word, WordPart, WordParts};
use super::braces::sequence_choices;
use super::{FieldChar, Quoting, text_chars};
use crate::verdict::limits::Meter;

/// Steps for one part of a word that is copied.
const PART_STEPS: usize = 16;

/// Replaces a word by the words that the braces behind such variables give.
pub(super) fn split_names(word: Word, state: &ShellState) -> Vec<Word> {
    let meets = |part: &WordPart| matches!(part, WordPart::Variable(variable) if variable.meets_brace);
    if !word.parts.iter().any(meets) {
        return vec![word];
    }
    let mut done = Vec::new();
    // Each word, and from which part on such variables are looked for.
    let mut work = vec![(word, 0)];
    let mut is_refused = false;
    while let Some((mut word, from)) = work.pop() {
        let next = word.parts.iter().skip(from).position(meets).map(|at| from + at);
        let Some(at) = next.filter(|_| !is_refused) else {
            // The limit is reported, or no such variable is left.
            word.parts.iter_mut().skip(from).for_each(leave_brace);
            done.push(word);
            continue;
        };
        let steps = |words: usize| words.saturating_mul(PART_STEPS * (1 + word.parts.len()));
        let choices = match choices(word.parts.get(at + 1..).unwrap_or_default(), &state.meter) {
            Scan::Choices(choices, rest) if state.meter.try_charge(steps(1 + choices.len())) => Some((choices, rest)),
            Scan::Choices(..) | Scan::Refused => {
                is_refused = true;
                None
            }
            Scan::Literal => None,
        };
        let Some((choices, rest)) = choices else {
            word.parts.iter_mut().skip(at).take(1).for_each(leave_brace);
            state.meter.charge(PART_STEPS);
            work.push((word, at + 1));
            continue;
        };
        let Some(WordPart::Variable(variable)) = word.parts.get(at) else { continue };
        // The stack returns the choices in order.
        for choice in choices.into_iter().rev() {
            let mut parts: WordParts = word.parts.iter().take(at).cloned().collect();
            parts.extend(named(variable, choice));
            parts.extend(rest.iter().cloned());
            work.push((Word { parts, span: word.span.clone() }, at));
        }
    }
    done
}

/// Takes a brace behind a variable as text.
fn leave_brace(part: &mut WordPart) {
    if let WordPart::Variable(variable) = part {
        variable.meets_brace = false;
    }
}

/// The variable whose name goes on with a choice, and the rest of the choice.
fn named(variable: &Variable, choice: WordParts) -> WordParts {
    let mut choice = choice.into_iter().peekable();
    let mut name = variable.name.clone();
    let mut rest = None;
    if let Some(WordPart::Plain(text)) = choice.peek() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let behind = text.trim_start_matches(is_part);
        name.push_str(text.get(..text.len() - behind.len()).unwrap_or_default());
        rest = Some(WordPart::Plain(behind.into())).filter(|_| !behind.is_empty());
        choice.next();
    }
    let meets_brace = matches!(&rest, Some(WordPart::Plain(text)) if text.starts_with('{'));
    let variable = Variable { name, meets_brace, ..variable.clone() };
    std::iter::once(WordPart::Variable(Box::new(variable))).chain(rest).chain(choice).collect()
}

/// What stands at the beginning of some parts.
enum Scan {
    /// The choices of a brace, and the parts behind it.
    Choices(Vec<WordParts>, WordParts),
    /// No brace that is expanded.
    Literal,
    /// The meter does not allow to look for its end.
    Refused,
}

/// Reads the brace at the beginning of these parts.
fn choices(parts: &[WordPart], meter: &Meter) -> Scan {
    let mut steps = 0;
    for part in parts {
        steps += if let WordPart::Plain(text) = part { 1 + text.len() } else { 1 };
    }
    if !meter.try_charge(steps) {
        return Scan::Refused;
    }
    read_choices(parts, meter).map_or(Scan::Literal, |(choices, rest)| Scan::Choices(choices, rest))
}

fn read_choices(parts: &[WordPart], meter: &Meter) -> Option<(Vec<WordParts>, WordParts)> {
    let mut depth = 0_usize;
    let mut found = vec![WordParts::new()];
    for (at, part) in parts.iter().enumerate() {
        let WordPart::Plain(text) = part else {
            if depth == 0 {
                return None;
            }
            found.last_mut()?.push(part.clone());
            continue;
        };
        let mut from = 0;
        let piece = |from: usize, to: usize| WordPart::Plain(text.get(from..to).unwrap_or_default().into());
        for (index, c) in text.char_indices() {
            match (c, depth) {
                ('{', 0) => from = index + 1,
                (',', 1) => {
                    found.last_mut()?.push(piece(from, index));
                    found.push(WordParts::new());
                    from = index + 1;
                }
                ('}', 1) => {
                    found.last_mut()?.push(piece(from, index));
                    let rest = std::iter::once(piece(index + 1, text.len())).chain(parts.iter().skip(at + 1).cloned());
                    let is_empty = |part: &WordPart| matches!(part, WordPart::Plain(text) if text.is_empty());
                    let rest = rest.filter(|part| !is_empty(part)).collect();
                    let choices = if found.len() > 1 { found } else { sequence(found.pop()?, meter)? };
                    return Some((choices, rest));
                }
                (_, 0) => return None,
                _ => {}
            }
            depth = match c {
                '{' => depth + 1,
                '}' => depth - 1,
                _ => depth,
            };
        }
        found.last_mut()?.push(piece(from, text.len()));
    }
    None
}

/// The words of a sequence: `1..3`.
fn sequence(parts: WordParts, meter: &Meter) -> Option<Vec<WordParts>> {
    let [WordPart::Plain(text)] = parts.as_slice() else { return None };
    let words = sequence_choices(&text_chars(text, Quoting::Bare), meter)?;
    let to_part = |word: Vec<FieldChar>| {
        let text: Option<String> =
            word.iter().map(|c| if let FieldChar::Char(c, _) = c { Some(*c) } else { None }).collect();
        let part = text.map_or(WordPart::Unknown { quoted: false }, |text| WordPart::Plain(text.into()));
        WordParts::from_elem(part, 1)
    };
    Some(words.into_iter().map(to_part).collect())
}
