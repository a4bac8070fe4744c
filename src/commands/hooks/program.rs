//! The program that an entry names: whether the client could start it.

use crate::runtime::policy_files;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What keeps a client from starting the program of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramError {
    /// It is looked up by whoever sets `PATH` or the directory.
    Relative,
    Missing,
    NotExecutable,
    /// It is empty, cut short, or in no format of programs.
    Broken,
}

impl ProgramError {
    pub fn of(program: &str) -> Option<ProgramError> {
        let path = Path::new(program);
        if !path.is_absolute() {
            return Some(ProgramError::Relative);
        }
        match std::fs::metadata(path) {
            Err(_) => Some(ProgramError::Missing),
            Ok(found) if !found.is_file() || found.permissions().mode() & 0o111 == 0 => {
                Some(ProgramError::NotExecutable)
            }
            Ok(_) => (!is_whole(path)).then_some(ProgramError::Broken),
        }
    }

    /// What is wrong with it, in words.
    pub fn what(self) -> &'static str {
        match self {
            ProgramError::Relative => "is not named by an absolute path",
            ProgramError::Missing => "is not there",
            ProgramError::NotExecutable => "cannot be executed",
            ProgramError::Broken => "is empty, cut short or no program",
        }
    }
}

/// Whether a file begins like a program and goes as far as it says. One that we may run and not read is taken as it is.
fn is_whole(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = policy_files::open(path).and_then(|(file, length)| file.take(64).read_to_end(&mut head).map(|_| length));
    match read {
        Err(error) => error.kind() == ErrorKind::PermissionDenied,
        Ok(length) if head.starts_with(b"\x7fELF") => elf_end(&head).is_some_and(|end| end <= length),
        Ok(_) => STARTS.iter().any(|start| head.starts_with(start)),
    }
}

/// How programs begin: scripts, and those of macOS in both orders of bytes, alone and several in one file.
const STARTS: [&[u8]; 5] = [b"#!", b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf"];

/// Where the table of sections ends, which linkers put last.
fn elf_end(head: &[u8]) -> Option<u64> {
    // Other widths and orders of bytes are not those that we are built for.
    if head.get(4..6)? != [2, 1] {
        return Some(0);
    }
    let half = |at: usize| Some(u64::from(u16::from_le_bytes(head.get(at..at + 2)?.try_into().ok()?)));
    let start = u64::from_le_bytes(head.get(0x28..0x30)?.try_into().ok()?);
    start.checked_add(half(0x3a)? * half(0x3c)?)
}

/// Whether two names lead to the same program, or to copies of it.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let same_file = one.canonicalize().ok().is_some_and(|one| other.canonicalize().ok() == Some(one));
    same_file
        || policy_files::read_bytes(one)
            .is_ok_and(|bytes| policy_files::read_bytes(other).is_ok_and(|others| bytes == others))
}
