//! Brace expansion: lists `{a,b}` and sequences `{1..3}`.

use super::{BoundState, FieldChar, FieldChars, Quoting, text_chars};
use crate::verdict::limits::{Meter, SHELL_STEPS};

/// A longer sequence such as `{1..5000}` expands to one unknown word, which stands for any of its words and for others.
const MAX_SEQUENCE_WORDS: usize = 1_000;

/// Steps for the expansion of one word, so that one word does not use up what the rest of the text needs.
const MAX_WORD_STEPS: usize = SHELL_STEPS.most / 4;

/// Expands braces, outermost first, without recursion. If that takes too many steps, the word is unknown.
pub(super) fn expand_braces(chars: FieldChars, bound: BoundState<'_>) -> Vec<FieldChars> {
    let open = FieldChar::Char('{', Quoting::Bare);
    let lists = chars.iter().any(|element| matches!(element, FieldChar::Char(',' | '.', Quoting::Bare)));
    if !lists || !chars.contains(&open) {
        return vec![chars];
    }
    let unknown = || vec![vec![FieldChar::Unknown("{…}".to_owned())]];
    let mut spent = 0_usize;
    let mut charge = |steps: usize| {
        spent = spent.saturating_add(steps);
        if spent > MAX_WORD_STEPS {
            bound.state.meter.report(&SHELL_STEPS);
        }
        spent <= MAX_WORD_STEPS && bound.charge(steps)
    };
    let mut done = Vec::new();
    let mut work = vec![(chars, 0)];
    while let Some((chars, from)) = work.pop() {
        if !charge(COPY_WORD_STEPS + chars.len().saturating_sub(from)) {
            return unknown();
        }
        let found = find_braces(&chars, from)
            .into_iter()
            .find_map(|at| Some((at, brace_choices(&chars, at, &bound.state.meter)?)));
        let Some((at, (choices, end))) = found else {
            done.push(chars);
            continue;
        };
        let around = at + chars.len().saturating_sub(end);
        if !charge(choices.len().saturating_mul(COPY_WORD_STEPS + around)) {
            return unknown();
        }
        // The stack returns the choices in order.
        for choice in choices.into_iter().rev() {
            let start = chars.iter().take(at).cloned();
            let rest = chars.iter().skip(end + 1).cloned();
            work.push((start.chain(choice).chain(rest).collect(), at));
        }
    }
    done
}

/// Steps for copying one more word.
const COPY_WORD_STEPS: usize = 4;

/// Returns the positions, in order, of braces that are closed and may hold a list or a sequence.
fn find_braces(chars: &[FieldChar], from: usize) -> Vec<usize> {
    #[derive(Default)]
    struct Brace {
        at: usize,
        comma: bool,
        dot: bool,
        nested: bool,
    }
    let mut open: Vec<Brace> = Vec::new();
    let mut found = Vec::new();
    for (at, element) in chars.iter().enumerate().skip(from) {
        let FieldChar::Char(c, Quoting::Bare) = element else { continue };
        match (c, open.last_mut()) {
            ('{', last) => {
                last.into_iter().for_each(|outer| outer.nested = true);
                open.push(Brace { at, ..Brace::default() });
            }
            ('}', Some(_)) => {
                let lists = |brace: &Brace| brace.comma || brace.dot && !brace.nested;
                found.extend(open.pop().filter(lists).map(|brace| brace.at));
            }
            (',', Some(brace)) => brace.comma = true,
            ('.', Some(brace)) => brace.dot = true,
            _ => {}
        }
    }
    found.sort_unstable();
    found
}

/// Returns the choices of the brace at `at` and the position of its closing brace, or `None` if it is a literal brace.
fn brace_choices(chars: &[FieldChar], at: usize, meter: &Meter) -> Option<(Vec<FieldChars>, usize)> {
    let mut depth = 0_usize;
    let mut parts: Vec<FieldChars> = vec![FieldChars::new()];
    for (index, element) in chars.iter().enumerate().skip(at) {
        match element {
            FieldChar::Char('{', Quoting::Bare) => {
                depth += 1;
                if depth == 1 {
                    continue;
                }
            }
            FieldChar::Char('}', Quoting::Bare) => {
                depth -= 1;
                if depth == 0 {
                    let found = if parts.len() > 1 {
                        Some(parts)
                    } else {
                        parts.pop().and_then(|only| sequence_choices(&only, meter))
                    };
                    return found.map(|parts| (parts, index));
                }
            }
            FieldChar::Char(',', Quoting::Bare) if depth == 1 => {
                parts.push(FieldChars::new());
                continue;
            }
            FieldChar::Char(..) | FieldChar::Break | FieldChar::Unknown(_) => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(element.clone());
        }
    }
    None
}

/// Returns the words of `1..5` or `a..e`. The increment of `1..5..2` is ignored, which gives more words.
pub(super) fn sequence_choices(chars: &[FieldChar], meter: &Meter) -> Option<Vec<FieldChars>> {
    let text: Option<String> = chars
        .iter()
        .map(|element| match element {
            FieldChar::Char(c, Quoting::Bare) => Some(*c),
            FieldChar::Char(..) | FieldChar::Break | FieldChar::Unknown(_) => None,
        })
        .collect();
    let text = text?;
    let mut ends = text.split("..");
    let (first, last, step) = (ends.next()?, ends.next()?, ends.next());
    if ends.next().is_some() || step.is_some_and(|step| step.parse::<i64>().is_err()) {
        return None;
    }
    let words: Vec<String> = match (first.parse::<i64>(), last.parse::<i64>()) {
        (Ok(from), Ok(to)) => {
            let (low, high) = (from.min(to), from.max(to));
            let span = usize::try_from(high.checked_sub(low)?).ok()?;
            if span > MAX_SEQUENCE_WORDS {
                return Some(vec![vec![FieldChar::Unknown("{…}".to_owned())]]);
            }
            // A leading zero pads all numbers to the length of the longer end.
            let is_padded =
                |end: &str| end.trim_start_matches(['-', '+']).strip_prefix('0').is_some_and(|rest| !rest.is_empty());
            let width = if is_padded(first) || is_padded(last) { first.len().max(last.len()) } else { 0 };
            let longest = width.max(first.len()).max(last.len());
            // The words are charged before they are built.
            if width > MAX_SEQUENCE_WORDS || !meter.try_charge((span + 1).saturating_mul(longest)) {
                return Some(vec![vec![FieldChar::Unknown("{…}".to_owned())]]);
            }
            (low..=high).map(|number| format!("{number:0width$}")).collect()
        }
        _ => {
            let mut ends = [first, last].into_iter().filter_map(|end| {
                let mut chars = end.chars();
                chars.next().filter(|c| c.is_ascii_alphabetic() && chars.next().is_none())
            });
            let (first, last) = (ends.next()?, ends.next()?);
            (first.min(last)..=first.max(last)).map(String::from).collect()
        }
    };
    Some(words.iter().map(|word| text_chars(word, Quoting::Bare)).collect())
}
