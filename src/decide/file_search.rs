//! File accesses of the tools that search files or list their names.

use super::file_access::known_target;
use crate::event::Shows;
use crate::path::{AbsPath, Place};
use crate::shell::{Access, Act};
use crate::verdict::limits::{Limit, PATH_BYTES, SEARCH_PATTERNS};

/// Returns the accesses of a search or a listing: of `base`, which is a file or a directory, and of the files below it
/// that the patterns match.
///
/// Claude Code searches with `rg --hidden`, and splits its `glob` at blanks and commas.
///
/// # Errors
///
/// If the patterns exceed a limit.
pub(crate) fn accesses(base: &Access, patterns: Option<&str>, shows: Shows) -> Result<Vec<Access>, &'static Limit> {
    let act = match shows {
        Shows::Lines => Act::Read,
        Shows::Matches => Act::Match,
        Shows::Names => Act::List,
    };
    let names = patterns.map_or(Ok(Vec::new()), expand_both_ways)?;
    let everything = names.is_empty() || names.iter().any(|name| matches_nearly_all(name));
    // `base` may be a file.
    let mut accesses = vec![Access { act, ..base.clone() }];
    if everything && act == Act::Read {
        accesses.push(Access { act, deep: true, ..base.clone() });
    }
    let Some(directory) = base.target.path.as_ref() else { return Ok(accesses) };
    for name in names.iter().filter(|name| !matches_nearly_all(name)) {
        let (below, deep) = match name.strip_suffix("/**") {
            Some(below) => (below, act == Act::Read),
            None => (name.as_str(), false),
        };
        // `**` marks the path of a search, in which wildcards also match names that begin with a dot.
        let path = AbsPath::resolve(&format!("{directory}/**/{below}"), &Place::default());
        accesses.push(Access { act, deep, target: known_target(path), ..base.clone() });
    }
    Ok(accesses)
}

/// Expands patterns with braces and commas in classes or behind backslashes as syntax, and as literal characters.
///
/// Clients and `rg` treat them differently, so the result has the patterns of both ways.
fn expand_both_ways(patterns: &str) -> Result<Vec<String>, &'static Limit> {
    let mut names = expand(patterns)?;
    let without_literals = replace_literal_braces(patterns);
    if without_literals != patterns {
        names.extend(expand(&without_literals)?);
    }
    Ok(names)
}

/// Splits patterns at blanks and commas, and expands their braces. Patterns that begin with `!` are left out.
fn expand(patterns: &str) -> Result<Vec<String>, &'static Limit> {
    let mut names = Vec::new();
    let mut depth = 0_usize;
    let split = |c: char| {
        depth = match c {
            '{' => depth + 1,
            '}' => depth.saturating_sub(1),
            _ => depth,
        };
        c.is_whitespace() || (c == ',' && depth == 0)
    };
    let mut steps = 0;
    for pattern in patterns.split(split).filter(|pattern| !pattern.is_empty() && !pattern.starts_with('!')) {
        if pattern.len() > PATH_BYTES.most {
            return Err(&PATH_BYTES);
        }
        let mut pending = vec![pattern.to_owned()];
        while let Some(pattern) = pending.pop() {
            steps += 1;
            if steps + pending.len() > SEARCH_PATTERNS.most {
                return Err(&SEARCH_PATTERNS);
            }
            match split_braces(&pattern) {
                Some((before, choices, rest)) => {
                    pending.extend(choices.split(',').map(|choice| format!("{before}{choice}{rest}")));
                }
                None => names.push(unescape(&pattern)),
            }
        }
    }
    Ok(names)
}

/// Splits a pattern at its first innermost `{a,b}`: the text before it, the choices, and the text after it.
fn split_braces(pattern: &str) -> Option<(&str, &str, &str)> {
    let end = pattern.find('}')?;
    let start = pattern.get(..end)?.rfind('{')?;
    Some((pattern.get(..start)?, pattern.get(start + 1..end)?, pattern.get(end + 1..)?))
}

/// Replaces braces and commas in classes and behind backslashes by `?`. No protected name contains any of them.
fn replace_literal_braces(pattern: &str) -> String {
    let (mut escaped, mut in_class) = (false, false);
    let replace = |c: char| {
        let literal = (escaped || in_class) && matches!(c, '{' | '}' | ',');
        in_class = !escaped && (c == '[' || in_class && c != ']');
        escaped = !escaped && c == '\\';
        if literal { '?' } else { c }
    };
    pattern.chars().map(replace).collect()
}

/// Removes backslashes from a pattern. An escaped wildcard counts as a wildcard.
fn unescape(pattern: &str) -> String {
    let mut escaped = false;
    let kept = |c: &char| {
        escaped = *c == '\\' && !escaped;
        !escaped
    };
    pattern.chars().filter(kept).collect()
}

/// Whether a pattern matches all names, or all with few exceptions: it has wildcards and negated classes only.
fn matches_nearly_all(pattern: &str) -> bool {
    let is_wild = |part: &str| {
        let mut in_class = false;
        let wild = |c: char| {
            in_class = c == '[' || in_class && c != ']';
            in_class || matches!(c, '*' | '?' | '.' | ']')
        };
        // A class that is not negated selects some names.
        (!part.contains('[') || part.contains("[!") || part.contains("[^")) && part.chars().all(wild)
    };
    pattern.split('/').all(|part| !part.starts_with('.') && is_wild(part))
}

#[cfg(test)]
#[path = "../../tests/unit/decide/file_search.rs"]
mod tests;
