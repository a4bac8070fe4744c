//! Patterns for paths: components, `*` within one, `**` for any number of them, `~` for home.

use super::AbsPath;
use super::names::Names;
use compact_str::CompactString;

/// How much of a path is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The path itself.
    Exact,
    /// Something below it that cannot be told, or everything.
    Tree,
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
pub fn touches(glob: Glob<'_>, path: &AbsPath, reach: Extent, home: Option<&AbsPath>) -> bool {
    path.names().may_be(glob.name) && touches_until(glob.text, path, reach, home, End::Exact)
}

/// The same for a place and everything below it.
pub fn touches_tree(place: Glob<'_>, path: &AbsPath, reach: Extent, home: Option<&AbsPath>) -> bool {
    path.names().may_be(place.name) && touches_until(place.text, path, reach, home, End::Tree)
}

/// Whether what a pattern names ends with it, or goes on below.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Exact,
    Tree,
}

fn touches_until(pattern: &str, path: &AbsPath, reach: Extent, home: Option<&AbsPath>, end: End) -> bool {
    let searched = is_search(path);
    let path = path.components();
    match pattern.strip_prefix("~/") {
        Some(rest) if searched => home.is_some_and(|home| {
            let home: Vec<&str> = home.components().iter().map(CompactString::as_str).collect();
            finds(&home, rest, path, (reach, end))
        }),
        None if searched => finds(&[], pattern, path, (reach, end)),
        Some(rest) => {
            let below = home.and_then(|home| path.strip_prefix(home.components()));
            below.is_some_and(|below| meets(rest, below, (reach, end), Seen::Nothing))
        }
        None => meets(pattern, path, (reach, end), Seen::Nothing),
    }
}

/// Directories that are or hold a home, as names of a pattern.
const HOMES: [&[&str]; 3] = [&["home", "*"], &["Users", "*"], &["root"]];

/// The same for what lies at home, whoever's home it is.
pub fn touches_any_home(glob: Glob<'_>, path: &AbsPath, reach: Extent) -> bool {
    let Some(rest) = glob.below_home().filter(|_| path.names().may_be(glob.name)) else { return false };
    if is_search(path) {
        return HOMES.iter().any(|home| finds(home, rest, path.components(), (reach, End::Exact)));
    }
    // What lies above a home is not a way to it.
    HOMES.iter().any(|home| {
        let (above, below) = path.components().split_at_checked(home.len()).unwrap_or_default();
        let at_home = above.iter().zip(*home).all(|(name, known)| names_overlap(known.as_bytes(), name.as_bytes()));
        !below.is_empty() && at_home && meets(rest, below, (reach, End::Exact), Seen::Name)
    })
}

/// Whether a path says what a search looks for: it holds `**`.
fn is_search(path: &AbsPath) -> bool {
    path.is_wild() && path.components().iter().any(|name| name == "**")
}

/// A place in a pattern is reached.
const REACHED: u8 = 1;
/// The same, and a name of the path says something that the pattern says too.
const NAMED: u8 = 2;

/// Whether a search by the pattern `path` looks for what the names `above` and then `pattern` name.
///
/// A search meets names that begin with a dot by a wildcard, unlike the shell. What it is not told by name, it does not
/// look for: `**` alone, or `*.log` for a directory of keys, is about none of the names in the pattern.
///
/// Takes steps in proportion to the names of the path times those of the pattern.
fn finds(above: &[&str], pattern: &str, path: &[CompactString], (reach, end): (Extent, End)) -> bool {
    let below = pattern.split('/').filter(|name| !name.is_empty());
    let names: Vec<&str> = above.iter().copied().chain(below).collect();
    // What the pattern names ends before a `**` at its end: that is everything below.
    let tree = names.last() == Some(&"**");
    let names = if tree { names.get(..names.len() - 1).unwrap_or_default() } else { names.as_slice() };
    let tree = tree || end == End::Tree;
    if names.is_empty() {
        return tree;
    }
    // For each place in the pattern, how it is reached by the names of the path so far.
    let mut reached: Vec<u8> = vec![0; names.len() + 1];
    mark(&mut reached, 0, REACHED);
    for part in path {
        // A `**` of the path stands for any names of the pattern, and one of the pattern for none.
        for (at, name) in names.iter().enumerate() {
            if part == "**" || *name == "**" {
                let before = reached.get(at).copied().unwrap_or_default();
                mark(&mut reached, at + 1, before);
            }
        }
        if part == "**" {
            continue;
        }
        let mut next: Vec<u8> = vec![0; names.len() + 1];
        for ((at, name), before) in names.iter().enumerate().zip(&reached) {
            if *before == 0 {
                continue;
            }
            if *name == "**" {
                mark(&mut next, at, *before);
                continue;
            }
            let same = overlap(name.as_bytes(), part.as_bytes());
            // Home is not what is looked for, and an extension is no name of what any project has.
            let mute = at < above.len() || above.is_empty() && is_extension(part);
            let said = if mute { same & REACHED } else { same };
            if same != 0 {
                mark(&mut next, at + 1, *before | said);
            }
        }
        if tree && next.last().is_some_and(|last| last & NAMED != 0) {
            return true;
        }
        reached = next;
    }
    let mut ends = reached.iter().enumerate().filter(|(_, how)| **how & NAMED != 0);
    ends.any(|(at, _)| reach == Extent::Tree || names.get(at..).unwrap_or_default().iter().all(|name| *name == "**"))
}

