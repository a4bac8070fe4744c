//! Lines of the log, read one by one.

use super::summary::is_timestamp;
use serde::Deserialize;

/// One line of the log. Any program of the user can write lines, so the fields are escaped before they are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[expect(missing_docs, reason = "`config/README.md` describes each field")]
pub struct LogRecord {
    pub event: String,
    pub ts: String,
    pub tool: String,
    pub decision: String,
    pub source: String,
    pub session_id: String,
    #[serde(default)]
    pub rule: String,
    #[serde(default)]
    pub hot: bool,
    #[serde(default)]
    pub client: String,
    #[serde(default)]
    pub call: String,
    pub input: Option<String>,
    #[serde(default)]
    pub exception: String,
    pub us: Option<u64>,
}

impl LogRecord {
    /// Parses a line, given without its line end.
    pub fn read(line: &[u8]) -> Option<LogRecord> {
        serde_json::from_slice(line).ok().filter(|record: &LogRecord| is_timestamp(&record.ts))
    }

    /// Whether the line is about a decision: a call before it ran, or a result that was marked.
    pub fn is_decision(&self) -> bool {
        self.event != "quarantine" && !self.tool.is_empty() || !matches!(self.decision.as_str(), "allow" | "skip")
    }

    /// Whether the call was stopped: a person was asked, or the call was denied.
    pub fn is_stop(&self) -> bool {
        self.event != "quarantine" && matches!(self.decision.as_str(), "ask" | "deny")
    }

    /// The names of the rules. Before a call it is one, which may contain blanks.
    pub fn rules(&self) -> Vec<&str> {
        if self.event == "quarantine" {
            return self.rule.split(' ').filter(|rule| !rule.is_empty()).collect();
        }
        Some(self.rule.as_str()).filter(|rule| !rule.is_empty()).into_iter().collect()
    }
}
