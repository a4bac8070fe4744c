//! Every limit of a judgement.
//!
//! Exceeding a limit never makes an answer less strict. The failure `rune/limit` is added: a question in the gentle preset, a
//! denial in the strict one. Everything that can still be read is judged nevertheless; only an exhausted step budget ends a
//! judgement early. After a call, the model gets the failure as advice, and the strict preset withholds the result.

use crate::verdict::failure::Failure;
use std::cell::Cell;
use std::rc::Rc;

/// A limit on the size or the cost of what is judged.
#[derive(Debug, PartialEq, Eq)]
pub struct Limit {
    /// The name in the table of limits.
    pub name: &'static str,
    /// The largest value within the limit.
    pub most: usize,
    /// The limit in words, for the failure.
    pub what: &'static str,
}

impl Limit {
    /// The failure that exceeding the limit causes.
    pub fn failure(&self) -> Failure {
        Failure::Limit(format!("more than {}", self.what))
    }
}

/// Bytes of a hook event. The rest is read and dropped, so that the client does not get a broken pipe.
pub const EVENT_BYTES: Limit = Limit { name: "event-bytes", most: 16 << 20, what: "16 MB" };

/// Bytes of one shell text.
pub const SHELL_BYTES: Limit = Limit { name: "shell-bytes", most: 1 << 20, what: "1 MB of shell text" };

/// Nested shell constructs: `$( $( … ) )`. The parser follows deeper ones, but forgets the words around them.
pub const SHELL_DEPTH: Limit = Limit { name: "shell-depth", most: 64, what: "64 nested constructs" };

/// Commands and texts that run each other: `env env sh -c "…"`. What is nested deeper is not followed.
pub const SHELL_NESTING: Limit = Limit { name: "shell-nesting", most: 12, what: "12 commands that run each other" };

/// Commands in one shell text, including those that they run, and one for each iteration of a loop.
pub const SHELL_COMMANDS: Limit = Limit { name: "shell-commands", most: 10_000, what: "10,000 commands" };

/// Functions in one shell text.
pub const SHELL_FUNCTIONS: Limit = Limit { name: "shell-functions", most: 256, what: "256 functions" };

/// Possible working directories of one command.
pub const SHELL_DIRECTORIES: Limit =
    Limit { name: "shell-directories", most: 16, what: "16 directories that a command may run in" };

/// Steps for one shell text, see [`Meter`].
pub const SHELL_STEPS: Limit = Limit { name: "shell-steps", most: 2_000_000, what: "the guard can follow" };

/// Bind mounts of one container. Every path in it is compared with each of them.
pub const CONTAINER_MOUNTS: Limit =
    Limit { name: "container-mounts", most: 64, what: "64 bind mounts of one container" };

/// Accesses to files in one call.
pub const FILES: Limit = Limit { name: "files", most: 10_000, what: "10,000 uses of files" };

/// Patterns for file names in one search, after brace expansion.
pub const SEARCH_PATTERNS: Limit = Limit { name: "search-patterns", most: 256, what: "256 patterns in one search" };

/// Bytes of one path (`PATH_MAX`).
pub const PATH_BYTES: Limit = Limit { name: "path-bytes", most: 4_096, what: "4,096 bytes in a path" };

/// Bytes that are searched to apply the edits of a manifest one after the other. An edit may multiply the text.
pub const EDITED_BYTES: Limit =
    Limit { name: "edited-bytes", most: 64 << 20, what: "64 MB of text to search for the edits of one file" };

/// Words of one prompt that count as typed by the person. Longer prompts contain pasted text.
pub const PROMPT_WORDS: Limit = Limit { name: "prompt-words", most: 2_000, what: "2,000 words in a prompt" };

/// Bytes of what a session remembers of its person.
pub const MEMORY_BYTES: Limit = Limit { name: "memory-bytes", most: 1 << 20, what: "1 MB of remembered words" };

/// Bytes of one text of a result. The strict preset passes on less than that.
pub const CONTENT_BYTES: Limit = Limit { name: "content-bytes", most: 1 << 20, what: "1 MB of content" };

/// Steps for the content of one result, see [`Meter`].
pub const CONTENT_STEPS: Limit =
    Limit { name: "content-steps", most: 24_000_000, what: "the content rules can compare" };

