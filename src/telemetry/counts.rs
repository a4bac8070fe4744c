//! Counts by name: one allocation a name, and none for a name that was counted before.

use std::collections::HashMap;

/// Values by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts<V> {
    rows: Vec<(Box<str>, V)>,
    places: HashMap<Box<str>, usize>,
    /// Lines that follow each other are often about the same.
    last: usize,
}

impl<V: Default> Counts<V> {
    /// The value of a name.
    pub fn of(&mut self, name: &str) -> &mut V {
        if self.rows.get(self.last).is_none_or(|(last, _)| **last != *name) {
            self.last = match self.places.get(name) {
                Some(place) => *place,
                None => {
                    self.rows.push((name.into(), V::default()));
                    self.places.insert(name.into(), self.rows.len() - 1);
                    self.rows.len() - 1
                }
            };
        }
        #[expect(clippy::indexing_slicing, reason = "the place of a name is in its row")]
        &mut self.rows[self.last].1
    }

    /// Adds what was counted elsewhere.
    pub fn join(&mut self, other: Counts<V>, add: impl Fn(&mut V, V)) {
        for (name, value) in other.rows {
            add(self.of(&name), value);
        }
    }

    /// All of them, by name.
    pub fn sorted(&self) -> impl DoubleEndedIterator<Item = (&str, &V)> {
        let mut rows: Vec<(&str, &V)> = self.rows.iter().map(|(name, value)| (name.as_ref(), value)).collect();
        rows.sort_by_key(|(name, _)| *name);
        rows.into_iter()
    }
}
