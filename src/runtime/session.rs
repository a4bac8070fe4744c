//! Session files: which untrusted sources a session has taken in, one a line.

use super::log::append_text;
use crate::runtime::environment::Environment;
use crate::runtime::policy_files::open;
use rune::encoding::label::Label;
use rune::event::taint::Taint;
use rune::verdict::Surface;
use rustix::fs::{Access, access};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the file of a session is kept after its last change.
const KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Bytes of a session's file that are read. Of a longer one, the rest counts as further sources, see [`Taint`].
const MAX_FILE_BYTES: u64 = 1 << 20;

/// What the session has taken in from strangers. Without a session or a state directory that cannot be known, and
/// counts as taint.
///
/// # Errors
///
/// Where the file cannot be read or written, or its folder could not hold it: taint would be lost in silence.
pub fn read_taint(environment: &Environment, session: &Label) -> Result<Taint, String> {
    let Some(path) = path(environment, session) else { return Ok(Taint::unknown()) };
    let mut bytes = Vec::new();
    match open(&path).and_then(|(file, _)| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)) {
        Ok(_) => {
            is_writable(&path, Access::WRITE_OK)?;
            let whole = bytes.len() as u64 <= MAX_FILE_BYTES;
            let taint = Taint::read(&String::from_utf8_lossy(&bytes), whole);
            // A file is made to hold a source: without one, its source was lost, as on a full disk.
            Ok(if taint.is_empty() { Taint::unknown() } else { taint })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            can_be_made(&path)?;
            Ok(Taint::default())
        }
        Err(error) => Err(broken(&path, error)),
    }
}

/// Whether a file that is not there could be made: the nearest of its folders that exists can be written.
fn can_be_made(path: &Path) -> Result<(), String> {
    for place in path.ancestors() {
        match place.metadata() {
            Ok(found) if found.is_dir() && place != path => {
                return is_writable(place, Access::WRITE_OK | Access::EXEC_OK);
            }
            Ok(_) => return Err(broken(place, "not a directory")),
            Err(error) if error.kind() == ErrorKind::NotFound && place.symlink_metadata().is_err() => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(broken(place, "a dangling symlink")),
            Err(error) => return Err(broken(place, error)),
        }
    }
    Err(broken(path, "no such directory"))
}

fn is_writable(path: &Path, how: Access) -> Result<(), String> {
    access(path, how).map_err(|error| broken(path, std::io::Error::from(error)))
}

fn broken(path: &Path, what: impl std::fmt::Display) -> String {
    let help = "help: the guard keeps there what a session has read from untrusted sources; repair or remove it";
    format!("session state: {}: {what}\n  {help}", path.display())
}

/// Forgets what the session has taken in; tells what that was.
pub fn clear_taint(environment: &Environment, session: &Label) -> Result<Taint, String> {
    let seen = read_taint(environment, session).unwrap_or_else(|_| Taint::unknown());
    let Some(path) = path(environment, session) else { return Err("there is no session of this name".to_owned()) };
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(format!("{}: {error}", path.display())),
        _ => Ok(seen),
    }
}

/// Notes that the session took in content from a surface.
pub fn add_taint(environment: &Environment, session: &Label, surface: &Surface) -> Result<(), String> {
    let Some(path) = path(environment, session) else { return Ok(()) };
    append_text(&path, &format!("{}\n", surface.source))
        .map_err(|error| format!("session: {}: {error}", path.display()))
}

/// How many sessions have taken in something from strangers.
pub fn count_tainted(environment: &Environment) -> usize {
    let folder = environment.state_dir.as_ref().map(|state| state.join("sessions"));
    folder.and_then(|folder| std::fs::read_dir(folder).ok()).map_or(0, Iterator::count)
}

/// Removes the files of sessions that nobody will take up again. One that has just ended may be resumed, so it stays.
pub fn remove_expired(environment: &Environment) {
    let Some(folder) = environment.state_dir.as_ref().map(|state| state.join("sessions")) else { return };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|found| found.modified()).ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) {
            std::fs::remove_file(entry.path()).ok();
        }
    }
}

/// The session's file.
fn path(environment: &Environment, session: &Label) -> Option<PathBuf> {
    Some(environment.state_dir.as_ref()?.join("sessions").join(file_name(session)?))
}

/// The name of a session's files. One that is not plain becomes a number, so that none can leave the folder.
pub fn file_name(session: &Label) -> Option<String> {
    let name = session.as_str();
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    match name {
        "" => None,
        name if plain => Some(name.to_owned()),
        name => {
            let mix = |number: u64, byte: u8| (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            Some(format!("={:016x}", name.bytes().fold(0xcbf2_9ce4_8422_2325, mix)))
        }
    }
}
