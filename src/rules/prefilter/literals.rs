//! Extracts from the syntax tree of a pattern the literals that its matches contain; used by the build script.

use super::bucket::{EDGE, END, KEY_BYTES, START, is_word, without_left_mark};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Literals in lower case, of which every match of a pattern contains at least one.
pub type Group = BTreeSet<Vec<u8>>;

/// Literals of a group; larger groups are not used.
const MAX_LITERALS: usize = 256;

/// Literals that joining two parts may make.
const MAX_JOINED: usize = 16;

/// Characters of a class that are listed one by one.
const MAX_CLASS: u32 = 8;

/// The groups of a pattern, the most selective first; none if nothing is known about it.
pub fn required(pattern: &str) -> Vec<Group> {
    let mut groups = all_groups(pattern);
    groups.retain(|group| shortest(group) >= KEY_BYTES && group.len() <= MAX_LITERALS);
    groups.sort_by_key(|group| Reverse(selectivity(group)));
    groups.dedup();
    groups
}

/// The groups of a pattern, whether or not they can be used.
///
/// `regex-lite` matches `(?i)`, `\w` and `\b` by ASCII only, so the tree of an ASCII pattern is built without Unicode.
pub fn all_groups(pattern: &str) -> Vec<Group> {
    // Without Unicode, `\xE9` would be a byte; for `regex-lite` it is a character.
    let escapes = ["\\x", "\\u", "\\U"];
    let unicode = !pattern.is_ascii() || escapes.iter().any(|escape| pattern.contains(escape));
    let hir = ParserBuilder::new().unicode(unicode).utf8(false).build().parse(pattern);
    hir.map_or_else(|_| Vec::new(), |hir| part(&hir).into_groups().iter().map(minimal).collect())
}

/// What is known about a part of a pattern.
struct Part {
    /// All texts that it matches, if they can be listed.
    exact: Option<Group>,
    /// Literals that its matches contain.
    groups: Vec<Group>,
}

impl Part {
    const UNKNOWN: Part = Part { exact: None, groups: Vec::new() };

    fn exact(texts: impl IntoIterator<Item = Vec<u8>>) -> Part {
        let texts = texts.into_iter().map(|text| text.to_ascii_lowercase()).collect();
        Part { exact: Some(texts), groups: Vec::new() }
    }

    fn into_groups(self) -> Vec<Group> {
        self.groups.into_iter().chain(self.exact).collect()
    }
}

fn part(hir: &Hir) -> Part {
    match hir.kind() {
        HirKind::Literal(literal) => Part::exact([literal.0.to_vec()]),
        HirKind::Class(class) => class_part(class),
        HirKind::Look(Look::Start) => Part::exact([vec![START]]),
        HirKind::Look(Look::End) => Part::exact([vec![END]]),
        HirKind::Look(Look::WordAscii | Look::WordUnicode) => Part::exact([vec![EDGE]]),
        // They match no text, so what stands around them is adjacent.
        HirKind::Empty | HirKind::Look(_) => Part::exact([Vec::new()]),
        HirKind::Capture(capture) => part(&capture.sub),
        HirKind::Repetition(repetition) => repetition_part(repetition),
        HirKind::Concat(parts) => concat_part(parts),
        HirKind::Alternation(branches) => alternation_part(branches),
    }
}

fn class_part(class: &Class) -> Part {
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
    chars.map_or(Part::UNKNOWN, |chars| Part::exact(chars.into_iter().map(|c| c.to_string().into_bytes())))
}

fn repetition_part(repetition: &Repetition) -> Part {
    let inner = part(&repetition.sub);
    match (repetition.min, repetition.max, inner.exact) {
        (0, Some(1), Some(exact)) => Part::exact(exact.into_iter().chain([Vec::new()])),
        (0, ..) => Part::UNKNOWN,
        (1, Some(1), exact) => Part { exact, groups: inner.groups },
        (.., exact) => Part { exact: None, groups: Part { exact, groups: inner.groups }.into_groups() },
    }
}

fn concat_part(parts: &[Hir]) -> Part {
    let empty = || Group::from([Vec::new()]);
    let mut groups = Vec::new();
    // All texts that the parts since the last unknown one match.
    let mut run = empty();
    let mut whole = true;
    for (at, hir) in parts.iter().enumerate() {
        let Part { exact, groups: inner } = part(hir);
        let around = [at.checked_sub(1), Some(at + 1)].map(|at| at.and_then(|at| parts.get(at)));
        groups.extend(if exact.is_some() { inner } else { distributed(hir, around).unwrap_or(inner) });
        let joined = exact.as_ref().and_then(|next| product(&run, next));
        if let Some(joined) = joined {
            run = joined;
        } else {
            whole = false;
            groups.push(std::mem::replace(&mut run, exact.unwrap_or_else(empty)));
        }
    }
    if whole {
        Part { exact: Some(run), groups }
    } else {
        Part { exact: None, groups: groups.into_iter().chain([run]).collect() }
    }
}

