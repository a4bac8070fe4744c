//! The client's tools that search files or list their names, by the files that they would look at.

use crate::event::Shows;
use crate::path::AbsPath;
use crate::path::Place;
use crate::shell::{Access, Act, Target};

/// Patterns beyond this, once their braces are expanded, count as patterns for every file and every hidden one.
const MOST_PATTERNS: usize = 64;

/// The same for patterns that are longer than this.
const LONGEST_PATTERNS: usize = 4 << 10;

/// What a search or a listing does to files: to `base`, the file or directory that it is told to look at, and to those
/// below it that its patterns name.
///
/// Claude Code searches with `rg --hidden`, and splits its `glob` at blanks and commas.
pub(crate) fn accesses(base: &Access, patterns: Option<&str>, shows: Shows) -> Vec<Access> {
    let act = match shows {
        Shows::Lines => Act::Read,
        Shows::Matches => Act::Match,
        Shows::Names => Act::List,
    };
    let names = patterns.map(|patterns| wanted(patterns).unwrap_or_else(|| vec!["*".to_owned(), ".*".to_owned()]));
    let names = names.unwrap_or_default();
    let everything = names.is_empty() || names.iter().any(|name| is_sweeping(name));
    // It may be a file or a directory.
    let mut found = vec![Access { act, ..base.clone() }];
    if everything && act == Act::Read {
        found.push(Access { act, deep: true, ..base.clone() });
    }
    let Some(directory) = base.target.path.as_ref() else { return found };
    for name in names.iter().filter(|name| !is_sweeping(name)) {
        let (below, deep) = match name.strip_suffix("/**") {
            Some(below) => (below, act == Act::Read),
            None => (name.as_str(), false),
        };
        // `**` says that this is what a search looks for: wildcards meet names that begin with a dot.
        found.push(Access { act, deep, target: at(&format!("{directory}/**/{below}")), ..base.clone() });
    }
    found
}

fn at(path: &str) -> Target {
    let path = AbsPath::resolve(path, &Place::default());
    Target { text: path.to_string(), path: Some(path), open: false }
}

/// The patterns that are looked for, without those behind a `!`; `None` where they are too many.
fn wanted(patterns: &str) -> Option<Vec<String>> {
    if patterns.len() > LONGEST_PATTERNS {
        return None;
    }
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
    for pattern in patterns.split(split).filter(|pattern| !pattern.is_empty() && !pattern.starts_with('!')) {
        if hides_braces(pattern) {
            return None;
        }
        let mut open = vec![pattern.to_owned()];
        while let Some(pattern) = open.pop() {
            let Some((before, choices, rest)) = braces(&pattern) else {
                names.push(unescaped(&pattern));
                continue;
            };
            if names.len() + open.len() + choices.split(',').count() > MOST_PATTERNS {
                return None;
            }
            open.extend(choices.split(',').map(|choice| format!("{before}{choice}{rest}")));
        }
        if names.len() > MOST_PATTERNS {
            return None;
        }
    }
    Some(names)
}

/// The first innermost `{a,b}` in a pattern: what stands before it, its choices, and what stands behind it.
fn braces(pattern: &str) -> Option<(&str, &str, &str)> {
    let end = pattern.find('}')?;
    let start = pattern.get(..end)?.rfind('{')?;
    Some((pattern.get(..start)?, pattern.get(start + 1..end)?, pattern.get(end + 1..)?))
}

/// Whether a brace or a comma stands for itself, in a class or behind a backslash: its choices are not told apart here.
fn hides_braces(pattern: &str) -> bool {
    let (mut escaped, mut in_class) = (false, false);
    for c in pattern.chars() {
        if (escaped || in_class) && matches!(c, '{' | '}' | ',') {
            return true;
        }
        in_class = !escaped && (c == '[' || in_class && c != ']');
        escaped = !escaped && c == '\\';
    }
    false
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
