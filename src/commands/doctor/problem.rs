//! Problems: what is wrong, where, and the remedy.

use serde::Serialize;
use std::fmt;

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The stable name.
    pub id: &'static str,
    /// The file, with line and column if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    pub what: String,
    pub advice: String,
}

impl Problem {
    pub fn new(id: &'static str, what: impl Into<String>, advice: impl Into<String>) -> Problem {
        Problem { id, place: None, what: what.into(), advice: advice.into() }
    }

    /// Adds the place.
    pub fn at(self, place: impl Into<String>) -> Problem {
        Problem { place: Some(place.into()), ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.iter().map(|place| format!("{place}: ")).collect::<String>();
        write!(f, "{place}{} ({})\n  help: {}", self.what, self.id, self.advice)
    }
}
