//! The files of the policy: those that ship with the binary, and how a newer one meets an operator's edits.

use crate::encoding::hex::digest;
use crate::policy::{DEFAULT, Layer, PRESETS};
use crate::rules::{self, Owner, RuleKind};
use std::cmp::Ordering;

/// A file that ships with the binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// Its name below the directory of the policy.
    pub name: String,
    /// Its text.
    pub text: &'static str,
}

/// The SHA-256 of each of these files by its name, from when the binary was built.
const DIGESTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/digests.rs"));

/// All files that ship with the binary.
pub fn shipped() -> Vec<Shipped> {
    let presets = PRESETS.iter().map(|(name, text)| Shipped { name: format!("presets/{name}.toml"), text });
    let rules = RuleKind::ALL.iter().map(|(_, name, text)| Shipped { name: format!("rules/{name}.rules"), text });
    [Shipped { name: DEFAULT.0.to_owned(), text: DEFAULT.1 }].into_iter().chain(presets).chain(rules).collect()
}

/// What lies on the disk for one of these files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    /// The file that is in force.
    pub mine: Option<String>,
    /// What we wrote there, before anybody edited it.
    pub base: Option<String>,
    /// An earlier default that waits beside the file for a person to look at.
    pub waiting: Option<String>,
}

/// What an update does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is the default already.
    Same,
    /// The default has not changed; the edits in the file stay.
    Edited,
    /// There is none, and the default is written.
    Write,
    /// Nobody has edited it, and the default takes its place.
    Replace,
    /// The edits and the new default go together as this text.
    Merge(String),
    /// It stays, and the new default is put beside it.
    Beside(Conflict),
    /// It stays: it is newer than what ships here.
    Newer,
}

/// Why a person has to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The edits and the new default do not go together.
    Conflict,
    /// What the edits were made to is not known.
    NoBase,
    /// An earlier default still waits.
    Waiting,
    /// What waits is none of ours any more: somebody works on it.
    WorkedOn,
}

impl Shipped {
    /// The hex digits of its SHA-256.
    pub fn digest(&self) -> String {
        let known = DIGESTS.iter().find(|(name, _)| *name == self.name);
        known.map_or_else(|| digest(self.text.as_bytes()), |(_, digest)| (*digest).to_owned())
    }

    /// What an update does to this file.
    pub fn step(&self, found: &Installed) -> Step {
        let Some(mine) = found.mine.as_deref() else { return Step::Write };
        if mine == self.text {
            return Step::Same;
        }
        let newer = |text: &str| compare(version(text), version(self.text)) == Ordering::Greater;
        if newer(mine) || found.base.as_deref().is_some_and(newer) {
            return Step::Newer;
        }
        match found.base.as_deref() {
            _ if self.is_worked_on(found) => Step::Beside(Conflict::WorkedOn),
            _ if found.waiting.is_some() => Step::Beside(Conflict::Waiting),
            None => Step::Beside(Conflict::NoBase),
            Some(base) if base == self.text => Step::Edited,
            Some(base) if base == mine => Step::Replace,
            Some(base) => match diffy::merge(base, mine, self.text) {
                Ok(text) if self.reads(&text) => Step::Merge(text),
                Ok(_) | Err(_) => Step::Beside(Conflict::Conflict),
            },
        }
    }

    /// Whether what waits beside the file is something that we did not put there.
    pub fn is_worked_on(&self, found: &Installed) -> bool {
        found.waiting.as_deref().is_some_and(|waiting| waiting != self.text && found.base.as_deref() != Some(waiting))
    }

    /// Whether a text can stand in for this file.
    fn reads(&self, text: &str) -> bool {
        match self.name.strip_prefix("rules/").and_then(RuleKind::of_file) {
            Some(kind) => rules::parse(text, &self.name, kind, Owner::Operator).1.is_empty(),
            None => Layer::read(text, &self.name).is_ok(),
        }
    }
}

/// The version that a file says it is of: `# version: 1.0.0`, or `version = "1.0.0"`.
pub fn version(text: &str) -> Option<&str> {
    text.lines().find_map(said).map(|version| version.trim().trim_matches('"'))
}

fn said(line: &str) -> Option<&str> {
    line.strip_prefix("# version:").or_else(|| line.strip_prefix("version")?.trim_start().strip_prefix('='))
}

/// What is no version is older than any.
fn compare(one: Option<&str>, other: Option<&str>) -> Ordering {
    let numbers =
        |version: Option<&str>| -> Option<Vec<u64>> { version?.split('.').map(|number| number.parse().ok()).collect() };
    numbers(one).cmp(&numbers(other))
}

#[cfg(test)]
#[path = "../../tests/unit/policy/update.rs"]
mod tests;
