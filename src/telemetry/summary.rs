//! Summaries: a log of any length, folded line by line into what a person wants to know.

use super::counts::Counts;
use super::pairs::Pairs;
use super::scan;
use crate::label::Label;
use crate::taint::ESCALATION;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Which lines count.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only lines written at or after this time, in RFC 3339 as the log writes it.
    pub since: Option<String>,
    /// Only lines of this session.
    pub session: Option<String>,
}

/// What the log says. It grows with distinct sessions, sources, tools and days, never with lines.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    lines: u64,
    malformed: u64,
    decisions: Counts<u64>,
    sources: Counts<Tally>,
    tools: Counts<u64>,
    rules: Counts<u64>,
    days: Counts<u64>,
    /// Notices by session.
    sessions: Counts<u64>,
    /// Notices by session and source, which have numbers.
    pairs: Pairs,
    times: Histogram,
    first_ts: Option<String>,
    last_ts: Option<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    emit: u64,
    skip: u64,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.emit += other.emit;
        self.skip += other.skip;
    }
}

/// A line as it is read; the original log has neither `rule` nor `us`.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Record<'a> {
    #[serde(borrow)]
    pub event: Cow<'a, str>,
    #[serde(borrow)]
    pub ts: Cow<'a, str>,
    #[serde(borrow)]
    pub decision: Cow<'a, str>,
    #[serde(borrow)]
    pub tool: Cow<'a, str>,
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    #[serde(borrow)]
    pub session_id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub rule: Cow<'a, str>,
    pub us: Option<u64>,
}

impl Report {
    /// The report with at most `rows` rows a list; escalations are never cut short.
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

impl Summary {
    /// Takes in one line, without its line end.
    pub fn add(&mut self, line: &[u8], filter: &Filter) {
        // Ours are read in one go; whatever else there is, by the book.
        let record = scan::record(line).or_else(|| serde_json::from_slice(line).ok());
        match record.filter(|record| is_time(&record.ts)) {
            Some(record) => self.count(&record, filter),
            None => self.add_malformed(),
        }
    }

    /// Takes in what another part of the log says.
    pub fn join(&mut self, other: Summary) {
        self.lines += other.lines;
        self.malformed += other.malformed;
        let add = |mine: &mut u64, theirs: u64| *mine += theirs;
        self.decisions.join(other.decisions, add);
        self.tools.join(other.tools, add);
        self.rules.join(other.rules, add);
        self.days.join(other.days, add);
        let sources = self.sources.join(other.sources, Tally::add);
        let sessions = self.sessions.join(other.sessions, add);
        let here =
            |(session, source): (u32, u32)| Some((*sessions.get(session as usize)?, *sources.get(source as usize)?));
        self.pairs.join(other.pairs, here);
        self.times.join(&other.times);
        let earlier = |first: &String| self.first_ts.as_ref().is_none_or(|mine| first < mine);
        self.first_ts = other.first_ts.filter(earlier).or(self.first_ts.take());
        let later = |last: &String| self.last_ts.as_ref().is_none_or(|mine| last > mine);
        self.last_ts = other.last_ts.filter(later).or(self.last_ts.take());
    }

    /// Takes in a line that is too long to be one.
    pub fn add_malformed(&mut self) {
        self.lines += 1;
        self.malformed += 1;
    }

    fn count(&mut self, record: &Record<'_>, filter: &Filter) {
        let early = filter.since.as_deref().is_some_and(|since| *record.ts < *since);
        if early || filter.session.as_deref().is_some_and(|session| record.session_id != session) {
            return;
        }
        self.lines += 1;
        *self.decisions.of(&record.decision) += 1;
        *self.tools.of(&record.tool) += 1;
        // A name has no blank in it, so what is one name is all of it.
        match self.rules.again(&record.rule) {
            Some(lines) => *lines += 1,
            None => {
                for rule in record.rule.split(' ').filter(|rule| !rule.is_empty()) {
                    *self.rules.of(rule) += 1;
                }
            }
        }
        *self.days.of(record.ts.get(..10).unwrap_or_default()) += 1;
        let count = |decision| u64::from(record.event == "quarantine" && record.decision == decision);
        let (emit, skip) = (count("emit"), count("skip"));
        *self.sessions.of(&record.session_id) += emit;
        if !record.source.is_empty() && emit + skip > 0 {
            self.sources.of(&record.source).add(Tally { emit, skip });
            if emit > 0 {
                let pair = (self.sessions.number(&record.session_id), self.sources.number(&record.source));
                self.pairs.add(pair);
            }
        }
        if let Some(us) = record.us {
            self.times.add(us);
        }
        if self.first_ts.as_deref().is_none_or(|first| *record.ts < *first) {
            self.first_ts = Some(record.ts.to_string());
        }
        if self.last_ts.as_deref().is_none_or(|last| *record.ts > *last) {
            self.last_ts = Some(record.ts.to_string());
        }
    }

