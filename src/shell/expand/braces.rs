//! Brace expansion: lists and sequences.

use super::{Piece, Pieces, Quoting, View, chars};

/// A sequence such as `{1..5000}` of more words is one word that cannot be known.
const MOST_NUMBERS: usize = 1_000;

/// `{a,b}` and `{1..3}`, outermost first, without recursion.
pub(super) fn braces(pieces: Pieces, view: View<'_>) -> Vec<Pieces> {
    let open = Piece::Char('{', Quoting::Bare);
    let lists = pieces.iter().any(|piece| matches!(piece, Piece::Char(',' | '.', Quoting::Bare)));
    if !lists || !pieces.contains(&open) {
        return vec![pieces];
    }
    let unknown = || vec![vec![Piece::Hole("{…}".to_owned())]];
    let mut done = Vec::new();
    let mut work = vec![(pieces, 0)];
    while let Some((pieces, from)) = work.pop() {
        // Each result is looked through from its next brace on.
        if !view.charge(COPY_WORD + pieces.len().saturating_sub(from)) {
            return unknown();
        }
        let found = next_lists(&pieces, from).into_iter().find_map(|at| Some((at, listed(&pieces, at)?)));
        let Some((at, (choices, end))) = found else {
            done.push(pieces);
            continue;
        };
        let around = at + pieces.len().saturating_sub(end);
        if !view.charge(choices.len().saturating_mul(COPY_WORD + around)) {
            return unknown();
        }
        // The last one is pushed first, so that they come out in order.
        for choice in choices.into_iter().rev() {
            let start = pieces.iter().take(at).cloned();
            let rest = pieces.iter().skip(end + 1).cloned();
            work.push((start.chain(choice).chain(rest).collect(), at));
        }
    }
    done
}

/// What one more word costs, in steps.
const COPY_WORD: usize = 4;

/// The braces from here on that close and may hold a list or a sequence, in order.
fn next_lists(pieces: &[Piece], from: usize) -> Vec<usize> {
    #[derive(Default)]
    struct Brace {
        at: usize,
        comma: bool,
        dot: bool,
        nested: bool,
    }
    let mut open: Vec<Brace> = Vec::new();
    let mut found = Vec::new();
    for (at, piece) in pieces.iter().enumerate().skip(from) {
        let Piece::Char(c, Quoting::Bare) = piece else { continue };
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

/// The choices of the brace at `at`, and where it closes; `None` where it is only a brace.
fn listed(pieces: &[Piece], at: usize) -> Option<(Vec<Pieces>, usize)> {
    let mut depth = 0_usize;
    let mut parts: Vec<Pieces> = vec![Pieces::new()];
    for (index, piece) in pieces.iter().enumerate().skip(at) {
        match piece {
            Piece::Char('{', Quoting::Bare) => {
                depth += 1;
                if depth == 1 {
                    continue;
                }
            }
            Piece::Char('}', Quoting::Bare) => {
                depth -= 1;
                if depth == 0 {
                    let found =
                        if parts.len() > 1 { Some(parts) } else { parts.pop().and_then(|only| sequence(&only)) };
                    return found.map(|parts| (parts, index));
                }
            }
            Piece::Char(',', Quoting::Bare) if depth == 1 => {
                parts.push(Pieces::new());
                continue;
            }
            Piece::Char(..) | Piece::Break | Piece::Hole(_) => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(piece.clone());
        }
    }
    None
}

/// `1..5` or `a..e`.
fn sequence(pieces: &[Piece]) -> Option<Vec<Pieces>> {
    let text: Option<String> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Char(c, Quoting::Bare) => Some(*c),
            Piece::Char(..) | Piece::Break | Piece::Hole(_) => None,
        })
        .collect();
    let text = text?;
    let mut ends = text.split("..");
    let (first, last, step) = (ends.next()?, ends.next()?, ends.next());
    if ends.next().is_some() || step.is_some_and(|step| step.parse::<i64>().is_err()) {
        return None;
    }
    let words: Vec<String> = match (first.parse::<i64>(), last.parse::<i64>()) {
        (Ok(first), Ok(last)) => {
            let (low, high) = (first.min(last), first.max(last));
            let span = usize::try_from(high.checked_sub(low)?).ok()?;
            if span > MOST_NUMBERS {
                return Some(vec![vec![Piece::Hole("{…}".to_owned())]]);
            }
            (low..=high).map(|number| number.to_string()).collect()
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
    Some(words.iter().map(|word| chars(word, Quoting::Bare)).collect())
}
