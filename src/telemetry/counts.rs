//! Counts by name: one allocation a name, and none for a name that was counted before.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hasher};

/// Values by name, each with a number of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts<V> {
    rows: Vec<(Box<str>, V)>,
    /// The numbers of the rows, by the hash of their names.
    numbers: HashTable<u32>,
    hasher: RandomState,
    /// Lines that follow each other are often about the same.
    last: u32,
}

// INVARIANT: names come as bytes because a line is not read as text again for each of them, and are UTF-8 all the same.
impl<V: Default> Counts<V> {
    /// The value of a name.
    pub fn of(&mut self, name: &[u8]) -> &mut V {
        let number = self.number(name);
        self.at(number)
    }

    /// The value of a number that was told before.
    pub fn at(&mut self, number: u32) -> &mut V {
        #[expect(clippy::indexing_slicing, reason = "every number is that of a row")]
        &mut self.rows[number as usize].1
    }

    /// The value of a name, where it is the one that was asked for last.
    pub fn again(&mut self, name: &[u8]) -> Option<&mut V> {
        let (last, value) = self.rows.get_mut(self.last as usize)?;
        (last.as_bytes() == name).then_some(value)
    }

    /// The number of a name, which stays.
    pub fn number(&mut self, name: &[u8]) -> u32 {
        let is = |number: u32| self.rows.get(number as usize).is_some_and(|(known, _)| known.as_bytes() == name);
        if !is(self.last) {
            let hash = hash(&self.hasher, name);
            let known = self.numbers.find(hash, |number| is(*number)).copied();
            self.last = known.unwrap_or_else(|| self.insert(hash, name));
        }
        self.last
    }

    #[cold]
    fn insert(&mut self, hash: u64, name: &[u8]) -> u32 {
        let number = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        self.rows.push((String::from_utf8_lossy(name).into(), V::default()));
        let Counts { rows, numbers, hasher, .. } = self;
        let again =
            |number: &u32| rows.get(*number as usize).map_or(0, |(name, _)| self::hash(hasher, name.as_bytes()));
        numbers.insert_unique(hash, number, again);
        number
    }

    /// The name of a number.
    pub fn name(&self, number: u32) -> Option<&str> {
        self.rows.get(number as usize).map(|(name, _)| name.as_ref())
    }

    /// Adds what was counted elsewhere, and tells which number here each number there has.
    pub fn join(&mut self, other: Counts<V>, add: impl Fn(&mut V, V)) -> Vec<u32> {
        let with = |(name, value): (Box<str>, V)| {
            add(self.of(name.as_bytes()), value);
            self.last
        };
        other.rows.into_iter().map(with).collect()
    }

    /// All of them, by name.
    pub fn sorted(&self) -> impl DoubleEndedIterator<Item = (&str, &V)> {
        let mut rows: Vec<(&str, &V)> = self.rows.iter().map(|(name, value)| (name.as_ref(), value)).collect();
        rows.sort_by_key(|(name, _)| *name);
        rows.into_iter()
    }
}

/// The hash of a name, which is all that is hashed, and so needs no mark of its end.
fn hash(hasher: &RandomState, name: &[u8]) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(name);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number_and_keeps_it() {
        let mut counts: Counts<u64> = Counts::default();
        let names: Vec<String> = (0..1_000).map(|at| "x".repeat(at % 50) + &at.to_string()).collect();
        let number = |counts: &mut Counts<u64>, name: &String| {
            *counts.of(name.as_bytes()) += 1;
            counts.number(name.as_bytes())
        };
        let before: Vec<u32> = names.iter().map(|name| number(&mut counts, name)).collect();
        let after: Vec<u32> = names.iter().map(|name| number(&mut counts, name)).collect();
        assert_eq!(before, (0..1_000).collect::<Vec<u32>>());
        assert_eq!(after, before);
        for (name, number) in names.iter().zip(after) {
            assert_eq!(counts.name(number), Some(name.as_str()));
            assert_eq!(*counts.at(number), 2, "{name}");
        }
        assert_eq!(counts.sorted().count(), 1_000);
    }
}
