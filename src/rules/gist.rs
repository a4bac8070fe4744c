//! The gist of a pattern: what every text that it matches begins with and holds.
//!
//! Compiling is what a pattern costs, and most patterns have nothing to do with most texts. So its text is walked
//! first, for characters that no match can do without. What the walk does not understand may match anything.

use super::walk::{DEEPEST, Piece, Times, Walk};
use std::borrow::Cow;

/// Which characters a text begins with and holds, and which of them stand side by side; letters in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Letters {
    /// The first.
    first: u128,
    /// The place of the first two.
    start: u8,
    all: u128,
    pairs: Pairs,
}

impl Letters {
    pub fn of(text: &str) -> Self {
        let mut all = [0_u64; 4];
        let mut pairs = [0_u64; 4];
        let mut before = 0;
        for byte in text.bytes().map(|byte| byte.to_ascii_lowercase()) {
            let place = place(before, byte);
            before = byte;
            // Both have a place for every byte.
            if let (Some(all), Some(pairs)) =
                (all.get_mut(usize::from(byte >> 6)), pairs.get_mut(usize::from(place >> 6)))
            {
                *all |= 1 << (byte & 63);
                *pairs |= 1 << (place & 63);
            }
        }
        // A text that is too short begins like one that no pattern asks for.
        let (one, other) = if let [one, other, ..] = text.as_bytes() { (*one, *other) } else { (0, 0) };
        let start = place(one.to_ascii_lowercase(), other.to_ascii_lowercase());
        let first = text.bytes().next().filter(u8::is_ascii).map_or(OTHER, bit);
        let [low, high, ..] = all;
        Letters { first, start, all: u128::from(low) | u128::from(high) << 64, pairs: Pairs(pairs) }
    }

    /// Whether the text begins with this, in either case.
    pub fn begin_with(&self, byte: u8) -> bool {
        bit(byte) & self.first != 0
    }
}

/// Characters that stand side by side, as places in a small set: several pairs may share one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs(pub [u64; 4]);

impl Pairs {
    fn add(&mut self, one: u8, other: u8) {
        let place = place(one.to_ascii_lowercase(), other.to_ascii_lowercase());
        if let Some(part) = self.0.get_mut(usize::from(place >> 6)) {
            *part |= 1 << (place & 63);
        }
    }

    fn hold(&self, place: u8) -> bool {
        self.0.get(usize::from(place >> 6)).is_some_and(|part| part & (1 << (place & 63)) != 0)
    }

    fn with(self, other: Pairs) -> Pairs {
        let [a, b, c, d] = self.0;
        let [e, f, g, h] = other.0;
        Pairs([a | e, b | f, c | g, d | h])
    }

    fn common(self, other: Pairs) -> Pairs {
        let [a, b, c, d] = self.0;
        let [e, f, g, h] = other.0;
        Pairs([a & e, b & f, c & g, d & h])
    }

    fn count(self) -> u32 {
        self.0.iter().map(|part| part.count_ones()).sum()
    }

    fn are_in(self, other: Pairs) -> bool {
        self.common(other) == self
    }
}

/// How texts begin that could match; by default, none do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beginning {
    pub(super) first: u128,
    pub(super) start: Pairs,
}

impl Beginning {
    /// Whatever beginning.
    pub const ANY: Beginning = Beginning { first: ANY, start: ANY_PAIR };

    /// Whether one of several texts could begin like that, of which these are the first letters that are ASCII.
    pub fn may_allow(&self, firsts: u128) -> bool {
        self.first & (firsts | OTHER) != 0
    }

    /// Whether a text with these letters begins like that.
    #[inline]
    pub fn allows(&self, letters: &Letters) -> bool {
        self.start.hold(letters.start) && self.first & letters.first != 0
    }
}

/// The place of what is no ASCII, and of nothing.
const OTHER: u128 = 1;

/// The place of two characters, which are lower case.
fn place(one: u8, other: u8) -> u8 {
    one.wrapping_mul(37) ^ other
}

/// Whatever stands side by side.
const ANY_PAIR: Pairs = Pairs([u64::MAX; 4]);

/// The place of a character among the letters; none for what is not ASCII.
fn bit(byte: u8) -> u128 {
    if byte.is_ascii() { 1 << byte.to_ascii_lowercase() } else { 0 }
}

fn bit_of(c: char) -> u128 {
    u8::try_from(c).map_or(0, bit)
}

/// Whatever character.
const ANY: u128 = u128::MAX;

/// What every match needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gist {
    /// The text begins with one of these.
    pub first: u128,
    /// And with two of these.
    pub start: Pairs,
    /// It holds all of these.
    pub all: u128,
    /// And these side by side.
    pub pairs: Pairs,
    /// And all of one of these; whatever where there are none.
    pub one_of: Cow<'static, [Pairs]>,
}

