//! Patterns for paths: components, `*` within one, `**` for any number of them, `~` for home.

use super::AbsPath;
use super::names::Names;
use compact_str::CompactString;
use smallvec::SmallVec;

/// How much of a path is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The path itself.
    Itself,
    /// Something below it that cannot be told, or everything.
    Below,
}

/// A pattern for paths, and which names a path has to hold for it.
#[derive(Clone, Copy, Debug)]
pub struct Glob<'a> {
    text: &'a str,
    /// The first name in it that is no wildcard.
    name: Names,
}

impl<'a> Glob<'a> {
    /// A pattern as written.
    pub const fn new(text: &'a str) -> Self {
        Glob { text, name: Names::first_in(text.as_bytes()) }
    }

    /// What stands behind the `~/` of a pattern that is about home.
    fn below_home(self) -> Option<&'a str> {
        self.text.strip_prefix("~/")
    }

    /// Whether it is about something at home.
    pub fn is_at_home(self) -> bool {
        self.text.starts_with('~')
    }
}

/// Patterns as written, in a table.
pub const fn globs<const N: usize>(texts: [&'static str; N]) -> [Glob<'static>; N] {
    let mut all = [Glob::new(""); N];
    let mut at = 0;
    while at < N {
        #[expect(clippy::indexing_slicing, reason = "the bound stands right above, and nothing else is const")]
        {
            all[at] = Glob::new(texts[at]);
        }
        at += 1;
    }
    all
}

/// Whether `path` may name something that `glob` names. Both may hold wildcards; letters match in either case.
pub fn touches(glob: Glob<'_>, path: &AbsPath, reach: Reach, home: Option<&AbsPath>) -> bool {
    path.names().may_be(glob.name) && touches_until(glob.text, path, reach, home, End::Exact)
}

/// The same for a place and everything below it.
pub fn touches_tree(place: Glob<'_>, path: &AbsPath, reach: Reach, home: Option<&AbsPath>) -> bool {
    path.names().may_be(place.name) && touches_until(place.text, path, reach, home, End::Tree)
}

/// Whether what a pattern names ends with it, or goes on below.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Exact,
    Tree,
}

fn touches_until(pattern: &str, path: &AbsPath, reach: Reach, home: Option<&AbsPath>, end: End) -> bool {
    let wild = path.is_wild();
    let path = path.components();
    if wild && let Some(found) = searched(pattern, path) {
        return found;
    }
    match pattern.strip_prefix("~/") {
        Some(rest) => {
            let below = home.and_then(|home| path.strip_prefix(home.components()));
            below.is_some_and(|below| meets(rest, below, (reach, end), Seen::Nothing))
        }
        None => meets(pattern, path, (reach, end), Seen::Nothing),
    }
}

/// The same for what lies at home, whoever's home it is.
pub fn touches_any_home(glob: Glob<'_>, path: &AbsPath, reach: Reach) -> bool {
    let Some(rest) = glob.below_home().filter(|_| path.names().may_be(glob.name)) else { return false };
    if path.is_wild()
        && let Some(found) = searched(rest, path.components())
    {
        return found;
    }
    let path = path.components();
    let named = |name: &str, known: &str| meet(known.as_bytes(), name.as_bytes());
    match path {
        // What lies above it is not a way to one of them.
        [] | [_] | [_, _] => false,
        [first, below @ ..] if named(first, "root") && meets(rest, below, (reach, End::Exact), Seen::Name) => true,
        [first, _, below @ ..] => {
            (named(first, "home") || named(first, "Users")) && meets(rest, below, (reach, End::Exact), Seen::Name)
        }
    }
}

/// A search finds a name wherever it is; what it is not told by name, it does not look for.
fn searched(pattern: &str, path: &[CompactString]) -> Option<bool> {
    if !path.iter().any(|part| part == "**") {
        return None;
    }
    let named = |name: &&CompactString| !name.starts_with(['*', '?', '[']);
    let last = pattern.rsplit('/').find(|part| !part.is_empty()).filter(|last| *last != "**");
    let name = path.last().filter(named);
    Some(last.zip(name).is_some_and(|(last, name)| meet(last.as_bytes(), name.as_bytes())))
}

/// Whether a name of the pattern was already met: before that, what lies below may be anything.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Nothing,
    Name,
}