    /// The finished report.
    pub fn report(mut self) -> Report {
        let mut sources: Vec<SourceRow> = self
            .sources
            .sorted()
            .map(|(source, tally)| SourceRow { source: plain(source), emit: tally.emit, skip: tally.skip })
            .collect();
        sources.sort_by_key(|row| std::cmp::Reverse((row.emit, row.skip)));
        let mut sessions: Vec<SessionRow> = self
            .sessions
            .sorted()
            .map(|(session, emit)| SessionRow { session_id: plain(session), emit: *emit })
            .collect();
        sessions.sort_by_key(|row| std::cmp::Reverse(row.emit));
        let named = |((session, source), count): (&(u32, u32), &u64)| {
            Some((self.sessions.name(*session)?, self.sources.name(*source)?, *count))
        };
        let often = self.pairs.settled().iter().filter(|(_, count)| **count >= ESCALATION);
        let mut escalations: Vec<(&str, &str, u64)> = often.filter_map(named).collect();
        escalations.sort_by_key(|(session, source, count)| (std::cmp::Reverse(*count), *session, *source));
        let row = |(session, source, count)| EscalationRow { session_id: plain(session), source: plain(source), count };
        let escalations = escalations.into_iter().map(row).collect();
        let mut tools: Vec<ToolRow> =
            self.tools.sorted().map(|(tool, lines)| ToolRow { tool: plain(tool), lines: *lines }).collect();
        tools.sort_by_key(|row| std::cmp::Reverse(row.lines));
        let mut rules: Vec<RuleRow> =
            self.rules.sorted().map(|(rule, lines)| RuleRow { rule: plain(rule), lines: *lines }).collect();
        rules.sort_by_key(|row| std::cmp::Reverse(row.lines));
        let days: Vec<DayRow> =
            self.days.sorted().rev().map(|(day, lines)| DayRow { day: plain(day), lines: *lines }).collect();
        Report {
            lines: self.lines,
            malformed: self.malformed,
            decisions: self.decisions.sorted().map(|(decision, lines)| (plain(decision).to_string(), *lines)).collect(),
            sources,
            sessions,
            escalations,
            tools,
            rules,
            days,
            us: self.times.quantiles(),
            first_ts: self.first_ts.clone(),
            last_ts: self.last_ts.clone(),
        }
    }
}

/// What `rune quarantine status` shows. Names are labels: a log is a file that others can write.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
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
    /// Sessions in which one source came up suspiciously often.
    pub escalations: Vec<EscalationRow>,
    /// Tools, most lines first.
    pub tools: Vec<ToolRow>,
    /// Rules that answered, most lines first.
    pub rules: Vec<RuleRow>,
    /// Days, newest first.
    pub days: Vec<DayRow>,
    /// Our own time in microseconds.
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

/// A source that one session met often.
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
    /// The rule.
    pub rule: Label,
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

/// Quantiles in microseconds, each at most an eighth above the true value and never above the largest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Quantiles {
    /// Half of the calls took at most this.
    pub p50: u64,
    /// 95 % of them.
    pub p95: u64,
    /// 99 % of them.
    pub p99: u64,
}

/// Counts by size in constant memory: eight buckets for each power of two.
#[derive(Clone, Debug, Default)]
struct Histogram {
    /// By their place, from the smallest on.
    buckets: Vec<u64>,
    count: u64,
    largest: u64,
}

/// Buckets for each power of two.
const FINE: u64 = 8;

impl Histogram {
    fn add(&mut self, value: u64) {
        // Four leading bits count; of a value that has no more, all.
        let spare = u64::from(u64::BITS - value.leading_zeros()).saturating_sub(4);
        let place = spare * FINE + (value >> spare);
        self.add_at(usize::try_from(place).unwrap_or(usize::MAX), 1);
        self.count += 1;
        self.largest = self.largest.max(value);
    }

    fn add_at(&mut self, place: usize, count: u64) {
        if place >= self.buckets.len() {
            self.buckets.resize(place + 1, 0);
        }
        if let Some(bucket) = self.buckets.get_mut(place) {
            *bucket += count;
        }
    }

    /// The largest value that a bucket can hold.
    fn upper(place: u64) -> u64 {
        let spare = (place / FINE).saturating_sub(1);
        let leading = place - spare * FINE;
        leading.checked_add(1).and_then(|next| next.checked_mul(1 << spare)).map_or(u64::MAX, |next| next - 1)
    }

    fn join(&mut self, other: &Histogram) {
        other.buckets.iter().enumerate().for_each(|(place, count)| self.add_at(place, *count));
        self.count += other.count;
        self.largest = self.largest.max(other.largest);
    }

