//! Telemetry: one log line per call with the decision, and never with payload.

mod histogram;
pub mod history;
mod record;
pub mod report;
pub mod summary;

pub use histogram::Quantiles;
pub use record::LogRecord;

use crate::encoding::label::Label;
use crate::event::Header;
use crate::verdict::failure::Failure;
use crate::verdict::{Effect, Finding, Heat, Phase, RuleId, Verdict};
use serde::Serialize;
use time::OffsetDateTime;

/// One line of the log. Its fields are labels, constants and a keyed hash, so it cannot hold payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogLine {
    event: Label,
    ts: String,
    tool: Label,
    decision: &'static str,
    source: Label,
    session_id: Label,
    rule: String,
    /// Whether a content rule matched, which makes the session hot.
    #[serde(skip_serializing_if = "is_ordinary")]
    hot: bool,
    us: u64,
    #[serde(skip_serializing_if = "str::is_empty")]
    client: &'static str,
    #[serde(skip_serializing_if = "Label::is_empty")]
    call: Label,
    /// The HMAC of the tool's input, where the call was not passed silently.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    /// The exceptions that were used, by id or rule, separated by blanks.
    #[serde(skip_serializing_if = "String::is_empty")]
    exception: String,
}

impl LogLine {
    /// Describes a verdict that was reached at `now`, after `us` microseconds.
    pub fn new(header: &Header, verdict: &Verdict, now: OffsetDateTime, us: u64) -> Self {
        let is_after = header.phase.is_some_and(Phase::is_after);
        let failure = verdict.findings().iter().find(|finding| Failure::is_failure_rule(finding.rule()));
        // After a call, a failure takes precedence over the notice.
        let rule = failure.filter(|_| is_after).or_else(|| verdict.deciding().next()).map(Finding::rule);
        // The first finding names the surface, and the following ones the content rules that matched.
        let more = verdict.deciding().filter(|_| is_after && failure.is_none()).map(Finding::rule).skip(1);
        // Before a call there is one rule, by its exact name. After a call the names are separated by blanks.
        let name = |rule: &RuleId| if is_after { rule.as_str().replace(' ', "_") } else { rule.as_str().to_owned() };
        let rules: Vec<String> = rule.into_iter().chain(more).map(name).collect();
        let decision = if is_after { decision_after(verdict, failure) } else { verdict.effect().name() };
        LogLine {
            event: if is_after { Label::new("quarantine") } else { header.moment.clone() },
            ts: rfc3339(now),
            tool: header.tool.clone(),
            decision,
            source: verdict.surface().map(|surface| surface.source.clone()).unwrap_or_default(),
            session_id: header.session.clone(),
            rule: rules.join(" "),
            hot: verdict.heat() == Heat::Hot,
            us,
            client: "",
            call: header.call.clone(),
            input: None,
            exception: verdict
                .exceptions()
                .iter()
                .map(|used| used.name().replace(' ', "_"))
                .collect::<Vec<_>>()
                .join(" "),
        }
    }

    /// The line with the name of the client.
    #[must_use]
    pub fn of_client(self, client: &'static str) -> Self {
        LogLine { client, ..self }
    }

    /// The line with the HMAC of the tool's input, see [`ArgumentsKey`](crate::receipt::ArgumentsKey).
    #[must_use]
    pub fn with_input(self, input: Option<String>) -> Self {
        LogLine { input, ..self }
    }

    /// The line as JSON with its line end.
    pub fn to_json(&self) -> String {
        // A struct of strings and a number always serializes.
        let mut json = serde_json::to_string(self).unwrap_or_default();
        json.push('\n');
        json
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_ordinary(hot: &bool) -> bool {
    !hot
}

/// The decision after a call.
fn decision_after(verdict: &Verdict, failure: Option<&Finding>) -> &'static str {
    let timeout = Failure::Timeout.rule();
    match failure {
        Some(failure) if *failure.rule() == timeout => "timeout",
        _ if verdict.effect() > Effect::Pass => "emit",
        Some(_) => "error",
        None => "skip",
    }
}

/// A time in UTC with milliseconds; 24 characters up to the year 9999.
pub fn rfc3339(at: OffsetDateTime) -> String {
    let at = at.to_offset(time::UtcOffset::UTC);
    let (hour, minute, second) = at.to_hms();
    format!("{}T{hour:02}:{minute:02}:{second:02}.{:03}Z", at.date(), at.millisecond())
}
