//! The log: one line, one write, whole or not at all.

use super::world::World;
use rune::telemetry::Line;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{Error, ErrorKind, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Where the log is.
pub fn path(world: &World) -> Option<PathBuf> {
    world.client_dir.as_ref().map(|dir| dir.join("telemetry.jsonl"))
}

/// Appends the line. The error names the file.
pub fn append(world: &World, line: &Line) -> Result<(), String> {
    let path = path(world).ok_or("telemetry: HOME is not set and no `--client-dir` is given")?;
    append_text(&path, &line.to_json()).map_err(|error| format!("telemetry: {}: {error}", path.display()))
}

/// Appends `text` to a file that only its owner may read, making its folder where it is missing.
///
/// INVARIANT: one `O_APPEND` write a call. Concurrent hooks then never tear each other's lines.
pub fn append_text(path: &Path, text: &str) -> Result<(), Error> {
    // A pipe without a reader would hold us until the deadline.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    let open = || OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    let mut file = open().or_else(|error| match (error.kind(), path.parent()) {
        (ErrorKind::NotFound, Some(folder)) => {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            open()
        }
        _ => Err(error),
    })?;
    // Whether the file ends within a line cannot be asked: while others write, it may seem to.
    let written = file.write(text.as_bytes())?;
    if written == text.len() {
        return Ok(());
    }
    // A full disk took part of it: take that back, or at least end the line, so that the next one is whole.
    let end = file.stream_position()?;
    let last = file.metadata().is_ok_and(|found| found.len() == end);
    if !last || file.set_len(end.saturating_sub(written as u64)).is_err() {
        file.write_all(b"\n").ok();
    }
    Err(Error::new(ErrorKind::StorageFull, "only part of the line was written"))
}
