//! Zones of the file system: project, home, system and temporary directories.

use crate::path::{AbsPath, Place};

/// The zone of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// The root, home, a directory above the project or home, or a top-level directory of the system.
    Vital,
    /// Below a directory of the system.
    System,
    /// The directory of the project.
    ProjectRoot,
    /// Below the directory of the project.
    InProject,
    /// A directory for temporary files.
    TempRoot,
    /// Below a directory for temporary files.
    InTemp,
    /// A device without storage, such as `/dev/null` or a terminal, or a file descriptor.
    Device,
    /// Anywhere else.
    Other,
}

/// System directories. Nothing below them should be deleted or written.
const SYSTEM: &[&str] = &[
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys", "System", "usr", "var",
    "private", "Library",
];

/// Other directories at the root that must not be deleted.
const SHARED: &[&str] =
    &["Applications", "Users", "Volumes", "home", "media", "mnt", "nix", "opt", "root", "run", "srv"];

/// Directories below system directories in which people work.
const LOCAL: [&[&str]; 7] = [
    &["usr", "local"],
    &["usr", "src"],
    &["var", "www"],
    &["var", "log"],
    &["var", "lib", "apt", "lists"],
    &["var", "cache"],
    &["var", "opt"],
];

/// Directories for temporary files.
const TEMPS: [&[&str]; 5] =
    [&["tmp"], &["var", "tmp"], &["private", "tmp"], &["private", "var", "tmp"], &["dev", "shm"]];

/// Protected directories below the home directory.
const PROTECTED_HOME: [&str; 22] = [
    ".aws", ".cargo", ".claude", ".config", ".docker", ".gnupg", ".kube", ".local", ".mozilla", ".rustup", ".ssh",
    "Applications", "Desktop", "Documents", "Downloads", "Library", "Movies", "Music", "OneDrive", "Pictures",
    "Public", "Videos",
];

/// The directories that matter for one event.
#[derive(Clone, Debug)]
pub struct Zones {
    /// The directory of the project.
    pub project: AbsPath,
    /// The home directory.
    pub home: Option<AbsPath>,
    /// Worktrees of the project's repository, and directories that the operator works in.
    work: Vec<AbsPath>,
}

impl Zones {
    /// The zones of a call.
    pub fn of(place: &Place) -> Self {
        let root = Place::default();
        let at = |path: &str| AbsPath::resolve(path, &root);
        Zones {
            project: at(place.project.as_deref().unwrap_or(&place.cwd)),
            home: place.home.as_deref().map(at),
            work: Vec::new(),
        }
    }

    /// Adds directories that are worked in like the project. A directory that contains home, the project or a vital
    /// directory is returned as an error.
    pub fn with_work(mut self, directories: impl IntoIterator<Item = AbsPath>) -> Result<Self, AbsPath> {
        directories.into_iter().try_for_each(|directory| self.add_work(directory))?;
        Ok(self)
    }

    /// Adds one such directory, or returns it if it cannot be one.
    pub fn add_work(&mut self, directory: AbsPath) -> Result<(), AbsPath> {
        if !matches!(self.area(&directory), Area::Other | Area::InTemp | Area::InProject) {
            return Err(directory);
        }
        self.work.push(directory);
        Ok(())
    }

    /// The zone of a path.
    pub fn area(&self, path: &AbsPath) -> Area {
        // No pattern below is longer than four components, so the fifth stands for all others.
        let mut parts = [""; 5];
        parts.iter_mut().zip(path.components()).for_each(|(part, name)| *part = name);
        let parts = parts.get(..path.components().len()).unwrap_or(&parts);
        let above = |of: &AbsPath| of.components().starts_with(path.components());
        let home = self.home.as_ref().filter(|home| !home.components().is_empty());
        match parts {
            [] => Area::Vital,
            _ if self.is_project(path) || self.work.contains(path) => Area::ProjectRoot,
            _ if above(&self.project) || home.is_some_and(above) => Area::Vital,
            _ if TEMPS.contains(&parts) => Area::TempRoot,
            ["var" | "private", "folders"] | ["private", "var", "folders"] => Area::TempRoot,
            _ if self.is_in_project(path) || self.is_in_work(path) => Area::InProject,
            _ if self.is_in_temp(path) => Area::InTemp,
            ["var", "folders", ..] | ["private", "var", "folders", ..] => Area::InTemp,
            ["dev", "null" | "zero" | "stdin" | "stdout" | "stderr" | "tty" | "full" | "random" | "urandom"]
            | ["dev", "fd" | "pts", _]
            // Sockets of bash: which host may be written to is judged by itself.
            | ["dev", "tcp" | "udp", ..]
            | ["proc", "self", "fd", _] => Area::Device,
            [root] if SYSTEM.contains(root) || SHARED.contains(root) => Area::Vital,
            // Another user's home.
            ["home" | "Users", _] => Area::Vital,
            [_, ..] if LOCAL.contains(&parts) => Area::Vital,
            [_, ..] if LOCAL.iter().any(|local| parts.starts_with(local)) => Area::Other,
            [root, ..] if SYSTEM.contains(root) => Area::System,
            _ if self.is_protected_home(path) => Area::Vital,
            _ => Area::Other,
        }
    }

    fn is_in_work(&self, path: &AbsPath) -> bool {
        self.work.iter().any(|directory| path.is_below(directory))
    }

    /// Whether the project is a real one, and not the root or a top-level directory.
    fn has_project(&self) -> bool {
        match self.project.components() {
            [] => false,
            [root] => !SYSTEM.contains(&root.as_str()) && !SHARED.contains(&root.as_str()) && root != "tmp",
            _ => true,
        }
    }

    /// Whether a path lies in a directory for temporary files. If home lies there, paths below home do not count.
    fn is_in_temp(&self, path: &AbsPath) -> bool {
        let is_below = |path: &AbsPath, temp: &[&str]| {
            let names = path.directories().get(..temp.len());
            names.is_some_and(|names| names.iter().zip(temp).all(|(name, known)| name == known))
        };
        let below = |path: &AbsPath| TEMPS.iter().any(|temp| is_below(path, temp));
        below(path) && !self.home.as_ref().is_some_and(|home| below(home) && path.is_below(home))
    }

    fn is_project(&self, path: &AbsPath) -> bool {
        *path == self.project && self.has_project() && self.home.as_ref() != Some(path)
    }

    fn is_in_project(&self, path: &AbsPath) -> bool {
        self.has_project()
            && path.is_below(&self.project)
            && !(self.home.as_ref() == Some(&self.project) && self.is_protected_home(path))
    }

    fn is_protected_home(&self, path: &AbsPath) -> bool {
        let Some(home) = &self.home else { return false };
        let below = path.components().strip_prefix(home.components());
        below.is_some_and(|rest| matches!(rest, [only] if PROTECTED_HOME.contains(&only.as_str())))
    }

    /// The text of a path for rules: relative to the project, `~/…` below home, or absolute.
    pub fn text(&self, path: &AbsPath) -> String {
        let below = |directory: &AbsPath| {
            let is_root = directory.components().is_empty();
            path.components().strip_prefix(directory.components()).filter(|_| !is_root).map(|rest| rest.join("/"))
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
