//! Extracts the literals that every match of a pattern contains; used by the build script.

use super::bucket::{EDGE, END, KEY_BYTES, START, is_word};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Literals in lower case; every match of a pattern contains at least one of them.
pub type Group = BTreeSet<Vec<u8>>;

/// The largest group that is used.
const MAX_LITERALS: usize = 256;

/// The largest product of two groups, unless one of them is too short to be used alone.
const MAX_JOINED: usize = 16;

/// The largest character class that is enumerated.
const MAX_CLASS: u32 = 8;

/// Returns the usable groups of a pattern, the most selective first.
pub fn required(pattern: &str) -> Vec<Group> {
    let mut groups = all_groups(pattern);
    groups.retain(|group| shortest(group) >= KEY_BYTES && group.len() <= MAX_LITERALS);
    groups.sort_by_key(|group| Reverse(selectivity(group)));
    groups.dedup();
    groups
}

/// Returns all groups of a pattern.
///
/// `regex-lite` matches `(?i)`, `\w` and `\b` by ASCII only, so the tree of an ASCII pattern is built without Unicode.
pub fn all_groups(pattern: &str) -> Vec<Group> {
    // Without Unicode, `\xE9` would be a byte; for `regex-lite` it is a character.
    let escapes = ["\\x", "\\u", "\\U"];
    let unicode = !pattern.is_ascii() || escapes.iter().any(|escape| pattern.contains(escape));
    let hir = ParserBuilder::new().unicode(unicode).utf8(false).build().parse(pattern);
    hir.map_or_else(|_| Vec::new(), |hir| extract(&hir).into_groups().iter().map(minimize).collect())
}

/// The literals of a subpattern.
struct Literals {
    /// All texts that the subpattern matches, if they can be enumerated.
    exact: Option<Group>,
    /// Groups that its matches contain.
    groups: Vec<Group>,
}

impl Literals {
    const UNKNOWN: Literals = Literals { exact: None, groups: Vec::new() };

    fn exact(texts: impl IntoIterator<Item = Vec<u8>>) -> Literals {
        let texts = texts.into_iter().map(|text| text.to_ascii_lowercase()).collect();
        Literals { exact: Some(texts), groups: Vec::new() }
    }

    fn into_groups(self) -> Vec<Group> {
        self.groups.into_iter().chain(self.exact).collect()
    }
}

fn extract(hir: &Hir) -> Literals {
    match hir.kind() {
        HirKind::Literal(literal) => Literals::exact([literal.0.to_vec()]),
        HirKind::Class(class) => extract_class(class),
        HirKind::Look(Look::Start) => Literals::exact([vec![START]]),
        HirKind::Look(Look::End) => Literals::exact([vec![END]]),
        HirKind::Look(Look::WordAscii | Look::WordUnicode) => Literals::exact([vec![EDGE]]),
        // These match the empty text, so their neighbours are adjacent.
        HirKind::Empty | HirKind::Look(_) => Literals::exact([Vec::new()]),
        HirKind::Capture(capture) => extract(&capture.sub),
        HirKind::Repetition(repetition) => extract_repetition(repetition),
        HirKind::Concat(parts) => extract_concat(parts),
        HirKind::Alternation(branches) => extract_alternation(branches),
    }
}

fn extract_class(class: &Class) -> Literals {
    let chars: Option<Vec<char>> = match class {
        Class::Unicode(class) => {
            let count: u32 = class.iter().map(|range| u32::from(range.end()) - u32::from(range.start()) + 1).sum();
            (count <= MAX_CLASS).then(|| class.iter().flat_map(|range| range.start()..=range.end()).collect())
        }
        Class::Bytes(class) => {
            let count: u32 = class.iter().map(|range| u32::from(range.end() - range.start()) + 1).sum();
            let bytes = class.iter().flat_map(|range| range.start()..=range.end());
            (count <= MAX_CLASS && class.is_ascii()).then(|| bytes.map(char::from).collect())
        }
    };
    chars.map_or(Literals::UNKNOWN, |chars| Literals::exact(chars.into_iter().map(|c| c.to_string().into_bytes())))
}

fn extract_repetition(repetition: &Repetition) -> Literals {
    let inner = extract(&repetition.sub);
    match (repetition.min, repetition.max, inner.exact) {
        (0, Some(1), Some(exact)) => Literals::exact(exact.into_iter().chain([Vec::new()])),
        (0, ..) => Literals::UNKNOWN,
        (1, Some(1), exact) => Literals { exact, groups: inner.groups },
        (.., exact) => Literals { exact: None, groups: Literals { exact, groups: inner.groups }.into_groups() },
    }
}

