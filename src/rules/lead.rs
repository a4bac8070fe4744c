//! Leads: which of the embedded patterns could match a passage, by the clues that it holds.

use super::Pattern;
use super::clue::{KEY, SHARE, behind, is_word, key_byte, place};

/// A phrase, by its place in the text of all, and whether a word begins and ends with it.
struct Clue {
    start: u32,
    length: u16,
    left: bool,
    right: bool,
}

/// Lists in a row, and where each begins.
struct Lists<const COUNT: usize, const ITEMS: usize> {
    starts: [u16; COUNT],
    items: [u16; ITEMS],
}

impl<const COUNT: usize, const ITEMS: usize> Lists<COUNT, ITEMS> {
    /// The list of this number; none where there is no such list.
    fn get(&self, number: u16) -> &[u16] {
        let [start, end] = [number, number + 1].map(|number| self.starts.get(usize::from(number)).copied());
        start.zip(end).and_then(|(start, end)| self.items.get(start.into()..end.into())).unwrap_or_default()
    }
}

// `TEXTS` of all phrases, one behind the other, and `CLUES`, the phrases, by the place at which they are looked up;
// `PLACES` at which there is a phrase; `LISTS`, where the phrases of some places begin, and those of the next; `LEADS`,
// the patterns that a phrase leads to; `CLAUSES`, lists of phrases of which a match of a pattern holds one of each, and
// `PATTERNS`, where those of each pattern begin.
include!(concat!(env!("OUT_DIR"), "/clues.rs"));

/// A clue in a text: where it begins, and which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    pub at: usize,
    clue: u16,
}

/// How a byte is looked up.
static KEYS: [u8; 256] = {
    let mut keys = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::indexing_slicing, reason = "it is counted up to the length")]
        {
            keys[byte] = key_byte(byte as u8);
        }
        byte += 1;
    }
    keys
};

/// The clues in a text that is in lower case, in their order.
pub(crate) fn traces(text: &str) -> Vec<Trace> {
    let mut traces = Vec::new();
    let mut key = 0;
    for (end, byte) in text.bytes().enumerate() {
        let before = key;
        key = behind(before, KEYS.get(usize::from(byte)).copied().unwrap_or_default());
        if is_there(key) {
            look(text, end, key, &mut traces);
        }
        // A short word ends where another script begins.
        if !byte.is_ascii() && is_there(behind(before, b' ')) {
            look(text, end, behind(before, b' '), &mut traces);
        }
    }
    // And where the text ends.
    if is_there(behind(key, b' ')) {
        look(text, text.len(), behind(key, b' '), &mut traces);
    }
    traces
}

/// Whether there are phrases with this key.
#[inline(always)]
fn is_there(key: u32) -> bool {
    let place = place(key);
    PLACES.get(usize::from(place >> 6)).is_some_and(|bits| bits & 1 << (place & 63) != 0)
}

/// The clues of which the key ends here.
#[inline(never)]
fn look(text: &str, end: usize, key: u32, traces: &mut Vec<Trace>) {
    let Some(at) = (end + 1).checked_sub(KEY) else { return };
    let list = usize::from(place(key) >> SHARE);
    let [Some(first), Some(next)] = [list, list + 1].map(|list| LISTS.get(list).copied()) else { return };
    let (before, rest) = text.as_bytes().split_at_checked(at).unwrap_or_default();
    for clue in first..next {
        let Some(Clue { start, length, left, right }) = CLUES.get(usize::from(clue)) else { continue };
        let start = *start as usize;
        let Some(phrase) = TEXTS.get(start..start + usize::from(*length)) else { continue };
        if let Some(behind) = rest.strip_prefix(phrase)
            && !(*left && before.last().is_some_and(|byte| is_word(*byte)))
            && !(*right && behind.first().is_some_and(|byte| is_word(*byte)))
        {
            traces.push(Trace { at, clue });
        }
    }
}

fn add(numbers: &mut [u64], number: u16) {
    if let Some(bits) = numbers.get_mut(usize::from(number >> 6)) {
        *bits |= 1 << (number & 63);
    }
}

fn has(numbers: &[u64], number: u16) -> bool {
    numbers.get(usize::from(number >> 6)).is_some_and(|bits| bits & 1 << (number & 63) != 0)
}

/// The patterns that could match a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leads([u64; MOST_PATTERNS / 64]);

/// The patterns that there are, at most.
const MOST_PATTERNS: usize = 512;

/// The clues that there are, at most.
const MOST_CLUES: usize = 8192;

impl Leads {
    /// By the clues in it.
    pub(crate) fn of(traces: &[Trace]) -> Self {
        let mut leads = Leads([0; MOST_PATTERNS / 64]);
        let mut seen = [0; MOST_CLUES / 64];
        traces.iter().for_each(|trace| add(&mut seen, trace.clue));
        let holds_one = |clause: u16| CLAUSES.get(clause).iter().any(|clue| has(&seen, *clue));
        let clauses = |pattern: u16| {
            let [start, end] = [pattern, pattern + 1].map(|number| PATTERNS.get(usize::from(number)).copied());
            start.unwrap_or_default()..end.unwrap_or_default()
        };
        for trace in traces {
            for number in LEADS.get(trace.clue) {
                if !has(&leads.0, *number) && clauses(*number).all(holds_one) {
                    add(&mut leads.0, *number);
                }
            }
        }
        leads
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0 == [0; MOST_PATTERNS / 64]
    }

    /// Whether they lead to a pattern; `None` where no clues to it are known.
    pub(crate) fn lead_to(&self, pattern: &Pattern) -> Option<bool> {
        pattern.number().map(|number| has(&self.0, number))
    }
}
