//! Protected targets: the classes of files in `rules/paths.toml`, compiled in at build time.

use super::pattern::{
    Anchors, Extent, Glob, first_places, is_extension, is_search, last_byte, names_overlap, touches, touches_any_home,
};
use super::{AbsPath, globs};
use compact_str::CompactString;
use std::cmp::Ordering;

/// A class of protected files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Settings that tools keep in the home directory. Many hold a token.
    ToolSettings,
    /// Files that hold private keys, by their endings. They may be created.
    KeyFiles,
    /// What tools keep in hidden directories under names that say that it is secret.
    ToolSecrets,
    /// Secrets of a project, and what people have typed.
    Secrets,
    /// What git, clients and editors obey in directories that hold much else.
    Repository,
    /// Directories with credentials and their settings.
    Credentials,
    /// What runs by itself when a shell, a session or the machine starts.
    Startup,
    /// Keys, passwords and tokens.
    Keys,
    /// What guards the session.
    Guard,
}

/// What a use that is not explained counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorstUse {
    /// The content is read.
    Read,
    /// The file is written.
    Write,
}

/// A class with its files.
struct Files {
    class: Class,
    worst: WorstUse,
    files: &'static [Glob<'static>],
    except: &'static [Glob<'static>],
    /// The patterns that say where their first name is: in the home directory, or in the root directory.
    anchored: NameIndex,
    /// The patterns whose first name may be at any depth.
    floating: NameIndex,
}

/// The positions of patterns by their first names.
struct NameIndex {
    /// The first names in lower case, in order.
    by_name: &'static [(&'static str, &'static [usize])],
    /// The patterns whose first name has a wildcard.
    unnamed: &'static [usize],
}

impl NameIndex {
    /// The patterns whose first name may be one of these; all patterns without a list.
    fn find<'p>(&'p self, names: Option<impl Iterator<Item = &'p CompactString>>) -> impl Iterator<Item = usize> {
        let all = if names.is_none() { self.by_name } else { &[] };
        let found = names.into_iter().flatten().flat_map(|name| {
            let known = if is_wild(name) {
                self.by_name
            } else {
                let at = self.by_name.binary_search_by(|(known, _)| compare(known, name));
                at.ok().and_then(|at| self.by_name.get(at..=at)).unwrap_or_default()
            };
            let end = last_byte(name);
            let fits = move |known: &str| {
                (end.is_none() || end == last_byte(known)) && names_overlap(known.as_bytes(), name.as_bytes())
            };
            known.iter().filter(move |(known, _)| fits(known))
        });
        found.chain(all).flat_map(|(_, positions)| *positions).chain(self.unnamed).copied()
    }
}

/// The names with wildcards in a path that are looked up. A path with more is compared with all patterns.
const MAX_WILD_NAMES: usize = 2;

// `ORDINARY`: places outside of the project that are written in silence. `INSTALLED`: directories of programs. `OBEYED`:
// files that tools run by themselves. `FILES`: all classes. `NAMES`: the lower-case names of which a path of a class contains
// at least one, in order, by their first byte.
// `BEGINNINGS` and `ENDINGS`: the same for patterns such as `.env.*` and `*.key`, by their first and last byte.
include!(concat!(env!("OUT_DIR"), "/paths.rs"));

impl Class {
    /// What a use that is not explained counts as.
    pub fn worst(self) -> WorstUse {
        FILES.iter().find(|files| files.class == self).map_or(WorstUse::Write, |files| files.worst)
    }

    /// Whether a path is, or may be, a file of this class. A [`Lookup`] compares a path with several classes.
    pub fn contains(self, path: &AbsPath, reach: Extent, home: Option<&AbsPath>) -> bool {
        Lookup::new(path, reach, home).is_in(self)
    }

    /// The same for the files of the class that are in a home directory.
    pub fn contains_at_home(self, path: &AbsPath, reach: Extent, home: Option<&AbsPath>) -> bool {
        let at_home = |files: &Files| {
            files.files.iter().any(|glob| glob.is_at_home() && files.touches(glob, path, reach, home))
                && !files.except.iter().any(|glob| files.touches(glob, path, Extent::Exact, home))
        };
        FILES.iter().any(|files| files.class == self && at_home(files))
    }
}

/// A path that is compared with several classes. Most paths have no name that a class asks for.
pub struct Lookup<'p> {
    path: &'p AbsPath,
    reach: Extent,
    home: Option<&'p AbsPath>,
    /// `None` if the path is in no class but perhaps [`Class::ToolSettings`].
    places: Option<Places>,
}

