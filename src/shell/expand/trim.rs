//! Values without their beginning or end: `${x%y}`, `${x##y}`.

use super::super::syntax::Trim;
use super::View;

/// What is left of a value when a pattern is cut off it.
pub(super) fn trimmed<'a>(value: &'a str, trim: Option<&Trim>, view: View<'_>) -> Option<&'a str> {
    let Some(Trim { end, greedy, pattern: Some(pattern) }) = trim else { return None };
    // A pattern is compared at each place, and each of its stars may try each place again.
    let stars = 1 + pattern.matches('*').count();
    if !view.charge(value.len().saturating_mul(value.len()).saturating_mul(stars)) {
        return None;
    }
    let mut cuts: Vec<usize> = value.char_indices().map(|(at, _)| at).chain([value.len()]).collect();
    // The least that is cut off comes first.
    if *end != *greedy {
        cuts.reverse();
    }
    let matches = |at: &usize| {
        let (before, after) = value.split_at_checked(*at).unwrap_or_default();
        matches(pattern, if *end { after } else { before })
    };
    let at = cuts.into_iter().find(matches);
    // Of the names that a pattern for files finds, only the last part can be told from here.
    let name = value.rfind('/').map_or(0, |at| at + 1);
    if *end && value.contains(['*', '?', '[']) && at.is_none_or(|at| at < name) {
        return None;
    }
    Some(match at {
        Some(at) if *end => value.get(..at).unwrap_or_default(),
        Some(at) => value.get(at..).unwrap_or_default(),
        None => value,
    })
}

/// Whether a pattern of stars and question marks matches all of a text.
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
            // The last star takes one more.
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
