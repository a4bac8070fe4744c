//! Names of validators: the names of the files in `src/decide/validators`, in camel case.

/// The names of all validators in alphabetical order, which the build script writes.
const VALIDATORS: &[&str] = include!(concat!(env!("OUT_DIR"), "/validators.rs"));

/// A validator, by its index in the list of all names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidatorId(usize);

impl ValidatorId {
    pub(super) const fn from_index(index: usize) -> Self {
        ValidatorId(index)
    }

    /// Looks up a validator by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        VALIDATORS.iter().position(|known| *known == name).map(ValidatorId)
    }

    /// The index in the list of all names.
    pub fn index(self) -> usize {
        self.0
    }

    /// The name.
    pub fn name(self) -> &'static str {
        VALIDATORS.get(self.0).copied().unwrap_or_default()
    }

    /// All names, in order.
    pub fn names() -> &'static [&'static str] {
        VALIDATORS
    }
}
