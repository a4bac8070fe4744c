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

use bucket::{EDGE, END, KEY_BYTES, bucket, is_word, key_byte, next_key, without_left_mark};

/// A literal in lower case, and the groups that it is in.
struct Literal {
    text: &'static [u8],
    /// The offset of its key, not counting a mark at the beginning.
    key_offset: usize,
    groups: &'static [u16],
}

/// The literals with one hash, as a range of `LITERALS`.
struct Bucket {
    start: u16,
    count: u16,
}

// `GROUPS`: the number of groups. `LITERALS`: all literals, by bucket. `TABLE`: the buckets. `PATTERNS`: the groups of
// every embedded pattern, by its text.
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
        let text = text.as_bytes();
        let mut groups = Groups::default();
        let mut key = 0;
        for (at, byte) in text.iter().enumerate() {
            // A word also ends at a byte that is not ASCII.
            if !byte.is_ascii() {
                groups.look_up(next_key(key, key_byte(EDGE)), text, at);
            }
            key = next_key(key, KEY.get(usize::from(*byte)).copied().unwrap_or_default());
            groups.look_up(key, text, at);
        }
        groups.look_up(next_key(key, key_byte(END)), text, text.len());
        groups
    }

    /// Adds the groups of the literals whose key ends at `last`.
    #[inline]
    fn look_up(&mut self, key: u32, text: &[u8], last: usize) {
        if let Some(bucket) = TABLE.get(bucket(key))
            && bucket.count > 0
        {
            self.compare(bucket, text, last);
        }
    }

    /// Compares the literals of a bucket. Inlined, it would make the loop over the text spill its registers.
    #[inline(never)]
    fn compare(&mut self, bucket: &Bucket, text: &[u8], last: usize) {
        let literals = LITERALS.iter().skip(usize::from(bucket.start)).take(usize::from(bucket.count));
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
        let literal = without_left_mark(self.text);
        let left = self.text.first().filter(|_| literal.len() < self.text.len());
        let (right, literal) = match literal.split_last() {
            Some((mark @ (&END | &EDGE), rest)) => (Some(mark), rest),
            _ => (None, literal),
        };
        let start = (last + 1).checked_sub(KEY_BYTES + self.key_offset);
        let Some((before, rest)) = start.and_then(|start| text.split_at_checked(start)) else { return false };
        let Some((found, behind)) = rest.split_at_checked(literal.len()) else { return false };
        found.eq_ignore_ascii_case(literal)
            && left.is_none_or(|mark| is_met(*mark, before.last()))
            && right.is_none_or(|mark| is_met(*mark, behind.first()))
    }
}

/// Whether the byte beside a literal satisfies a mark.
fn is_met(mark: u8, beside: Option<&u8>) -> bool {
    beside.is_none_or(|byte| mark == EDGE && !is_word(*byte))
}

/// The groups that an embedded pattern requires; empty for any other pattern.
pub(super) fn required(pattern: &str) -> &'static [u16] {
    let found = PATTERNS.binary_search_by_key(&pattern, |(text, _)| text);
    found.ok().and_then(|at| PATTERNS.get(at)).map_or(&[], |(_, groups)| groups)
}
