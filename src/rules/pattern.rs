//! Patterns: regular expressions that are compiled when they are first matched.

use super::literal;
use super::prefilter::{self, Groups};
use regex_lite::Regex;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

/// The compiled size in bytes up to which a pattern is accepted.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// Patterns beyond this many bytes cost several times as much to match.
const LARGE_BYTES: usize = 400;

/// A regular expression as written.
#[derive(Clone)]
pub struct Pattern {
    text: Cow<'static, str>,
    /// Groups of literals that a match contains; none if nothing is known about it.
    groups: &'static [u16],
    /// Where a literal stands in `text` that a match contains; empty if none is known.
    literal: Range<usize>,
    compiled: OnceLock<Box<Result<Regex, PatternError>>>,
}

/// Why a pattern cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// The pattern.
    pub pattern: String,
    /// What is wrong.
    pub what: String,
}

impl Pattern {
    /// A pattern; whether it is a valid one is seen when it is compiled.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        let text = text.into();
        let groups = prefilter::required(&text);
        let literal = if groups.is_empty() { literal::required(&text) } else { 0..0 };
        Pattern { text, groups, literal, compiled: OnceLock::new() }
    }

    /// An embedded pattern and the groups of literals that it requires.
    pub(super) const fn embedded(text: &'static str, groups: &'static [u16]) -> Self {
        Pattern { text: Cow::Borrowed(text), groups, literal: 0..0, compiled: OnceLock::new() }
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Compiles it, to see whether that is possible.
    pub fn check(&self) -> Result<(), PatternError> {
        self.regex().map(drop)
    }

    /// Whether it matches somewhere in `text`.
    pub fn matches(&self, text: &str) -> Result<bool, PatternError> {
        self.matches_with(text, &Groups::of(text))
    }

    /// The same for a text that contains these groups of literals.
    pub(crate) fn matches_with(&self, text: &str, groups: &Groups) -> Result<bool, PatternError> {
        let literal = self.text.get(self.literal.clone()).unwrap_or_default();
        Ok(self.could_match(groups) && text.contains(literal) && self.regex()?.is_match(text))
    }

    /// Whether a text that contains these groups of literals could match.
    pub(crate) fn could_match(&self, groups: &Groups) -> bool {
        groups.contain(self.groups)
    }

    /// Whether nothing is known about what its matches contain.
    pub(super) fn is_unfiltered(&self) -> bool {
        self.groups.is_empty()
    }

    /// What it costs to match, as a multiple of an ordinary pattern.
    pub(crate) fn cost(&self) -> usize {
        if self.text.len() < LARGE_BYTES { 1 } else { 10 }
    }

    fn regex(&self) -> Result<&Regex, PatternError> {
        let compiled = self.compiled.get_or_init(|| {
            let built = regex_lite::RegexBuilder::new(&self.text).size_limit(MAX_COMPILED_BYTES).build();
            Box::new(built.map_err(|error| PatternError { pattern: self.text.to_string(), what: error.to_string() }))
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
