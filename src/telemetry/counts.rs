//! Counts by name: one allocation a name, and none for a name that was counted before.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

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

impl<V: Default> Counts<V> {
    /// The value of a name.
    pub fn of(&mut self, name: &str) -> &mut V {
        let number = self.number(name) as usize;
        #[expect(clippy::indexing_slicing, reason = "every number is that of a row")]
        &mut self.rows[number].1
    }

    /// The same, where it is the name that was asked for last.
    pub fn again(&mut self, name: &str) -> Option<&mut V> {
        let (last, value) = self.rows.get_mut(self.last as usize)?;
        (**last == *name).then_some(value)
    }

    /// The number of a name, which stays.
    pub fn number(&mut self, name: &str) -> u32 {
        if self.name(self.last) == Some(name) {
            return self.last;
        }
        let Counts { rows, numbers, hasher, .. } = self;
        let named = |number: u32| rows.get(number as usize).map_or("", |(name, _)| name);
        let hash = hasher.hash_one(name);
        self.last = match numbers.find(hash, |number| named(*number) == name) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(rows.len()).unwrap_or(u32::MAX);
                numbers.insert_unique(hash, number, |number| hasher.hash_one(named(*number)));
                rows.push((name.into(), V::default()));
                number
            }
        };
        self.last
    }

    /// The name of a number.
    pub fn name(&self, number: u32) -> Option<&str> {
        self.rows.get(number as usize).map(|(name, _)| name.as_ref())
    }

    /// Adds what was counted elsewhere, and tells which number here each number there has.
    pub fn join(&mut self, other: Counts<V>, add: impl Fn(&mut V, V)) -> Vec<u32> {
        let with = |(name, value): (Box<str>, V)| {
            add(self.of(&name), value);
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