fn meets(pattern: &str, path: &[CompactString], (reach, end): (Reach, End), seen: Seen) -> bool {
    let pattern = pattern.trim_start_matches('/');
    let (name, more) = pattern.split_once('/').unwrap_or((pattern, ""));
    match (name, path) {
        ("", rest) => rest.is_empty() || end == End::Tree,
        ("**", _) if more.is_empty() => true,
        // Recursion is as deep as the pattern has parts, however many the path has.
        ("**", _) => {
            let mut below = (0..=path.len()).filter_map(|at| path.get(at..));
            below.any(|rest| meets(more, rest, (reach, end), seen))
        }
        (_, []) => reach == Reach::Below && seen == Seen::Name,
        (_, [first, rest @ ..]) => {
            // A wildcard at the start of a name finds no name that starts with a dot.
            let hidden = name.starts_with('.') && first.starts_with(['*', '?', '[']);
            !hidden && meet(name.as_bytes(), first.as_bytes()) && meets(more, rest, (reach, end), Seen::Name)
        }
    }
}

/// Whether two names with wildcards have a name in common. A class such as `[a-z]` counts as any character, and its
/// bracket as itself.
///
/// Takes steps in proportion to the product of the lengths: for each place in `b`, the places in `a` that can be
/// reached by then.
pub fn meet(a: &[u8], b: &[u8]) -> bool {
    let special = |byte: &u8| matches!(byte, b'*' | b'?' | b'[');
    if let ([x, ..], [y, ..]) = (a, b)
        && !x.eq_ignore_ascii_case(y)
        && !special(x)
        && !special(y)
    {
        return false;
    }
    if !a.iter().chain(b).any(special) {
        return a.eq_ignore_ascii_case(b);
    }
    let width = a.len() + 1;
    // Whether a place in `a` is reached, for each place in `b`; a class in `b` leads to the place behind it.
    let mut reached: SmallVec<[bool; 512]> = SmallVec::from_elem(false, width * (b.len() + 1));
    mark(&mut reached, 0);
    for at in 0..=b.len() {
        let rest = b.get(at..).unwrap_or_default();
        for place in 0..width {
            let here = at * width + place;
            if reached.get(here) != Some(&true) {
                continue;
            }
            // A star of either side may stand for nothing, and one of `b` for any part of `a`.
            if place < a.len() && (rest.first() == Some(&b'*') || a.get(place) == Some(&b'*')) {
                mark(&mut reached, here + 1);
            }
            for (next, behind) in both(a.get(place..).unwrap_or_default(), rest).into_iter().flatten() {
                mark(&mut reached, here + next + behind * width);
            }
        }
    }
    reached.last() == Some(&true)
}

fn mark(reached: &mut [bool], place: usize) {
    if let Some(place) = reached.get_mut(place) {
        *place = true;
    }
}

/// How far one character takes both names, in the ways that there are.
fn both(a: &[u8], b: &[u8]) -> [Option<(usize, usize)>; 3] {
    let none = [None; 3];
    match (a, b) {
        (_, [b'*', ..]) => [Some((0, 1)), None, None],
        ([b'*', ..], [b'[', ..]) => [Some((0, 1)), class(b).map(|more| (0, b.len() - more.len())), None],
        ([b'*', ..], [_, ..]) => [Some((0, 1)), None, None],
        ([x, ..], [y, ..]) => {
            let of_a = class(a).filter(|_| *x == b'[').map(|more| (a.len() - more.len(), 1));
            let of_b = class(b).filter(|_| *y == b'[').map(|more| (1, b.len() - more.len()));
            let same = *x == b'?' || *y == b'?' || x.eq_ignore_ascii_case(y);
            [of_a, of_b, same.then_some((1, 1))]
        }
        _ => none,
    }
}

