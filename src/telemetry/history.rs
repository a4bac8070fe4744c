//! What the log says of each session, rule, source, day and exception, for `rune report`.

use super::LogRecord;
use super::histogram::{Histogram, Quantiles};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use time::{Date, Month};

/// A day, and the second in it, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// The day.
    pub day: Date,
    /// The second, up to 86,399.
    pub second: u32,
}

impl Moment {
    /// Parses the start of an RFC 3339 time in UTC.
    fn parse(time: &str) -> Option<Moment> {
        let number = |range: Range<usize>| time.get(range)?.parse::<u32>().ok();
        let small = |range: Range<usize>| number(range).and_then(|number| u8::try_from(number).ok());
        let year = i32::try_from(number(0..4)?).ok()?;
        let day = Date::from_calendar_date(year, Month::try_from(small(5..7)?).ok()?, small(8..10)?).ok()?;
        let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
        (hour < 24 && minute < 60 && second < 60).then_some(Moment { day, second: hour * 3600 + minute * 60 + second })
    }
}

/// What a line of the log says of a call, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// A result was marked as untrusted.
    Marked,
    /// There was advice.
    Advised,
    /// A person was asked.
    Asked,
    /// It was denied.
    Denied,
}

impl Decision {
    /// All decisions.
    pub const ALL: [Decision; 4] = [Decision::Marked, Decision::Advised, Decision::Asked, Decision::Denied];

    fn of(record: &LogRecord) -> Option<Decision> {
        match record.decision.as_str() {
            "emit" if record.event == "quarantine" => Some(Decision::Marked),
            "advise" => Some(Decision::Advised),
            "ask" => Some(Decision::Asked),
            "deny" => Some(Decision::Denied),
            _ => None,
        }
    }

    /// Whether the call was stopped.
    pub fn is_stop(self) -> bool {
        matches!(self, Decision::Asked | Decision::Denied)
    }
}

/// Counts by decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Counts {
    /// Marked results.
    pub marked: u64,
    /// Calls with advice.
    pub advised: u64,
    /// Calls that were asked about.
    pub asked: u64,
    /// Calls that were denied.
    pub denied: u64,
}

impl Counts {
    fn add(&mut self, decision: Decision) {
        match decision {
            Decision::Marked => self.marked += 1,
            Decision::Advised => self.advised += 1,
            Decision::Asked => self.asked += 1,
            Decision::Denied => self.denied += 1,
        }
    }

    /// The calls that were stopped.
    pub fn stops(&self) -> u64 {
        self.asked + self.denied
    }

    /// All of them.
    pub fn all(&self) -> u64 {
        self.stops() + self.advised + self.marked
    }
}

/// A part of a session within one day.
#[derive(Clone, Debug, Default)]
pub struct DayPart {
    /// The seconds of the first and the last line.
    pub span: Option<(u32, u32)>,
    /// What happened, and when.
    pub marks: Vec<(u32, Decision)>,
}

/// One session.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// The client; empty if the log does not say.
    pub client: String,
    /// Calls that were judged before they ran.
    pub calls: u64,
    /// Counts by decision.
    pub counts: Counts,
    /// From when on the session had read untrusted content.
    pub tainted: Option<Moment>,
    /// From when on it had read what looks like instructions.
    pub hot: Option<Moment>,
    /// The days of the session.
    pub days: BTreeMap<Date, DayPart>,
    /// How many results of each source were marked.
    pub sources: BTreeMap<String, u64>,
    /// How many calls each rule stopped.
    pub stopped_by: BTreeMap<String, u64>,
}

impl Session {
    /// When it began: its first day, and the second in it.
    pub fn first(&self) -> Option<Moment> {
        let (day, part) = self.days.first_key_value()?;
        Some(Moment { day: *day, second: part.span?.0 })
    }
}

/// One rule: its counts in all and by day.
#[derive(Clone, Debug, Default)]
pub struct RuleHistory {
    /// All days.
    pub counts: Counts,
    /// Each day on which it decided.
    pub days: BTreeMap<Date, Counts>,
}

