//! Patterns of a schema, within bounds: a few letters of a pattern can ask for billions of steps.

use regex_lite::{Regex, RegexBuilder};

/// What matching may cost in one walk, in bytes of compiled patterns times bytes of text: about a second.
const MOST_WORK: u64 = 1 << 30;

/// What compiling costs, in the same coin: as much as matching so many bytes.
const COMPILING: u64 = 64;

/// Bytes of a compiled pattern for each byte of a pattern that counts no repetitions.
const BYTES: u64 = 64;

/// Whether a text fits a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    Yes,
    No,
    /// The pattern is written for another engine.
    Unknown,
    /// It would take too long to tell.
    TooMuch,
}

/// The patterns of one walk.
pub(super) struct Patterns {
    /// What they may still cost.
    left: u64,
}

impl Patterns {
    pub(super) fn new() -> Self {
        Patterns { left: MOST_WORK }
    }

    pub(super) fn fit(&mut self, pattern: &str, text: &str) -> Fit {
        if self.left == 0 {
            return Fit::TooMuch;
        }
        let engine = match Regex::new(pattern) {
            Ok(engine) => engine,
            Err(error) => {
                self.spend(pattern.len() as u64 * BYTES);
                return if error.to_string().contains("size limit") { Fit::TooMuch } else { Fit::Unknown };
            }
        };
        self.spend(size(pattern).saturating_mul(text.len() as u64 + COMPILING));
        match self.left {
            0 => Fit::TooMuch,
            _ if engine.is_match(text) => Fit::Yes,
            _ => Fit::No,
        }
    }

    fn spend(&mut self, cost: u64) {
        self.left = self.left.saturating_sub(cost);
    }
}

/// The size of a compiled pattern, rounded up.
fn size(pattern: &str) -> u64 {
    if !pattern.contains('{') {
        return pattern.len() as u64 * BYTES;
    }
    let fits = |power: &u32| RegexBuilder::new(pattern).size_limit(1 << power).build().is_ok();
    1 << (10..24).find(fits).unwrap_or(24)
}
