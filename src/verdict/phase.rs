//! The moment of a session that a verdict is about.

/// When, relative to a call, the client asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Before a tool call: the answer decides whether it happens.
    Before,
    /// After a tool call that gave a result.
    After,
    /// After a tool call that failed.
    Failed,
    /// The client's settings are about to change.
    Settings,
    /// A session begins.
    Start,
    /// A session ends.
    End,
    /// A moment of the client that we have no part in.
    Other,
}

impl Phase {
    /// Whether a call has already happened.
    pub fn is_after(self) -> bool {
        matches!(self, Phase::After | Phase::Failed)
    }
}
