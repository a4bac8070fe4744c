//! Summaries: a log of any length, folded line by line into what a person wants to know.

use super::counts::Counts;
use super::pairs::Pairs;
use super::scan::{self, Record};
use super::span::{Span, is_time};
use crate::encoding::escape;
use crate::encoding::label::Label;
use crate::event::taint::ESCALATION;
use crate::verdict::MAX_RULE_NAME_CHARS;
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
    span: Span,
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

/// A line by the book; the original log has neither `rule` nor `us`.
#[derive(Deserialize)]
pub(super) struct Written<'a> {
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

impl Written<'_> {
    /// What it says.
    pub fn record(&self) -> Record<'_> {
        Record {
            event: self.event.as_bytes(),
            ts: self.ts.as_bytes(),
            decision: self.decision.as_bytes(),
            tool: self.tool.as_bytes(),
            source: self.source.as_bytes(),
            session_id: self.session_id.as_bytes(),
            rule: self.rule.as_bytes(),
            us: self.us,
        }
    }
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
        match scan::record(line) {
            Some(record) => self.add_record(&record, filter),
            None => self.add_by_the_book(line, filter),
        }
    }

    #[cold]
    fn add_by_the_book(&mut self, line: &[u8], filter: &Filter) {
        match serde_json::from_slice::<Written<'_>>(line) {
            Ok(written) => self.add_record(&written.record(), filter),
            Err(_) => self.add_malformed(),
        }
    }

    #[inline]
    fn add_record(&mut self, record: &Record<'_>, filter: &Filter) {
        match is_time(record.ts) {
            true => self.count(record, filter),
            false => self.add_malformed(),
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
        self.span.join(&other.span);
    }

    /// Takes in a line that is too long to be one.
    pub fn add_malformed(&mut self) {
        self.lines += 1;
        self.malformed += 1;
    }

    fn count(&mut self, record: &Record<'_>, filter: &Filter) {
        let early = filter.since.as_deref().is_some_and(|since| record.ts < since.as_bytes());
        if early || filter.session.as_deref().is_some_and(|session| record.session_id != session.as_bytes()) {
            return;
        }
        self.lines += 1;
        *self.decisions.of(record.decision) += 1;
        *self.tools.of(record.tool) += 1;
        // Before a call it is one name, which may have blanks. After a call it is a list of names without.
        let listed = record.event == b"quarantine" && record.rule.contains(&b' ');
        if listed {
            for rule in record.rule.split(|byte| *byte == b' ').filter(|rule| !rule.is_empty()) {
                *self.rules.of(rule) += 1;
            }
        } else if let Some(lines) = self.rules.again(record.rule) {
            *lines += 1;
        } else if !record.rule.is_empty() {
            *self.rules.of(record.rule) += 1;
        }
        *self.days.of(record.ts.get(..10).unwrap_or_default()) += 1;
        let count = |decision| u64::from(record.event == b"quarantine" && record.decision == decision);
        let (emit, skip) = (count(b"emit"), count(b"skip"));
        let session = self.sessions.number(record.session_id);
        *self.sessions.at(session) += emit;
        if !record.source.is_empty() && emit + skip > 0 {
            let source = self.sources.number(record.source);
            self.sources.at(source).add(Tally { emit, skip });
            if emit > 0 {
                self.pairs.add((session, source));
            }
        }
        if let Some(us) = record.us {
            self.times.add(us);
        }
        self.span.add(record.ts);
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
            self.rules.sorted().map(|(rule, lines)| RuleRow { rule: rule_name(rule), lines: *lines }).collect();
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
            first_ts: self.span.first().map(str::to_owned),
            last_ts: self.span.last().map(str::to_owned),
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

/// The name of a rule. Others can write the log, so it is escaped and cut.
fn rule_name(rule: &str) -> String {
    escape::one_line(rule, MAX_RULE_NAME_CHARS).into_owned()
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
        let skipped = line("2026-11-16T01:00:00.000Z", "skip", "mcp:desk", "s2");
        let five = [&*other, &skipped, &skipped, &skipped, &skipped, &same, &same, &same, &same, &same];
        let report = summary(&five, &Filter::default());
        let escalations =
            report.escalations.iter().map(|row| (row.session_id.as_str(), row.source.as_str(), row.count));
        assert_eq!(escalations.collect::<Vec<_>>(), [("s1", "mcp:desk", 5)]);
        let sessions = report.sessions.iter().map(|row| (row.session_id.as_str(), row.emit));
        assert_eq!(sessions.collect::<Vec<_>>(), [("s1", 5), ("s2", 1)]);
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
    fn a_name_with_blanks_is_one_rule_before_a_call_and_a_list_is_counted_apart_after_one() {
        let line = |event: &str, rule: &str| {
            let line = line("2026-11-16T01:00:00.000Z", "emit", "webfetch:a", "s1");
            line.replace("\"us\"", &format!("\"rule\":\"{rule}\",\"us\"")).replace("quarantine", event)
        };
        let lines = [
            line("PreToolUse", "My Rule 2"),
            line("PreToolUse", "My Rule 2"),
            line("quarantine", "My Rule 2"),
            line("PreToolUse", "rune/limit"),
            line("PreToolUse", "a\\u001b[31m`\\u202e"),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let report = summary(&lines, &Filter::default());
        let mut rules: Vec<(&str, u64)> = report.rules.iter().map(|row| (row.rule.as_str(), row.lines)).collect();
        rules.sort_unstable();
        let escaped = r"a\u{1b}[31m\u{60}\u{202e}";
        assert_eq!(rules, [("2", 1), ("My", 1), ("My Rule 2", 2), ("Rule", 1), (escaped, 1), ("rune/limit", 1)]);
    }

    /// The fields of some line, in our order.
    fn fields(at: usize) -> [(&'static str, String); 8] {
        let (event, decision) = [("quarantine", "emit"), ("quarantine", "skip"), ("PreToolUse", "allow")][at % 3];
        [
            ("event", event.to_owned()),
            ("ts", format!("2026-11-{:02}T{:02}:00:{:02}.{:03}Z", at % 28 + 1, at * 5 % 24, at % 60, at % 1000)),
            ("tool", ["Bash", "", "mcp__desk__get_ticket", "caf\u{e9}"][at % 4].to_owned()),
            ("decision", decision.to_owned()),
            ("source", format!("webfetch:host-{}.example", at % 7)),
            ("session_id", format!("{:08x}-1c1a", at % 13)),
            ("rule", ["quarantine-webfetch", "one two", ""][at % 5 % 3].to_owned()),
            ("us", (at * at % 9_999).to_string()),
        ]
    }

    #[test]
    fn a_line_counts_the_same_however_it_is_written() {
        let quoted = |(name, value): (&str, String)| match name {
            "us" => format!(r#""us":{value}"#),
            _ => format!(r#""{name}":"{value}""#),
        };
        let escape = |value: String| value.chars().map(|c| format!("\\u{:04x}", c as u32)).collect();
        let escaped = |(name, value)| (name, if name == "us" { value } else { escape(value) });
        let told = |write: &dyn Fn(usize) -> Vec<String>| {
            let lines: Vec<String> = (0..2_000).map(|at| format!("{{{}}}", write(at * 7_919).join(","))).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            serde_json::to_string(&summary(&lines, &Filter::default())).unwrap()
        };
        let by_the_book = told(&|at| fields(at).map(escaped).map(quoted).to_vec());
        assert!(by_the_book.starts_with(r#"{"lines":2000,"malformed":0,"#), "{by_the_book}");
        assert_eq!(told(&|at| fields(at).map(quoted).to_vec()), by_the_book);
        assert_eq!(told(&|at| fields(at).map(quoted).into_iter().rev().collect()), by_the_book);
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
