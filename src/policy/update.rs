//! Updates of the installed policy files: how a new embedded file is merged with the operator's edits.

use crate::encoding::hex::digest;
use crate::policy::merge::{merge_rules, merge_settings};
use crate::policy::{DEFAULT, Layer, PRESETS};
use crate::rules::{self, Owner, RuleKind};
use std::cmp::Ordering;

pub use crate::policy::merge::Merged;

/// A policy file that is embedded in the binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedFile {
    /// The path below the policy directory.
    pub name: String,
    /// The text.
    pub text: &'static str,
}

/// The SHA-256 of each embedded file, computed by the build script: `(name, hex)`.
const DIGESTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/digests.rs"));

/// Returns all embedded files.
pub fn embedded_files() -> Vec<EmbeddedFile> {
    let presets = PRESETS.iter().map(|(name, text)| EmbeddedFile { name: format!("presets/{name}.toml"), text });
    let file = |kind: RuleKind| EmbeddedFile { name: format!("rules/{}.rules", kind.name()), text: kind.embedded() };
    let rules = RuleKind::all().into_iter().map(file);
    [EmbeddedFile { name: DEFAULT.0.to_owned(), text: DEFAULT.1 }].into_iter().chain(presets).chain(rules).collect()
}

/// The installed versions of an embedded file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    /// The file in force.
    pub current: Option<String>,
    /// The embedded text that the operator's edits started from.
    pub base: Option<String>,
    /// The embedded text that an earlier update wrote beside the file, for the operator to merge.
    pub pending: Option<String>,
}

/// What an update does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileUpdate {
    /// Do nothing: the file is the embedded one.
    Unchanged,
    /// Keep the edited file: the embedded one has not changed.
    KeepEdited,
    /// Write the file: there is none.
    Write,
    /// Replace the file: it has no edits.
    Replace,
    /// Replace the file by this merge of its edits and the embedded one.
    Merge(Merged),
    /// Keep the file, and write the embedded one beside it.
    WriteBeside(Conflict),
    /// Keep the file: its version is newer than the embedded one.
    KeepNewer,
}

/// Why the operator must merge by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The edits conflict with the embedded file, or the merged file would be invalid.
    Unmergeable,
    /// The text that the edits started from is not known.
    UnknownBase,
    /// The file that an earlier update wrote beside this one has not been merged yet.
    Pending,
    /// The operator has edited that file.
    PendingEdited,
}

impl EmbeddedFile {
    /// The SHA-256 of the text in hex.
    pub fn digest(&self) -> String {
        let known = DIGESTS.iter().find(|(name, _)| *name == self.name);
        known.map_or_else(|| digest(self.text.as_bytes()), |(_, digest)| (*digest).to_owned())
    }

    /// Decides what an update does to the installed file.
    pub fn plan_update(&self, installed: &Installed) -> FileUpdate {
        let Some(current) = installed.current.as_deref() else { return FileUpdate::Write };
        if current == self.text {
            return FileUpdate::Unchanged;
        }
        let newer = |text: &str| compare(version(text), version(self.text)) == Ordering::Greater;
        if newer(current) || installed.base.as_deref().is_some_and(newer) {
            return FileUpdate::KeepNewer;
        }
        match installed.base.as_deref() {
            _ if self.is_pending_edited(installed) => FileUpdate::WriteBeside(Conflict::PendingEdited),
            _ if installed.pending.is_some() => FileUpdate::WriteBeside(Conflict::Pending),
            None => FileUpdate::WriteBeside(Conflict::UnknownBase),
            Some(base) if base == self.text => FileUpdate::KeepEdited,
            Some(base) if base == current => FileUpdate::Replace,
            Some(base) => match self.merge(base, current) {
                Some(merged) => FileUpdate::Merge(merged),
                None => FileUpdate::WriteBeside(Conflict::Unmergeable),
            },
        }
    }

    /// Merges the embedded text with the operator's edits: by lines, else rule by rule or key by key.
    fn merge(&self, base: &str, current: &str) -> Option<Merged> {
        let by_lines = diffy::merge(base, current, self.text).ok().map(|text| Merged { text, kept: Vec::new() });
        let by_parts = || match self.rule_kind() {
            Some(_) => Some(merge_rules(base, current, self.text)),
            None => merge_settings(base, current, self.text),
        };
        let is_valid = |merged: &Merged| self.is_valid(&merged.text);
        by_lines.filter(is_valid).or_else(by_parts).filter(is_valid)
    }

    /// The kind of its rules, for a file of rules.
    fn rule_kind(&self) -> Option<RuleKind> {
        self.name.strip_prefix("rules/").and_then(RuleKind::from_file_name)
    }

    /// Whether the pending file is neither the embedded text nor the one that was installed before.
    pub fn is_pending_edited(&self, installed: &Installed) -> bool {
        let base = installed.base.as_deref();
        installed.pending.as_deref().is_some_and(|pending| pending != self.text && base != Some(pending))
    }

    /// Whether a text is a valid version of this file.
    fn is_valid(&self, text: &str) -> bool {
        match self.rule_kind() {
            Some(kind) => rules::parse(text, &self.name, kind, Owner::Operator).1.is_empty(),
            None => Layer::read(text, &self.name).is_ok(),
        }
    }
}

/// Returns the version in a policy file: `# version: 1.0.0`, or `version = "1.0.0"`.
pub fn version(text: &str) -> Option<&str> {
    text.lines().find_map(version_value).map(|version| version.trim().trim_matches('"'))
}

fn version_value(line: &str) -> Option<&str> {
    line.strip_prefix("# version:").or_else(|| line.strip_prefix("version")?.trim_start().strip_prefix('='))
}

/// Compares two versions. A missing or invalid version is older than any other.
fn compare(one: Option<&str>, other: Option<&str>) -> Ordering {
    let numbers =
        |version: Option<&str>| -> Option<Vec<u64>> { version?.split('.').map(|number| number.parse().ok()).collect() };
    numbers(one).cmp(&numbers(other))
}

#[cfg(test)]
#[path = "../../tests/unit/policy/update.rs"]
mod tests;
