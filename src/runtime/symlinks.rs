//! Resolves symlinks in the paths of a call. Each directory is looked up once, however many paths lie in it.

use std::collections::BTreeMap;
use std::path::Path;

/// Resolves paths and caches their directories. A resolved path is `None` where it equals the path as written.
pub struct SymlinkResolver {
    /// Directories by whose names paths are reported, with what they resolve to, once it is known.
    named: Vec<(String, Option<Option<String>>)>,
    directories: BTreeMap<String, Directory>,
}

#[derive(Clone)]
struct Directory {
    resolved: Option<String>,
    exists: bool,
}

impl SymlinkResolver {
    /// `named` are directories such as the project and home. If one of them is a symlink, paths below its target are
    /// reported as paths below its name.
    pub fn new(named: impl IntoIterator<Item = String>) -> Self {
        let named = named.into_iter().map(|name| (name, None)).collect();
        SymlinkResolver { named, directories: BTreeMap::new() }
    }

    /// Resolves a path; `None` if it leads to where its name says.
    pub fn resolve(&mut self, path: &str) -> Option<String> {
        // File descriptors of the command are not those of this process.
        if path.starts_with("/dev/") || path.starts_with("/proc/self/fd") {
            return None;
        }
        let resolved = self.follow_symlinks(path);
        let real = self.below_named(resolved.as_deref().unwrap_or(path)).or(resolved)?;
        (real != path).then_some(real)
    }

    /// Follows the symlinks in a path. Components that do not exist stay as written.
    fn follow_symlinks(&mut self, path: &str) -> Option<String> {
        let mut parent = Directory { resolved: None, exists: true };
        let mut start = 1;
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1);
        for end in ends.chain([path.len()]) {
            let so_far = path.get(..end).unwrap_or_default();
            if let Some(known) = self.directories.get(so_far) {
                let exists = parent.exists && known.exists;
                parent = Directory { resolved: known.resolved.clone(), exists };
                start = end + 1;
                continue;
            }
            let below = |resolved: String, rest: &str| format!("{}/{rest}", resolved.trim_end_matches('/'));
            if !parent.exists {
                // Nothing below it can be a symlink.
                return parent.resolved.map(|resolved| below(resolved, path.get(start..).unwrap_or_default()));
            }
            let found = std::fs::symlink_metadata(so_far);
            let target = if found.as_ref().is_ok_and(|found| found.is_symlink()) { read_target(so_far) } else { None };
            let name = path.get(start..end).unwrap_or_default();
            let resolved = target.or_else(|| parent.resolved.map(|resolved| below(resolved, name)));
            parent = Directory { resolved, exists: found.is_ok() };
            // The last component is looked up once; directories are shared by many paths.
            if end < path.len() {
                self.directories.insert(so_far.to_owned(), parent.clone());
            }
            start = end + 1;
        }
        parent.resolved
    }

    /// The path below the name of a named directory, if it lies below the target of one.
    fn below_named(&mut self, real: &str) -> Option<String> {
        for at in 0..self.named.len() {
            if let Some((name, None)) = self.named.get(at) {
                let resolved = self.follow_symlinks(&name.clone());
                self.named.get_mut(at)?.1 = Some(resolved);
            }
            let (name, resolved) = self.named.get(at)?;
            let target = resolved.as_ref().and_then(Option::as_deref).unwrap_or(name).trim_end_matches('/');
            if let Some(below) = real.strip_prefix(target).filter(|below| below.is_empty() || below.starts_with('/')) {
                return Some(format!("{}{below}", name.trim_end_matches('/')));
            }
        }
        None
    }
}

/// The canonical target of a symlink; the target as written if the symlink is dangling.
fn read_target(link: &str) -> Option<String> {
    let link = Path::new(link);
    let written = || Some(link.parent()?.join(std::fs::read_link(link).ok()?));
    let target = link.canonicalize().ok().or_else(written)?;
    Some(target.to_string_lossy().into_owned())
}
