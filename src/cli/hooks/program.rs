//! The program that an entry names: whether the client could start it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What keeps a client from starting the program of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It is looked up by whoever sets `PATH` or the directory.
    Relative,
    Missing,
    NotExecutable,
}

impl Flaw {
    pub fn of(program: &str) -> Option<Flaw> {
        let path = Path::new(program);
        if !path.is_absolute() {
            return Some(Flaw::Relative);
        }
        match std::fs::metadata(path) {
            Err(_) => Some(Flaw::Missing),
            Ok(found) if !found.is_file() || found.permissions().mode() & 0o111 == 0 => Some(Flaw::NotExecutable),
            Ok(_) => None,
        }
    }

    /// What is wrong with it, in words.
    pub fn what(self) -> &'static str {
        match self {
            Flaw::Relative => "is not named by an absolute path",
            Flaw::Missing => "is not there",
            Flaw::NotExecutable => "cannot be executed",
        }
    }
}

/// Whether two names lead to the same program, or to copies of it.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let same_file = one.canonicalize().ok().is_some_and(|one| other.canonicalize().ok() == Some(one));
    same_file || std::fs::read(one).is_ok_and(|bytes| std::fs::read(other).is_ok_and(|others| bytes == others))
}
