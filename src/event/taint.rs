//! Taint: what a session has taken in from strangers decides what may go out of it.

use crate::encoding::label::Label;
use std::collections::BTreeMap;

/// Notices for one source in one session from which on somebody should look.
pub const ESCALATION: u64 = 5;

/// Sources that are named; more say nothing new.
const NAMED: usize = 3;

/// The untrusted sources that a session has seen, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taint {
    sources: Vec<(Label, u64)>,
    /// There are further sources that were not read: each counts as seen often enough to escalate.
    more: bool,
}

impl Taint {
    /// The sources in the order of their first appearance, one for each time.
    pub fn of(sources: impl IntoIterator<Item = Label>) -> Self {
        let mut taint = Taint::default();
        sources.into_iter().for_each(|source| taint.add(source, 1));
        taint
    }

    /// The sources in the lines of a session's file; of one that is not `whole`, there are more.
    pub fn read(text: &str, whole: bool) -> Self {
        let mut places: BTreeMap<Label, usize> = BTreeMap::new();
        let mut taint = Taint { sources: Vec::new(), more: !whole };
        let mut last: Option<(&str, usize)> = None;
        for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
            // Mostly the same one many times.
            let place = match last.filter(|(known, _)| *known == line) {
                Some((_, place)) => place,
                None => {
                    let source = Label::new(line);
                    let next = taint.sources.len();
                    let place = *places.entry(source.clone()).or_insert(next);
                    if place == next {
                        taint.sources.push((source, 0));
                    }
                    place
                }
            };
            last = Some((line, place));
            if let Some((_, times)) = taint.sources.get_mut(place) {
                *times += 1;
            }
        }
        taint
    }

    fn add(&mut self, source: Label, more: u64) {
        match self.sources.iter_mut().find(|(known, _)| *known == source) {
            Some((_, times)) => *times += more,
            None => self.sources.push((source, more)),
        }
    }

    /// It cannot be known what the session has seen, so it may be anything.
    pub fn unknown() -> Self {
        Taint::of([Label::new("unknown")])
    }

    /// Whether it has seen any.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && !self.more
    }

    /// How often it has seen a source.
    pub fn times(&self, source: &Label) -> u64 {
        let times = self.sources.iter().find(|(known, _)| known == source).map_or(0, |(_, times)| *times);
        if self.more { times.max(ESCALATION) } else { times }
    }

    /// Whether it has seen another source than this one.
    pub fn has_other_source(&self, source: &Label) -> bool {
        self.more || self.sources.iter().any(|(known, _)| known != source)
    }

    /// What it has seen, in words.
    pub fn words(&self) -> String {
        let named: Vec<&str> = self.sources.iter().take(NAMED).map(|(source, _)| source.as_str()).collect();
        let more = self.sources.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("this session has read {}{more}", named.join(", "))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/event/taint.rs"]
mod tests;
