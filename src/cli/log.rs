//! The log: one line, one write, whole or not at all.

use super::world::World;
use rune::telemetry::Line;
use std::borrow::Cow;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom, Write};
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
    let open = || OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path);
    let mut file = open().or_else(|error| match (error.kind(), path.parent()) {
        (ErrorKind::NotFound, Some(folder)) => {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            open()
        }
        _ => Err(error),
    })?;
    // A line that somebody left unfinished is ended first, or it would swallow ours.
    let text = if ends_a_line(&mut file) { Cow::Borrowed(text) } else { Cow::Owned(format!("\n{text}")) };
    if file.write(text.as_bytes())? == text.len() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::StorageFull, "only part of the line was written"))
}

/// Whether the next line starts at the end of the file.
fn ends_a_line(file: &mut File) -> bool {
    let mut last = [b'\n'];
    // An empty file has no last byte to go to.
    if file.seek(SeekFrom::End(-1)).is_ok() {
        file.read_exact(&mut last).ok();
    }
    last == [b'\n']
}
