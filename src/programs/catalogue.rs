//! The catalogue that one text is read with: the operator's entries, and the shipped ones.

use super::entry::Entry;
use std::collections::BTreeMap;

/// Where the entries of programs are looked up.
///
/// Entries live as long as the process: the shipped ones are compiled in, and an operator's files are read once.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// The operator's entries, by each of their names.
    own: BTreeMap<String, &'static Entry>,
}

impl Catalogue {
    /// The catalogue of the shipped entries.
    pub const fn shipped() -> Catalogue {
        Catalogue { own: BTreeMap::new() }
    }

    /// Looks up a program by its name, without its version: `python3.12` is `python`.
    pub fn find(&self, name: &str) -> Option<&'static Entry> {
        if self.own.is_empty() {
            return super::embedded(name);
        }
        super::by_name(name, |name| self.own.get(name).copied().or_else(|| super::shipped(name)))
    }
}
