//! The file with what a session remembers of its person, see [`Memory`]. It holds salted hashes only.

use super::{append, broken, check_access, file_name};
use crate::runtime::environment::Environment;
use crate::runtime::policy_files::open;
use rune::encoding::label::Label;
use rune::event::memory::{CLEARED, Memory};
use rune::verdict::Note;
use rune::verdict::limits::MEMORY_BYTES;
use rustix::fs::Access;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

/// Reads the memory of a session. A session without a file has an empty one with a new salt.
///
/// # Errors
///
/// If the file cannot be read or written, or is damaged.
pub fn read(environment: &Environment, session: &Label) -> Result<Memory, String> {
    let Some(path) = path(environment, session) else { return Ok(Memory::default()) };
    let mut text = String::new();
    match open(&path).and_then(|(file, _)| file.take(MEMORY_BYTES.most as u64 + 1).read_to_string(&mut text)) {
        Ok(length) if length > MEMORY_BYTES.most => Err(broken(&path, format!("more than {}", MEMORY_BYTES.what))),
        Ok(_) => {
            check_access(&path, Access::WRITE_OK)?;
            let memory = Memory::read(&text).map_err(|what| broken(&path, what))?;
            Ok(if memory.has_salt() { memory } else { empty() })
        }
        Err(error) if error.kind() == ErrorKind::NotFound && path.symlink_metadata().is_err() => Ok(empty()),
        Err(error) => Err(broken(&path, error)),
    }
}

/// An empty memory. Without random numbers nothing is remembered.
fn empty() -> Memory {
    let mut salt = [0; 16];
    if getrandom::fill(&mut salt).is_ok() { Memory::new(salt) } else { Memory::default() }
}

/// Appends notes. `salt` is the line for a new file; if several calls create the file, the first salt counts.
pub fn add(environment: &Environment, session: &Label, salt: &str, notes: &[Note]) -> Result<(), String> {
    let lines: String = notes.iter().map(Note::line).collect();
    match path(environment, session) {
        Some(path) if !lines.is_empty() => append(&path, &format!("{salt}{lines}")),
        _ => Ok(()),
    }
}

/// Forgets the asks and the containers of a session; the words of the person are kept.
pub fn clear(environment: &Environment, session: &Label) -> Result<(), String> {
    match path(environment, session) {
        Some(path) if path.exists() => append(&path, &format!("{CLEARED}\n")),
        _ => Ok(()),
    }
}

fn path(environment: &Environment, session: &Label) -> Option<PathBuf> {
    Some(environment.state_dir.as_ref()?.join("memory").join(file_name(session)?))
}
