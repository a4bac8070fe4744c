//! The client's tools that search files or list their names, by the files that they would look at.

use crate::event::{Place, Shows};
use crate::path::AbsPath;
use crate::shell::{Access, Act, Target};

/// Patterns beyond this, once their braces are expanded, count as patterns for every file and every hidden one.
const MOST_PATTERNS: usize = 64;

/// The same for patterns that are longer than this.
const LONGEST_PATTERNS: usize = 4 << 10;

/// What a search or a listing does to files: to `base`, the file or directory that it is told to look at, and to those
/// below it that its patterns name.
///
/// Claude Code searches with `rg --hidden`, and splits its `glob` at blanks and commas.
pub(crate) fn accesses(base: &Access, patterns: Option<&str>, shows: Shows, place: &Place) -> Vec<Access> {
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
    let home = place.home.as_deref().map(|home| AbsPath::resolve(home, &Place::default()));
    let project = AbsPath::resolve(place.project.as_deref().unwrap_or(&place.cwd), &Place::default());
    let holds_home = home.is_some_and(|home| home.components().starts_with(directory.components()));
    for name in names.iter().filter(|name| !is_sweeping(name)) {
        let below = name.trim_start_matches('/').split('/').filter(|part| *part != "**").collect::<Vec<_>>().join("/");
        let deep = act == Act::Read && name.ends_with("/**");
        found.push(Access { act, deep, target: at(&format!("{directory}/{below}")), ..base.clone() });
        // Below home a name is found wherever it is.
        if holds_home && *directory != project && !deep {
            let last = below.rsplit('/').next().unwrap_or_default();
            found.push(Access { act, deep, target: at(&format!("{directory}/**/{last}")), ..base.clone() });
        }
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
        let mut open = vec![pattern.to_owned()];
        while let Some(pattern) = open.pop() {
            if names.len() + open.len() > MOST_PATTERNS {
                return None;
            }
            match braces(&pattern) {
                Some(choices) => open.extend(choices),
                None => names.push(pattern),
            }
        }
    }
    Some(names)
}

/// The choices of the first innermost `{a,b}` in a pattern.
fn braces(pattern: &str) -> Option<Vec<String>> {
    let end = pattern.find('}')?;
    let start = pattern.get(..end)?.rfind('{')?;
    let (before, rest) = (pattern.get(..start)?, pattern.get(end + 1..)?);
    let inner = pattern.get(start + 1..end)?;
    Some(inner.split(',').take(MOST_PATTERNS + 1).map(|choice| format!("{before}{choice}{rest}")).collect())
}

/// Whether a pattern finds every file.
fn is_sweeping(pattern: &str) -> bool {
    pattern.split('/').all(|part| !part.starts_with('.') && part.chars().all(|c| matches!(c, '*' | '?' | '.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(base: &str, patterns: Option<&str>, shows: Shows) -> Vec<String> {
        let place = Place { cwd: "/home/u/p".into(), home: Some("/home/u".into()), project: None };
        let target = at(&AbsPath::resolve(base, &place).to_string());
        let base = Access { act: Act::Read, target, deep: false, astray: false, row: None };
        let text = |access: Access| format!("{}{}", access.target.text, if access.deep { " and below" } else { "" });
        accesses(&base, patterns, shows, &place).into_iter().map(text).collect()
    }

    #[test]
    fn a_search_reads_what_its_patterns_name() {
        for (base, patterns, expected) in [
            (".", None, vec!["/home/u/p", "/home/u/p and below"]),
            (".", Some("*"), vec!["/home/u/p", "/home/u/p and below"]),
            (".", Some("!*.md"), vec!["/home/u/p", "/home/u/p and below"]),
            (".", Some("*.ts"), vec!["/home/u/p", "/home/u/p/*.ts"]),
            (".", Some("**/.env*"), vec!["/home/u/p", "/home/u/p/.env*"]),
            (".", Some("*.md, .env"), vec!["/home/u/p", "/home/u/p/*.md", "/home/u/p/.env"]),
            (".", Some("{a,.en{v,w}}"), vec!["/home/u/p", "/home/u/p/a", "/home/u/p/.enw", "/home/u/p/.env"]),
            (".", Some("apps/**/.env"), vec!["/home/u/p", "/home/u/p/apps/.env"]),
            ("~", Some(".ssh/**"), vec!["/home/u", "/home/u/.ssh and below"]),
            ("~", Some("id_*"), vec!["/home/u", "/home/u/id_*", "/home/u/**/id_*"]),
        ] {
            let mut found = texts(base, patterns, Shows::Lines);
            let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
            found.sort();
            found.dedup();
            expected.sort();
            assert_eq!(found, expected, "{base} {patterns:?}");
        }
    }

    #[test]
    fn too_many_patterns_find_every_file() {
        for many in ["{a,b}".repeat(10), "{".repeat(10_000), "a,".repeat(1_000), "{a}".repeat(10_000)] {
            let found = texts(".", Some(&many), Shows::Lines);
            assert_eq!(found, ["/home/u/p", "/home/u/p and below", "/home/u/p/.*"], "{many:.20}");
        }
    }

    #[test]
    fn names_alone_are_not_what_lies_below() {
        assert_eq!(texts("~", None, Shows::Matches), ["/home/u"]);
        assert_eq!(texts("~", Some("**/*.ts"), Shows::Names), ["/home/u", "/home/u/*.ts", "/home/u/**/*.ts"]);
    }
}
