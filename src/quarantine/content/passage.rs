//! A passage, its sentences and its quotations.
//!
//! The exemptions of a rule are matched with the sentence that the rule matched, and a match inside a quotation does not
//! count.

use std::ops::Range;

/// Some sentences of a normalized text, one per line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage<'a> {
    pub text: &'a str,
    /// Where lines and strings of the original begin inside of sentences, as positions in the whole normalized text, sorted.
    line_starts: &'a [usize],
    /// The position of the passage in the whole normalized text.
    start: usize,
}

impl<'a> Passage<'a> {
    /// A passage that begins at `start` of the text which `line_starts` are positions in.
    pub(super) fn new(text: &'a str, line_starts: &'a [usize], start: usize) -> Self {
        Passage { text, line_starts, start }
    }

    /// A text of its own.
    pub fn of(text: &'a str) -> Self {
        Passage { text, line_starts: &[], start: 0 }
    }

    /// Finds its sentences and quotations.
    pub fn sentences(&self) -> Sentences {
        let lines = self.line_starts.iter().map(|start| start.saturating_sub(self.start));
        let sentences = self.text.match_indices('\n').map(|(end, _)| end);
        let mut bounds: Vec<usize> = lines.chain(sentences).chain([0, self.text.len()]).collect();
        bounds.sort_unstable();
        let mut quotations = Vec::new();
        for (start, end) in bounds.iter().zip(bounds.iter().skip(1)) {
            find_quotations(self.text.get(*start..*end).unwrap_or_default(), *start, &mut quotations);
        }
        let colons = self.text.match_indices(": ").map(|(colon, _)| colon).collect();
        Sentences { bounds, colons, quotations }
    }
}

/// The bounds of the sentences and quotations of a passage.
#[derive(Clone, Debug)]
pub struct Sentences {
    /// The beginnings and ends of sentences, and of lines that do not continue a sentence.
    bounds: Vec<usize>,
    /// Colons before a blank. What an order introduces says nothing about the order.
    colons: Vec<usize>,
    /// Quotations inside of sentences, without the quotation mark that opens them.
    quotations: Vec<Range<usize>>,
}

impl Sentences {
    /// The sentences or lines that a match is in.
    pub fn around(&self, found: &Range<usize>) -> Range<usize> {
        let after_start = self.bounds.partition_point(|bound| *bound <= found.start);
        let before_end = self.bounds.partition_point(|bound| *bound < found.end);
        let bound = |at: usize| self.bounds.get(at).or(self.bounds.last()).copied().unwrap_or_default();
        let colon = self.colons.get(self.colons.partition_point(|colon| *colon < found.end)).copied();
        bound(after_start.saturating_sub(1))..bound(before_end).min(colon.unwrap_or(usize::MAX))
    }

    /// The quotation that contains the beginning of a match.
    pub fn quotation(&self, found: &Range<usize>) -> Option<&Range<usize>> {
        let after = self.quotations.partition_point(|quotation| quotation.start <= found.start);
        after.checked_sub(1).and_then(|at| self.quotations.get(at)).filter(|quotation| found.start < quotation.end)
    }
}

/// Finds the closed quotations of a sentence with more than one word of the sentence before or behind them: the strings
/// of data have at most a key before them.
fn find_quotations(sentence: &str, start: usize, quotations: &mut Vec<Range<usize>>) {
    let mut opened: Option<usize> = None;
    let mut before = ' ';
    for (at, c) in sentence.char_indices() {
        let after = at + c.len_utf8();
        let next = || sentence.get(after..).and_then(|rest| rest.chars().next());
        let closes = c == '"' || c == '」' || c == '\'' && !next().is_some_and(char::is_alphanumeric);
        match opened {
            Some(opening) if closes => {
                let has_words = |part: Option<&str>| part.is_some_and(|part| part.trim().contains(' '));
                let opener = opening.saturating_sub(1);
                let is_key = next() == Some(':');
                if c == '」' || !is_key && (has_words(sentence.get(..opener)) || has_words(sentence.get(after..))) {
                    quotations.push(start + opening..start + at);
                }
                opened = None;
            }
            None if matches!(c, '"' | '「') && !before.is_alphanumeric() => opened = Some(after),
            _ => {}
        }
        before = c;
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/quarantine/content/passage.rs"]
mod tests;
