//! A layer of the policy as it is written: one TOML file.

use super::Results;
use crate::verdict::Effect;
use serde::Deserialize;
use std::fmt;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawLayer {
    preset: Option<String>,
    #[serde(rename = "meta")]
    _meta: RawMeta,
    decision: RawDecision,
    quarantine: RawQuarantine,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawMeta {
    #[serde(rename = "version")]
    _version: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawDecision {
    failure: Option<RawFailure>,
}

/// There is no `pass`: a failure never lets a call through.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawFailure {
    Ask,
    Deny,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawQuarantine {
    results: Option<RawResults>,
    trusted: Vec<String>,
    untrusted: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawResults {
    Notice,
    Silent,
}

/// One file of the policy, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// The preset that it names.
    pub preset: Option<String>,
    pub(super) failure: Option<Effect>,
    pub(super) results: Option<Results>,
    pub(super) trusted: Vec<String>,
    pub(super) untrusted: Vec<String>,
}

/// Where and why a layer cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerError {
    file: String,
    line: usize,
    column: usize,
    what: String,
    help: Option<String>,
}

impl Layer {
    /// Reads the text of `file`.
    pub fn read(text: &str, file: &str) -> Result<Layer, LayerError> {
        let raw: RawLayer = toml::from_str(text).map_err(|error| LayerError::new(&error, text, file))?;
        Ok(Layer {
            preset: raw.preset,
            failure: raw.decision.failure.map(|failure| match failure {
                RawFailure::Ask => Effect::Ask,
                RawFailure::Deny => Effect::Deny,
            }),
            results: raw.quarantine.results.map(|results| match results {
                RawResults::Notice => Results::Notice,
                RawResults::Silent => Results::Silent,
            }),
            trusted: raw.quarantine.trusted,
            untrusted: raw.quarantine.untrusted,
        })
    }
}

impl LayerError {
    fn new(error: &toml::de::Error, text: &str, file: &str) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let what = error.message().lines().next().unwrap_or_default().to_owned();
        // "unknown field `x`, expected one of `a`, `b`": the first name is theirs, the others are ours.
        let mut names = what.split('`').skip(1).step_by(2);
        let near = names.next().and_then(|wrong| nearest(wrong, names)).map(|name| format!("did you mean `{name}`?"));
        let (what, expected) = what.split_once(", expected ").map_or((what.as_str(), None), |(a, b)| (a, Some(b)));
        LayerError {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1,
            what: what.to_owned(),
            help: near.or_else(|| expected.map(|expected| format!("expected {expected}"))),
        }
    }
}

impl fmt::Display for LayerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LayerError { file, line, column, what, help } = self;
        write!(f, "{file}:{line}:{column}: {what}")?;
        help.as_ref().map_or(Ok(()), |help| write!(f, "\n  help: {help}"))
    }
}

/// The name that was probably meant, if one is close.
pub fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let close = (wrong.chars().count() / 3).min(2);
    names.map(|name| (distance(wrong, name), name)).filter(|(edits, _)| *edits <= close).min().map(|(_, name)| name)
}

/// How many characters to insert, delete or replace.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (to, cell) in b.chars().zip(row.iter_mut().skip(1)) {
            let best = (diagonal + usize::from(from != to)).min(left + 1).min(*cell + 1);
            diagonal = std::mem::replace(cell, best);
            left = best;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_where_what_and_what_now() {
        for (text, expected) in [
            ("prset = 'x'", "f.toml:1:1: unknown field `prset`\n  help: did you mean `preset`?"),
            (
                "\n[quarantine]\n  results = 'wrapp'",
                "f.toml:3:13: unknown variant `wrapp`\n  help: expected `notice` or `silent`",
            ),
            ("[decision]\nfailure = 'pass'", "f.toml:2:11: unknown variant `pass`\n  help: expected `ask` or `deny`"),
            ("[decision]\nfailure = 'denny'", "f.toml:2:11: unknown variant `denny`\n  help: did you mean `deny`?"),
        ] {
            assert_eq!(
                Layer::read(text, "f.toml").map(drop).map_err(|error| error.to_string()),
                Err(expected.to_owned())
            );
        }
        assert!(Layer::read("a = ", "f.toml").is_err_and(|error| error.to_string().starts_with("f.toml:1:")));
    }

    #[test]
    fn distance_counts_edits() {
        for (a, b, edits) in [("", "", 0), ("abc", "abc", 0), ("abc", "acb", 2), ("prset", "preset", 1), ("a", "", 1)] {
            assert_eq!(distance(a, b), edits, "{a} {b}");
        }
    }
}
