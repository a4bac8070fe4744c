//! The records of servers on disk: one pin and one observed record for each, written atomically with mode 600.

use crate::runtime::environment::Environment;
use crate::runtime::files::{create_private_dir, write_private};
use crate::runtime::policy_files;
use anyhow::{Context, bail};
use rune::mcp::{InvalidRecord, MAX_RECORD_BYTES, Observed, ObservedFile, Pin, PinFile, Source, file_name};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The result of [`Store::record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOutcome {
    Written,
    /// The existing record was kept, because it comes from this stronger source.
    Kept(Source),
}

#[derive(Clone, Debug)]
pub struct Store {
    data: PathBuf,
    lock_timeout: Duration,
}

/// How long to wait for another writer, which only writes one file.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A record that cannot be read or is invalid.
#[derive(Debug)]
pub struct RecordError {
    pub path: PathBuf,
    pub what: String,
}

impl std::fmt::Display for RecordError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)
    }
}

impl std::error::Error for RecordError {}

impl Store {
    pub fn of(environment: &Environment) -> anyhow::Result<Store> {
        let help = "help: set it, or XDG_DATA_HOME";
        let data =
            environment.data_dir.clone().with_context(|| format!("HOME is not an absolute directory\n  {help}"))?;
        Ok(Store { data, lock_timeout: LOCK_TIMEOUT })
    }

    pub fn pin_path(&self, server: &str) -> PathBuf {
        self.data.join("pins").join(file_name(server))
    }

    pub fn observed_path(&self, server: &str) -> PathBuf {
        self.data.join("observed").join(file_name(server))
    }

    /// Reads the pin of a server; `None` if there is none.
    pub fn pin(&self, server: &str) -> Result<Option<Pin>, RecordError> {
        let path = self.pin_path(server);
        parse(&path, Pin::read, |pin| pin.server() == server)
    }

    /// Reads the observed record of a server; `None` if there is none.
    pub fn observed(&self, server: &str) -> Result<Option<Observed>, RecordError> {
        let path = self.observed_path(server);
        parse(&path, Observed::read, |observed| observed.server() == server)
    }

    /// The names of all servers with a record, and the records that cannot be read.
    pub fn servers(&self) -> (BTreeSet<String>, Vec<RecordError>) {
        let (mut names, mut unreadable) = (BTreeSet::new(), Vec::new());
        for (folder, name) in [("pins", read_pin_name as fn(&[u8]) -> _), ("observed", read_observed_name)] {
            for entry in fs::read_dir(self.data.join(folder)).into_iter().flatten().flatten() {
                let path = entry.path();
                // Temporary files of writers that were killed.
                if entry.file_name().to_string_lossy().starts_with('.') {
                    continue;
                }
                let fits = |name: &String| path.file_name().is_some_and(|file| *file == *file_name(name));
                match parse(&path, name, fits) {
                    Ok(name) => names.extend(name),
                    Err(error) => unreadable.push(error),
                }
            }
        }
        (names, unreadable)
    }

    /// Records what was observed, unless a stronger source has seen the server.
    pub fn record(&self, observed: &Observed) -> anyhow::Result<RecordOutcome> {
        let _lock = self.lock()?;
        // An unreadable record is replaced.
        if let Ok(Some(known)) = self.observed(observed.server())
            && !observed.replaces(&known)
        {
            return Ok(RecordOutcome::Kept(known.source()));
        }
        let text = observed.write();
        if text.len() as u64 > MAX_RECORD_BYTES {
            bail!("the server `{}` serves more than {} MB", observed.server().escape_debug(), MAX_RECORD_BYTES >> 20);
        }
        write_private(&self.observed_path(observed.server()), text.as_bytes())?;
        Ok(RecordOutcome::Written)
    }

    /// Changes the pin of a server under the lock.
    pub fn change<R>(&self, server: &str, change: impl FnOnce(&mut Pin) -> R) -> anyhow::Result<R> {
        let _lock = self.lock()?;
        let mut pin = self.pin(server)?.unwrap_or_else(|| Pin::new(server));
        let result = change(&mut pin);
        write_private(&self.pin_path(server), pin.write().as_bytes())?;
        Ok(result)
    }

    /// Locks the store for writing, for as long as the returned file is open. Waits for another writer up to a timeout.
    fn lock(&self) -> anyhow::Result<File> {
        let path = self.data.join(".lock");
        create_private_dir(&self.data).with_context(|| self.data.display().to_string())?;
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let open =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(&path);
        let file = open.with_context(|| path.display().to_string())?;
        let deadline = Instant::now() + self.lock_timeout;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(file),
                Err(Errno::WOULDBLOCK) if Instant::now() >= deadline => bail!(
                    "{}: another process has held it for {} seconds\n  help: `fuser {}` shows it; end it, and run this again",
                    path.display(),
                    self.lock_timeout.as_secs(),
                    rune::shell::quote_word(&path.to_string_lossy()),
                ),
                Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(LOCK_POLL_INTERVAL),
                Err(error) => return Err(error).with_context(|| path.display().to_string()),
            }
        }
    }
}

/// Whether the file name of a record is a hash instead of its server's name.
pub fn hides_name(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"="))
}

fn read_pin_name(text: &[u8]) -> Result<String, InvalidRecord> {
    PinFile::parse(text).map(|file| file.head.server)
}

fn read_observed_name(text: &[u8]) -> Result<String, InvalidRecord> {
    ObservedFile::parse(text).map(|file| file.head.server)
}

fn parse<T>(
    path: &Path,
    read: impl FnOnce(&[u8]) -> Result<T, InvalidRecord>,
    fits: impl FnOnce(&T) -> bool,
) -> Result<Option<T>, RecordError> {
    let unreadable = |what: String| RecordError { path: path.to_owned(), what };
    let bytes = match read_bytes(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let record = read(&bytes).map_err(|invalid| unreadable(invalid.to_string()))?;
    if fits(&record) { Ok(Some(record)) } else { Err(unreadable("it is the record of another server".to_owned())) }
}

pub fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let (file, length) = open(path)?;
    let mut bytes = Vec::with_capacity(length + 1);
    file.take(MAX_RECORD_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_RECORD_BYTES { Err(too_large()) } else { Ok(bytes) }
}

/// Opens a record. Symlinks and files that are not regular are refused: they could lead to other files or block.
fn open(path: &Path) -> std::io::Result<(File, usize)> {
    let (file, length) = policy_files::open_with(path, OFlags::NOFOLLOW).map_err(|error| {
        let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        if is_link { Error::new(ErrorKind::InvalidInput, "a symlink, not a regular file") } else { error }
    })?;
    if length > MAX_RECORD_BYTES { Err(too_large()) } else { Ok((file, usize::try_from(length).unwrap_or_default())) }
}

fn too_large() -> Error {
    Error::new(ErrorKind::InvalidData, format!("larger than {} MB", MAX_RECORD_BYTES >> 20))
}

#[cfg(test)]
#[path = "../../../tests/unit/runtime/mcp/records.rs"]
mod tests;
