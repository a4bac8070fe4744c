//! Names of validators. A rule names a validator by the name of its file in `src/decide/validators`, in camel case.

// `VALIDATORS`: the names of all validators, in order.
include!(concat!(env!("OUT_DIR"), "/validators.rs"));

/// A validator that a rule names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidatorId(usize);

impl ValidatorId {
    /// The validator at this place of the list.
    pub(super) const fn at(index: usize) -> Self {
        ValidatorId(index)
    }

    /// Looks up a name.
    pub fn named(name: &str) -> Option<Self> {
        VALIDATORS.iter().position(|known| *known == name).map(ValidatorId)
    }

    /// The place in the list of all validators.
    pub fn index(self) -> usize {
        self.0
    }

    /// The name.
    pub fn name(self) -> &'static str {
        VALIDATORS.get(self.0).copied().unwrap_or_default()
    }

    /// All names, in order.
    pub fn names() -> &'static [&'static str] {
        &VALIDATORS
    }
}
