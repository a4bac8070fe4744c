//! When the client runs the hook.

/// When the client runs the hook, relative to a tool call or a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Before a tool call. The answer decides whether it runs.
    Before,
    /// After a tool call that has a result.
    After,
    /// After a tool call that failed.
    Failed,
    /// The person has sent a prompt, which the model has not seen yet.
    Prompt,
    /// The client's settings are about to change.
    Settings,
    /// A session begins.
    Start,
    /// A session ends.
    End,
    /// Any other event of the client.
    Other,
}

impl Phase {
    /// Whether a call has already happened.
    pub fn is_after(self) -> bool {
        matches!(self, Phase::After | Phase::Failed)
    }
}
