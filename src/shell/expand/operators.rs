//! Operators of parameter expansion: `${x%y}`, `${x:1:2}`, `${x/a/b}`, `${x^^}`, `${x@U}`.

use super::super::FIELD_SEPARATOR;
use super::super::parse::ansi;
use super::super::state::Value;
use super::arithmetic::evaluate;
use super::{Ampersand, BoundState};

/// Whether a pattern matches every letter that a change of case changes. `~` changes letters of both cases.
fn is_all_letters(pattern: &str, sign: &str) -> bool {
    match pattern {
        "*" | "?" | "[[:alpha:]]" => true,
        "[a-z]" | "[[:lower:]]" => sign.starts_with('^'),
        "[A-Z]" | "[[:upper:]]" => sign.starts_with(','),
        _ => false,
    }
}

/// Returns the value that an operator makes of another one, or `None` if it is unknown.
pub(super) fn apply(value: &str, operator: &str, bound: BoundState<'_>) -> Option<String> {
    if !bound.charge(1 + (value.len() + operator.len()) / 16) {
        return None;
    }
    let operand = |text: &str| resolve_operand(text, bound);
    match operator {
        "" | "^" | "^^" | "," | ",," | "~" | "~~" | "@U" | "@L" | "@u" | "@P" | "@Q" | "@E" => {
            transform(value, operator)
        }
        // `${x,,[A-Z]}`
        _ if operator.starts_with(['^', ',', '~']) => {
            let pattern = operator.trim_start_matches(['^', ',', '~']);
            let signs = operator.get(..operator.len() - pattern.len())?;
            is_all_letters(pattern, signs).then(|| transform(value, signs))?
        }
        _ if operator.starts_with(['%', '#']) => trim(value, operator, bound),
        _ if operator.starts_with('/') => replace(value, operator, bound),
        // The default applies to an empty value, and with a colon also to an unset one.
        _ if operator.starts_with([':', '-', '=', '+']) => match operator.trim_start_matches(':').chars().next() {
            Some('-' | '=') if operator.starts_with(":-") || operator.starts_with(":=") => {
                if value.is_empty() {
                    operand(operator.get(2..)?)
                } else {
                    Some(value.to_owned())
                }
            }
            Some('-' | '=') if !operator.starts_with(':') => Some(value.to_owned()),
            Some('+') if operator.starts_with(":+") => {
                if value.is_empty() {
                    Some(String::new())
                } else {
                    operand(operator.get(2..)?)
                }
            }
            Some('+') if !operator.starts_with(':') => operand(operator.get(1..)?),
            _ => substring(value, operator.strip_prefix(':')?, bound),
        },
        _ => None,
    }
}

/// Applies an operator to the words of an array or of `$@`: `"${a[*]}"`, `${@:2}`, `${a[@]/x/y}`.
pub(super) fn apply_to_words(value: &str, operator: &str, first: i64, bound: BoundState<'_>) -> Option<String> {
    let words = || value.split(FIELD_SEPARATOR);
    if operator == "*" {
        let separator = match bound.value("IFS") {
            Some(Value::Known(separators)) => separators.chars().next().map(String::from).unwrap_or_default(),
            Some(_) => return None,
            None => " ".to_owned(),
        };
        return bound.state.meter.replace(value, FIELD_SEPARATOR, &separator);
    }
    let range = operator.strip_prefix(':').filter(|range| !range.starts_with(['-', '=', '+', '?']));
    let Some(range) = range else {
        let changed: Option<Vec<String>> = words().map(|word| apply(word, operator, bound)).collect();
        return changed.map(|words| words.join(FIELD_SEPARATOR));
    };
    let (offset, length) = range.split_once(':').map_or((range, None), |(offset, length)| (offset, Some(length)));
    let skip = usize::try_from(evaluate(offset, bound)?.checked_sub(first)?.max(0)).ok()?;
    let take = length.map_or(Some(usize::MAX), |length| usize::try_from(evaluate(length, bound)?).ok())?;
    Some(words().skip(skip).take(take).collect::<Vec<_>>().join(FIELD_SEPARATOR))
}

