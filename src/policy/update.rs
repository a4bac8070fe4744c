//! The files of the policy: those that ship with the binary, and how a newer one meets an operator's edits.

use crate::encoding::hex::digest;
use crate::policy::{DEFAULT, Layer, PRESETS};
use crate::rules::{self, Kind, Owner};
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
    let rules = Kind::ALL.iter().map(|(_, name, text)| Shipped { name: format!("rules/{name}.rules"), text });
    [Shipped { name: DEFAULT.0.to_owned(), text: DEFAULT.1 }].into_iter().chain(presets).chain(rules).collect()
}

/// What lies on the disk for one of these files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
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
    Beside(Doubt),
    /// It stays: it is newer than what ships here.
    Newer,
}

/// Why a person has to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
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
    pub fn step(&self, found: &Found) -> Step {
        let Some(mine) = found.mine.as_deref() else { return Step::Write };
        if mine == self.text {
            return Step::Same;
        }
        let newer = |text: &str| compare(version(text), version(self.text)) == Ordering::Greater;
        if newer(mine) || found.base.as_deref().is_some_and(newer) {
            return Step::Newer;
        }
        match found.base.as_deref() {
            _ if self.is_worked_on(found) => Step::Beside(Doubt::WorkedOn),
            _ if found.waiting.is_some() => Step::Beside(Doubt::Waiting),
            None => Step::Beside(Doubt::NoBase),
            Some(base) if base == self.text => Step::Edited,
            Some(base) if base == mine => Step::Replace,
            Some(base) => match diffy::merge(base, mine, self.text) {
                Ok(text) if self.reads(&text) => Step::Merge(text),
                Ok(_) | Err(_) => Step::Beside(Doubt::Conflict),
            },
        }
    }

    /// Whether what waits beside the file is something that we did not put there.
    pub fn is_worked_on(&self, found: &Found) -> bool {
        found.waiting.as_deref().is_some_and(|waiting| waiting != self.text && found.base.as_deref() != Some(waiting))
    }

    /// Whether a text can stand in for this file.
    fn reads(&self, text: &str) -> bool {
        match self.name.strip_prefix("rules/").and_then(Kind::of_file) {
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
mod tests {
    use super::*;

    const OLD: &str =
        "# version: 1.0.0\n\nblock \"a\"\n  match a\n  nudge \"A\"\n\nblock \"b\"\n  match b\n  nudge \"B\"\n";
    const NEW: &str =
        "# version: 1.1.0\n\nblock \"a\"\n  match a\n  nudge \"A\"\n\nblock \"b\"\n  match b+\n  nudge \"B\"\n";

    fn step(mine: &str, base: Option<&str>, waiting: Option<&str>) -> Step {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let found = Found { mine: Some(mine.to_owned()), base: owned(base), waiting: owned(waiting) };
        Shipped { name: "rules/bash.rules".to_owned(), text: NEW }.step(&found)
    }

    #[test]
    fn a_file_that_nobody_edited_follows_the_default() {
        assert_eq!(step(NEW, None, None), Step::Same);
        assert_eq!(step(OLD, Some(OLD), None), Step::Replace);
        assert_eq!(shipped().first().map(|file| file.step(&Found::default())), Some(Step::Write));
    }

    #[test]
    fn edits_survive() {
        let edited = OLD.replace("match a", "match aa");
        assert_eq!(step(&edited, Some(OLD), None), Step::Merge(NEW.replace("match a", "match aa")));
        assert_eq!(step(&NEW.replace("match a", "match aa"), Some(NEW), None), Step::Edited);
    }

    #[test]
    fn a_person_looks_where_we_cannot_know() {
        let edited = OLD.replace("match b", "match bb");
        assert_eq!(step(&edited, Some(OLD), None), Step::Beside(Doubt::Conflict));
        assert_eq!(step(&edited, None, None), Step::Beside(Doubt::NoBase));
        assert_eq!(step(&edited, Some(NEW), Some(NEW)), Step::Beside(Doubt::Waiting));
        assert_eq!(step(&edited, Some(OLD), Some(OLD)), Step::Beside(Doubt::Waiting), "of an earlier version");
        assert_eq!(step(&edited, Some(OLD), Some(&edited)), Step::Beside(Doubt::WorkedOn));
        assert_eq!(step(&edited, Some(NEW), None), Step::Edited, "they have looked");
        // It merges, and the result is no file of rules.
        let broken = OLD.replace("  match a\n", "  mach a\n");
        assert_eq!(step(&broken, Some(OLD), None), Step::Beside(Doubt::Conflict));
    }

    #[test]
    fn nothing_goes_back_to_an_older_version() {
        for version in ["1.2.0", "1.10.0", "2", "1.1.0.1"] {
            let newer = OLD.replace("1.0.0", version);
            assert_eq!(step(&newer, Some(&newer), None), Step::Newer, "{version}");
            assert_eq!(step(&newer, None, None), Step::Newer, "{version}");
        }
        assert_eq!(step(&OLD.replace("1.0.0", "1.0.12"), None, None), Step::Beside(Doubt::NoBase));
    }

    #[test]
    fn every_file_that_ships_reads_and_has_a_version() {
        for file in shipped() {
            assert!(file.reads(file.text), "{}", file.name);
            assert!(compare(version(file.text), None) == Ordering::Greater, "{}", file.name);
            assert!(DIGESTS.contains(&(&file.name, &digest(file.text.as_bytes()))), "{}", file.name);
        }
        assert_eq!(version("[meta]\nversion = \"1.2.3\"\n"), Some("1.2.3"));
        assert_eq!(version("block \"version\"\n  match version\n"), None);
    }
}
