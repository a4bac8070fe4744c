//! Counts by session and source, of which there can be more than a processor keeps at hand.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// How many wait. They are looked up one right after the other, because then their ways to memory overlap.
const WAITING: usize = 64;

/// Counts by pairs of numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    counts: HashMap<(u32, u32), u64, RandomState>,
    waiting: Vec<(u32, u32)>,
}

impl Pairs {
    /// Counts a pair once more.
    pub fn add(&mut self, pair: (u32, u32)) {
        self.waiting.push(pair);
        if self.waiting.len() >= WAITING {
            self.settle();
        }
    }

    /// All pairs with their counts.
    pub fn settled(&mut self) -> &HashMap<(u32, u32), u64, RandomState> {
        self.settle();
        &self.counts
    }

    /// Adds what was counted elsewhere, where the pairs have other numbers.
    pub fn join(&mut self, mut other: Pairs, here: impl Fn((u32, u32)) -> Option<(u32, u32)>) {
        for (pair, count) in other.settled() {
            if let Some(pair) = here(*pair) {
                *self.counts.entry(pair).or_default() += count;
            }
        }
    }

    fn settle(&mut self) {
        for pair in self.waiting.drain(..) {
            *self.counts.entry(pair).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn none_that_waits_is_lost() {
        for length in [0, 1, WAITING - 1, WAITING, WAITING + 1, 3 * WAITING + 5] {
            let all: Vec<(u32, u32)> = (0..length as u32).map(|at| (at % 5, at % 7)).collect();
            let mut expected: BTreeMap<(u32, u32), u64> = BTreeMap::new();
            let (mut pairs, mut others) = (Pairs::default(), Pairs::default());
            for (session, source) in all {
                pairs.add((session, source));
                others.add((source, session));
                *expected.entry((session, source)).or_default() += 2;
            }
            assert!(pairs.waiting.len() < WAITING, "{length}");
            pairs.join(others, |(source, session)| Some((session, source)));
            let found: BTreeMap<(u32, u32), u64> =
                pairs.settled().iter().map(|(pair, count)| (*pair, *count)).collect();
            assert_eq!(found, expected);
        }
    }
}
