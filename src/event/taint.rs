//! Taint: the untrusted sources that a session has read. Outbound actions of a tainted session are judged more strictly.

use crate::encoding::label::Label;
use crate::verdict::Heat;
use std::collections::{BTreeMap, BTreeSet};

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
    /// When and by which tool the last source was read, if the file says so.
    last: Option<Reading>,
    /// The last source in which a content rule found instructions.
    hot: Option<Label>,
}

/// When and by which tool a source was read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reading {
    source: Label,
    time: Label,
    tool: Label,
}

impl Taint {
    /// Builds taint from sources, which may repeat.
    pub fn of(sources: impl IntoIterator<Item = Label>) -> Self {
        let mut taint = Taint::default();
        sources.into_iter().for_each(|source| taint.add(source));
        taint
    }

    /// The line of a session file for a source that `tool` read at `time` (RFC 3339).
    pub fn line(source: &Label, time: &str, tool: &Label, heat: Heat) -> String {
        let hot = if heat == Heat::Hot { "\thot" } else { "" };
        format!("{source}\t{}\t{tool}{hot}\n", Label::new(time))
    }

    /// Parses a session file: one source per line, followed by the time, the tool, and `hot` where a content rule matched.
    pub fn read(text: &str) -> Self {
        let mut positions: BTreeMap<Label, usize> = BTreeMap::new();
        let mut taint = Taint::default();
        let mut last: Option<(&str, usize)> = None;
        for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
            let mut fields = line.split('\t');
            let line = fields.next().unwrap_or_default();
            let (time, tool, heat) = (fields.next(), fields.next(), fields.next());
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
            taint.last = time.zip(tool).map(|(time, tool)| Reading {
                source: Label::new(line),
                time: Label::new(time),
                tool: Label::tool(tool),
            });
            // Whatever stands behind the tool is a mark, so that a damaged one is not overlooked.
            if heat.is_some() {
                taint.hot = Some(Label::new(line));
            }
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

    /// Whether there are sources that are not known.
    pub fn has_unread_sources(&self) -> bool {
        self.has_unread
    }

    /// Whether a content rule found instructions in what the session has read.
    pub fn is_hot(&self) -> bool {
        self.hot.is_some()
    }

    /// The taint of a session in which a content rule matched what this source returned.
    #[must_use]
    pub fn with_hot(self, source: Label) -> Self {
        Taint { hot: Some(source), ..self }
    }

    /// The names of all sources and of `own`, in order and each once; `None` without taint.
    pub fn sources_with(&self, own: Option<&Label>) -> Option<String> {
        let names: BTreeSet<&str> =
            self.sources.iter().map(|(source, _)| source).chain(own).map(Label::as_str).collect();
        let names: Vec<&str> = names.into_iter().collect();
        (!self.is_empty()).then(|| names.join("\n"))
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

    /// A sentence that names the first sources, and says when and by which tool the last one was read.
    pub fn summary(&self) -> String {
        let named: Vec<&str> = self.sources.iter().take(MAX_NAMED).map(|(source, _)| source.as_str()).collect();
        let more = self.sources.len().saturating_sub(MAX_NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let reading = self.last.as_ref().map_or(String::new(), |last| {
            let clock = last.time.as_str().split_once('T').and_then(|(_, clock)| clock.get(..5)).unwrap_or("?");
            let of = if self.sources.len() > 1 { format!("; the last was {}", last.source) } else { String::new() };
            format!("{of} (by {} at {clock} UTC)", last.tool)
        });
        let hot = self
            .hot
            .as_ref()
            .map_or(String::new(), |source| format!("; what {source} returned looks like instructions to the model"));
        format!("this session has read {}{more}{reading}{hot}", named.join(", "))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/event/taint.rs"]
mod tests;
