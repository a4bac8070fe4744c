//! The regular expressions of a schema, within a work budget: a short pattern can need billions of steps.

use regex_lite::{Regex, RegexBuilder};

/// The work of one check, in bytes of compiled patterns times bytes of text: about a second.
const MAX_WORK: u64 = 1 << 30;

/// The work of compiling a pattern, as the number of bytes that could be matched instead.
const COMPILE_COST: u64 = 64;

/// Compiled bytes per byte of a pattern without counted repetitions.
const COMPILED_BYTES: u64 = 64;

/// The result of matching a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatternMatch {
    Matches,
    Differs,
    /// The pattern uses syntax that this engine does not support.
    Unsupported,
    /// The budget is exceeded.
    TooExpensive,
}

/// The work budget for all patterns of one check.
pub(super) struct PatternBudget {
    left: u64,
}

impl PatternBudget {
    pub(super) fn new() -> Self {
        PatternBudget { left: MAX_WORK }
    }

    pub(super) fn match_pattern(&mut self, pattern: &str, text: &str) -> PatternMatch {
        if self.left == 0 {
            return PatternMatch::TooExpensive;
        }
        let engine = match Regex::new(pattern) {
            Ok(engine) => engine,
            Err(error) => {
                self.spend(pattern.len() as u64 * COMPILED_BYTES);
                return if error.to_string().contains("size limit") {
                    PatternMatch::TooExpensive
                } else {
                    PatternMatch::Unsupported
                };
            }
        };
        self.spend(compiled_size(pattern).saturating_mul(text.len() as u64 + COMPILE_COST));
        match self.left {
            0 => PatternMatch::TooExpensive,
            _ if engine.is_match(text) => PatternMatch::Matches,
            _ => PatternMatch::Differs,
        }
    }

    fn spend(&mut self, cost: u64) {
        self.left = self.left.saturating_sub(cost);
    }
}

/// The size of a compiled pattern, rounded up.
fn compiled_size(pattern: &str) -> u64 {
    if !pattern.contains('{') {
        return pattern.len() as u64 * COMPILED_BYTES;
    }
    let fits = |power: &u32| RegexBuilder::new(pattern).size_limit(1 << power).build().is_ok();
    1 << (10..24).find(fits).unwrap_or(24)
}
