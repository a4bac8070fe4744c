//! The file of a pause, which is in the state directory and so belongs to the guard's files.
//!
//! It fails closed: whatever is not exactly the file that [`write`] writes is no pause.

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

/// A longer file is no pause.
const MAX_BYTES: u64 = 256;

/// Permissions to write that only the owner may have.
const OTHERS_WRITE: u32 = 0o022;

fn path(environment: &Environment) -> Option<PathBuf> {
    Some(environment.state_dir.as_ref()?.join("paused"))
}

/// The pause that is in force. A file of another owner, with links or that others may write is none.
pub fn read(environment: &Environment) -> Option<Pause> {
    let (mut file, length) = open_with(&path(environment)?, OFlags::NOFOLLOW).ok()?;
    let found = file.metadata().ok()?;
    let is_own = found.uid() == geteuid().as_raw() && found.nlink() == 1 && found.mode() & OTHERS_WRITE == 0;
    let mut text = String::new();
    (is_own && length <= MAX_BYTES).then(|| file.read_to_string(&mut text).ok()).flatten()?;
    Pause::read(&text, now())
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
