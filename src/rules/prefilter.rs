//! The prefilter of the embedded patterns: a pattern is compiled only if a text contains the literals that it requires.
//!
//! The build script takes the literals from the syntax tree of each pattern. They form groups: a match contains at least
//! one literal of each group. Patterns share equal groups. A pattern of an operator's file has groups only if an embedded
//! pattern has the same text; `literal` does the same for some of the others.

mod bucket;
#[cfg(test)]
mod literals;
#[cfg(test)]
#[path = "../../tests/unit/rules/prefilter.rs"]
mod tests;

use bucket::{EDGE, END, KEY_BYTES, bucket, is_word, key_byte, next_key};

/// A literal in lower case, and the groups that it is in.
struct Literal {
    /// The text without marks.
    text: &'static [u8],
    /// The mark at its beginning; 0 for none.
    left: u8,
    /// The mark at its end; 0 for none.
    right: u8,
    /// The offset of its key.
    key_offset: u16,
    groups: &'static [u16],
}

/// The literals with one hash, as a range of `LITERALS`.
struct Bucket {
    start: u16,
    count: u16,
    /// How many literals of patterns for calls there are, at its start. The others belong to patterns for results only.
    calls: u16,
}

// `GROUPS`: the number of groups. `CALL_GROUPS`: how many of them, at the start, belong to patterns for calls. `LITERALS`:
// all literals, by bucket. `TABLE`: the buckets. `PATTERNS`: the groups of every embedded pattern, by its text.
include!(concat!(env!("OUT_DIR"), "/prefilter.rs"));

/// [`key_byte`] of every byte.
static KEY: [u8; 256] = {
    let mut keys = [0; 256];
    let mut byte = 0;
    while byte < keys.len() {
        #[expect(clippy::indexing_slicing, reason = "the bound is checked one line above, and iterators are not const")]
        {
            keys[byte] = key_byte(byte as u8);
        }
        byte += 1;
    }
    keys
};

/// The groups of which a text contains a literal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Groups([u64; GROUPS.div_ceil(64)]);

impl Groups {
    /// Searches a text for all literals at once, ignoring the case of ASCII letters.
    pub fn find_in(text: &str) -> Self {
        Groups::search(text, |bucket| bucket.count)
    }

    /// Searches a text of a call. Literals of patterns for results are left out, which are most of them.
    pub fn find_in_call(text: &str) -> Self {
        Groups::search(text, |bucket| bucket.calls)
    }

    #[inline]
    fn search(text: &str, count: impl Fn(&Bucket) -> u16) -> Self {
        let text = text.as_bytes();
        let mut groups = Groups::default();
        let mut key = 0;
        for (at, byte) in text.iter().enumerate() {
            // A word also ends at a byte that is not ASCII.
            if !byte.is_ascii() {
                groups.look_up(next_key(key, key_byte(EDGE)), &count, text, at);
            }
            key = next_key(key, KEY.get(usize::from(*byte)).copied().unwrap_or_default());
            groups.look_up(key, &count, text, at);
        }
        groups.look_up(next_key(key, key_byte(END)), &count, text, text.len());
        groups
    }

    /// Adds the groups of the literals whose key ends at `last`.
    #[inline]
    fn look_up(&mut self, key: u32, count: &impl Fn(&Bucket) -> u16, text: &[u8], last: usize) {
        if let Some(bucket) = TABLE.get(bucket(key))
            && count(bucket) > 0
        {
            self.compare(bucket.start, count(bucket), text, last);
        }
    }

    /// Compares literals of a bucket. Inlined, it would make the loop over the text spill its registers.
    #[inline(never)]
    fn compare(&mut self, start: u16, count: u16, text: &[u8], last: usize) {
        let literals = LITERALS.iter().skip(usize::from(start)).take(usize::from(count));
        for literal in literals.filter(|literal| literal.is_at(text, last)) {
            literal.groups.iter().for_each(|group| self.add(*group));
        }
    }

    fn add(&mut self, group: u16) {
        if let Some(bits) = self.0.get_mut(usize::from(group / 64)) {
            *bits |= 1 << (group % 64);
        }
    }

    /// Whether no literal was found.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|bits| *bits == 0)
    }

    /// Whether all of these groups were found.
    pub fn contain_all(&self, groups: &[u16]) -> bool {
        let found = |group: &u16| self.0.get(usize::from(group / 64)).is_some_and(|bits| bits >> (group % 64) & 1 != 0);
        groups.iter().all(found)
    }
}

impl Literal {
    /// Whether a text contains the literal at the position where its key ends at `last`.
    fn is_at(&self, text: &[u8], last: usize) -> bool {
        let start = (last + 1).checked_sub(KEY_BYTES + usize::from(self.key_offset));
        let Some((before, rest)) = start.and_then(|start| text.split_at_checked(start)) else { return false };
        // Most literals of a bucket differ in their first byte.
        let differs = |(byte, known): (&u8, &u8)| byte.to_ascii_lowercase() != *known;
        if rest.first().zip(self.text.first()).is_some_and(differs) {
            return false;
        }
        let Some((found, behind)) = rest.split_at_checked(self.text.len()) else { return false };
        found.eq_ignore_ascii_case(self.text) && is_met(self.left, before.last()) && is_met(self.right, behind.first())
    }
}

/// Whether the byte beside a literal satisfies a mark; every byte does if there is none.
fn is_met(mark: u8, beside: Option<&u8>) -> bool {
    mark == 0 || beside.is_none_or(|byte| mark == EDGE && !is_word(*byte))
}

/// The groups that an embedded pattern requires; empty for any other pattern.
pub(super) fn required(pattern: &str) -> &'static [u16] {
    let found = PATTERNS.binary_search_by_key(&pattern, |(text, _)| text);
    found.ok().and_then(|at| PATTERNS.get(at)).map_or(&[], |(_, groups)| groups)
}

/// The same for a pattern that is matched with texts of calls: empty also if [`Groups::find_in_call`] may miss one of the groups.
pub(super) fn required_in_call(pattern: &str) -> &'static [u16] {
    let groups = required(pattern);
    if groups.iter().all(|group| *group < CALL_GROUPS) { groups } else { &[] }
}