impl<'p> Lookup<'p> {
    /// Looks at the names of the path.
    pub fn new(path: &'p AbsPath, reach: Extent, home: Option<&'p AbsPath>) -> Self {
        let may_be_protected = reach == Extent::Tree || may_be_protected(path);
        Lookup { path, reach, home, places: may_be_protected.then(|| Places::of(path, home)) }
    }

    /// Whether the path is, or may be, a file of this class.
    pub fn is_in(&self, class: Class) -> bool {
        let contains = |places: &Places| FILES.iter().any(|files| files.class == class && files.contains(self, places));
        match &self.places {
            Some(places) => contains(places),
            // Some patterns for settings of tools have no fixed name.
            None => class == Class::ToolSettings && contains(&Places::of(self.path, self.home)),
        }
    }
}

/// The classes that a path belongs to.
pub fn classes<'p>(path: &'p AbsPath, reach: Extent, home: Option<&'p AbsPath>) -> impl Iterator<Item = Class> + 'p {
    let lookup = Lookup::new(path, reach, home);
    let is_in = move |files: &&Files| lookup.places.as_ref().is_some_and(|places| files.contains(&lookup, places));
    FILES.iter().filter(is_in).map(|files| files.class)
}

/// Where patterns may match a path.
struct Places {
    /// Where the first name of an anchored pattern may be; `None` for anywhere.
    anchors: Option<Anchors>,
    /// Whether floating patterns are found by the names of the path.
    is_indexed: bool,
    /// Whether patterns for the home directory of the user may match.
    may_be_at_home: bool,
}

impl Places {
    fn of(path: &AbsPath, home: Option<&AbsPath>) -> Self {
        let names = path.components();
        let wild = names.iter().filter(|name| path.wild && is_wild(name));
        let is_search = is_search(path);
        Places {
            anchors: first_places(path, home),
            // A `**` of the path stands for any names.
            is_indexed: wild.take(MAX_WILD_NAMES + 1).count() <= MAX_WILD_NAMES && !is_search,
            may_be_at_home: is_search || home.is_some_and(|home| names.starts_with(home.components())),
        }
    }
}

/// The protected files with a fixed place in the home directory or the system, as absolute paths.
pub fn fixed_files(home: &str) -> impl Iterator<Item = String> {
    let globs = FILES.iter().flat_map(|files| files.files.iter()).map(|glob| glob.as_str());
    globs.filter(|glob| !glob.contains('*')).map(move |glob| match glob.strip_prefix('~') {
        Some(rest) => format!("{home}{rest}"),
        None => glob.to_owned(),
    })
}

/// Whether a path outside of the project is written and deleted in silence: a working file of the client, or a cache.
pub fn is_ordinary(path: &AbsPath, home: Option<&AbsPath>) -> bool {
    !path.components().iter().any(|name| is_wild(name))
        && ORDINARY.iter().any(|glob| touches(*glob, path, Extent::Exact, home))
        && !is_protected(path, home)
}

/// Whether a path must not be changed in passing. Settings of tools are only about reading.
pub fn is_protected(path: &AbsPath, home: Option<&AbsPath>) -> bool {
    classes(path, Extent::Exact, home).any(|class| class != Class::ToolSettings)
}

/// Whether tools run a file, or what it says, by themselves.
pub fn is_obeyed(path: &AbsPath, home: Option<&AbsPath>) -> bool {
    OBEYED.iter().any(|glob| touches(*glob, path, Extent::Exact, home))
}

/// Whether programs are installed in a directory outside of the project.
pub fn is_installed(directory: &AbsPath, home: Option<&AbsPath>) -> bool {
    INSTALLED.iter().any(|glob| touches(*glob, directory, Extent::Exact, home))
}

/// Whether a path has a name that some class asks for; cheap, and true for most protected paths only. False means that the
/// path itself is in no class but [`Class::ToolSettings`].
fn may_be_protected(path: &AbsPath) -> bool {
    path.wild || path.components().iter().any(|name| has_protected_name(name))
}

fn has_protected_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    let starts =
        |begin: &&str| bytes.get(..begin.len()).is_some_and(|head| head.eq_ignore_ascii_case(begin.as_bytes()));
    let ends = |end: &&str| {
        let tail = bytes.len().checked_sub(end.len()).and_then(|at| bytes.get(at..));
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end.as_bytes()))
    };
    with_letter(&NAMES, *first).binary_search_by(|known| compare(known, name)).is_ok()
        || with_letter(&BEGINNINGS, *first).iter().any(starts)
        || with_letter(&ENDINGS, *last).iter().any(ends)
        || MIDDLES.iter().any(|middle| contains(bytes, middle.as_bytes()))
}

/// Whether a name contains a lower-case text, in either case.
fn contains(name: &[u8], middle: &[u8]) -> bool {
    name.len() >= middle.len() && name.windows(middle.len()).any(|part| part.eq_ignore_ascii_case(middle))
}

