//! Standard output, on which the client reads the answer.

use rustix::fs::{FileType, OFlags, Stat, fcntl_getfl, fstat, stat};
use rustix::stdio::stdout;
use std::io::Write;

/// Writes the text and a line end in one piece.
pub fn write_line(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(format!("{text}\n").as_bytes())?;
    stdout.flush()
}

/// Whether standard output was closed when the process started.
///
/// Before `main`, Rust's runtime opens `/dev/null` for reading and writing in place of each closed standard stream, so
/// that no later file gets its number. A shell's `>/dev/null` opens it for writing only and does not count as closed. A
/// caller that passes `/dev/null` opened for both cannot be told apart, and does not read the answer either.
pub fn was_closed() -> bool {
    let is_null = |found: Stat| {
        FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice
            && stat("/dev/null").is_ok_and(|null| null.st_rdev == found.st_rdev)
    };
    match fcntl_getfl(stdout()) {
        Ok(flags) => flags & OFlags::RWMODE == OFlags::RDWR && fstat(stdout()).is_ok_and(is_null),
        Err(_) => true,
    }
}
