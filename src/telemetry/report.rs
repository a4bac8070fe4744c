//! What `rune quarantine status` shows.

use super::histogram::Quantiles;
use crate::encoding::label::Label;
use serde::Serialize;
use std::collections::BTreeMap;

/// The counts of a log. Names are labels, because other programs can write to the log.
#[derive(Clone, Debug, Serialize)]
pub struct LogReport {
    /// Lines that count, malformed ones included.
    pub lines: u64,
    /// Lines that could not be read.
    pub malformed: u64,
    /// Lines by decision.
    pub decisions: BTreeMap<String, u64>,
    /// Untrusted sources, most notices first.
    pub sources: Vec<SourceRow>,
    /// Sessions, most notices first.
    pub sessions: Vec<SessionRow>,
    /// Pairs of session and source with many notices.
    pub escalations: Vec<EscalationRow>,
    /// Tools, most lines first.
    pub tools: Vec<ToolRow>,
    /// Rules that decided, most lines first.
    pub rules: Vec<RuleRow>,
    /// Days, newest first.
    pub days: Vec<DayRow>,
    /// Time per call in microseconds.
    pub us: Option<Quantiles>,
    /// The earliest time seen.
    pub first_ts: Option<String>,
    /// The latest time seen.
    pub last_ts: Option<String>,
}

/// Notices and skips of one source.
#[derive(Clone, Debug, Serialize)]
pub struct SourceRow {
    /// The source's label.
    pub source: Label,
    /// Results that were marked.
    pub emit: u64,
    /// Results that were not.
    pub skip: u64,
}

/// Notices in one session.
#[derive(Clone, Debug, Serialize)]
pub struct SessionRow {
    /// The session.
    pub session_id: Label,
    /// Results that were marked.
    pub emit: u64,
}

/// A source with many notices in one session.
#[derive(Clone, Debug, Serialize)]
pub struct EscalationRow {
    /// The session.
    pub session_id: Label,
    /// The source.
    pub source: Label,
    /// How many notices.
    pub count: u64,
}

/// Lines of one tool.
#[derive(Clone, Debug, Serialize)]
pub struct ToolRow {
    /// The tool.
    pub tool: Label,
    /// How many lines.
    pub lines: u64,
}

/// Lines of one rule.
#[derive(Clone, Debug, Serialize)]
pub struct RuleRow {
    /// The rule's name, escaped.
    pub rule: String,
    /// How many lines.
    pub lines: u64,
}

/// Lines of one day.
#[derive(Clone, Debug, Serialize)]
pub struct DayRow {
    /// The day, in UTC.
    pub day: Label,
    /// How many lines.
    pub lines: u64,
}

impl LogReport {
    /// Limits each list to `rows` rows, except the escalations.
    #[must_use]
    pub fn cut(mut self, rows: usize) -> Self {
        self.sources.truncate(rows);
        self.sessions.truncate(rows);
        self.tools.truncate(rows);
        self.rules.truncate(rows);
        self.days.truncate(rows);
        self
    }
}
