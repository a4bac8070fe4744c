//! The ground that a call stands on: which directories are the user's, the project's, the system's, or nobody's.

use crate::path::AbsPath;
use crate::path::Place;

/// What a path is to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// The root, home, a directory above the project or home, or one that the system cannot do without.
    Vital,
    /// Below such a directory of the system.
    System,
    /// The project itself.
    ProjectRoot,
    /// In the project.
    InProject,
    /// A directory for temporary files itself.
    TempRoot,
    /// In such a directory.
    InTemp,
    /// A device that is no storage: `/dev/null`, the terminal, a descriptor.
    Device,
    /// Anywhere else.
    Other,
}

/// System directories of which nothing is to be deleted or written.
const SYSTEM: &[&str] = &[
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys", "System", "usr", "var",
    "private", "Library",
];

/// Directories at the root that hold what others have put there.
const SHARED: &[&str] =
    &["Applications", "Users", "Volumes", "home", "media", "mnt", "nix", "opt", "root", "run", "srv"];

/// Below system directories, and yet places where people work.
const LOCAL: [&[&str]; 7] = [
    &["usr", "local"],
    &["usr", "src"],
    &["var", "www"],
    &["var", "log"],
    &["var", "lib", "apt", "lists"],
    &["var", "cache"],
    &["var", "opt"],
];

/// Directories of the home that hold a life's work or the keys to it.
const LIFE: [&str; 22] = [
    ".aws", ".cargo", ".claude", ".config", ".docker", ".gnupg", ".kube", ".local", ".mozilla", ".rustup", ".ssh",
    "Applications", "Desktop", "Documents", "Downloads", "Library", "Movies", "Music", "OneDrive", "Pictures",
    "Public", "Videos",
];

/// The directories that matter for one event.
#[derive(Clone, Debug)]
pub struct Zones {
    /// The project's directory.
    pub project: AbsPath,
    /// The user's.
    pub home: Option<AbsPath>,
    temps: Vec<AbsPath>,
}

impl Zones {
    /// The ground of a call at this place.
    pub fn of(place: &Place) -> Self {
        let root = Place::default();
        let at = |path: &str| AbsPath::resolve(path, &root);
        Zones {
            project: at(place.project.as_deref().unwrap_or(&place.cwd)),
            home: place.home.as_deref().map(at),
            temps: ["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm"].into_iter().map(at).collect(),
        }
    }

    /// What a path is.
    pub fn area(&self, path: &AbsPath) -> Area {
        // What lies deeper than any place below is the same as what lies one deeper.
        let mut parts = [""; 5];
        parts.iter_mut().zip(path.components()).for_each(|(part, name)| *part = name);
        let parts = parts.get(..path.components().len()).unwrap_or(&parts);
        let above = |of: &AbsPath| of.components().starts_with(path.components());
        let home = self.home.as_ref().filter(|home| !home.components().is_empty());
        match parts {
            [] => Area::Vital,
            _ if self.is_project(path) => Area::ProjectRoot,
            _ if above(&self.project) || home.is_some_and(above) => Area::Vital,
            _ if self.temps.contains(path) => Area::TempRoot,
            ["var" | "private", "folders"] | ["private", "var", "folders"] => Area::TempRoot,
            _ if self.is_inside(path) => Area::InProject,
            _ if self.is_scratch(path) => Area::InTemp,
            ["var", "folders", ..] | ["private", "var", "folders", ..] => Area::InTemp,
            ["dev", "null" | "zero" | "stdin" | "stdout" | "stderr" | "tty" | "full" | "random" | "urandom"]
            | ["dev", "fd" | "pts", _]
            | ["proc", "self", "fd", _] => Area::Device,
            [root] if SYSTEM.contains(root) || SHARED.contains(root) => Area::Vital,
            // Somebody else's home.
            ["home" | "Users", _] => Area::Vital,
            [_, ..] if LOCAL.contains(&parts) => Area::Vital,
            [_, ..] if LOCAL.iter().any(|local| parts.starts_with(local)) => Area::Other,
            [root, ..] if SYSTEM.contains(root) => Area::System,
            _ if self.is_life(path) => Area::Vital,
            _ => Area::Other,
        }
    }

    /// A directory that everything lies in is no project.
    fn has_project(&self) -> bool {
        match self.project.components() {
            [] => false,
            [root] => !SYSTEM.contains(&root.as_str()) && !SHARED.contains(&root.as_str()) && root != "tmp",
            _ => true,
        }
    }

    /// In a directory for temporary files, unless that is where somebody lives.
    fn is_scratch(&self, path: &AbsPath) -> bool {
        let below = |path: &AbsPath| self.temps.iter().any(|temp| path.is_below(temp));
        below(path) && !self.home.as_ref().is_some_and(|home| below(home) && path.is_below(home))
    }

    fn is_project(&self, path: &AbsPath) -> bool {
        *path == self.project && self.has_project() && self.home.as_ref() != Some(path)
    }

    fn is_inside(&self, path: &AbsPath) -> bool {
        self.has_project()
            && path.is_below(&self.project)
            && !(self.home.as_ref() == Some(&self.project) && self.is_life(path))
    }

    fn is_life(&self, path: &AbsPath) -> bool {
        let Some(home) = &self.home else { return false };
        let below = path.components().strip_prefix(home.components());
        below.is_some_and(|rest| matches!(rest, [only] if LIFE.contains(&only.as_str())))
    }

    /// The path as rules see it: from the project, from home as `~/…`, or from the root.
    pub fn text(&self, path: &AbsPath) -> String {
        let below = |directory: &AbsPath| {
            let real = !directory.components().is_empty();
            path.components().strip_prefix(directory.components()).filter(|_| real).map(|rest| rest.join("/"))
        };
        if let Some(rest) = below(&self.project).filter(|rest| !rest.is_empty()) {
            return rest;
        }
        match self.home.as_ref().and_then(below) {
            Some(rest) => format!("~/{rest}"),
            None => path.to_string(),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/path/zones.rs"]
mod tests;
