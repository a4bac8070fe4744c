//! Findings: what is wrong, where, and what to do about it.

use serde::Serialize;
use std::fmt;

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its name, which stays the same whatever the words.
    pub id: &'static str,
    /// The file, with line and column where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    pub what: String,
    pub advice: String,
}

impl Finding {
    pub fn new(id: &'static str, what: impl Into<String>, advice: impl Into<String>) -> Finding {
        Finding { id, place: None, what: what.into(), advice: advice.into() }
    }

    /// The same with its place.
    pub fn at(self, place: impl Into<String>) -> Finding {
        Finding { place: Some(place.into()), ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.iter().map(|place| format!("{place}: ")).collect::<String>();
        write!(f, "{place}{} ({})\n  help: {}", self.what, self.id, self.advice)
    }
}
