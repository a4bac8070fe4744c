//! Facts about the machine that judging an event needs; the runtime looks them up.

use super::taint::Taint;
use crate::encoding::label::Label;
use crate::mcp::PinFacts;
use std::collections::BTreeMap;

/// What the runtime looked up for one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The operator has switched the notice off.
    pub silenced: bool,
    /// The untrusted content that the session has taken in before.
    pub taint: Taint,
    /// A number that nobody could have written before, where a result is to be wrapped.
    pub nonce: Option<Nonce>,
    /// The real path of the file that was read, where it differs from the name.
    pub real_path: Option<String>,
    /// Where paths of the call really lead, where that is somewhere else: as named, and in reality.
    pub real_paths: BTreeMap<String, String>,
    /// The files that an edit is about, as they are: `(path, text)`.
    pub contents: Vec<(String, String)>,
    /// Files and directories of the guard itself.
    pub own: Vec<String>,
    /// The day, for exceptions that end.
    pub today: Option<time::Date>,
    /// The MCP servers that the project itself configures.
    pub project_servers: Vec<String>,
    /// What is known of the server of an MCP call and of what was approved of it; `None` where nobody looked.
    pub pins: Option<PinFacts>,
    /// Servers that are configured now and that nobody has approved, or not like that.
    pub servers: ServerNews,
    /// What the client's settings, as they are now, take away from the guard.
    pub losses: Vec<String>,
    /// What loosened the guard since the last session.
    pub loosenings: Vec<Loosened>,
}

/// A loosening of the guard, as a receipt tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loosened {
    /// The verb, as it is typed after `rune`.
    pub verb: &'static str,
    /// When, in UTC.
    pub time: String,
    /// The part and the number of its receipt.
    pub place: (u64, u64),
}

/// What a session begins with that a person may want to look at: labels of servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerNews {
    /// Nobody has approved them.
    pub unpinned: Vec<Label>,
    /// They are not configured as they were approved.
    pub changed: Vec<Label>,
}

impl Facts {
    /// Where a path really leads, if that is somewhere else.
    pub fn real(&self, path: &str) -> Option<&str> {
        self.real_paths.get(path).map(String::as_str).filter(|real| *real != path)
    }
}

/// A number that nobody could have written before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nonce(String);

impl Nonce {
    /// Of random bytes.
    pub fn new(random: [u8; 16]) -> Self {
        Nonce(format!("{:032x}", u128::from_be_bytes(random)))
    }

    /// In letters and digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
