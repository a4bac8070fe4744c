//! Patterns for paths: `*`, `?` and `[…]` within a component, `**` for any number of components, `~/` for home.

use super::AbsPath;
use super::name_set::NameSet;
use compact_str::CompactString;
use smallvec::{SmallVec, smallvec};

/// Whether a path or a pattern means a single file or also what lies below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The path itself.
    Exact,
    /// The path, and everything or an unknown part of what lies below it.
    Tree,
}

/// The extents of the two sides of a comparison.
#[derive(Clone, Copy)]
struct Extents {
    path: Extent,
    pattern: Extent,
}

impl Extents {
    /// Whether neither side includes what lies below.
    fn is_exact(self) -> bool {
        self.path == Extent::Exact && self.pattern == Extent::Exact
    }
}

/// A pattern for paths, with a prefilter.
#[derive(Clone, Copy, Debug)]
pub struct Glob<'a> {
    text: &'a str,
    /// The first component, if it has no wildcard: a path without it cannot match.
    name: NameSet,
    /// The last byte, see [`last_byte`]: a path with another one cannot match.
    end: Option<u8>,
}

impl<'a> Glob<'a> {
    /// Builds the pattern for a text.
    pub const fn new(text: &'a str) -> Self {
        Glob { text, name: NameSet::first_in(text.as_bytes()), end: last_byte(text) }
    }

    /// The part after `~/`; `None` for a pattern outside of home.
    fn below_home(self) -> Option<&'a str> {
        self.text.strip_prefix("~/")
    }

    /// The pattern as written.
    pub fn as_str(self) -> &'a str {
        self.text
    }

    /// Whether the pattern is about what lies below the home directory.
    pub(super) fn is_below_home(self) -> bool {
        self.below_home().is_some()
    }

    /// Whether the pattern starts at home.
    pub fn is_at_home(self) -> bool {
        self.text.starts_with('~')
    }
}

/// The last byte of a path or a pattern, in lower case; `None` if it is part of a wildcard.
pub(super) const fn last_byte(text: &str) -> Option<u8> {
    match text.as_bytes().last() {
        None | Some(b'*' | b'?' | b'[' | b']') => None,
        Some(byte) => Some(byte.to_ascii_lowercase()),
    }
}