/// One list of alternatives on the way to the gist.
#[derive(Clone)]
struct Level {
    /// Of the alternatives before.
    firsts: u128,
    starts: Pairs,
    alls: u128,
    all_pairs: Pairs,
    /// Of this one; `first` and `start` once they are known.
    first: Option<u128>,
    start: Option<Pairs>,
    all: u128,
    pairs: Pairs,
    /// What the alternatives before have side by side, each by itself.
    each: Vec<Pairs>,
    /// The same of a group in this one that every match passes.
    one_of: Vec<Pairs>,
    /// The character that was just passed.
    before: Option<u8>,
    anchored: bool,
    /// How the level began.
    began_anchored: bool,
    /// It stands at the beginning of the level around it.
    leads: bool,
}

impl Level {
    const fn new(anchored: bool, leads: bool) -> Self {
        Level {
            firsts: 0,
            starts: Pairs([0; 4]),
            alls: ANY,
            all_pairs: ANY_PAIR,
            first: None,
            start: None,
            all: 0,
            pairs: Pairs([0; 4]),
            each: Vec::new(),
            one_of: Vec::new(),
            before: None,
            anchored,
            began_anchored: anchored,
            leads,
        }
    }

    /// An alternative ends.
    fn end(&mut self) {
        self.firsts |= self.first.filter(|_| self.anchored).unwrap_or(ANY);
        self.starts = self.starts.with(self.start.filter(|_| self.anchored).unwrap_or(ANY_PAIR));
        self.alls &= self.all;
        self.all_pairs = self.all_pairs.common(self.pairs);
        self.each.push(self.pairs);
        let Level { firsts, starts, alls, all_pairs, .. } = *self;
        let (each, one_of) = (std::mem::take(&mut self.each), std::mem::take(&mut self.one_of));
        *self = Level { firsts, starts, alls, all_pairs, each, one_of, ..Level::new(self.began_anchored, self.leads) };
    }
}

impl Gist {
    pub fn of(pattern: &str) -> Self {
        Gist::understood(pattern).unwrap_or(Gist {
            first: ANY,
            start: ANY_PAIR,
            all: 0,
            pairs: Pairs::default(),
            one_of: Cow::Borrowed(&[]),
        })
    }

    /// How texts begin that could match.
    pub fn beginning(&self) -> Beginning {
        Beginning { first: self.first, start: self.start }
    }

    fn understood(pattern: &str) -> Option<Self> {
        let mut walk = Walk::new(pattern);
        let mut levels = [const { Level::new(false, true) }; DEEPEST];
        let mut depth = 0;
        loop {
            let (piece, times) = walk.next()?;
            let level = levels.get_mut(depth)?;
            let before = level.before.take();
            match piece {
                Piece::Start if level.first.is_none() => level.anchored = true,
                Piece::Start => {}
                Piece::Literal(c) if times.is_sure() => {
                    let bit = bit_of(c);
                    let leads = level.first.is_none();
                    level.first.get_or_insert(if bit == 0 { ANY } else { bit });
                    level.all |= bit;
                    let byte = u8::try_from(c).ok().filter(u8::is_ascii);
                    let mut pair = Pairs::default();
                    if let Some((before, byte)) = before.zip(byte) {
                        pair.add(before, byte);
                        level.pairs = level.pairs.with(pair);
                    }
                    // The second of two that nothing stands between.
                    if !leads {
                        level.start.get_or_insert(if pair == Pairs::default() { ANY_PAIR } else { pair });
                    } else if times == Times::Often {
                        level.start = Some(ANY_PAIR);
                    }
                    level.before = byte;
                }
                Piece::Literal(_) | Piece::OneOf(_) | Piece::Vague | Piece::Edge => {
                    level.first.get_or_insert(ANY);
                    level.start.get_or_insert(ANY_PAIR);
                }
                Piece::Open => {
                    let inner = Level::new(level.anchored, level.first.is_none());
                    // What a group begins with is asked only where it leads.
                    if !inner.leads {
                        level.start.get_or_insert(ANY_PAIR);
                    }
                    depth += 1;
                    *levels.get_mut(depth)? = inner;
                }
                Piece::Or => level.end(),
                Piece::Close => {
                    level.end();
                    let Level { firsts, starts, alls, all_pairs, leads, .. } = *level;
                    let each = std::mem::take(&mut level.each);
                    depth = depth.checked_sub(1)?;
                    let around = levels.get_mut(depth)?;
                    let sure = times.is_sure();
                    if leads {
                        around.first = Some(if sure { firsts } else { ANY });
                        around.start = Some(if sure { starts } else { ANY_PAIR });
                        around.anchored |= sure && firsts != ANY;
                    }
                    if sure {
                        around.all |= alls;
                        around.pairs = around.pairs.with(all_pairs);
                        // Of several groups, the one that asks for most.
                        if asked_for(&each) > asked_for(&around.one_of) {
                            around.one_of = each;
                        }
                    }
                }
                Piece::End => {
                    level.end();
                    // What one alternative needs, the others may not.
                    let one_of = if level.each.len() == 1 { std::mem::take(&mut level.one_of) } else { Vec::new() };
                    return Some(Gist {
                        first: level.firsts,
                        start: level.starts,
                        all: level.alls,
                        pairs: level.all_pairs,
                        one_of: Cow::Owned(one_of),
                    });
                }
            }
        }
    }

