//! Session files: the untrusted sources that a session has read, one per line.

pub mod memory;
mod recorded;

pub use recorded::RecordedSession;

use super::log::append_text;
use super::mcp::seen;
use crate::runtime::environment::{Environment, now};
use crate::runtime::policy_files::open;
use rune::encoding::label::Label;
use rune::event::Header;
use rune::event::memory::Memory;
use rune::event::taint::Taint;
use rune::telemetry::rfc3339;
use rune::verdict::{Effect, Finding, Heat, Note, Surface, Verdict};
use rustix::fs::{Access, access};
use std::collections::BTreeSet;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;
use time::OffsetDateTime;

/// How long a session file is kept after its last change.
const RETENTION: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Bytes of a session file that are read. The rest of a longer file counts as further sources, see [`Taint`].
const MAX_FILE_BYTES: u64 = 1 << 20;

/// What is remembered of a session from one call to the next: on disk for the hook, in memory for recorded sessions.
pub trait SessionState {
    fn taint(&self, session: &Label) -> Result<Taint, String>;
    fn memory(&self, session: &Label) -> Result<Memory, String>;
    fn asked_programs(&self, session: &Label) -> Vec<String>;
    /// The fingerprints of the MCP servers of the user that were seen.
    fn seen_servers(&self) -> BTreeSet<String>;
    fn add_taint(&self, header: &Header, surface: &Surface, heat: Heat) -> Result<(), String>;
    fn add_notes(&self, session: &Label, salt: &str, notes: &[Note]) -> Result<(), String>;
    fn add_asked_programs(&self, session: &Label, programs: &[&str]) -> Result<(), String>;
    fn add_seen_servers(&self, fingerprints: &[String]) -> Result<(), String>;
}

/// Records by what later calls of the session are judged, and returns what could not be recorded.
pub fn record(
    state: &dyn SessionState,
    header: &Header,
    verdict: &Verdict,
    salt: &str,
    new_servers: &[String],
) -> Vec<String> {
    let asked: Vec<&str> = match verdict.effect() {
        Effect::Ask => verdict.findings().iter().filter_map(Finding::program).collect(),
        Effect::Pass | Effect::Advise | Effect::Deny => Vec::new(),
    };
    let tainting = verdict.surface().filter(|surface| surface.taints);
    let written = [
        state.add_asked_programs(&header.session, &asked),
        state.add_seen_servers(new_servers),
        state.add_notes(&header.session, salt, &verdict.notes()),
        tainting.map_or(Ok(()), |surface| state.add_taint(header, surface, verdict.heat())),
    ];
    written.into_iter().filter_map(Result::err).collect()
}

impl SessionState for Environment {
    fn taint(&self, session: &Label) -> Result<Taint, String> {
        read_taint(self, session)
    }

    fn memory(&self, session: &Label) -> Result<Memory, String> {
        memory::read(self, session)
    }

    fn asked_programs(&self, session: &Label) -> Vec<String> {
        read_asked_programs(self, session)
    }

    fn seen_servers(&self) -> BTreeSet<String> {
        seen::read(self)
    }

    fn add_taint(&self, header: &Header, surface: &Surface, heat: Heat) -> Result<(), String> {
        add_taint(self, &header.session, surface, &header.tool, heat)
    }

    fn add_notes(&self, session: &Label, salt: &str, notes: &[Note]) -> Result<(), String> {
        memory::add(self, session, salt, notes)
    }

    fn add_asked_programs(&self, session: &Label, programs: &[&str]) -> Result<(), String> {
        add_asked_programs(self, session, programs)
    }

    fn add_seen_servers(&self, fingerprints: &[String]) -> Result<(), String> {
        seen::add(self, fingerprints)
    }
}

/// Reads the taint of a session. Without a session or a state directory it is unknown, which counts as taint.
///
/// # Errors
///
/// If the file cannot be read, written or created: taint would be lost without notice.
pub fn read_taint(environment: &Environment, session: &Label) -> Result<Taint, String> {
    let Some(path) = path(environment, session) else { return Ok(Taint::unknown()) };
    let mut bytes = Vec::new();
    match open(&path).and_then(|(file, _)| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)) {
        Ok(_) => {
            check_access(&path, Access::WRITE_OK)?;
            let taint = Taint::read(&String::from_utf8_lossy(&bytes));
            let taint = if bytes.len() as u64 > MAX_FILE_BYTES { taint.with_unread_sources() } else { taint };
            // A session file is created with its first source. An empty file has lost it, for example on a full disk.
            Ok(if taint.is_empty() { Taint::unknown() } else { taint })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            check_creatable(&path)?;
            Ok(Taint::default())
        }
        Err(error) => Err(broken(&path, error)),
    }
}

