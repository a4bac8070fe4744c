//! The untrusted surface in a verdict, and how much its content counts.

use super::RuleId;
use crate::encoding::label::Label;

/// An untrusted surface from which the result of an event comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surface {
    /// The label for the notice and the log.
    pub source: Label,
    /// The rule that has recognised it.
    pub rule: RuleId,
    /// Whether the operator trusts it.
    pub trusted: bool,
    /// Whether its content taints the session, which it can even if it is trusted.
    pub taints: bool,
}

/// How much the content of a result counts for later calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Heat {
    /// It is from others.
    #[default]
    Ordinary,
    /// A content rule matched it: it probably contains instructions.
    Hot,
}