/// `*.json`: every file of a kind.
fn is_extension(name: &str) -> bool {
    name.strip_prefix("*.").is_some_and(|kind| kind.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Whether a name of the pattern was already met: before that, what lies below may be anything.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Nothing,
    Name,
}

fn meets(pattern: &str, path: &[CompactString], (reach, end): (Extent, End), seen: Seen) -> bool {
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
        (_, []) => reach == Extent::Tree && seen == Seen::Name,
        (_, [first, rest @ ..]) => {
            // A wildcard at the start of a name finds no name that starts with a dot.
            let hidden = name.starts_with('.') && first.starts_with(['*', '?', '[']);
            !hidden && names_overlap(name.as_bytes(), first.as_bytes()) && meets(more, rest, (reach, end), Seen::Name)
        }
    }
}

/// Whether two names with wildcards have a name in common. A class such as `[a-z]` counts as any character, and its
/// bracket as itself.
pub fn names_overlap(a: &[u8], b: &[u8]) -> bool {
    overlap(a, b) != 0
}

/// How two names with wildcards have a name in common: not at all, [`REACHED`], or also [`NAMED`] where a character of
/// the one may stand for the same character of the other and not for a wildcard.
///
/// Takes steps in proportion to the product of the lengths: for each place in `b`, the places in `a` that can be
/// reached by then.
fn overlap(a: &[u8], b: &[u8]) -> u8 {
    let special = |byte: &u8| matches!(byte, b'*' | b'?' | b'[');
    if let ([x, ..], [y, ..]) = (a, b)
        && !x.eq_ignore_ascii_case(y)
        && !special(x)
        && !special(y)
    {
        return 0;
    }
    if !a.iter().chain(b).any(special) {
        return if a.eq_ignore_ascii_case(b) { REACHED | NAMED } else { 0 };
    }
    // A name that says more characters than the other one has room for is another name.
    let shortest = |name: &[u8]| name.iter().filter(|byte| **byte != b'*').count();
    let is_longer =
        |long: &[u8], short: &[u8]| !long.contains(&b'[') && !short.contains(&b'*') && shortest(long) > short.len();
    if is_longer(a, b) || is_longer(b, a) {
        return 0;
    }
    // A name without wildcards that a pattern names is that name, as far as the pattern says anything.
    let said = if b.iter().any(special) || a.iter().all(|byte| *byte == b'*') { 0 } else { NAMED };
    let width = a.len() + 1;
    // How a place in `a` is reached, for each place in `b`; a class in `b` leads to the place behind it.
    let mut reached: Vec<u8> = vec![0; width * (b.len() + 1)];
    mark(&mut reached, 0, REACHED);
    for at in 0..=b.len() {
        let rest = b.get(at..).unwrap_or_default();
        for place in 0..width {
            let here = at * width + place;
            let how = reached.get(here).copied().unwrap_or_default();
            if how == 0 {
                continue;
            }
            // A star of either side may stand for nothing, and one of `b` for any part of `a`.
            if place < a.len() && (rest.first() == Some(&b'*') || a.get(place) == Some(&b'*')) {
                mark(&mut reached, here + 1, how);
            }
            for (next, behind, same) in both(a.get(place..).unwrap_or_default(), rest).into_iter().flatten() {
                mark(&mut reached, here + next + behind * width, how | same);
            }
        }
    }
    reached.last().map_or(0, |how| if *how == 0 { 0 } else { how | said })
}

fn mark(reached: &mut [u8], place: usize, how: u8) {
    if let Some(place) = reached.get_mut(place) {
        *place |= how;
    }
}

/// How far one character takes both names, in the ways that there are, and whether both say which it is.
fn both(a: &[u8], b: &[u8]) -> [Option<(usize, usize, u8)>; 3] {
    let none = [None; 3];
    let plain = |byte: u8| !matches!(byte, b'*' | b'?' | b'[');
    let said = |said: bool| if said { NAMED } else { 0 };
    match (a, b) {
        (_, [b'*', ..]) => [Some((0, 1, 0)), None, None],
        ([b'*', ..], [b'[', ..]) => [Some((0, 1, 0)), class(b).map(|more| (0, b.len() - more.len(), 0)), None],
        ([b'*', ..], [_, ..]) => [Some((0, 1, 0)), None, None],
        ([x, ..], [y, ..]) => {
            let of_a = class(a).filter(|_| *x == b'[').map(|more| (a.len() - more.len(), 1, said(plain(*y))));
            let picks = !matches!(b.get(1), Some(b'!' | b'^'));
            let of_b = class(b).filter(|_| *y == b'[').map(|more| (1, b.len() - more.len(), said(picks && plain(*x))));
            let same = *x == b'?' || *y == b'?' || x.eq_ignore_ascii_case(y);
            [of_a, of_b, same.then_some((1, 1, said(plain(*x) && plain(*y))))]
        }
        _ => none,
    }
}

/// What follows a `[…]`.
fn class(name: &[u8]) -> Option<&[u8]> {
    // Looking for the end costs time, and is done for every character.
    if name.first() != Some(&b'[') {
        return None;
    }
    // A bracket right at the start is a character of the class.
    let start = if matches!(name.get(1), Some(b'!' | b'^')) { 3 } else { 2 };
    let end = name.iter().skip(start).position(|byte| *byte == b']')?;
    name.get(start + end + 1..)
}

#[cfg(test)]
#[path = "../../tests/unit/path/pattern.rs"]
mod tests;
