//! The program of an entry: whether the client can start it.

use crate::runtime::policy_files;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Why a client cannot start the program of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramError {
    /// It depends on `PATH` or on the working directory.
    Relative,
    Missing,
    NotExecutable,
    /// It is empty, truncated, or not a program.
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
            Ok(_) => (!is_complete(path)).then_some(ProgramError::Broken),
        }
    }

    /// A description, as a predicate.
    pub fn what(self) -> &'static str {
        match self {
            ProgramError::Relative => "is not named by an absolute path",
            ProgramError::Missing => "is not there",
            ProgramError::NotExecutable => "cannot be executed",
            ProgramError::Broken => "is empty, cut short or no program",
        }
    }
}

/// Whether a file starts like a program and has the length that its header gives. A file that may be run and not read
/// counts as complete.
fn is_complete(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = policy_files::open(path).and_then(|(file, length)| file.take(64).read_to_end(&mut head).map(|_| length));
    match read {
        Err(error) => error.kind() == ErrorKind::PermissionDenied,
        Ok(length) if head.starts_with(b"\x7fELF") => elf_end(&head).is_some_and(|end| end <= length),
        Ok(_) => MAGIC_NUMBERS.iter().any(|start| head.starts_with(start)),
    }
}

/// The magic numbers of scripts and of Mach-O files: both byte orders, and universal binaries.
const MAGIC_NUMBERS: [&[u8]; 5] =
    [b"#!", b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf"];

/// The end of the section header table of an ELF file, which linkers put last.
fn elf_end(head: &[u8]) -> Option<u64> {
    // This program is built for 64-bit little-endian machines only.
    if head.get(4..6)? != [2, 1] {
        return Some(0);
    }
    let half = |at: usize| Some(u64::from(u16::from_le_bytes(head.get(at..at + 2)?.try_into().ok()?)));
    let start = u64::from_le_bytes(head.get(0x28..0x30)?.try_into().ok()?);
    start.checked_add(half(0x3a)? * half(0x3c)?)
}

/// Whether two paths lead to the same program, or to copies of it.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let same_file = one.canonicalize().ok().is_some_and(|one| other.canonicalize().ok() == Some(one));
    same_file
        || policy_files::read_bytes(one)
            .is_ok_and(|bytes| policy_files::read_bytes(other).is_ok_and(|others| bytes == others))
}