/// Returns the operand of `${x:+y}` or `${x+y}`.
pub(super) fn alternative(operator: &str, bound: BoundState<'_>) -> Option<String> {
    let text = operator.strip_prefix(":+").or_else(|| operator.strip_prefix('+'))?;
    resolve_operand(text, bound)
}

fn transform(value: &str, operator: &str) -> Option<String> {
    let first = |change: fn(&str) -> String| {
        let at = value.chars().next().map_or(0, char::len_utf8);
        let (first, rest) = value.split_at_checked(at)?;
        Some(change(first) + rest)
    };
    match operator {
        "^^" | "@U" => Some(value.to_uppercase()),
        ",," | "@L" => Some(value.to_lowercase()),
        "~~" => Some(value.chars().map(toggled).collect()),
        "~" => {
            let mut chars = value.chars();
            let first = chars.next().map(toggled);
            Some(first.into_iter().chain(chars).collect())
        }
        "^" | "@u" => first(str::to_uppercase),
        "," => first(str::to_lowercase),
        "@Q" => Some(format!("'{}'", value.replace('\'', "'\\''"))),
        "@E" => Some(ansi::decode(&value.replace('\'', "\\'")).0),
        // Prompt escapes and expansions are not followed.
        "@P" => (!value.contains(['\\', '$', '`', '!'])).then(|| value.to_owned()),
        _ => None,
    }
}

/// A letter in the other case.
fn toggled(c: char) -> char {
    if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
}

/// `offset` or `offset:length`
fn substring(value: &str, range: &str, bound: BoundState<'_>) -> Option<String> {
    let (offset, length) = range.split_once(':').map_or((range, None), |(offset, length)| (offset, Some(length)));
    let number = |text: &str| if text.trim().is_empty() { Some(0) } else { evaluate(text, bound) };
    let count = i64::try_from(value.chars().count()).ok()?;
    let offset = number(offset)?;
    let start = if offset < 0 { count + offset } else { offset };
    let end = match length.map(number) {
        Some(length) => match length? {
            length if length < 0 => count + length,
            length => start.saturating_add(length),
        },
        None => count,
    };
    // A start before the value gives nothing.
    if start < 0 || start > count {
        return Some(String::new());
    }
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
    Some(value.chars().take(end).skip(start).collect())
}

/// `/a/b`, `//a/b`, `/#a/b`, `/%a/b`
fn replace(value: &str, operator: &str, bound: BoundState<'_>) -> Option<String> {
    let rest = operator.strip_prefix('/')?;
    let (kind, rest) = match rest.chars().next() {
        Some(kind @ ('/' | '#' | '%')) => (Some(kind), rest.get(1..)?),
        _ => (None, rest),
    };
    let (written, with_text) = split_unquoted(rest, '/');
    let (pattern, with) = (resolve_operand(written, bound)?, resolve_operand(with_text.unwrap_or_default(), bound)?);
    // `${x/#/y}` puts `y` in front of the value.
    if pattern.is_empty() && !matches!(kind, Some('#' | '%')) {
        return Some(value.to_owned());
    }
    let is_quoted = || with_text.unwrap_or_default().contains(['\\', '"', '\'']);
    if with.contains('&') && (is_quoted() || value.contains('&')) {
        return None;
    }
    let matches_all = written == "*" && kind.is_none_or(|kind| kind != '%');
    if !matches_all && pattern.contains(['*', '?', '[']) && !is_literal(written) {
        return None;
    }
    let with = match bound.ampersand {
        Ampersand::Match => bound.state.meter.replace(&with, "&", if matches_all { value } else { &pattern })?,
        Ampersand::Character => with,
    };
    if matches_all {
        return Some(with);
    }
    match kind {
        Some('/') => bound.state.meter.replace(value, &pattern, &with),
        Some('#') => Some(value.strip_prefix(pattern.as_str()).map_or_else(|| value.to_owned(), |rest| with + rest)),
        Some('%') => {
            Some(value.strip_suffix(pattern.as_str()).map_or_else(|| value.to_owned(), |rest| rest.to_owned() + &with))
        }
        _ => Some(value.replacen(&pattern, &with, 1)),
    }
}