    /// Whether a text with these letters could match.
    pub fn allows(&self, letters: &Letters) -> bool {
        self.beginning().allows(letters)
            && self.all & !letters.all == 0
            && self.pairs.are_in(letters.pairs)
            && (self.one_of.is_empty() || self.one_of.iter().any(|pairs| pairs.are_in(letters.pairs)))
    }
}

/// How many pairs the least of several alternatives asks for. One that has none lets everything pass.
fn asked_for(each: &[Pairs]) -> u32 {
    each.iter().map(|pairs| pairs.count()).min().unwrap_or_default()
}

/// Whether a text holds all the words that a match of the pattern cannot do without. `true` where that cannot be told.
pub(super) fn may_match(pattern: &str, text: &str) -> bool {
    let folded = Walk::new(pattern).folded;
    let lower = folded.then(|| text.to_ascii_lowercase());
    words_are_met(pattern, lower.as_deref().unwrap_or(text)).unwrap_or(true)
}

fn words_are_met(pattern: &str, text: &str) -> Option<bool> {
    let mut walk = Walk::new(pattern);
    // Of each list of alternatives: whether one was met, and whether this one is, so far.
    let mut levels = [(false, true); DEEPEST];
    let mut depth = 0;
    let mut word = Word { text: String::new(), anchored: false };
    loop {
        let (piece, times) = walk.next()?;
        let (met, holds) = levels.get_mut(depth)?;
        // One alternative is enough, and one missing word is.
        let open = *holds && !*met;
        match piece {
            Piece::Literal(c) if times.is_sure() => {
                word.text.push(if walk.folded { c.to_ascii_lowercase() } else { c });
                // A character that is repeated stands next to itself, and ends what is known of its place.
                if times == Times::Often {
                    *holds &= word.ends(text, open);
                }
            }
            Piece::Literal(_) | Piece::OneOf(_) | Piece::Vague | Piece::Edge => *holds &= word.ends(text, open),
            Piece::Start => {
                *holds &= word.ends(text, open);
                word.anchored = true;
            }
            Piece::Open => {
                *holds &= word.ends(text, open);
                // Where it is settled around it, nothing in it counts.
                let settled = *met || !*holds;
                depth += 1;
                *levels.get_mut(depth)? = (settled, true);
            }
            Piece::Or => {
                *holds &= word.ends(text, open);
                *met |= *holds;
                *holds = true;
            }
            Piece::Close => {
                *holds &= word.ends(text, open);
                let met = *met | *holds;
                depth = depth.checked_sub(1)?;
                let (_, around) = levels.get_mut(depth)?;
                *around &= met || !times.is_sure();
            }
            Piece::End => {
                *holds &= word.ends(text, open);
                return Some(*met | *holds);
            }
        }
    }
}

/// Characters that stand in a row.
struct Word {
    text: String,
    /// The text begins with them.
    anchored: bool,
}

impl Word {
    /// The word ends here: whether the text holds it, where that is still open.
    fn ends(&mut self, text: &str, open: bool) -> bool {
        let anchored = std::mem::take(&mut self.anchored);
        let met = !open
            || self.text.is_empty()
            || if anchored { text.starts_with(self.text.as_str()) } else { text.contains(self.text.as_str()) };
        self.text.clear();
        met
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex_lite::Regex;

    fn allows(pattern: &str, text: &str) -> bool {
        Gist::of(pattern).allows(&Letters::of(text)) && may_match(pattern, text)
    }

    #[test]
    fn a_missing_character_saves_the_compiler() {
        for (pattern, text, expected) in [
            ("^git push\\b", "git status", false),
            ("^git push\\b", "git push", true),
            ("^push", "git push", false),
            ("^(npm|yarn) unpublish", "npm install", false),
            ("^(npm|yarn) unpublish", "yarn unpublish x", true),
            ("(^npm|^yarn) x", "git x npm yarn", false),
            ("xmrig|minerd", "ls", false),
            ("xmrig|minerd", "minerd -a", true),
            ("ab?c", "ac", true),
            ("a(b)?c", "ac", true),
            ("(?i)SUDO", "sudo", true),
            ("(?i)sudo", "SUDO", true),
            ("a{0}b", "b", true),
            ("x(", "y", true),
            ("", "y", true),
        ] {
            assert_eq!(allows(pattern, text), expected, "{pattern} {text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_shortcut_never_hides_a_match(pattern in "(\\(\\?i\\))?([ab|()^$.*+?\\[\\]{}\\\\-]{0,8}|(a|b|A|ab|[ab]|\\.|\\^|\\$|\\||\\(|\\)|\\*|\\?|\\+|\\{2\\}|\\(\\?:|\\\\b|\\[ab\\]|\\[\\^a\\]){0,8})",
            text in "[abAB|]{0,6}") {
            match Regex::new(&pattern) {
                Ok(regex) => prop_assert!(allows(&pattern, &text) || !regex.is_match(&text), "{pattern:?} {text:?}"),
                Err(_) => prop_assert!(allows(&pattern, &text), "{pattern:?} is broken and must be seen to be"),
            }
        }
    }
}