/// What follows a `[…]`.
fn class(name: &[u8]) -> Option<&[u8]> {
    let end = name.iter().skip(2).position(|byte| *byte == b']')?;
    name.get(end + 3..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Place;
    use proptest::prelude::*;

    #[test]
    fn wildcards_on_both_sides_meet() {
        let place = Place { cwd: "/p".into(), home: Some("/home/u".into()), project: None };
        let at = |path: &str| AbsPath::resolve(path, &place);
        let home = at("~");
        for (pattern, path, reach, expected) in [
            ("~/.ssh/**", "~/.ssh/id", Reach::Itself, true),
            ("~/.ssh/**", "~/.ssh", Reach::Itself, true),
            ("~/.ssh/**", "~/.SSH/id", Reach::Itself, true),
            ("~/.ssh/**", "/p/.ssh/id", Reach::Itself, false),
            ("**/.claude/settings*.json", "/p/.claude/settings.local.json", Reach::Itself, true),
            ("**/.claude/settings*.json", "/p/.claude/*", Reach::Itself, true),
            ("**/.claude/settings*.json", "/p/.claude/set*", Reach::Itself, true),
            ("**/.claude/settings*.json", "/p/.claude/agents/x.md", Reach::Itself, false),
            ("**/.claude/settings*.json", "/p/.claude", Reach::Below, true),
            ("**/.claude/settings*.json", "/p/.claude", Reach::Itself, false),
            ("**/.claude/settings*.json", "/p/build", Reach::Below, false),
            ("**/.git/hooks/**", "/p/.git", Reach::Below, true),
            ("**/.env", "/p/.en?", Reach::Itself, true),
            ("**/.env", "/p/.en[vw]", Reach::Itself, true),
            ("**/.env", "/p/*", Reach::Itself, false),
            ("**/.env", "/p/x.env", Reach::Itself, false),
            ("/etc/**", "/etc/x/y", Reach::Itself, true),
        ] {
            assert_eq!(
                touches(Glob::new(pattern), &at(path), reach, Some(&home)),
                expected,
                "{pattern} {path} {reach:?}"
            );
        }
    }

    /// The same by recursion, letter by letter.
    fn slow(a: &[u8], b: &[u8]) -> bool {
        let literal = |a: &[u8], b: &[u8]| match (a, b) {
            ([x, more @ ..], [y, rest @ ..]) => x.eq_ignore_ascii_case(y) && slow(more, rest),
            _ => false,
        };
        match (a, b) {
            ([], []) => true,
            ([b'*', more @ ..], _) => slow(more, b) || b.split_first().is_some_and(|(_, rest)| slow(a, rest)),
            (_, [b'*', ..]) => slow(b, a),
            ([b'[', ..], [_, rest @ ..]) => class(a).is_some_and(|more| slow(more, rest)) || literal(a, b),
            ([_, rest @ ..], [b'[', ..]) => class(b).is_some_and(|more| slow(rest, more)) || literal(a, b),
            ([b'?', more @ ..], [_, rest @ ..]) | ([_, more @ ..], [b'?', rest @ ..]) => slow(more, rest),
            _ => literal(a, b),
        }
    }

    proptest! {
        #[test]
        fn what_meets_by_recursion_meets(a in "[aB*?]{0,6}(\\[[ab]\\]?)?[a*]{0,2}", b in "[Ab*?]{0,6}(\\[[ab]\\]?)?[b*]{0,2}") {
            prop_assert!(!slow(a.as_bytes(), b.as_bytes()) || meet(a.as_bytes(), b.as_bytes()), "{a} {b}");
        }

        #[test]
        fn what_meets_without_classes_meets_by_recursion(a in "[aB*?]{0,7}", b in "[Ab*?]{0,7}") {
            prop_assert_eq!(slow(a.as_bytes(), b.as_bytes()), meet(a.as_bytes(), b.as_bytes()), "{} {}", a, b);
        }

        #[test]
        fn the_names_of_a_path_never_hide_what_it_touches(
            pattern in "(/|~/|\\*\\*/)?([.]?[aB*]{0,2}/){0,2}(\\*\\*|[.]?[ab]{0,2})",
            path in "(/|~/)?([.]?[ab*?]{0,2}/){0,2}([.]?[Ab]{0,2}|\\*\\*)",
            below: bool,
            tree: bool,
        ) {
            let place = Place { cwd: "/a".into(), home: Some("/b/.a".into()), project: None };
            let (path, home) = (AbsPath::resolve(&path, &place), AbsPath::resolve("~", &place));
            let reach = if below { Reach::Below } else { Reach::Itself };
            let end = if tree { End::Tree } else { End::Exact };
            let touched = touches_until(&pattern, &path, reach, Some(&home), end);
            prop_assert!(!touched || path.names().may_be(Glob::new(&pattern).name), "{pattern} {path}");
        }
    }
}
