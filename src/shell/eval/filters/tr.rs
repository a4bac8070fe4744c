//! `tr`: replaces, deletes or squeezes characters.

use crate::verdict::limits::Meter;

/// The characters of a class.
const CLASSES: [(&str, &str); 5] = [
    ("[:lower:]", "abcdefghijklmnopqrstuvwxyz"),
    ("[:upper:]", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("[:digit:]", "0123456789"),
    ("[:space:]", " \t\n\r\u{b}\u{c}"),
    ("[:blank:]", " \t"),
];

/// The longest set.
const MAX_SET_CHARS: usize = 512;

pub(super) fn tr(options: &[&str], input: &str, meter: &Meter) -> Option<String> {
    let (mut deletes, mut squeezes, mut complement) = (false, false, false);
    let is_option =
        |word: &&&str| word.len() > 1 && word.starts_with('-') && !word.contains(|c: char| c.is_ascii_digit());
    let flags = options.iter().take_while(is_option).count();
    for letter in options.iter().take(flags).flat_map(|word| word.chars().skip(1)) {
        match letter {
            'd' => deletes = true,
            's' => squeezes = true,
            'c' | 'C' => complement = true,
            't' => {}
            _ => return None,
        }
    }
    let sets: Option<Vec<Vec<char>>> = options.get(flags..)?.iter().map(|set| parse_set(set)).collect();
    let sets = sets?;
    let longest = sets.iter().map(Vec::len).max().unwrap_or_default();
    meter.try_charge(input.len().saturating_mul(1 + longest / 16)).then_some(())?;
    let (from, to) = (sets.first()?, sets.get(1));
    let position = |c: char| match (from.iter().rposition(|known| *known == c), complement) {
        (Some(_), true) => None,
        (None, true) => Some(usize::MAX),
        (found, false) => found,
    };
    let squeezed = to.filter(|_| !deletes || squeezes).unwrap_or(from);
    let mut output = String::with_capacity(input.len());
    for c in input.chars() {
        let replaced = match (position(c), to.filter(|_| !deletes)) {
            (Some(_), None) if deletes => continue,
            (Some(at), Some(to)) => to.get(at).or(to.last()).copied()?,
            (_, _) => c,
        };
        // A repetition of a squeezed character is dropped.
        let repeats =
            squeezes && output.ends_with(replaced) && (squeezed.contains(&replaced) != (complement && to.is_none()));
        if !repeats {
            output.push(replaced);
        }
    }
    Some(output)
}

/// Expands ranges, classes and escapes of a set.
fn parse_set(set: &str) -> Option<Vec<char>> {
    let mut chars: Vec<char> = Vec::new();
    let mut rest = set;
    while let Some(c) = rest.chars().next() {
        if let Some((name, members)) = CLASSES.iter().find(|(name, _)| rest.starts_with(name)) {
            chars.extend(members.chars());
            rest = rest.strip_prefix(name)?;
            continue;
        }
        // Other classes, equivalence classes and repetitions.
        if rest.starts_with("[:") || rest.starts_with("[=") || rest.starts_with('[') && rest.contains("*]") {
            return None;
        }
        let (first, length) = one(rest)?;
        rest = rest.get(length..)?;
        match rest.strip_prefix('-').filter(|behind| !behind.is_empty()) {
            Some(behind) => {
                let (last, length) = one(behind)?;
                (first <= last).then_some(())?;
                chars.extend((first..=last).take(MAX_SET_CHARS + 1));
                rest = behind.get(length..)?;
            }
            None => chars.push(first),
        }
        if chars.len() > MAX_SET_CHARS || c == '\0' {
            return None;
        }
    }
    Some(chars)
}

/// Returns the first character of a set, decoded, and its length in the source.
fn one(set: &str) -> Option<(char, usize)> {
    let first = set.chars().next()?;
    let Some(escaped) = set.strip_prefix('\\') else { return Some((first, first.len_utf8())) };
    let octal: String = escaped.chars().take(3).take_while(|c| c.is_digit(8)).collect();
    if !octal.is_empty() {
        return char::from_u32(u32::from_str_radix(&octal, 8).ok()?).map(|c| (c, 1 + octal.len()));
    }
    let kind = escaped.chars().next()?;
    let decoded = match kind {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        other => other,
    };
    Some((decoded, 1 + kind.len_utf8()))
}
