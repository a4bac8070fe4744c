//! Links: where paths really lead. Directories are asked once, however many files of them are named.

use std::collections::BTreeMap;
use std::path::Path;

/// Where something leads; `None` where that is what its name says.
type Lead = Option<String>;

/// What was found so far.
pub struct Links {
    /// Directories that have a name of their own, and where that leads, once it is known.
    named: Vec<(String, Option<Lead>)>,
    /// Where directories lead, and whether there is such a directory.
    directories: BTreeMap<String, (Lead, bool)>,
}

impl Links {
    /// Paths are told in the words of these directories, where these are links themselves.
    pub fn new(named: impl IntoIterator<Item = String>) -> Self {
        let named = named.into_iter().map(|name| (name, None)).collect();
        Links { named, directories: BTreeMap::new() }
    }

    /// A path and where it really leads, where that is somewhere else.
    pub fn real(&mut self, path: &str) -> Option<(String, String)> {
        // Descriptors are this process's own.
        if path.starts_with("/dev/") || path.starts_with("/proc/self/fd") {
            return None;
        }
        let lead = self.lead(path);
        let real = self.renamed(lead.as_deref().unwrap_or(path)).or(lead)?;
        (real != path).then(|| (path.to_owned(), real))
    }

    /// Where a path leads; what does not exist of it is as it is written.
    fn lead(&mut self, path: &str) -> Lead {
        let mut real: Lead = None;
        let mut exists = true;
        let mut start = 1;
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1);
        for end in ends.chain([path.len()]) {
            let so_far = path.get(..end).unwrap_or_default();
            let name = path.get(start..end).unwrap_or_default();
            start = end + 1;
            if let Some((known, there)) = self.directories.get(so_far) {
                exists &= there;
                real.clone_from(known);
                continue;
            }
            if !exists {
                // Nothing below it can be a link.
                let rest = path.get(start - name.len() - 1..).unwrap_or_default();
                return real.map(|above| format!("{}/{rest}", above.trim_end_matches('/')));
            }
            let found = Found::at(so_far);
            exists = found != Found::Nothing;
            let link = if found == Found::Link { led(Path::new(so_far)) } else { None };
            real = link.or_else(|| real.map(|above| format!("{}/{name}", above.trim_end_matches('/'))));
            // A file is asked for once; what lies around it, again and again.
            if end < path.len() {
                self.directories.insert(so_far.to_owned(), (real.clone(), exists));
            }
        }
        real
    }

    /// The path by the name that one of the named directories has.
    fn renamed(&mut self, real: &str) -> Option<String> {
        for at in 0..self.named.len() {
            if let Some((name, None)) = self.named.get(at) {
                let lead = self.lead(&name.clone());
                self.named.get_mut(at)?.1 = Some(lead);
            }
            let (name, lead) = self.named.get(at)?;
            let lead = lead.as_ref().and_then(Option::as_deref).unwrap_or(name).trim_end_matches('/');
            if let Some(below) = real.strip_prefix(lead).filter(|below| below.is_empty() || below.starts_with('/')) {
                return Some(format!("{}{below}", name.trim_end_matches('/')));
            }
        }
        None
    }
}

/// What there is at a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Link,
    Other,
}

impl Found {
    fn at(path: &str) -> Found {
        match std::fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => Found::Link,
            Ok(_) => Found::Other,
            Err(_) => Found::Nothing,
        }
    }
}

/// Where a link leads; one to nowhere still says where that is.
fn led(link: &Path) -> Lead {
    let target = || Some(link.parent()?.join(std::fs::read_link(link).ok()?));
    let lead = link.canonicalize().ok().or_else(target)?;
    Some(lead.to_string_lossy().into_owned())
}
