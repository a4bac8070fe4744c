//! Reads and writes the file of a pause.
//!
//! It lies in the state directory, whose files agents may not write. A file that [`write`] cannot have written is ignored, so
//! that the guard is on.

use crate::runtime::environment::{Environment, now};
use crate::runtime::files::write_private;
use crate::runtime::policy_files::open_with;
use anyhow::{Context, Result};
use rune::policy::Pause;
use rustix::fs::OFlags;
use rustix::process::geteuid;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// A longer file is ignored.
const MAX_BYTES: u64 = 256;

/// The permission bits by which the group and others may write a file.
const OTHERS_WRITE: u32 = 0o022;

fn path(environment: &Environment) -> Option<PathBuf> {
    Some(environment.state_dir.as_ref()?.join("paused"))
}

/// The pause that is in force. A file is ignored if it is a symlink or not regular, belongs to another user, has further hard
/// links, can be written by others, is longer than [`MAX_BYTES`], or cannot be read.
pub fn read(environment: &Environment) -> Option<Pause> {
    let (file, length) = open_with(&path(environment)?, OFlags::NOFOLLOW).ok()?;
    let found = file.metadata().ok()?;
    let is_own = found.uid() == geteuid().as_raw() && found.nlink() == 1 && found.mode() & OTHERS_WRITE == 0;
    let mut text = String::new();
    // The file may grow while it is read.
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Pause::read(&text, now()).filter(|_| is_own && length <= MAX_BYTES)
}

pub fn write(environment: &Environment, pause: Pause) -> Result<()> {
    let path = path(environment).context("HOME is not set\n  help: set it")?;
    write_private(&path, pause.to_text().as_bytes())
}

/// Ends the pause.
pub fn remove(environment: &Environment) -> Result<()> {
    let Some(path) = path(environment) else { return Ok(()) };
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).with_context(|| path.display().to_string()),
        _ => Ok(()),
    }
}
