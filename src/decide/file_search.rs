//! The client's tools that search files or list their names, by the files that they would look at.

use crate::event::Shows;
use crate::path::AbsPath;
use crate::path::Place;
use crate::shell::{Access, Act, Target};
use crate::verdict::limits::{Limit, PATH_BYTES, SEARCH_PATTERNS};

/// What a search or a listing does to files: to `base`, the file or directory that it is told to look at, and to those
/// below it that its patterns name.
///
/// Claude Code searches with `rg --hidden`, and splits its `glob` at blanks and commas. Fails where there are more
/// patterns than are judged.
pub(crate) fn accesses(base: &Access, patterns: Option<&str>, shows: Shows) -> Result<Vec<Access>, &'static Limit> {
    let act = match shows {
        Shows::Lines => Act::Read,
        Shows::Matches => Act::Match,
        Shows::Names => Act::List,
    };
    let names = patterns.map_or(Ok(Vec::new()), wanted)?;
    let everything = names.is_empty() || names.iter().any(|name| is_sweeping(name));
    // It may be a file or a directory.
    let mut found = vec![Access { act, ..base.clone() }];
    if everything && act == Act::Read {
        found.push(Access { act, deep: true, ..base.clone() });
    }
    let Some(directory) = base.target.path.as_ref() else { return Ok(found) };
    for name in names.iter().filter(|name| !is_sweeping(name)) {
        let (below, deep) = match name.strip_suffix("/**") {
            Some(below) => (below, act == Act::Read),
            None => (name.as_str(), false),
        };
        // `**` says that this is what a search looks for: wildcards meet names that begin with a dot.
        found.push(Access { act, deep, target: at(&format!("{directory}/**/{below}")), ..base.clone() });
    }
    Ok(found)
}

fn at(path: &str) -> Target {
    let path = AbsPath::resolve(path, &Place::default());
    Target { text: path.to_string(), path: Some(path), open: false }
}

/// The patterns that are searched for, with their braces expanded, without those behind a `!`.
///
/// A brace or a comma in a class or behind a backslash is a literal character, which clients and `rg` split differently.
/// Both ways of splitting are judged.
fn wanted(patterns: &str) -> Result<Vec<String>, &'static Limit> {
    let mut names = expanded(patterns)?;
    let without_literals = replace_literal_braces(patterns);
    if without_literals != patterns {
        names.extend(expanded(&without_literals)?);
    }
    Ok(names)
}

fn expanded(patterns: &str) -> Result<Vec<String>, &'static Limit> {
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
        let mut open = vec![pattern.to_owned()];
        while let Some(pattern) = open.pop() {
            steps += 1;
            if steps + open.len() > SEARCH_PATTERNS.most {
                return Err(&SEARCH_PATTERNS);
            }
            match braces(&pattern) {
                Some((before, choices, rest)) => {
                    open.extend(choices.split(',').map(|choice| format!("{before}{choice}{rest}")));
                }
                None => names.push(unescaped(&pattern)),
            }
        }
    }
    Ok(names)
}

/// The first innermost `{a,b}` in a pattern: what stands before it, its choices, and what stands behind it.
fn braces(pattern: &str) -> Option<(&str, &str, &str)> {
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

/// A pattern without the backslashes before its characters. What stands for itself behind one counts as a wildcard.
fn unescaped(pattern: &str) -> String {
    let mut escaped = false;
    let kept = |c: &char| {
        escaped = *c == '\\' && !escaped;
        !escaped
    };
    pattern.chars().filter(kept).collect()
}

/// Whether a pattern finds every file, or every one but for a letter.
fn is_sweeping(pattern: &str) -> bool {
    let is_wild = |part: &str| {
        let mut in_class = false;
        let wild = |c: char| {
            in_class = c == '[' || in_class && c != ']';
            in_class || matches!(c, '*' | '?' | '.' | ']')
        };
        // A class that picks letters says which names are meant.
        (!part.contains('[') || part.contains("[!") || part.contains("[^")) && part.chars().all(wild)
    };
    pattern.split('/').all(|part| !part.starts_with('.') && is_wild(part))
}

#[cfg(test)]
#[path = "../../tests/unit/decide/file_search.rs"]
mod tests;
