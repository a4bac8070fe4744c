//! Patterns: regular expressions, compiled when they are first needed.

use super::literal;
use super::prefilter::{self, Groups};
use regex_lite::Regex;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

/// The largest compiled size of a pattern that is accepted.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// The length from which on a pattern counts as large: it costs several times as much to match.
const LARGE_BYTES: usize = 400;

/// A regular expression.
#[derive(Clone)]
pub struct Pattern {
    text: Cow<'static, str>,
    /// The groups of literals that every match contains; empty if the prefilter does not know the pattern.
    groups: &'static [u16],
    /// Where a literal stands in `text` that a match contains; empty if none is known.
    literal: Range<usize>,
    compiled: OnceLock<Box<Result<Regex, PatternError>>>,
}

/// A pattern that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub message: String,
}

impl Pattern {
    /// A pattern that is not compiled yet, so it may be invalid.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        let text = text.into();
        let groups = prefilter::required_in_call(&text);
        Pattern::with_groups(text, groups)
    }

    /// The same for a pattern that is matched with results only.
    pub(super) fn for_results(text: String) -> Self {
        let groups = prefilter::required(&text);
        Pattern::with_groups(text.into(), groups)
    }

    fn with_groups(text: Cow<'static, str>, groups: &'static [u16]) -> Self {
        let literal = if groups.is_empty() { literal::required(&text) } else { 0..0 };
        Pattern { text, groups, literal, compiled: OnceLock::new() }
    }

    /// An embedded pattern and the groups of literals that it requires.
    pub(super) const fn embedded(text: &'static str, groups: &'static [u16]) -> Self {
        Pattern { text: Cow::Borrowed(text), groups, literal: 0..0, compiled: OnceLock::new() }
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Compiles the pattern, and returns the error if it is invalid.
    pub fn check(&self) -> Result<(), PatternError> {
        self.regex().map(drop)
    }

    /// Whether the pattern matches somewhere in `text`.
    pub fn matches(&self, text: &str) -> Result<bool, PatternError> {
        self.matches_with(text, &Groups::find_in(text))
    }

    /// The same for a text whose groups of literals are known.
    pub(crate) fn matches_with(&self, text: &str, groups: &Groups) -> Result<bool, PatternError> {
        let literal = self.text.get(self.literal.clone()).unwrap_or_default();
        Ok(self.could_match(groups) && text.contains(literal) && self.regex()?.is_match(text))
    }

    /// The first match that begins at `from` or later, in a text whose groups of literals are known.
    pub(crate) fn find_from(
        &self,
        text: &str,
        from: usize,
        groups: &Groups,
    ) -> Result<Option<Range<usize>>, PatternError> {
        let literal = self.text.get(self.literal.clone()).unwrap_or_default();
        let possible = self.could_match(groups) && from <= text.len() && text.contains(literal);
        let found = || Ok(self.regex()?.find_at(text, from).map(|found| found.range()));
        if possible { found() } else { Ok(None) }
    }

    /// Whether a text with these groups of literals may match.
    pub(crate) fn could_match(&self, groups: &Groups) -> bool {
        groups.contain_all(self.groups)
    }

    /// Whether the prefilter can never rule the pattern out.
    pub(super) fn is_unfiltered(&self) -> bool {
        self.groups.is_empty()
    }

    /// The cost of matching, as a multiple of an ordinary pattern.
    pub(crate) fn cost(&self) -> usize {
        if self.text.len() < LARGE_BYTES { 1 } else { 10 }
    }

    fn regex(&self) -> Result<&Regex, PatternError> {
        let compiled = self.compiled.get_or_init(|| {
            let built = regex_lite::RegexBuilder::new(&self.text).size_limit(MAX_COMPILED_BYTES).build();
            Box::new(built.map_err(|error| PatternError { pattern: self.text.to_string(), message: error.to_string() }))
        });
        compiled.as_ref().as_ref().map_err(Clone::clone)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.as_str())
    }
}
