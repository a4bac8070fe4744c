//! Paths: from the words of an event to absolute, normalised components.

mod names;
mod pattern;
mod place;
pub mod zones;

pub use place::Place;

use names::Names;
pub use pattern::{Extent, Glob, globs, names_overlap, touches, touches_any_home, touches_tree};

use compact_str::CompactString;
use std::fmt;

/// An absolute path without `.`, `..` or empty components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsPath {
    components: Vec<CompactString>,
    /// A name in it may be a pattern.
    wild: bool,
    /// Its names at a glance.
    names: Names,
}

impl fmt::Display for AbsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from(self))
    }
}

impl From<&AbsPath> for String {
    fn from(path: &AbsPath) -> String {
        let length = path.components.iter().map(|name| name.len() + 1).sum::<usize>();
        let mut text = String::with_capacity(length.max(1));
        for name in &path.components {
            text.push('/');
            text.push_str(name);
        }
        if text.is_empty() {
            text.push('/');
        }
        text
    }
}

impl AbsPath {
    /// Resolves `raw` as the shell would from `place`: home, directory in force, then `.` and `..` by their letters.
    pub fn resolve(raw: &str, place: &Place) -> Self {
        AbsPath::resolve_in(raw, &place.cwd, place.home.as_deref())
    }

    /// The same from this directory and with this home.
    pub fn resolve_in(raw: &str, cwd: &str, home: Option<&str>) -> Self {
        let home = home.unwrap_or("~");
        let (start, rest) = match raw.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => (home, rest),
            _ if raw.starts_with('/') || is_windows(raw) => ("", raw),
            _ => (cwd, raw),
        };
        let turns = [start, rest].iter().flat_map(|text| text.bytes()).filter(|byte| *byte == b'/').count();
        let mut components: Vec<CompactString> = Vec::with_capacity(turns + 1);
        for text in [start, rest] {
            let windows = is_windows(text);
            let mut from = 0;
            for (at, byte) in text.bytes().enumerate() {
                if byte == b'/' || windows && byte == b'\\' {
                    step(&mut components, text.get(from..at).unwrap_or_default());
                    from = at + 1;
                }
            }
            step(&mut components, text.get(from..).unwrap_or_default());
        }
        AbsPath::of(components)
    }

    fn of(components: Vec<CompactString>) -> Self {
        let (mut wild, mut names) = (false, Names::default());
        for name in &components {
            let is_wild = name.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'['));
            names = names.with(name, is_wild);
            wild |= is_wild;
        }
        AbsPath { components, wild, names }
    }

    /// Whether a name in it may be a pattern.
    fn is_wild(&self) -> bool {
        self.wild
    }

    /// Which names it holds.
    fn names(&self) -> Names {
        self.names
    }

    /// The directories that the file lies in, outermost first.
    pub fn directories(&self) -> &[CompactString] {
        self.components.split_last().map_or(&[], |(_, directories)| directories)
    }

    /// The path of its first components.
    pub fn head(&self, components: usize) -> AbsPath {
        AbsPath::of(self.components.iter().take(components).cloned().collect())
    }

    /// All components, the last one included.
    pub fn components(&self) -> &[CompactString] {
        &self.components
    }

    /// How long its text is.
    pub fn bytes(&self) -> usize {
        self.components.iter().map(|name| name.len() + 1).sum()
    }

    /// Whether this lies in `directory`, at any depth.
    pub fn is_below(&self, directory: &AbsPath) -> bool {
        self.directories().starts_with(&directory.components)
    }
}

/// Goes on by one component.
fn step(components: &mut Vec<CompactString>, name: &str) {
    match name {
        "" | "." => {}
        ".." => drop(components.pop()),
        name => components.push(name.into()),
    }
}

/// A drive letter or a share: there `\` separates, elsewhere it is an ordinary character of a name.
fn is_windows(path: &str) -> bool {
    let mut bytes = path.bytes();
    match (bytes.next(), bytes.next(), bytes.next()) {
        (Some(drive), Some(b':'), Some(b'\\' | b'/')) => drive.is_ascii_alphabetic(),
        (Some(b'\\'), Some(b'\\'), _) => true,
        _ => false,
    }
}

#[cfg(test)]
#[path = "../tests/unit/path.rs"]
mod tests;