/// All limits on what a judgement reads of an event. Those on records of MCP servers, below, end in a refusal by the pins.
pub const ALL: [&Limit; 17] = [
    &EVENT_BYTES, &SHELL_BYTES, &SHELL_DEPTH, &SHELL_NESTING, &SHELL_COMMANDS, &SHELL_FUNCTIONS, &SHELL_DIRECTORIES,
    &SHELL_STEPS, &CONTAINER_MOUNTS, &FILES, &SEARCH_PATTERNS, &PATH_BYTES, &EDITED_BYTES, &PROMPT_WORDS,
    &MEMORY_BYTES, &CONTENT_BYTES, &CONTENT_STEPS,
];

/// Bytes of the definition of one MCP tool, or of the instructions of a server. What is longer cannot be approved, and
/// where it was approved before, calls are refused as `MCP_TOOL_CHANGED` or `MCP_SERVER_CONFIG_CHANGED`.
pub const MCP_TOOL_BYTES: Limit =
    Limit { name: "mcp-tool-bytes", most: 256 << 10, what: "256 KB in the definition of an MCP tool" };

/// Bytes of one record of an MCP server. Calls of a server with a larger one are refused as
/// `MCP_LOCK_INVALID`.
pub const MCP_RECORD_BYTES: Limit =
    Limit { name: "mcp-record-bytes", most: 4 << 20, what: "4 MB in the record of an MCP server" };

/// Bytes of the receipts that records of MCP servers are compared with. Beyond that, they are refused as
/// `MCP_LOCK_INVALID`.
pub const RECORD_RECEIPT_BYTES: Limit =
    Limit { name: "record-receipt-bytes", most: 16 << 20, what: "16 MB of receipts for records of MCP servers" };

/// Bytes of text that are copied in one step.
const BYTES_PER_STEP: usize = 16;

/// Counts the steps of one judgement, each of which takes roughly ten to twenty nanoseconds. Clones share one count.
///
/// Passes that are not linear in their input charge the meter and stop when it is exhausted. The owner of the meter then
/// reports the limit.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    counts: Rc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    spent: Cell<usize>,
    exceeded: Cell<Option<&'static Limit>>,
}

impl Meter {
    /// Adds steps to the count.
    pub fn charge(&self, steps: usize) {
        self.counts.spent.set(self.spent().saturating_add(steps));
    }

    /// Charges for work of the shell analysis that has not been done yet, and returns whether the meter allows it. Refused
    /// work costs nothing, so that the rest of the text is still judged; the limit is reported.
    pub fn try_charge(&self, steps: usize) -> bool {
        let spent = self.spent().saturating_add(steps);
        let allowed = spent <= SHELL_STEPS.most;
        if allowed {
            self.counts.spent.set(spent);
        } else {
            self.report(&SHELL_STEPS);
        }
        allowed
    }

    /// Reports a limit that a pass exceeds, without stopping the judgement.
    pub fn report(&self, limit: &'static Limit) {
        self.counts.exceeded.set(self.counts.exceeded.get().or(Some(limit)));
    }

    /// The first limit that was reported.
    pub fn exceeded(&self) -> Option<&'static Limit> {
        self.counts.exceeded.get()
    }

    /// The number of steps so far.
    pub fn spent(&self) -> usize {
        self.counts.spent.get()
    }

    /// Charges for building a text of this length, and returns whether the meter allows it. No text may be longer than a
    /// shell text.
    pub fn affords(&self, bytes: usize) -> bool {
        if bytes > SHELL_BYTES.most {
            self.report(&SHELL_BYTES);
            return false;
        }
        self.try_charge(1 + bytes / BYTES_PER_STEP)
    }

    /// Replaces all occurrences of `from`; `None` if the meter does not allow the result.
    pub fn replace(&self, text: &str, from: &str, to: &str) -> Option<String> {
        self.charge(text.len() / BYTES_PER_STEP);
        let count = if from.is_empty() { 0 } else { text.matches(from).count() };
        let length = text.len().saturating_add(count.saturating_mul(to.len()));
        self.affords(length).then(|| text.replace(from, to))
    }

    /// Whether the count exceeds a limit.
    pub fn exceeds(&self, limit: &Limit) -> bool {
        self.spent() > limit.most
    }

    /// Whether the reserve of the shell analysis is used up too. Between the limit and that, nothing is expanded any more, but
    /// the commands that follow are still recorded.
    pub fn is_exhausted(&self) -> bool {
        self.spent() > SHELL_STEPS.most + SHELL_STEPS.most / 4
    }
}