/// Checks that a file could be created: its nearest existing ancestor is a writable directory.
fn check_creatable(path: &Path) -> Result<(), String> {
    for place in path.ancestors() {
        match place.metadata() {
            Ok(found) if found.is_dir() && place != path => {
                return check_access(place, Access::WRITE_OK | Access::EXEC_OK);
            }
            Ok(_) => return Err(broken(place, "not a directory")),
            Err(error) if error.kind() == ErrorKind::NotFound && place.symlink_metadata().is_err() => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(broken(place, "a dangling symlink")),
            Err(error) => return Err(broken(place, error)),
        }
    }
    Err(broken(path, "no such directory"))
}

fn check_access(path: &Path, mode: Access) -> Result<(), String> {
    access(path, mode).map_err(|error| broken(path, std::io::Error::from(error)))
}

fn broken(path: &Path, what: impl std::fmt::Display) -> String {
    let help = "help: the guard keeps there what a session has read from untrusted sources; repair or remove it";
    format!("session state: {}: {what}\n  {help}", path.display())
}

/// Removes the taint of a session and returns it.
pub fn clear_taint(environment: &Environment, session: &Label) -> Result<Taint, String> {
    let taint = read_taint(environment, session).unwrap_or_else(|_| Taint::unknown());
    let Some(path) = path(environment, session) else { return Err("there is no session of this name".to_owned()) };
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(format!("{}: {error}", path.display())),
        _ => memory::clear(environment, session).map(|()| taint),
    }
}

/// Adds a source that `tool` has read now.
pub fn add_taint(
    environment: &Environment,
    session: &Label,
    surface: &Surface,
    tool: &Label,
    heat: Heat,
) -> Result<(), String> {
    let line = Taint::line(&surface.source, &rfc3339(now()), tool, heat);
    path(environment, session).map_or(Ok(()), |path| append(&path, &line))
}

/// Reads the unknown programs that the session has been asked about. An unreadable file means that none has been.
fn read_asked_programs(environment: &Environment, session: &Label) -> Vec<String> {
    let Some(path) = programs_path(environment, session) else { return Vec::new() };
    let mut text = String::new();
    let read = open(&path).and_then(|(file, _)| file.take(MAX_FILE_BYTES).read_to_string(&mut text));
    if read.is_ok() { text.lines().map(str::to_owned).collect() } else { Vec::new() }
}

/// Records the unknown programs that the session is asked about, so that it is asked once.
fn add_asked_programs(environment: &Environment, session: &Label, programs: &[&str]) -> Result<(), String> {
    let Some(path) = programs_path(environment, session) else { return Ok(()) };
    let lines: String = programs.iter().filter(|name| !name.contains('\n')).map(|name| format!("{name}\n")).collect();
    if lines.is_empty() { Ok(()) } else { append(&path, &lines) }
}

fn append(path: &Path, text: &str) -> Result<(), String> {
    append_text(path, text).map_err(|error| format!("session: {}: {error}", path.display()))
}

fn programs_path(environment: &Environment, session: &Label) -> Option<PathBuf> {
    Some(environment.state_dir.as_ref()?.join("programs").join(file_name(session)?))
}

pub fn count_tainted(environment: &Environment, since: Option<OffsetDateTime>) -> usize {
    let is_recent = |entry: &std::fs::DirEntry| {
        let changed = entry.metadata().and_then(|found| found.modified()).ok().map(OffsetDateTime::from);
        since.is_none_or(|since| changed.is_some_and(|changed| changed >= since))
    };
    let entries = directory(environment).and_then(|directory| std::fs::read_dir(directory).ok());
    entries.map_or(0, |entries| entries.flatten().filter(is_recent).count())
}

/// Removes session files that have not changed for [`RETENTION`]. Newer sessions may be resumed.
pub fn remove_expired(environment: &Environment) {
    let Some(state) = &environment.state_dir else { return };
    let directories = ["sessions", "programs", "memory"].map(|name| state.join(name));
    let entries = directories.iter().filter_map(|directory| std::fs::read_dir(directory).ok());
    for entry in entries.flatten().flatten() {
        let age = entry.metadata().and_then(|found| found.modified()).ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > RETENTION) {
            std::fs::remove_file(entry.path()).ok();
        }
    }
}

fn directory(environment: &Environment) -> Option<PathBuf> {
    environment.state_dir.as_ref().map(|state| state.join("sessions"))
}

fn path(environment: &Environment, session: &Label) -> Option<PathBuf> {
    Some(directory(environment)?.join(file_name(session)?))
}

/// The file name for a session; `None` without a session. Names with other characters than letters, digits, `-` and `_`
/// are hashed (FNV-1a), so that no name leads out of the directory.
pub fn file_name(session: &Label) -> Option<String> {
    let name = session.as_str();
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    match name {
        "" => None,
        name if is_plain => Some(name.to_owned()),
        name => {
            let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            Some(format!("={:016x}", name.bytes().fold(0xcbf2_9ce4_8422_2325, mix)))
        }
    }
}
