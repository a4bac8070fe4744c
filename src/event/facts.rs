//! Facts about the machine that judging an event needs. The runtime looks them up.

use super::memory::Memory;
use super::taint::Taint;
use crate::encoding::label::Label;
use crate::mcp::PinFacts;
use std::collections::{BTreeMap, BTreeSet};

/// What the runtime has looked up for one event. Facts that the event does not need have their default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Whether the operator has disabled the notice.
    pub silenced: bool,
    /// The untrusted sources that the session has read before.
    pub taint: Taint,
    /// What the session remembers of its person.
    pub memory: Memory,
    /// Who answers an ask.
    pub answers: Answers,
    /// For wrapping a result.
    pub nonce: Option<Nonce>,
    /// The files that were read, with symlinks resolved.
    pub read_paths: Vec<String>,
    /// The paths of the call that contain symlinks, as written and resolved.
    pub real_paths: BTreeMap<String, String>,
    /// The files that an edit changes, before the change: `(path, text)`.
    pub contents: Vec<(String, String)>,
    /// Files and directories that belong to the guard.
    pub guard_paths: Vec<String>,
    /// Unknown programs that the session has been asked about before.
    pub asked_programs: Vec<String>,
    /// Worktrees of the project's repository outside of the project.
    pub worktrees: Vec<String>,
    /// Of the packages that the call downloads by their names, those that the project names or has installed.
    pub known_packages: BTreeSet<String>,
    /// The current day, for exceptions that expire.
    pub today: Option<time::Date>,
    /// The names of the MCP servers that the project configures.
    pub project_servers: Vec<String>,
    /// Who has provided the MCP server of the call.
    pub server_provider: ServerProvider,
    /// Servers of the user's own configuration that are seen for the first time, to be recorded.
    pub new_servers: Vec<String>,
    /// The configured entry and the records for the tool of an MCP call; `None` if pins do not matter.
    pub pins: Option<PinFacts>,
    /// Configured servers without a valid approval.
    pub unapproved_servers: UnapprovedServers,
    /// How the client's current settings disable the guard.
    pub losses: Vec<String>,
    /// The loosenings of the guard that no session has reported yet.
    pub loosenings: Vec<LooseningRecord>,
}

/// Who has provided an MCP server, as far as that makes it known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerProvider {
    /// A project, a plugin or a command line. Their servers are unknown.
    #[default]
    Other,
    /// The client itself.
    Client,
    /// The user, for all projects, or the machine's administrator.
    User,
    /// The same, but the server was first seen after the session had taken in untrusted content.
    UserSinceTaint,
}

/// Who answers an ask of the guard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    /// A person in front of the client.
    Person,
    /// A person, or the client's classifier in place of one. What it let run counts only in the same mode, in which it
    /// judges a call that is not asked about, too.
    Classifier,
    /// No person: the client runs headless or without permissions, or a program answers.
    #[default]
    Other,
}

/// A loosening of the guard, from its receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LooseningRecord {
    /// The command, as typed after `rune`.
    pub verb: &'static str,
    /// The time, in UTC.
    pub time: String,
    /// The part of the chain and the sequence number of the receipt.
    pub position: (u64, u64),
}

/// Configured servers that a person should look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnapprovedServers {
    /// Servers without an approval.
    pub unpinned: Vec<Label>,
    /// Servers that are configured differently from their approval.
    pub changed: Vec<Label>,
}

impl Facts {
    /// The resolved path, if `path` contains symlinks.
    pub fn real(&self, path: &str) -> Option<&str> {
        self.real_paths.get(path).map(String::as_str).filter(|real| *real != path)
    }
}

/// A random number that untrusted content cannot contain, for the markers of wrapped results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nonce(String);

impl Nonce {
    /// Builds a nonce from random bytes.
    pub fn new(random: [u8; 16]) -> Self {
        Nonce(format!("{:032x}", u128::from_be_bytes(random)))
    }

    /// The nonce as 32 hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
