//! Exceptions of the operator that were used for a verdict.

use super::RuleId;

/// An exception that kept a rule from having a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExceptionUse {
    /// The rule.
    pub rule: RuleId,
    /// The id of the exception, if it has one.
    pub id: Option<String>,
    /// Why the operator made it.
    pub reason: String,
    /// Where it is written: file, line and column.
    pub source: String,
}

impl ExceptionUse {
    /// What the log and `rune allow --list` call it: its id, or else the name of its rule.
    pub fn name(&self) -> &str {
        self.id.as_deref().unwrap_or(self.rule.as_str())
    }
}
