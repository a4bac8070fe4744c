//! Taint: what a session has taken in from strangers decides what may go out of it.

use crate::label::Label;

/// Notices for one source in one session from which on somebody should look.
pub const ESCALATION: u64 = 5;

/// Sources that are told apart.
const MOST: usize = 256;

/// Sources that are named; more say nothing new.
const NAMED: usize = 3;

/// The untrusted sources that a session has seen, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taint(Vec<(Label, u64)>);

impl Taint {
    /// The sources in the order of their first appearance, one for each time.
    pub fn of(sources: impl IntoIterator<Item = Label>) -> Self {
        let mut taint = Taint::default();
        sources.into_iter().for_each(|source| taint.add(source, 1));
        taint
    }

    /// The sources in the lines of a session's file. There may be thousands of lines, and few sources.
    pub fn read(text: &str) -> Self {
        let mut lines: Vec<(&str, u64)> = Vec::new();
        let mut rest = text;
        while let Some(line) = rest.split_inclusive('\n').next() {
            let mut again = 0;
            // Mostly the same one many times.
            while let Some(behind) = rest.strip_prefix(line) {
                (rest, again) = (behind, again + 1);
            }
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, times)) => *times += again,
                None => lines.push((line, again)),
            }
        }
        let mut taint = Taint::default();
        let sources =
            lines.into_iter().map(|(line, times)| (line.trim_end(), times)).filter(|(line, _)| !line.is_empty());
        sources.take(MOST).for_each(|(line, times)| taint.add(Label::new(line), times));
        taint
    }

    fn add(&mut self, source: Label, more: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == source) {
            Some((_, times)) => *times += more,
            None => self.0.push((source, more)),
        }
    }

    /// It cannot be known what the session has seen, so it may be anything.
    pub fn unknown() -> Self {
        Taint::of([Label::new("unknown")])
    }

    /// Whether it has seen any.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How often it has seen a source.
    pub fn times(&self, source: &Label) -> u64 {
        self.0.iter().find(|(known, _)| known == source).map_or(0, |(_, times)| *times)
    }

    /// Whether it has seen another source than this one.
    pub fn is_by_other_than(&self, source: &Label) -> bool {
        self.0.iter().any(|(known, _)| known != source)
    }

    /// What it has seen, in words.
    pub fn words(&self) -> String {
        let named: Vec<&str> = self.0.iter().take(NAMED).map(|(source, _)| source.as_str()).collect();
        let more = self.0.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("this session has read {}{more}", named.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_counted_and_the_first_are_named() {
        let label = |name: &str| Label::of("mcp", name);
        let taint = Taint::of(["a", "b", "a", "c", "d"].map(label));
        assert_eq!((taint.times(&label("a")), taint.times(&label("x"))), (2, 0));
        assert_eq!(taint.words(), "this session has read mcp:a, mcp:b, mcp:c and 1 more");
        assert!(Taint::default().is_empty() && !Taint::unknown().is_empty());
        assert_eq!(Taint::read("mcp:a\nmcp:b\n\nmcp:a\nmcp:c\nmcp:d\n"), taint);
        assert_eq!(Taint::read("mcp:a\nmcp:a\nmcp:b\nmcp:a").times(&label("a")), 3);
        assert!(!Taint::of([label("a")]).is_by_other_than(&label("a")));
    }
}
