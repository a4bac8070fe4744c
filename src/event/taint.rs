//! Taint: the untrusted sources that a session has read. Outbound actions of a tainted session are judged more strictly.

use crate::encoding::label::Label;
use std::collections::BTreeMap;

/// The number of notices for one source in one session from which on a person is asked to look.
pub const ESCALATION: u64 = 5;

/// Sources that [`Taint::summary`] names.
const MAX_NAMED: usize = 3;

/// The untrusted sources of a session, and how often each was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taint {
    sources: Vec<(Label, u64)>,
    /// Whether there are sources that are not in `sources`. Every source then counts as read often enough to escalate.
    has_unread: bool,
}

impl Taint {
    /// Builds taint from sources, which may repeat.
    pub fn of(sources: impl IntoIterator<Item = Label>) -> Self {
        let mut taint = Taint::default();
        sources.into_iter().for_each(|source| taint.add(source));
        taint
    }

    /// Parses a session file: one source per line.
    pub fn read(text: &str) -> Self {
        let mut positions: BTreeMap<Label, usize> = BTreeMap::new();
        let mut taint = Taint::default();
        let mut last: Option<(&str, usize)> = None;
        for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
            // Consecutive lines are often equal.
            let position = match last.filter(|(known, _)| *known == line) {
                Some((_, position)) => position,
                None => {
                    let source = Label::new(line);
                    let next = taint.sources.len();
                    let position = *positions.entry(source.clone()).or_insert(next);
                    if position == next {
                        taint.sources.push((source, 0));
                    }
                    position
                }
            };
            last = Some((line, position));
            if let Some((_, count)) = taint.sources.get_mut(position) {
                *count += 1;
            }
        }
        taint
    }

    /// The taint of a file that was read only in part.
    #[must_use]
    pub fn with_unread_sources(self) -> Self {
        Taint { has_unread: true, ..self }
    }

    fn add(&mut self, source: Label) {
        match self.sources.iter_mut().find(|(known, _)| *known == source) {
            Some((_, count)) => *count += 1,
            None => self.sources.push((source, 1)),
        }
    }

    /// The taint of a session whose sources cannot be read.
    pub fn unknown() -> Self {
        Taint::of([Label::new("unknown")])
    }

    /// Whether the session is not tainted.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && !self.has_unread
    }

    /// How often the session has read a source.
    pub fn count(&self, source: &Label) -> u64 {
        let count = self.sources.iter().find(|(known, _)| known == source).map_or(0, |(_, count)| *count);
        if self.has_unread { count.max(ESCALATION) } else { count }
    }

    /// Whether the session has read another source than this one.
    pub fn has_other_source(&self, source: &Label) -> bool {
        self.has_unread || self.sources.iter().any(|(known, _)| known != source)
    }

    /// A sentence that names the first sources.
    pub fn summary(&self) -> String {
        let named: Vec<&str> = self.sources.iter().take(MAX_NAMED).map(|(source, _)| source.as_str()).collect();
        let more = self.sources.len().saturating_sub(MAX_NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("this session has read {}{more}", named.join(", "))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/event/taint.rs"]
mod tests;