/// Builds a table of patterns.
pub const fn globs<const N: usize>(texts: [&'static str; N]) -> [Glob<'static>; N] {
    let mut all = [Glob::new(""); N];
    let mut at = 0;
    while at < N {
        #[expect(clippy::indexing_slicing, reason = "`at` is less than `N`, and `get_mut` is not const")]
        {
            all[at] = Glob::new(texts[at]);
        }
        at += 1;
    }
    all
}

/// Whether `path`, with this extent, may name a file that `glob` matches. Both may contain wildcards, and case is ignored.
pub fn touches(glob: Glob<'_>, path: &AbsPath, extent: Extent, home: Option<&AbsPath>) -> bool {
    let extents = Extents { path: extent, pattern: Extent::Exact };
    may_touch(glob, path, extents) && compare(glob, path, extents, home)
}

/// Whether the beginning and the end of a pattern allow a match; cheap, and false for most pairs.
fn may_touch(glob: Glob<'_>, path: &AbsPath, extents: Extents) -> bool {
    let is_same = |one: Option<u8>, other: Option<u8>| one.is_none() || other.is_none() || one == other;
    let has_below = extents.path == Extent::Tree || extents.pattern == Extent::Tree;
    path.names.may_contain(glob.name) && (has_below || is_same(glob.end, path.end))
}

/// Like [`touches`], for a file that `glob` matches and everything below it.
pub fn touches_tree(glob: Glob<'_>, path: &AbsPath, extent: Extent, home: Option<&AbsPath>) -> bool {
    let extents = Extents { path: extent, pattern: Extent::Tree };
    may_touch(glob, path, extents) && compare(glob, path, extents, home)
}

fn compare(glob: Glob<'_>, path: &AbsPath, extents: Extents, home: Option<&AbsPath>) -> bool {
    let is_search = is_search(path);
    let path = path.components();
    match glob.below_home() {
        rest if is_search && !shares_name(rest.unwrap_or(glob.text), path) => false,
        Some(rest) if is_search => home.is_some_and(|home| {
            let home: Vec<&str> = home.components().iter().map(CompactString::as_str).collect();
            search_finds(&home, rest, path, extents)
        }),
        None if is_search => search_finds(&[], glob.text, path, extents),
        Some(rest) => {
            let below = home.and_then(|home| path.strip_prefix(home.components()));
            below.is_some_and(|below| overlaps(rest, below, extents, false))
        }
        None => overlaps(glob.text, path, extents, false),
    }
}

/// Patterns for home directories.
/// Packages of snap have one of their own, and WSL sees those of Windows.
const HOMES: [&[&str]; 6] = [
    &["home", "*"],
    &["Users", "*"],
    &["root"],
    &["home", "*", "snap", "*", "*"],
    &["root", "snap", "*", "*"],
    &["mnt", "*", "Users", "*"],
];

/// The most distinct lengths of [`HOMES`] and one more home, and the root directory.
const MAX_PLACES: usize = 8;

/// Positions in a path.
pub(super) type Anchors = SmallVec<[usize; MAX_PLACES]>;

/// Where in a path the first name of a pattern for a home or the root directory may be; `None` for anywhere, because of a `**`.
pub(super) fn first_places(path: &AbsPath, home: Option<&AbsPath>) -> Option<Anchors> {
    let names = path.components();
    let searched = if path.wild { names.iter().position(|name| name == "**") } else { None }.unwrap_or(usize::MAX);
    if searched == 0 {
        return None;
    }
    let mut places = smallvec![0];
    let mut add = |home: &mut dyn ExactSizeIterator<Item = &str>| {
        let length = home.len();
        let mut pairs = names.iter().zip(home).take(searched);
        let fits = pairs.all(|(name, known)| names_overlap(known.as_bytes(), name.as_bytes()));
        if fits && !places.contains(&length) {
            places.push(length);
        }
        !fits || searched > length
    };
    let own = home.is_none_or(|home| add(&mut home.components().iter().map(CompactString::as_str)));
    let is_known = own && HOMES.iter().all(|home| add(&mut home.iter().copied()));
    is_known.then_some(places)
}

/// Like [`touches`], for a pattern that starts at home, with the home directory of any user.
pub fn touches_any_home(glob: Glob<'_>, path: &AbsPath, extent: Extent) -> bool {
    let extents = Extents { path: extent, pattern: Extent::Exact };
    let Some(rest) = glob.below_home().filter(|_| may_touch(glob, path, extents)) else { return false };
    if is_search(path) {
        return shares_name(rest, path.components())
            && HOMES.iter().any(|home| search_finds(home, rest, path.components(), extents));
    }
    // A directory above a home does not count as an access to what lies in it.
    HOMES.iter().any(|home| {
        let (above, below) = path.components().split_at_checked(home.len()).unwrap_or_default();
        let at_home = above.iter().zip(*home).all(|(name, known)| names_overlap(known.as_bytes(), name.as_bytes()));
        !below.is_empty() && at_home && overlaps(rest, below, extents, true)
    })
}

/// Whether a name of a search may be a name of a pattern; cheap, and false for most pairs that a search does not find.
fn shares_name(pattern: &str, path: &[CompactString]) -> bool {
    let mut names = pattern.split('/').filter(|name| !name.is_empty() && *name != "**").peekable();
    names.peek().is_none()
        || names.any(|name| path.iter().any(|part| part != "**" && names_overlap(name.as_bytes(), part.as_bytes())))
}

/// Whether a path is the pattern of a recursive search: it contains `**`.
pub(super) fn is_search(path: &AbsPath) -> bool {
    path.wild && path.components().iter().any(|name| name == "**")
}

/// A position in a pattern can be reached.
const REACHED: u8 = 1;
/// It can be reached by a literal character that both sides have in common, and not by wildcards alone.
const NAMED: u8 = 2;

/// Whether a search for the pattern `path` is for files that the components `above`, followed by `pattern`, match.
///
/// Unlike in the shell, a wildcard of a search matches names that begin with a dot. A search counts only if it has a
/// literal part of a name in common with the pattern: `**` alone, or `*.log` for a directory of keys, does not.
///
/// Takes time in proportion to the number of components of the path times that of the pattern.
fn search_finds(above: &[&str], pattern: &str, path: &[CompactString], extents: Extents) -> bool {
    let below = pattern.split('/').filter(|name| !name.is_empty());
    let names: Vec<&str> = above.iter().copied().chain(below).collect();
    // A `**` at the end of the pattern means everything below.
    let tree = names.last() == Some(&"**");
    let names = if tree { names.get(..names.len() - 1).unwrap_or_default() } else { names.as_slice() };
    let tree = tree || extents.pattern == Extent::Tree;
    if names.is_empty() {
        return tree;
    }
    // For each position in the pattern, how it is reached by the components of the path so far.
    let mut reached: Vec<u8> = vec![0; names.len() + 1];
    mark(&mut reached, 0, REACHED);
    for part in path {
        // A `**` of the path stands for any components of the pattern, and one of the pattern for none.
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
            let common = overlap(name.as_bytes(), part.as_bytes());
            // The name of a home does not identify a file in it, and an extension does not identify a file in a project,
            // unless the pattern is about this extension.
            let is_unspecific = at < above.len() || above.is_empty() && is_extension(part) && *name != part.as_str();
            let named = if is_unspecific { common & REACHED } else { common };
            if common != 0 {
                mark(&mut next, at + 1, *before | named);
            }
        }
        if tree && next.last().is_some_and(|last| last & NAMED != 0) {
            return true;
        }
        reached = next;
    }
    let mut ends = reached.iter().enumerate().filter(|(_, how)| **how & NAMED != 0);
    ends.any(|(at, _)| {
        extents.path == Extent::Tree || names.get(at..).unwrap_or_default().iter().all(|name| *name == "**")
    })
}

