//! Links: where paths really lead. Directories are asked once, however many files of them are named.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was found so far.
pub struct Links {
    /// Directories that have a name of their own, and where that leads.
    named: Vec<(PathBuf, Option<PathBuf>)>,
    /// Where directories lead, and whether there is such a directory.
    directories: BTreeMap<PathBuf, (PathBuf, bool)>,
}

impl Links {
    /// Paths are told in the words of these directories, where these are links themselves.
    pub fn new(named: impl IntoIterator<Item = Option<PathBuf>>) -> Self {
        let named = named.into_iter().flatten().map(|name| (name, None)).collect();
        Links { named, directories: BTreeMap::new() }
    }

    /// A path and where it really leads, where that is somewhere else.
    pub fn real(&mut self, path: &str) -> Option<(String, String)> {
        // Descriptors are this process's own.
        if path.starts_with("/dev/") || path.starts_with("/proc/self/fd") {
            return None;
        }
        let real = self.lead(Path::new(path));
        let real = self.renamed(&real).unwrap_or(real).to_string_lossy().into_owned();
        (real != path).then(|| (path.to_owned(), real))
    }

    /// Where a path leads; what does not exist of it is as it is written.
    fn lead(&mut self, path: &Path) -> PathBuf {
        let mut real = PathBuf::from("/");
        let mut exists = true;
        let mut names = path.strip_prefix("/").unwrap_or(path).components();
        let mut so_far = PathBuf::from("/");
        while let Some(name) = names.next() {
            let directory = real;
            so_far.push(name);
            real = match self.directories.get(&so_far) {
                Some((known, there)) => {
                    exists &= there;
                    known.clone()
                }
                None => {
                    let found = if exists { std::fs::symlink_metadata(&so_far).ok() } else { None };
                    exists = found.is_some();
                    let real = match found {
                        Some(found) if found.is_symlink() => led(&so_far).unwrap_or_else(|| directory.join(name)),
                        _ => directory.join(name),
                    };
                    // A file is asked for once; what lies around it, again and again.
                    if !names.as_path().as_os_str().is_empty() {
                        self.directories.insert(so_far.clone(), (real.clone(), exists));
                    }
                    real
                }
            };
        }
        real
    }

    /// The path by the name that one of the named directories has.
    fn renamed(&mut self, real: &Path) -> Option<PathBuf> {
        for at in 0..self.named.len() {
            let Some((name, lead)) = self.named.get(at).cloned() else { continue };
            let lead = lead.unwrap_or_else(|| self.lead(&name));
            if let Some((_, known)) = self.named.get_mut(at) {
                *known = Some(lead.clone());
            }
            if let Ok(below) = real.strip_prefix(&lead) {
                return Some(if below.as_os_str().is_empty() { name } else { name.join(below) });
            }
        }
        None
    }
}

/// Where a link leads; one to nowhere still says where that is.
fn led(link: &Path) -> Option<PathBuf> {
    let target = || Some(link.parent()?.join(std::fs::read_link(link).ok()?));
    link.canonicalize().ok().or_else(target)
}
