//! Counts the lines of a log.

use super::histogram::Histogram;
use super::report::{DayRow, EscalationRow, LogReport, RuleRow, SessionRow, SourceRow, ToolRow};
use crate::encoding::escape;
use crate::encoding::label::Label;
use crate::event::taint::ESCALATION;
use crate::verdict::MAX_RULE_NAME_CHARS;
use serde::Deserialize;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Which lines count.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only lines written at or after this time, in RFC 3339 as the log writes it.
    pub since: Option<String>,
    /// Only lines of this session.
    pub session: Option<String>,
}

/// The counts so far. Its size depends on the number of distinct names, not on the number of lines.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    lines: u64,
    malformed: u64,
    decisions: BTreeMap<String, u64>,
    sources: BTreeMap<String, SourceCounts>,
    tools: BTreeMap<String, u64>,
    rules: BTreeMap<String, u64>,
    days: BTreeMap<String, u64>,
    sessions: BTreeMap<String, SessionCounts>,
    times: Histogram,
    first_ts: Option<String>,
    last_ts: Option<String>,
}

#[derive(Clone, Debug, Default)]
struct SourceCounts {
    emit: u64,
    skip: u64,
}

#[derive(Clone, Debug, Default)]
struct SessionCounts {
    emit: u64,
    emit_by_source: BTreeMap<String, u64>,
}

/// One line of the log. Lines of the first version have neither `rule` nor `us`.
#[derive(Deserialize)]
struct ParsedLine<'a> {
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow)]
    ts: Cow<'a, str>,
    #[serde(borrow)]
    decision: Cow<'a, str>,
    #[serde(borrow)]
    tool: Cow<'a, str>,
    #[serde(borrow)]
    source: Cow<'a, str>,
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    #[serde(borrow, default)]
    rule: Cow<'a, str>,
    us: Option<u64>,
}

impl Summary {
    /// Counts one line, given without its line end.
    pub fn add(&mut self, line: &[u8], filter: &Filter) {
        match serde_json::from_slice::<ParsedLine<'_>>(line) {
            Ok(record) if is_timestamp(&record.ts) => self.count(&record, filter),
            _ => self.add_malformed(),
        }
    }

    /// Counts a line that cannot be read.
    pub fn add_malformed(&mut self) {
        self.lines += 1;
        self.malformed += 1;
    }

    fn count(&mut self, record: &ParsedLine<'_>, filter: &Filter) {
        let is_early = filter.since.as_deref().is_some_and(|since| &*record.ts < since);
        if is_early || filter.session.as_deref().is_some_and(|session| record.session_id != session) {
            return;
        }
        self.lines += 1;
        *entry(&mut self.decisions, &record.decision) += 1;
        *entry(&mut self.tools, &record.tool) += 1;
        *entry(&mut self.days, record.ts.get(..10).unwrap_or_default()) += 1;
        let is_after = record.event == "quarantine";
        if is_after {
            // After a call the field lists the names of several rules, separated by blanks.
            for rule in record.rule.split(' ').filter(|rule| !rule.is_empty()) {
                *entry(&mut self.rules, rule) += 1;
            }
        } else if !record.rule.is_empty() {
            *entry(&mut self.rules, &record.rule) += 1;
        }
        let session = entry(&mut self.sessions, &record.session_id);
        let has_source = !record.source.is_empty();
        match &*record.decision {
            "emit" if is_after => {
                session.emit += 1;
                if has_source {
                    *entry(&mut session.emit_by_source, &record.source) += 1;
                    entry(&mut self.sources, &record.source).emit += 1;
                }
            }
            "skip" if is_after && has_source => entry(&mut self.sources, &record.source).skip += 1,
            _ => {}
        }
        if let Some(us) = record.us {
            self.times.add(us);
        }
        if self.first_ts.as_deref().is_none_or(|first| &*record.ts < first) {
            self.first_ts = Some(record.ts.to_string());
        }
        if self.last_ts.as_deref().is_none_or(|last| &*record.ts > last) {
            self.last_ts = Some(record.ts.to_string());
        }
    }

    /// The finished report.
    pub fn report(&self) -> LogReport {
        let source = |(source, counts): (&String, &SourceCounts)| SourceRow {
            source: Label::tool(source),
            emit: counts.emit,
            skip: counts.skip,
        };
        let session = |(session, counts): (&String, &SessionCounts)| SessionRow {
            session_id: Label::tool(session),
            emit: counts.emit,
        };
        let escalations = self.sessions.iter().flat_map(|(session, counts)| {
            let frequent = counts.emit_by_source.iter().filter(|(_, count)| **count >= ESCALATION);
            frequent.map(|(source, count)| EscalationRow {
                session_id: Label::tool(session),
                source: Label::tool(source),
                count: *count,
            })
        });
        let tool = |(tool, lines): (&String, &u64)| ToolRow { tool: Label::tool(tool), lines: *lines };
        // Other programs can write to the log, so the name of a rule is escaped and cut.
        let rule = |(rule, lines): (&String, &u64)| RuleRow {
            rule: escape::one_line(rule, MAX_RULE_NAME_CHARS).into_owned(),
            lines: *lines,
        };
        let day = |(day, lines): (&String, &u64)| DayRow { day: Label::tool(day), lines: *lines };
        let decision = |(decision, lines): (&String, &u64)| (Label::tool(decision).to_string(), *lines);
        LogReport {
            lines: self.lines,
            malformed: self.malformed,
            decisions: self.decisions.iter().map(decision).collect(),
            sources: largest_first(self.sources.iter().map(source), |row| (row.emit, row.skip)),
            sessions: largest_first(self.sessions.iter().map(session), |row| row.emit),
            escalations: largest_first(escalations, |row| row.count),
            tools: largest_first(self.tools.iter().map(tool), |row| row.lines),
            rules: largest_first(self.rules.iter().map(rule), |row| row.lines),
            days: self.days.iter().rev().map(day).collect(),
            us: self.times.quantiles(),
            first_ts: self.first_ts.clone(),
            last_ts: self.last_ts.clone(),
        }
    }
}

/// The value of a name, inserted where it is missing.
fn entry<'a, V: Default>(map: &'a mut BTreeMap<String, V>, name: &str) -> &'a mut V {
    map.entry(name.to_owned()).or_default()
}

/// Sorts rows by a count, descending; equal rows keep their order.
fn largest_first<R, K: Ord>(rows: impl Iterator<Item = R>, key: impl Fn(&R) -> K) -> Vec<R> {
    let mut rows: Vec<R> = rows.collect();
    rows.sort_by_key(|row| Reverse(key(row)));
    rows
}

/// Whether a text has the form `2026-11-16T01:02:03Z`, with any number of decimals.
pub(super) fn is_timestamp(text: &str) -> bool {
    let shape = b"0000-00-00T00:00:00";
    let fits = |(byte, shape): (u8, &u8)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == *shape };
    text.len() > shape.len() && text.ends_with('Z') && text.bytes().zip(shape).all(fits)
}

#[cfg(test)]
#[path = "../../tests/unit/telemetry/summary.rs"]
mod tests;
