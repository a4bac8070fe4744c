//! Session files: which untrusted sources a session has taken in, one a line.

use super::log::append_text;
use super::world::World;
use rune::label::Label;
use rune::quarantine::Surface;
use std::path::PathBuf;

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

/// The session's file. A label holds no `/`; without dots at its start it cannot name a folder either.
fn path(world: &World, session: &Label) -> Option<PathBuf> {
    let name = session.as_str().trim_start_matches('.');
    let folder = world.state_dir.as_ref()?.join("sessions");
    (!name.is_empty()).then(|| folder.join(name))
}
