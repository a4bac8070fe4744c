//! Every limit of a judgement, and what exceeding it causes.
//!
//! A limit never makes an answer looser. What was found before it was exceeded still counts, and the limit adds a
//! failure of its own (`rune/limit`): a question in the gentle preset, a denial in the strict one. After a call, where
//! nothing can be stopped any more, the failure is told to the model and strict withholds the result.

use crate::verdict::failure::Failure;
use std::cell::Cell;
use std::rc::Rc;

/// The most of something that is judged.
#[derive(Debug, PartialEq, Eq)]
pub struct Limit {
    /// A name for the table of limits.
    pub name: &'static str,
    /// How much is still judged.
    pub most: usize,
    /// What there is more of, for people.
    pub what: &'static str,
}

impl Limit {
    /// The failure that exceeding the limit causes.
    pub fn failure(&self) -> Failure {
        Failure::Limit(format!("more than {}", self.what))
    }
}

/// Bytes of a hook event. The rest is read and dropped, so that the client never meets a broken pipe.
pub const EVENT_BYTES: Limit = Limit { name: "event-bytes", most: 16 << 20, what: "16 MB" };

/// Bytes of one shell text.
pub const SHELL_BYTES: Limit = Limit { name: "shell-bytes", most: 1 << 20, what: "1 MB of shell text" };

/// Shell constructs within each other: `$( $( … ) )`.
pub const SHELL_DEPTH: Limit = Limit { name: "shell-depth", most: 64, what: "64 nested constructs" };

/// Commands and texts that run each other: `env env sh -c "…"`.
pub const SHELL_NESTING: Limit = Limit { name: "shell-nesting", most: 12, what: "12 commands that run each other" };

/// Commands in one shell text, with those that they run and one for each round of a loop.
pub const SHELL_COMMANDS: Limit = Limit { name: "shell-commands", most: 10_000, what: "10,000 commands" };

/// Functions in one shell text.
pub const SHELL_FUNCTIONS: Limit = Limit { name: "shell-functions", most: 256, what: "256 functions" };

/// Directories that a command may run in, by what happens before it.
pub const SHELL_DIRECTORIES: Limit =
    Limit { name: "shell-directories", most: 16, what: "16 directories that a command may run in" };

/// Work on one shell text, see [`Meter`].
pub const SHELL_STEPS: Limit = Limit { name: "shell-steps", most: 2_000_000, what: "the guard can follow" };

/// Bind mounts of one container: every path in it is compared with each.
pub const CONTAINER_MOUNTS: Limit =
    Limit { name: "container-mounts", most: 64, what: "64 bind mounts of one container" };

/// Uses of files in one call.
pub const FILES: Limit = Limit { name: "files", most: 10_000, what: "10,000 uses of files" };

/// Patterns for names of files in one search, with their braces expanded.
pub const SEARCH_PATTERNS: Limit = Limit { name: "search-patterns", most: 256, what: "256 patterns in one search" };

/// Bytes of one path. No system opens a longer one.
pub const PATH_BYTES: Limit = Limit { name: "path-bytes", most: 4_096, what: "4,096 bytes in a path" };

/// Bytes of one text of a result. Strict passes on less than that.
pub const CONTENT_BYTES: Limit = Limit { name: "content-bytes", most: 1 << 20, what: "1 MB of content" };

/// Work on the content of one result, see [`Meter`].
pub const CONTENT_STEPS: Limit =
    Limit { name: "content-steps", most: 3_000_000, what: "the content rules can compare" };

/// All limits.
pub const ALL: [&Limit; 14] = [
    &EVENT_BYTES, &SHELL_BYTES, &SHELL_DEPTH, &SHELL_NESTING, &SHELL_COMMANDS, &SHELL_FUNCTIONS, &SHELL_DIRECTORIES,
    &SHELL_STEPS, &CONTAINER_MOUNTS, &FILES, &SEARCH_PATTERNS, &PATH_BYTES, &CONTENT_BYTES, &CONTENT_STEPS,
];

/// Bytes of a text that are copied in one step.
const TEXT_BYTES: usize = 16;

/// Counts the work of one judgement in steps of roughly ten to twenty nanoseconds. Clones share one count.
///
/// Passes whose work is not linear in their input charge the meter and stop when it is exhausted; whoever owns the
/// meter then reports the limit.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    spent: Rc<Cell<usize>>,
}

impl Meter {
    /// Adds to the count.
    pub fn charge(&self, steps: usize) {
        self.spent.set(self.spent.get().saturating_add(steps));
    }

    /// The count.
    pub fn spent(&self) -> usize {
        self.spent.get()
    }

    /// Charges for a text of this length that is about to be put together; tells whether it may be. One that is longer
    /// than any shell text exhausts the meter.
    pub fn affords(&self, bytes: usize) -> bool {
        self.charge(if bytes > SHELL_BYTES.most { usize::MAX } else { 1 + bytes / TEXT_BYTES });
        !self.exceeds(&SHELL_STEPS)
    }

    /// Replaces a mark in a text, where the meter affords the result.
    pub fn replace(&self, text: &str, mark: &str, by: &str) -> Option<String> {
        let marks = if mark.is_empty() { 0 } else { text.matches(mark).count() };
        let length = text.len().saturating_add(marks.saturating_mul(by.len()));
        self.affords(length).then(|| text.replace(mark, by))
    }

    /// Whether the count is beyond a limit.
    pub fn exceeds(&self, limit: &Limit) -> bool {
        self.spent.get() > limit.most
    }
}
