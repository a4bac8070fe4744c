//! Untrusted surfaces, as verdicts name them.

use super::RuleId;
use crate::encoding::label::Label;

/// An untrusted surface that an event touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surface {
    /// Its label, as in the notice and in the log.
    pub source: Label,
    /// The rule that recognised it.
    pub rule: RuleId,
    /// The operator trusts it.
    pub trusted: bool,
    /// What comes from it may still be what strangers wrote.
    pub taints: bool,
}
