//! Patterns: regular expressions that are compiled only where they could match.

use super::excerpt::Excerpt;
use super::gist::{Gist, Letters, may_match};
use super::glance::begins_otherwise;
use regex_lite::Regex;
use std::cell::OnceCell;
use std::fmt;

/// Texts beyond this are long.
const LONG: usize = 128;

/// Patterns beyond this are large.
const LARGE: usize = 400;

/// A regular expression as written.
#[derive(Clone)]
pub struct Pattern {
    text: Excerpt,
    /// Its gist, known since the build or found out when it was first looked at.
    known: Option<&'static Gist>,
    /// Its number among the patterns that clues lead to.
    number: Option<u16>,
    found: OnceCell<Box<Gist>>,
    compiled: OnceCell<Box<Result<Regex, PatternError>>>,
}

/// Why a pattern is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// The pattern.
    pub pattern: String,
    /// What is wrong.
    pub what: String,
}

impl Pattern {
    /// A pattern; whether it is a valid one is seen when it is compiled.
    pub fn new(text: impl Into<Excerpt>) -> Self {
        Pattern { text: text.into(), known: None, number: None, found: OnceCell::new(), compiled: OnceCell::new() }
    }

    /// A pattern whose gist is known.
    pub(super) fn known(text: Excerpt, gist: &'static Gist, number: Option<u16>) -> Self {
        Pattern { known: Some(gist), number, ..Pattern::new(text) }
    }

    /// Its number among the patterns that clues lead to.
    pub(super) fn number(&self) -> Option<u16> {
        self.number
    }

    /// What it costs to match, compared with others.
    pub(super) fn effort(&self) -> usize {
        if self.as_str().len() < LARGE { 1 } else { 10 }
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        self.text.as_str()
    }

    /// Compiles it, to see whether it can be.
    pub fn check(&self) -> Result<(), PatternError> {
        self.regex().map(drop)
    }

    /// Whether it matches somewhere in `text`.
    pub fn matches(&self, text: &str) -> Result<bool, PatternError> {
        Ok(self.could_match(&Letters::of(text)) && self.is_match(text)?)
    }

    /// The same of a text whose letters are the right ones.
    pub(super) fn is_match(&self, text: &str) -> Result<bool, PatternError> {
        // Of a long text, looking for its words costs less than matching. Whoever follows clues has seen most of them,
        // but large patterns cost much more.
        let led = self.number.is_some() && self.as_str().len() < LARGE;
        let unsure = !led && (self.compiled.get().is_none() || text.len() > LONG);
        if unsure && !may_match(self.as_str(), text) {
            return Ok(false);
        }
        Ok(self.regex()?.is_match(text))
    }

    /// Whether a text with these letters could match.
    #[inline]
    pub(super) fn could_match(&self, letters: &Letters) -> bool {
        let known = self.known.or_else(|| self.found.get().map(AsRef::as_ref));
        let gist = match known {
            Some(gist) => gist,
            // Of thousands of rules, most are gone after a glance.
            None if begins_otherwise(self.as_str(), |byte| letters.begin_with(byte)) => return false,
            None => self.found.get_or_init(|| Box::new(Gist::of(self.as_str()))),
        };
        gist.allows(letters)
    }

    fn regex(&self) -> Result<&Regex, PatternError> {
        let compiled = self.compiled.get_or_init(|| {
            let built = regex_lite::RegexBuilder::new(self.as_str()).size_limit(1 << 20).build();
            Box::new(built.map_err(|error| PatternError { pattern: self.as_str().to_owned(), what: error.to_string() }))
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
