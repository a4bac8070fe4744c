//! The log: one line for each call, appended in one write.

use crate::runtime::environment::Environment;
use crate::runtime::files::create_private_dir;
use rune::telemetry::LogLine;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Seek, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

pub fn path(environment: &Environment) -> Option<PathBuf> {
    environment.log_dir.as_ref().map(|dir| dir.join("telemetry.jsonl"))
}

/// Appends the line to the log. The error names the file.
pub fn append(environment: &Environment, line: &LogLine) -> Result<(), String> {
    let path = path(environment).ok_or("telemetry: HOME is not set and no `--client-dir` is given")?;
    append_text(&path, &line.to_json()).map_err(|error| format!("telemetry: {}: {error}", path.display()))
}

/// Appends `text` to a regular file with mode 600, creating the file and its directory if needed.
///
/// INVARIANT: one `O_APPEND` write for each call, so that concurrent hooks do not interleave their lines.
pub fn append_text(path: &Path, text: &str) -> Result<(), Error> {
    let mut file = open(path).or_else(|error| match (error.kind(), path.parent()) {
        (ErrorKind::NotFound, Some(folder)) => {
            create_private_dir(folder)?;
            open(path)
        }
        _ => Err(error),
    })?;
    let text = if ends_within_a_line(&file)? { format!("\n{text}") } else { text.to_owned() };
    let written = file.write(text.as_bytes())?;
    if written == text.len() {
        return Ok(());
    }
    // The disk is full. Truncate what was written, or at least end the line, so that the next line is complete.
    let end = file.stream_position()?;
    let is_last = file.metadata().is_ok_and(|found| found.len() == end);
    if !is_last || file.set_len(end.saturating_sub(written as u64)).is_err() {
        file.write_all(b"\n").ok();
    }
    Err(Error::new(ErrorKind::StorageFull, "only part of the line was written"))
}

/// Whether the last line lacks its line end.
///
/// If a process is killed during a write, the kernel may have written only the part of the line up to a page boundary.
/// The next line then starts with a line end, so that only the line of the killed call is lost. While another process is
/// writing, the file can seem to end within a line: the result is an empty line, which readers skip.
fn ends_within_a_line(file: &File) -> Result<bool, Error> {
    let Some(last) = file.metadata()?.len().checked_sub(1) else { return Ok(false) };
    let mut byte = [b'\n'];
    file.read_at(&mut byte, last)?;
    Ok(byte != *b"\n")
}

/// Opens a regular file for appending, creating it if needed.
///
/// The type is checked on the open file, because a file that is checked by name can be replaced before it is opened.
/// Without `O_NONBLOCK`, opening a pipe without a reader would block until the deadline.
fn open(path: &Path) -> Result<File, Error> {
    let irregular = || Error::new(ErrorKind::InvalidInput, "not a regular file");
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).append(true).create(true).mode(0o600).custom_flags(flags).open(path);
    let file = opened.map_err(|error| match Errno::from_io_error(&error) {
        // Returned for a pipe without a reader and for a directory.
        Some(Errno::NXIO | Errno::ISDIR) => irregular(),
        _ => error,
    })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

#[cfg(test)]
#[path = "../../tests/unit/runtime/log.rs"]
mod tests;
