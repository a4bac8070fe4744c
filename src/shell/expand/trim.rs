//! Removal of a prefix or suffix: `${x%y}`, `${x##y}`.

use super::super::syntax::Trim;
use super::BoundState;

/// Removes the match of a pattern from a value. Returns `None` if the result is unknown.
pub(super) fn trim_value<'a>(value: &'a str, trim: Option<&Trim>, bound: BoundState<'_>) -> Option<&'a str> {
    let Some(Trim { from_end, greedy, pattern: Some(pattern) }) = trim else { return None };
    // The pattern is matched at each position, and each star may try each position again.
    let stars = 1 + pattern.matches('*').count();
    if !bound.charge(value.len().saturating_mul(value.len()).saturating_mul(stars)) {
        return None;
    }
    let mut cuts: Vec<usize> = value.char_indices().map(|(at, _)| at).chain([value.len()]).collect();
    // The first match must be the shortest removal, or the longest if greedy.
    if *from_end != *greedy {
        cuts.reverse();
    }
    let matches = |at: &usize| {
        let (before, after) = value.split_at_checked(*at).unwrap_or_default();
        matches(pattern, if *from_end { after } else { before })
    };
    let at = cuts.into_iter().find(matches);
    // A glob stands for unknown names: only a cut within its last component has a known result.
    let name = value.rfind('/').map_or(0, |at| at + 1);
    if *from_end && value.contains(['*', '?', '[']) && at.is_none_or(|at| at < name) {
        return None;
    }
    Some(match at {
        Some(at) if *from_end => value.get(..at).unwrap_or_default(),
        Some(at) => value.get(at..).unwrap_or_default(),
        None => value,
    })
}

/// Whether a pattern of `*`, `?` and literal characters matches all of a text.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match (pattern.get(at), star) {
            (Some('*'), _) => {
                star = Some((at, from));
                at += 1;
            }
            (Some(c), _) if *c == '?' || text.get(from) == Some(c) => {
                at += 1;
                from += 1;
            }
            // Backtrack: the last star matches one more character.
            (_, Some((again, taken))) => {
                star = Some((again, taken + 1));
                at = again + 1;
                from = taken + 1;
            }
            (_, None) => return false,
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|c| *c == '*')
}
