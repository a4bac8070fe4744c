//! Whether anybody can read what the hook answers.

use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, stat};
use rustix::stdio::stdout;

/// Whether standard output was closed when the process started.
///
/// Before `main`, Rust's runtime opens `/dev/null` for reading and writing in place of each closed standard stream, so
/// that no later file takes its number. A shell's `>/dev/null` opens it for writing only and is not meant. Callers that
/// pass `/dev/null` opened for both look the same as a closed stream; nobody reads their answer either.
pub fn was_closed() -> bool {
    let null = |found: rustix::fs::Stat| stat("/dev/null").is_ok_and(|null| null.st_rdev == found.st_rdev);
    let device = |found: &rustix::fs::Stat| FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice;
    match fcntl_getfl(stdout()) {
        Ok(flags) => {
            flags & OFlags::RWMODE == OFlags::RDWR && fstat(stdout()).is_ok_and(|found| device(&found) && null(found))
        }
        Err(_) => true,
    }
}