/// The texts of a table that have this letter.
fn with_letter(table: &'static [(u8, &'static [&'static str])], letter: u8) -> &'static [&'static str] {
    let found = table.iter().find(|(known, _)| *known == letter.to_ascii_lowercase());
    found.map_or(&[], |(_, texts)| *texts)
}

/// Whether the last name of a path contains no wildcard. Otherwise an exception may match only some of its files.
fn is_exact(path: &AbsPath) -> bool {
    path.components().last().is_none_or(|name| !is_wild(name))
}

fn is_wild(name: &str) -> bool {
    name.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'['))
}

/// Whether a path with wildcards is about the file that a pattern such as `**/secrets.yaml` names: it begins or ends
/// like the name. `src/*` is about no file in particular, and a search through `/etc` about no key in particular.
fn is_about(class: Class, glob: &str, path: &AbsPath) -> bool {
    let is_search = is_search(path);
    // A search for `package.json` is not about `secrets/*.json`.
    let names_directory = |name: &str| name.contains('/') && name.contains('*');
    if is_search && class == Class::Secrets && glob.strip_prefix("**/").is_some_and(names_directory) {
        return false;
    }
    let Some(last) = path.components().last().filter(|last| is_wild(last)) else { return true };
    let name = match glob.strip_prefix("**/") {
        Some(name) if matches!(class, Class::Secrets | Class::KeyFiles) => name.rsplit('/').next().unwrap_or_default(),
        Some(name) if !name.contains('/') => name,
        None if matches!(class, Class::ToolSecrets | Class::ToolSettings) => last_name(glob),
        None if is_search && (class == Class::Secrets || glob.starts_with('/') || last_name(glob).starts_with('*')) => {
            last_name(glob)
        }
        _ => return true,
    };
    // A search by an extension is not about a directory, and through the system not about a key in particular.
    if name.trim_matches('*').is_empty() || glob.starts_with('/') && is_extension(last) {
        return !is_search;
    }
    let head = last.split(['*', '?', '[']).next().unwrap_or_default();
    let tail = last.rsplit(['*', '?', ']']).next().unwrap_or_default();
    let (begin, end) = (name.split('*').next().unwrap_or_default(), name.rsplit('*').next().unwrap_or_default());
    // `*.json` is not about `*firebase-adminsdk*.json`.
    let middle = name.trim_matches('*').split('*').next().unwrap_or_default();
    if begin.is_empty() && middle != end && !last.contains(middle) {
        return false;
    }
    if begin.is_empty() { tail.len() > 2 && tail.ends_with(end) } else { head.len() > 1 && begin.starts_with(head) }
}

fn last_name(glob: &str) -> &str {
    glob.rsplit('/').next().unwrap_or_default()
}

/// Compares a lower-case name with another one in either case.
fn compare(known: &str, name: &str) -> Ordering {
    known.bytes().cmp(name.bytes().map(|byte| byte.to_ascii_lowercase()))
}

impl Files {
    /// Whether a path is, or may be, a file of the class.
    fn contains(&self, lookup: &Lookup<'_>, places: &Places) -> bool {
        let Lookup { path, reach, home, .. } = *lookup;
        self.candidates(path, places).any(|glob| self.touches(glob, path, reach, home))
            && !(is_exact(path) && self.except.iter().any(|glob| self.touches(glob, path, Extent::Exact, home)))
    }

    /// The patterns that a path may match: it has their first name, where they are anchored or anywhere.
    fn candidates<'p>(&'p self, path: &'p AbsPath, places: &'p Places) -> impl Iterator<Item = &'p Glob<'static>> + 'p {
        let names = path.components();
        let anchors = places.anchors.as_ref().map(|anchors| anchors.iter().filter_map(|place| names.get(*place)));
        let anchored = self.anchored.find(anchors);
        let floating = self.floating.find(places.is_indexed.then(|| names.iter()));
        // Keys are protected in the home directory of every user.
        let may_be_at_home = places.may_be_at_home || self.class == Class::Keys;
        let candidates = anchored.chain(floating).filter_map(|at| self.files.get(at));
        candidates.filter(move |glob| may_be_at_home || !glob.is_below_home())
    }

    /// Whether a pattern matches a path. Keys are protected in the home directory of every user.
    fn touches(&self, glob: &Glob<'_>, path: &AbsPath, reach: Extent, home: Option<&AbsPath>) -> bool {
        let matches =
            touches(*glob, path, reach, home) || self.class == Class::Keys && touches_any_home(*glob, path, reach);
        matches && is_about(self.class, glob.as_str(), path)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/path/protected.rs"]
mod tests;