fn extract_concat(parts: &[Hir]) -> Literals {
    let empty = || Group::from([Vec::new()]);
    let mut groups = Vec::new();
    // All texts that the subpatterns since the last one with an unknown text match.
    let mut run = empty();
    let mut whole = true;
    for (at, hir) in parts.iter().enumerate() {
        let Literals { exact, groups: inner } = extract(hir);
        let around = [at.checked_sub(1), Some(at + 1)].map(|at| at.and_then(|at| parts.get(at)));
        groups.extend(if exact.is_some() { inner } else { distribute(hir, around).unwrap_or(inner) });
        let joined = exact.as_ref().and_then(|next| product(&run, next));
        if let Some(joined) = joined {
            run = joined;
        } else {
            whole = false;
            groups.push(std::mem::replace(&mut run, exact.unwrap_or_else(empty)));
        }
    }
    if whole {
        Literals { exact: Some(run), groups }
    } else {
        Literals { exact: None, groups: groups.into_iter().chain([run]).collect() }
    }
}

/// Joins each branch of an alternation with the neighbours of the alternation, and returns the groups.
///
/// In `\b(ai|ki-[a-z]+)\b`, the branches are too short to be used without the word boundaries.
fn distribute(hir: &Hir, [before, behind]: [Option<&Hir>; 2]) -> Option<Vec<Group>> {
    match hir.kind() {
        HirKind::Capture(capture) => distribute(&capture.sub, [before, behind]),
        HirKind::Alternation(branches) => {
            let is_plain =
                |hir: &&Hir| matches!(hir.kind(), HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_));
            let (before, behind) = (before.filter(is_plain), behind.filter(is_plain));
            let joined = |branch| Hir::concat([before, Some(branch), behind].into_iter().flatten().cloned().collect());
            let branches: Vec<Hir> = branches.iter().map(joined).collect();
            Some(extract_alternation(&branches).into_groups())
        }
        HirKind::Empty
        | HirKind::Literal(_)
        | HirKind::Class(_)
        | HirKind::Look(_)
        | HirKind::Repetition(_)
        | HirKind::Concat(_) => None,
    }
}

/// Joins every text of one group with every text of the other, unless that makes too many.
///
/// INVARIANT: [`START`] only begins a literal and [`END`] only ends one. In `$^` both assertions hold at one position
/// of an empty text, so the marks would not be adjacent to anything.
fn product(left: &Group, right: &Group) -> Option<Group> {
    let starts = right.iter().any(|text| text.first() == Some(&START)) && left.iter().any(|text| !text.is_empty());
    let ended = left.iter().any(|text| text.last() == Some(&END)) && right.iter().any(|text| !text.is_empty());
    // Texts shorter than a key are of no use unless they are joined.
    let limit = if shortest(left) < KEY_BYTES { MAX_LITERALS } else { MAX_JOINED };
    if starts || ended || left.len().min(right.len()) > 1 && left.len() * right.len() > limit {
        return None;
    }
    Some(left.iter().flat_map(|one| right.iter().map(|other| [one.as_slice(), other].concat())).collect())
}

fn extract_alternation(branches: &[Hir]) -> Literals {
    let literals: Vec<Literals> = branches.iter().map(extract).collect();
    let exact: Option<Vec<&Group>> = literals.iter().map(|branch| branch.exact.as_ref()).collect();
    let union: Option<Group> = exact.map(|exact| exact.into_iter().flatten().cloned().collect());
    if let Some(union) = union.filter(|union| union.len() <= MAX_LITERALS) {
        return Literals { exact: Some(union), groups: Vec::new() };
    }
    let best: Option<Vec<Group>> =
        literals.into_iter().map(|branch| branch.into_groups().into_iter().max_by_key(selectivity)).collect();
    Literals { exact: None, groups: best.map(|best| best.into_iter().flatten().collect()).into_iter().collect() }
}

/// Removes the literals of a group that contain another one of it.
fn minimize(group: &Group) -> Group {
    let group: Group = group.iter().map(|text| trim_edges(text)).collect();
    let contains = |text: &[u8], part: &[u8]| text.windows(part.len().max(1)).any(|window| window == part);
    let redundant = |text: &Vec<u8>| group.iter().any(|other| other != text && contains(text, other));
    group.iter().filter(|text| !redundant(text)).cloned().collect()
}

/// Removes each [`EDGE`] that is not beside a word character at the beginning or end of a literal.
///
/// Inside a literal it is implied by the characters around it. Beside any other character, the word is outside of the
/// literal.
fn trim_edges(text: &[u8]) -> Vec<u8> {
    let bare: Vec<u8> = text.iter().copied().filter(|byte| *byte != EDGE).collect();
    let left = text.first() == Some(&EDGE) && bare.first().is_some_and(|byte| is_word(*byte));
    let right = text.last() == Some(&EDGE) && bare.last().is_some_and(|byte| is_word(*byte));
    let edge = |is_edge: bool| is_edge.then_some(EDGE);
    edge(left).into_iter().chain(bare).chain(edge(right)).collect()
}

/// The literal without a mark at its beginning, which is not part of keys.
pub fn without_left_mark(literal: &[u8]) -> &[u8] {
    match literal {
        [START | EDGE, rest @ ..] => rest,
        _ => literal,
    }
}

/// The length of the shortest literal, without a mark at its beginning.
fn shortest(group: &Group) -> usize {
    group.iter().map(|literal| without_left_mark(literal).len()).min().unwrap_or_default()
}

fn selectivity(group: &Group) -> (usize, Reverse<usize>) {
    (shortest(group), Reverse(group.len()))
}