    fn quantiles(&self) -> Option<Quantiles> {
        let at = |percent: u64| {
            let rank = (self.count * percent).div_ceil(100);
            let mut seen = 0;
            self.buckets.iter().position(|count| {
                seen += count;
                seen >= rank && seen > 0
            })
        };
        let at = |percent| at(percent).map(|place| Histogram::upper(place as u64).min(self.largest));
        Some(Quantiles { p50: at(50)?, p95: at(95)?, p99: at(99)? })
    }
}

fn plain(name: &str) -> Label {
    Label::tool(name)
}

/// `2026-11-16T01:02:03Z`, with any number of decimals.
fn is_time(ts: &str) -> bool {
    let Some(start) = ts.as_bytes().first_chunk::<19>() else { return false };
    let shape = b"0000-00-00T00:00:00".iter().zip(start);
    let same = |(shape, byte): (&u8, &u8)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    shape.map(same).fold(true, |all, same| all & same) && ts.len() >= 20 && ts.ends_with('Z')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(lines: &[&str], filter: &Filter) -> Report {
        let mut summary = Summary::default();
        for line in lines {
            summary.add(line.as_bytes(), filter);
        }
        summary.report()
    }

    fn line(ts: &str, decision: &str, source: &str, session: &str) -> String {
        format!(
            r#"{{"event":"quarantine","ts":"{ts}","tool":"WebFetch","decision":"{decision}","source":"{source}","session_id":"{session}","us":120}}"#
        )
    }

    #[test]
    fn lines_are_counted_and_broken_ones_too() {
        let whole = line("2026-11-16T01:00:00.000Z", "emit", "webfetch:a", "s1");
        let half = whole.get(..40).unwrap();
        let report =
            summary(&[&whole, half, "[]", "{}", r#"{"ts":"yesterday","decision":"emit"}"#], &Filter::default());
        assert_eq!((report.lines, report.malformed), (5, 4));
        assert_eq!(report.decisions.get("emit"), Some(&1));
    }

    #[test]
    fn rules_are_counted_where_a_line_names_one() {
        let old = line("2026-11-16T01:00:00.000Z", "emit", "webfetch:a", "s1");
        let new = old.replace("\"us\"", "\"rule\":\"quarantine-webfetch\",\"us\"");
        let rules = summary(&[&old, &new, &new], &Filter::default()).rules;
        assert_eq!(
            rules.iter().map(|row| (row.rule.as_str(), row.lines)).collect::<Vec<_>>(),
            [("quarantine-webfetch", 2)]
        );
    }

    #[test]
    fn the_fifth_notice_for_one_source_in_one_session_escalates() {
        let same = line("2026-11-16T01:00:00.000Z", "emit", "mcp:desk", "s1");
        let other = line("2026-11-16T01:00:00.000Z", "emit", "mcp:desk", "s2");
        let four = [&*same, &same, &same, &same, &other];
        assert!(summary(&four, &Filter::default()).escalations.is_empty());
        let five = [&*same, &same, &same, &same, &same];
        let escalations = summary(&five, &Filter::default()).escalations;
        assert_eq!(escalations.iter().map(|row| row.count).collect::<Vec<_>>(), [5]);
    }

    #[test]
    fn filters_leave_out_what_is_early_or_of_another_session() {
        let lines = [
            line("2026-11-15T23:59:59.999Z", "emit", "webfetch:a", "s1"),
            line("2026-11-16T00:00:00.000Z", "skip", "webfetch:a", "s1"),
            line("2026-11-16T00:00:00.000Z", "emit", "webfetch:a", "s2"),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let filter = Filter { since: Some("2026-11-16T00:00:00.000Z".into()), session: Some("s1".into()) };
        let report = summary(&lines, &filter);
        assert_eq!(report.lines, 1);
        assert_eq!(report.first_ts.as_deref(), Some("2026-11-16T00:00:00.000Z"));
    }

    #[test]
    fn quantiles_are_close_and_never_below() {
        let mut times = Histogram::default();
        (1..=1000).for_each(|us| times.add(us));
        let Quantiles { p50, p95, p99 } = times.quantiles().unwrap();
        for (found, exact) in [(p50, 500), (p95, 950), (p99, 990)] {
            assert!(found >= exact && found <= exact + exact / 8, "{found} for {exact}");
        }
        times.add(0);
        times.add(u64::MAX);
        for value in
            (0..200).chain((3..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1])).chain([u64::MAX])
        {
            let mut one = Histogram { largest: u64::MAX, ..Histogram::default() };
            one.add(value);
            let upper = one.quantiles().unwrap().p50;
            assert!(upper >= value && upper - value <= value / 8, "{upper} for {value}");
        }
    }
}
