//! Absolute, normalised paths, patterns for paths, and zones of the file system.

mod name_set;
mod pattern;
mod place;
pub mod protected;
pub mod zones;

pub use place::Place;

use name_set::NameSet;
pub use pattern::{Extent, Glob, globs, names_overlap, touches, touches_any_home, touches_tree};

use compact_str::CompactString;
use std::fmt;

/// An absolute path without `.`, `..` or empty components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsPath {
    components: Vec<CompactString>,
    /// Whether a component contains a wildcard.
    wild: bool,
    /// For a quick check which names it can contain.
    names: NameSet,
    /// For a quick check of how it ends, see [`pattern::last_byte`].
    end: Option<u8>,
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
    /// Resolves `raw` as a shell does: `~`, then the working directory, then `.` and `..` without following symlinks.
    pub fn resolve(raw: &str, place: &Place) -> Self {
        AbsPath::resolve_in(raw, &place.cwd, place.home.as_deref())
    }

    /// Like [`AbsPath::resolve`], with this working directory and home.
    pub fn resolve_in(raw: &str, cwd: &str, home: Option<&str>) -> Self {
        let home = home.unwrap_or("~");
        let (start, rest) = match raw.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => (home, rest),
            _ if raw.starts_with('/') || is_windows(raw) => ("", raw),
            _ => (cwd, raw),
        };
        let separators = [start, rest].iter().flat_map(|text| text.bytes()).filter(|byte| *byte == b'/').count();
        let components = Vec::with_capacity(separators + 1);
        let mut resolver = Resolver { components, cwd, is_behind_usr_link: false };
        for text in [start, rest] {
            let windows = is_windows(text);
            let mut from = 0;
            for (at, byte) in text.bytes().enumerate() {
                if byte == b'/' || windows && byte == b'\\' {
                    resolver.push(text.get(from..at).unwrap_or_default());
                    from = at + 1;
                }
            }
            resolver.push(text.get(from..).unwrap_or_default());
        }
        AbsPath::of(resolver.components)
    }

    fn of(components: Vec<CompactString>) -> Self {
        let (mut wild, mut names) = (false, NameSet::default());
        for name in &components {
            let is_wild = name.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'['));
            names = names.with(name, is_wild);
            wild |= is_wild;
        }
        let end = components.last().and_then(|name| pattern::last_byte(name));
        AbsPath { components, wild, names, end }
    }

    /// All components but the last.
    pub fn directories(&self) -> &[CompactString] {
        self.components.split_last().map_or(&[], |(_, directories)| directories)
    }

    /// The path of the first `components` components.
    pub fn head(&self, components: usize) -> AbsPath {
        AbsPath::of(self.components.iter().take(components).cloned().collect())
    }

    /// All components.
    pub fn components(&self) -> &[CompactString] {
        &self.components
    }

    /// The length of its text in bytes; 0 for the root.
    pub fn bytes(&self) -> usize {
        self.components.iter().map(|name| name.len() + 1).sum()
    }

    /// Whether the path lies in `directory`, at any depth.
    pub fn is_below(&self, directory: &AbsPath) -> bool {
        self.directories().starts_with(&directory.components)
    }
}

/// Builds the components of a path, one name after the other.
struct Resolver<'a> {
    components: Vec<CompactString>,
    cwd: &'a str,
    /// The path is `/usr` because of `..` behind `/bin` or a directory like it, which may be a link into `/usr`.
    is_behind_usr_link: bool,
}

impl Resolver<'_> {
    fn push(&mut self, name: &str) {
        match name {
            "" | "." => {}
            ".." => self.leave_directory(),
            name => {
                // Where `/bin` is a directory of its own, the directory above it is the root.
                if std::mem::take(&mut self.is_behind_usr_link) && !USR_DIRECTORIES.contains(&name) {
                    self.components.clear();
                }
                self.components.push(name.into());
                self.strip_root_alias();
            }
        }
    }

    /// Removes a beginning that leads back to the root: `/proc/self/root`, and the data volume of macOS.
    fn strip_root_alias(&mut self) {
        let length = match self.components.as_slice() {
            [proc, _, root] if proc == "proc" && root == "root" => 3,
            [proc, _, task, _, root] if proc == "proc" && task == "task" && root == "root" => 5,
            [system, volumes, _, users] if system == "System" && volumes == "Volumes" && users == "Users" => 3,
            _ => return,
        };
        self.components.drain(..length);
    }

    /// Removes the last component. Behind a link that every system has, `..` is the directory above where the link leads.
    fn leave_directory(&mut self) {
        self.is_behind_usr_link = false;
        let names: [&str; 3] = [0, 1, 2].map(|at| self.components.get(at).map_or("", CompactString::as_str));
        let above: &[&str] = match (self.components.len(), names) {
            (1, ["bin" | "sbin" | "lib" | "lib32" | "lib64" | "libx32", ..]) => {
                self.is_behind_usr_link = true;
                &["usr"]
            }
            (2, ["dev", "fd", _]) if cfg!(target_os = "linux") => &["proc", "self"],
            (2, ["var", "run", _]) if cfg!(target_os = "linux") => &[],
            (2, ["var", "lock", _]) if cfg!(target_os = "linux") => &["run"],
            (3, ["proc", _, "cwd"]) => {
                let above = self.cwd.trim_end_matches('/').rsplit_once('/').map_or("", |(above, _)| above);
                let names = above.split('/').filter(|name| !name.is_empty());
                self.components = names.map(CompactString::from).collect();
                return;
            }
            _ => {
                self.components.pop();
                return;
            }
        };
        self.components = above.iter().map(|name| CompactString::from(*name)).collect();
    }
}

/// Directories of `/usr`, as far as the root does not have others of the same name.
const USR_DIRECTORIES: [&str; 12] =
    ["bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "share", "local", "include", "games", "src"];

/// Whether a path starts with a drive letter or a share. In such a path `\` is a separator, in others a normal character.
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