/// The groups of an alternation, of which each branch is joined with what stands before and behind all of them.
///
/// In `\b(ai|ki-[a-z]+)\b`, the branches are too short without their edges.
fn distributed(hir: &Hir, [before, behind]: [Option<&Hir>; 2]) -> Option<Vec<Group>> {
    match hir.kind() {
        HirKind::Capture(capture) => distributed(&capture.sub, [before, behind]),
        HirKind::Alternation(branches) => {
            let is_plain =
                |hir: &&Hir| matches!(hir.kind(), HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_));
            let (before, behind) = (before.filter(is_plain), behind.filter(is_plain));
            let joined = |branch| Hir::concat([before, Some(branch), behind].into_iter().flatten().cloned().collect());
            let branches: Vec<Hir> = branches.iter().map(joined).collect();
            Some(alternation_part(&branches).into_groups())
        }
        HirKind::Empty
        | HirKind::Literal(_)
        | HirKind::Class(_)
        | HirKind::Look(_)
        | HirKind::Repetition(_)
        | HirKind::Concat(_) => None,
    }
}

/// Every text of one group followed by every text of the other.
///
/// INVARIANT: [`START`] only begins a literal and [`END`] only ends one. In `$^` both assertions hold at one place of an
/// empty text, so the marks say nothing about what is adjacent.
fn product(left: &Group, right: &Group) -> Option<Group> {
    let starts = right.iter().any(|text| text.first() == Some(&START)) && left.iter().any(|text| !text.is_empty());
    let ended = left.iter().any(|text| text.last() == Some(&END)) && right.iter().any(|text| !text.is_empty());
    // A short text is worth nothing unless it is joined.
    let limit = if shortest(left) < KEY_BYTES { MAX_LITERALS } else { MAX_JOINED };
    if starts || ended || left.len().min(right.len()) > 1 && left.len() * right.len() > limit {
        return None;
    }
    Some(left.iter().flat_map(|one| right.iter().map(|other| [one.as_slice(), other].concat())).collect())
}

fn alternation_part(branches: &[Hir]) -> Part {
    let parts: Vec<Part> = branches.iter().map(part).collect();
    let exact: Option<Vec<&Group>> = parts.iter().map(|part| part.exact.as_ref()).collect();
    let union: Option<Group> = exact.map(|exact| exact.into_iter().flatten().cloned().collect());
    if let Some(union) = union.filter(|union| union.len() <= MAX_LITERALS) {
        return Part { exact: Some(union), groups: Vec::new() };
    }
    let best: Option<Vec<Group>> =
        parts.into_iter().map(|part| part.into_groups().into_iter().max_by_key(selectivity)).collect();
    Part { exact: None, groups: best.map(|best| best.into_iter().flatten().collect()).into_iter().collect() }
}

/// The group without the literals that contain another one of it.
fn minimal(group: &Group) -> Group {
    let group: Group = group.iter().map(|text| with_edges(text)).collect();
    let contains = |text: &[u8], part: &[u8]| text.windows(part.len().max(1)).any(|window| window == part);
    let redundant = |text: &Vec<u8>| group.iter().any(|other| other != text && contains(text, other));
    group.iter().filter(|text| !redundant(text)).cloned().collect()
}

/// Keeps [`EDGE`] only where it begins or ends a literal and the literal begins or ends with a word.
///
/// Within a literal it says nothing that the characters beside it do not; beside what is no word, a word ends outside.
fn with_edges(text: &[u8]) -> Vec<u8> {
    let bare: Vec<u8> = text.iter().copied().filter(|byte| *byte != EDGE).collect();
    let left = text.first() == Some(&EDGE) && bare.first().is_some_and(|byte| is_word(*byte));
    let right = text.last() == Some(&EDGE) && bare.last().is_some_and(|byte| is_word(*byte));
    let edge = |is_edge: bool| is_edge.then_some(EDGE);
    edge(left).into_iter().chain(bare).chain(edge(right)).collect()
}

/// The length of the shortest literal, as far as it can be part of a key.
fn shortest(group: &Group) -> usize {
    group.iter().map(|literal| without_left_mark(literal).len()).min().unwrap_or_default()
}

fn selectivity(group: &Group) -> (usize, Reverse<usize>) {
    (shortest(group), Reverse(group.len()))
}