/// One day.
#[derive(Clone, Debug, Default)]
pub struct Day {
    /// Calls that were judged before they ran.
    pub calls: u64,
    /// Counts by decision.
    pub counts: Counts,
    times: Histogram,
}

impl Day {
    /// The time per call in microseconds.
    pub fn times(&self) -> Option<Quantiles> {
        self.times.quantiles()
    }
}

/// The uses of one exception.
#[derive(Clone, Debug)]
pub struct ExceptionHistory {
    /// How many calls it let pass.
    pub uses: u64,
    /// The sessions in which it was used.
    pub sessions: BTreeSet<String>,
    /// The first and the last use.
    pub span: (Moment, Moment),
}

/// Everything in the log. Names are as written there: any program of the user can write them, so they are escaped where they
/// are shown.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The sessions, by their ids.
    pub sessions: BTreeMap<String, Session>,
    /// The rules, by their names.
    pub rules: BTreeMap<String, RuleHistory>,
    /// The days with lines.
    pub days: BTreeMap<Date, Day>,
    /// The exceptions that were used, by id or rule.
    pub exceptions: BTreeMap<String, ExceptionHistory>,
    times: Histogram,
}

impl History {
    /// Adds a line. One whose time is invalid is left out.
    pub fn add(&mut self, record: &LogRecord) {
        let Some(at) = Moment::parse(&record.ts) else { return };
        let decision = Decision::of(record);
        let is_call = record.event == "PreToolUse";
        let day = self.days.entry(at.day).or_default();
        let session = self.sessions.entry(record.session_id.clone()).or_default();
        day.calls += u64::from(is_call);
        session.calls += u64::from(is_call);
        if let Some(us) = record.us {
            day.times.add(us);
            self.times.add(us);
        }
        if session.client.is_empty() {
            session.client.clone_from(&record.client);
        }
        let part = session.days.entry(at.day).or_default();
        let (first, last) = part.span.unwrap_or((at.second, at.second));
        part.span = Some((first.min(at.second), last.max(at.second)));
        if let Some(decision) = decision {
            part.marks.push((at.second, decision));
            session.counts.add(decision);
            day.counts.add(decision);
            for rule in record.rules() {
                let history = self.rules.entry(rule.to_owned()).or_default();
                history.counts.add(decision);
                history.days.entry(at.day).or_default().add(decision);
                if decision.is_stop() {
                    *session.stopped_by.entry(rule.to_owned()).or_default() += 1;
                }
            }
        }
        if decision == Some(Decision::Marked) {
            let earliest = |known: Option<Moment>| Some(known.map_or(at, |known| known.min(at)));
            session.tainted = earliest(session.tainted);
            if record.hot {
                session.hot = earliest(session.hot);
            }
            if !record.source.is_empty() {
                *session.sources.entry(record.source.clone()).or_default() += 1;
            }
        }
        for name in record.exception.split(' ').filter(|name| !name.is_empty()) {
            let new = || ExceptionHistory { uses: 0, sessions: BTreeSet::new(), span: (at, at) };
            let exception = self.exceptions.entry(name.to_owned()).or_insert_with(new);
            exception.uses += 1;
            exception.sessions.insert(record.session_id.clone());
            exception.span = (exception.span.0.min(at), exception.span.1.max(at));
        }
    }

    /// Counts of all days.
    pub fn counts(&self) -> Counts {
        self.days.values().fold(Counts::default(), |all, day| Counts {
            marked: all.marked + day.counts.marked,
            advised: all.advised + day.counts.advised,
            asked: all.asked + day.counts.asked,
            denied: all.denied + day.counts.denied,
        })
    }

    /// Calls of all days.
    pub fn calls(&self) -> u64 {
        self.days.values().map(|day| day.calls).sum()
    }

    /// The time per call in microseconds.
    pub fn times(&self) -> Option<Quantiles> {
        self.times.quantiles()
    }
}