/// Whether all wildcards of a pattern are behind a backslash.
fn is_literal(pattern: &str) -> bool {
    let mut is_escaped = false;
    pattern.chars().all(|c| {
        let was_escaped = is_escaped;
        is_escaped = c == '\\' && !was_escaped;
        was_escaped || !matches!(c, '*' | '?' | '[' | '$' | '"' | '\'')
    })
}

/// Splits at the first separator that is neither quoted nor in an expansion.
fn split_unquoted(text: &str, separator: char) -> (&str, Option<&str>) {
    let mut quote: Option<char> = None;
    let mut depth = 0_usize;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (c, quote) {
            _ if std::mem::take(&mut escaped) => {}
            ('\\', None | Some('"')) => escaped = true,
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => quote = Some(c),
            ('{', None) => depth += 1,
            ('}', None) => depth = depth.saturating_sub(1),
            (c, None) if c == separator && depth == 0 => {
                return (text.get(..at).unwrap_or_default(), text.get(at + c.len_utf8()..));
            }
            _ => {}
        }
    }
    (text, None)
}

/// Expands the operand of an operator: quotes, escapes, and variables whose values are known.
fn resolve_operand(text: &str, bound: BoundState<'_>) -> Option<String> {
    let mut found = String::new();
    let mut chars = text.chars().peekable();
    let mut in_double = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => found.push(chars.next()?),
            '"' => in_double = !in_double,
            '\'' if !in_double => loop {
                match chars.next()? {
                    '\'' => break,
                    // A quoted character of a pattern stands for itself.
                    '*' | '?' | '[' => return None,
                    inner => found.push(inner),
                }
            },
            '`' => return None,
            '*' | '?' | '[' if in_double => return None,
            '$' => {
                let braced = chars.next_if_eq(&'{').is_some();
                let mut name = String::new();
                while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                if name.is_empty() || braced && chars.next() != Some('}') {
                    return None;
                }
                let Some(Value::Known(value)) = bound.value(&name) else { return None };
                bound.state.meter.affords(found.len() + value.len()).then_some(())?;
                found.push_str(value);
            }
            c => found.push(c),
        }
    }
    Some(found)
}

/// Removes the match of a pattern from a value. Returns `None` if the result is unknown.
fn trim(value: &str, operator: &str, bound: BoundState<'_>) -> Option<String> {
    let sign = operator.chars().next()?;
    let rest = operator.strip_prefix(sign)?;
    let (greedy, pattern) = rest.strip_prefix(sign).map_or((false, rest), |rest| (true, rest));
    let from_end = sign == '%';
    let pattern = resolve_operand(pattern, bound).filter(|pattern| !pattern.contains(['[', '(']))?;
    // The pattern is matched at each position, and each star may try each position again.
    let stars = 1 + pattern.matches('*').count();
    if !bound.charge(value.len().saturating_mul(value.len()).saturating_mul(stars)) {
        return None;
    }
    let mut cuts: Vec<usize> = value.char_indices().map(|(at, _)| at).chain([value.len()]).collect();
    // The first match must be the shortest removal, or the longest if greedy.
    if from_end != greedy {
        cuts.reverse();
    }
    let matches = |at: &usize| {
        let (before, after) = value.split_at_checked(*at).unwrap_or_default();
        matches(&pattern, if from_end { after } else { before })
    };
    let at = cuts.into_iter().find(matches);
    // A glob stands for unknown names: only a cut within its last component has a known result.
    let name = value.rfind('/').map_or(0, |at| at + 1);
    if from_end && value.contains(['*', '?', '[']) && at.is_none_or(|at| at < name) {
        return None;
    }
    let kept = match at {
        Some(at) if from_end => value.get(..at).unwrap_or_default(),
        Some(at) => value.get(at..).unwrap_or_default(),
        None => value,
    };
    Some(kept.to_owned())
}

/// Whether a pattern of `*`, `?` and literal characters matches all of a text.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
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
