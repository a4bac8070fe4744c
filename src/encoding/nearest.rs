//! Suggestions for misspelt names.

/// The most similar name, if it is at most two edits away.
pub fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let max_edits = (wrong.chars().count() / 3).min(2);
    let distance = |name: &str| if is_transposed(wrong, name) { 1 } else { distance(wrong, name) };
    names.map(|name| (distance(name), name)).filter(|(edits, _)| *edits <= max_edits).min().map(|(_, name)| name)
}

/// Whether the texts differ only in that two adjacent characters are swapped.
fn is_transposed(a: &str, b: &str) -> bool {
    let differing: Vec<(char, char)> = a.chars().zip(b.chars()).skip_while(|(a, b)| a == b).collect();
    let [(a1, b1), (a2, b2), rest @ ..] = differing.as_slice() else { return false };
    a.chars().count() == b.chars().count() && a1 == b2 && a2 == b1 && rest.iter().all(|(a, b)| a == b)
}

/// The Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (to, cell) in b.chars().zip(row.iter_mut().skip(1)) {
            let best = (diagonal + usize::from(from != to)).min(left + 1).min(*cell + 1);
            diagonal = std::mem::replace(cell, best);
            left = best;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
#[path = "../../tests/unit/encoding/nearest.rs"]
mod tests;
