//! Session files: which untrusted sources a session has taken in, one a line.

use super::log::append_text;
use super::world::World;
use rune::label::Label;
use rune::quarantine::Surface;
use std::path::PathBuf;
use std::time::Duration;

/// How long the file of a session is kept after its last change.
const KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Whether the session has taken in untrusted content. Where that cannot be known, it has.
pub fn is_tainted(world: &World, session: &Label) -> bool {
    let Some(path) = path(world, session) else { return true };
    match std::fs::metadata(path) {
        Ok(found) => found.len() > 0,
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

/// Notes that the session took in content from a surface.
pub fn taint(world: &World, session: &Label, surface: &Surface) -> Result<(), String> {
    let Some(path) = path(world, session) else { return Ok(()) };
    append_text(&path, &format!("{}\n", surface.source))
        .map_err(|error| format!("session: {}: {error}", path.display()))
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

/// The session's file. A label holds no `/`; without dots at its start it cannot name a folder either.
fn path(world: &World, session: &Label) -> Option<PathBuf> {
    let name = session.as_str().trim_start_matches('.');
    let folder = world.state_dir.as_ref()?.join("sessions");
    (!name.is_empty()).then(|| folder.join(name))
}
