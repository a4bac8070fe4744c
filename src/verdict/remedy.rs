//! What a person can do so that a call passes.

/// What a person can do so that a call like the one of a finding passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// Make an exception from the rule.
    Exception,
    /// Run this command.
    Command(&'static str),
}

impl Remedy {
    /// The command for a person at a terminal.
    pub fn command(self) -> &'static str {
        match self {
            Remedy::Exception => "rune allow --last --reason '…'",
            Remedy::Command(command) => command,
        }
    }

    /// The command that is named where an agent reads: it shows the call and loosens nothing.
    pub fn lookup(self) -> &'static str {
        match self {
            Remedy::Exception => "rune log",
            Remedy::Command(_) => "rune mcp status",
        }
    }
}
