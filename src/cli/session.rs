//! Session files: which untrusted sources a session has taken in, one a line.

use super::load::open;
use super::log::append_text;
use super::world::World;
use rune::label::Label;
use rune::quarantine::Surface;
use rune::taint::Taint;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;
use std::time::Duration;

/// How long the file of a session is kept after its last change.
const KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Bytes of a session's file that are read; whoever has seen more has seen enough.
const MOST: u64 = 64 << 10;

/// What the session has taken in from strangers. Where that cannot be known, it may be anything.
pub fn seen(world: &World, session: &Label) -> Taint {
    let Some(path) = path(world, session) else { return Taint::unknown() };
    let mut bytes = Vec::new();
    match open(&path).and_then(|(file, _)| file.take(MOST).read_to_end(&mut bytes)) {
        Ok(_) => Taint::read(&String::from_utf8_lossy(&bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Taint::default(),
        Err(_) => Taint::unknown(),
    }
}

/// Forgets what the session has taken in; tells what that was.
pub fn clear(world: &World, session: &Label) -> Result<Taint, String> {
    let seen = seen(world, session);
    let Some(path) = path(world, session) else { return Err("there is no session of this name".to_owned()) };
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(format!("{}: {error}", path.display())),
        _ => Ok(seen),
    }
}

/// Notes that the session took in content from a surface.
pub fn taint(world: &World, session: &Label, surface: &Surface) -> Result<(), String> {
    let Some(path) = path(world, session) else { return Ok(()) };
    append_text(&path, &format!("{}\n", surface.source))
        .map_err(|error| format!("session: {}: {error}", path.display()))
}

/// How many sessions have taken in something from strangers.
pub fn count(world: &World) -> usize {
    let folder = world.state_dir.as_ref().map(|state| state.join("sessions"));
    folder.and_then(|folder| std::fs::read_dir(folder).ok()).map_or(0, Iterator::count)
}

/// Removes the files of sessions that nobody will take up again. One that has just ended may be resumed, so it stays.
pub fn forget_old(world: &World) {
    let Some(folder) = world.state_dir.as_ref().map(|state| state.join("sessions")) else { return };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|found| found.modified()).ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) {
            std::fs::remove_file(entry.path()).ok();
        }
    }
}

/// The session's file.
fn path(world: &World, session: &Label) -> Option<PathBuf> {
    Some(world.state_dir.as_ref()?.join("sessions").join(file_name(session)?))
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