/// Whether a name is a pattern for all files with an extension: `*.json`.
pub(super) fn is_extension(name: &str) -> bool {
    name.strip_prefix("*.").is_some_and(|kind| kind.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Whether a pattern and a path may name the same file. `has_matched` says whether a component has matched already: a
/// path that ends before the pattern, with [`Extent::Tree`], counts only then.
fn overlaps(pattern: &str, path: &[CompactString], extents: Extents, has_matched: bool) -> bool {
    let pattern = pattern.trim_start_matches('/');
    let (name, more) = pattern.split_once('/').unwrap_or((pattern, ""));
    match (name, path) {
        ("", rest) => rest.is_empty() || extents.pattern == Extent::Tree,
        ("**", _) if more.is_empty() => true,
        // `**/name`: only the last component can have the name.
        ("**", _) if extents.is_exact() && more != "**" && !more.contains('/') => {
            path.last().is_some_and(|last| component_fits(more, last))
        }
        // The recursion depth is bounded by the number of components of the pattern.
        ("**", _) => {
            let next = more.split('/').next().unwrap_or_default();
            // The end of the path, and all places where the next name of the pattern may be; `**/**` may be anywhere.
            let is_place = |at: &usize| path.get(*at).is_none_or(|first| next == "**" || component_fits(next, first));
            let mut below = (0..=path.len()).filter(is_place).filter_map(|at| path.get(at..));
            below.any(|rest| overlaps(more, rest, extents, has_matched))
        }
        (_, []) => extents.path == Extent::Tree && has_matched,
        (_, [first, rest @ ..]) => component_fits(name, first) && overlaps(more, rest, extents, true),
    }
}

/// Whether a component of a pattern and one of a path may name the same file. A wildcard at the start of a name does not
/// match a dot.
fn component_fits(name: &str, component: &str) -> bool {
    let is_hidden = name.starts_with('.') && component.starts_with(['*', '?', '[']);
    !is_hidden && names_overlap(name.as_bytes(), component.as_bytes())
}

/// Whether two names with wildcards can match the same name. A class such as `[a-z]` matches any character, and its
/// bracket also matches itself.
pub fn names_overlap(a: &[u8], b: &[u8]) -> bool {
    let has_only_stars = |name: &[u8]| name.contains(&b'*') && !name.iter().any(|byte| matches!(byte, b'?' | b'['));
    let is_plain = |name: &[u8]| !name.iter().any(is_special);
    if ends_differ(a, b) {
        return false;
    }
    match () {
        // Each star matches what the other name asks for, since the beginnings and the ends fit.
        () if has_only_stars(a) && has_only_stars(b) => true,
        () if has_only_stars(a) && is_plain(b) => stars_match(a, b),
        () if has_only_stars(b) && is_plain(a) => stars_match(b, a),
        () => overlap(a, b) != 0,
    }
}

/// Whether a pattern with stars as its only wildcards matches a name.
fn stars_match(pattern: &[u8], name: &[u8]) -> bool {
    let mut parts = pattern.split(|byte| *byte == b'*');
    let (first, last) = (parts.next().unwrap_or_default(), parts.next_back().unwrap_or_default());
    let Some((start, rest)) = name.split_at_checked(first.len()) else { return false };
    let Some((mut rest, end)) = rest.len().checked_sub(last.len()).and_then(|at| rest.split_at_checked(at)) else {
        return false;
    };
    let mut follows = |part: &[u8]| {
        let at =
            rest.windows(part.len().max(1)).position(|window| part.is_empty() || window.eq_ignore_ascii_case(part));
        rest = at.and_then(|at| rest.get(at + part.len()..)).unwrap_or_default();
        at.is_some() || part.is_empty()
    };
    start.eq_ignore_ascii_case(first) && end.eq_ignore_ascii_case(last) && parts.all(&mut follows)
}

fn is_special(byte: &u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[')
}

/// Whether the literal beginnings or ends of two names differ, as those of most names do.
fn ends_differ(a: &[u8], b: &[u8]) -> bool {
    let is_literal = |byte: &u8| !is_special(byte) && *byte != b']';
    // Most names differ in their first byte.
    if let (Some(x), Some(y)) = (a.first(), b.first())
        && !x.eq_ignore_ascii_case(y)
        && is_literal(x)
        && is_literal(y)
    {
        return true;
    }
    let same_literal = |(x, y): &(&u8, &u8)| x.eq_ignore_ascii_case(y) && is_literal(x);
    let differ = |pair: Option<(&u8, &u8)>| pair.is_some_and(|(x, y)| is_literal(x) && is_literal(y));
    differ(a.iter().zip(b).find(|pair| !same_literal(pair)))
        || differ(a.iter().rev().zip(b.iter().rev()).find(|pair| !same_literal(pair)))
}

/// How two names with wildcards can match the same name: 0 for not at all, [`REACHED`], or also [`NAMED`] if a literal
/// character of one can match the same literal character of the other.
///
/// Takes time in proportion to the product of the lengths: for each position in `b`, it keeps the positions in `a` that
/// can be reached.
fn overlap(a: &[u8], b: &[u8]) -> u8 {
    if ends_differ(a, b) {
        return 0;
    }
    if !a.iter().chain(b).any(is_special) {
        return if a.eq_ignore_ascii_case(b) { REACHED | NAMED } else { 0 };
    }
    // Names differ if one needs more characters than the other one allows.
    let min_length = |name: &[u8]| name.iter().filter(|byte| **byte != b'*').count();
    let is_longer =
        |long: &[u8], short: &[u8]| !long.contains(&b'[') && !short.contains(&b'*') && min_length(long) > short.len();
    if is_longer(a, b) || is_longer(b, a) {
        return 0;
    }
    // A name without wildcards that matches is named by the pattern, unless the pattern is only `*`.
    let named = if b.iter().any(is_special) || a.iter().all(|byte| *byte == b'*') { 0 } else { NAMED };
    let width = a.len() + 1;
    // For each position in `b`, how each position in `a` is reached. A class in `b` leads to the position after it.
    let mut reached: Vec<u8> = vec![0; width * (b.len() + 1)];
    mark(&mut reached, 0, REACHED);
    for at in 0..=b.len() {
        let rest = b.get(at..).unwrap_or_default();
        for position in 0..width {
            let here = at * width + position;
            let how = reached.get(here).copied().unwrap_or_default();
            if how == 0 {
                continue;
            }
            // A star of either side may match nothing, and one of `b` any part of `a`.
            if position < a.len() && (rest.first() == Some(&b'*') || a.get(position) == Some(&b'*')) {
                mark(&mut reached, here + 1, how);
            }
            for (in_a, in_b, same) in advance(a.get(position..).unwrap_or_default(), rest).into_iter().flatten() {
                mark(&mut reached, here + in_a + in_b * width, how | same);
            }
        }
    }
    reached.last().map_or(0, |how| if *how == 0 { 0 } else { how | named })
}

fn mark(reached: &mut [u8], position: usize, how: u8) {
    if let Some(reached) = reached.get_mut(position) {
        *reached |= how;
    }
}

/// The ways in which one character can match the start of both names: the bytes to advance in `a` and in `b`, and
/// [`NAMED`] if it is a literal on both sides.
fn advance(a: &[u8], b: &[u8]) -> [Option<(usize, usize, u8)>; 3] {
    let is_literal = |byte: u8| !matches!(byte, b'*' | b'?' | b'[');
    let named = |is_named: bool| if is_named { NAMED } else { 0 };
    match (a, b) {
        (_, [b'*', ..]) => [Some((0, 1, 0)), None, None],
        ([b'*', ..], [b'[', ..]) => [Some((0, 1, 0)), after_class(b).map(|more| (0, b.len() - more.len(), 0)), None],
        ([b'*', ..], [_, ..]) => [Some((0, 1, 0)), None, None],
        ([x, ..], [y, ..]) => {
            let of_a =
                after_class(a).filter(|_| *x == b'[').map(|more| (a.len() - more.len(), 1, named(is_literal(*y))));
            let is_negated = matches!(b.get(1), Some(b'!' | b'^'));
            let of_b = after_class(b)
                .filter(|_| *y == b'[')
                .map(|more| (1, b.len() - more.len(), named(!is_negated && is_literal(*x))));
            let same = *x == b'?' || *y == b'?' || x.eq_ignore_ascii_case(y);
            [of_a, of_b, same.then_some((1, 1, named(is_literal(*x) && is_literal(*y))))]
        }
        _ => [None; 3],
    }
}

/// The part after a `[…]` at the start of a name.
fn after_class(name: &[u8]) -> Option<&[u8]> {
    // Checked first, because this runs for every character.
    if name.first() != Some(&b'[') {
        return None;
    }
    // A bracket at the start is a character of the class.
    let start = if matches!(name.get(1), Some(b'!' | b'^')) { 3 } else { 2 };
    let end = name.iter().skip(start).position(|byte| *byte == b']')?;
    name.get(start + end + 1..)
}

#[cfg(test)]
#[path = "../../tests/unit/path/pattern.rs"]
mod tests;
