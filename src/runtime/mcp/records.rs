//! The records of servers on disk: one pin and one observed record for each, written atomically with mode 600.
//!
//! Each change of a record writes a signed receipt with the hash of the file. A record that is not the one of the last
//! receipt about it was edited, replaced, restored or taken from another server, and is refused. The key belongs to the
//! user: a program that reads it can forge receipts, and one that cuts off their end can restore an older record.

use crate::runtime::environment::Environment;
use crate::runtime::files::{create_private_dir, write_private};
use crate::runtime::policy_files;
use crate::runtime::receipts::{self, key};
use anyhow::{Context, Error as AnyError, bail};
use rune::mcp::{InvalidRecord, Observed, ObservedFile, Pin, PinFile, RecordFile, Source, file_name};
use rune::receipt::{LastChange, ReceiptBody, ReceiptKind, RecordChange, TrustedKeys};
use rune::verdict::limits::MCP_RECORD_BYTES;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use time::OffsetDateTime;

/// The result of [`Store::record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOutcome {
    Written,
    /// The existing record was kept, because it comes from this stronger source.
    Kept(Source),
}

/// The result of [`Store::forget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgetOutcome {
    Removed,
    /// There was no record.
    Unrecorded,
    /// The record was kept, because it comes from this stronger source.
    Kept(Source),
}

#[derive(Clone, Debug)]
pub struct Store {
    data: PathBuf,
    environment: Environment,
    lock_timeout: Duration,
}

/// What a person changes in the pin of a server, for its receipt.
#[derive(Clone, Debug)]
pub struct PinChangeRequest<'a> {
    /// `Approve`, `Block` or `Unblock`.
    pub kind: ReceiptKind,
    pub server: &'a str,
    pub tool: Option<&'a str>,
    /// The hash of what the person was shown.
    pub shown: Option<String>,
    /// The time; `None` for now.
    pub at: Option<OffsetDateTime>,
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
        Ok(Store { data, environment: environment.clone(), lock_timeout: LOCK_TIMEOUT })
    }

    pub fn pin_path(&self, server: &str) -> PathBuf {
        self.data.join("pins").join(file_name(server))
    }

    pub fn observed_path(&self, server: &str) -> PathBuf {
        self.data.join("observed").join(file_name(server))
    }

    /// Reads the file of a server's pin, and compares it with the last receipt about it.
    pub fn pin_file(&self, server: &str) -> RecordFile {
        let file = record_file(&self.pin_path(server));
        let is_authentic = match &file {
            RecordFile::Unreadable | RecordFile::Unauthenticated => true,
            // A pin that was removed would lose a block.
            RecordFile::Missing => self.last_change(server) == LastChange::None,
            RecordFile::Bytes(bytes) => self.last_change(server).wrote(bytes),
        };
        if is_authentic { file } else { RecordFile::Unauthenticated }
    }

    /// Reads the file of a server's observed record, and compares it with the last receipt about it.
    pub fn observed_file(&self, server: &str) -> RecordFile {
        let file = record_file(&self.observed_path(server));
        let is_replaced = matches!(&file, RecordFile::Bytes(bytes) if !self.last_observation(server).wrote(bytes));
        if is_replaced { RecordFile::Unauthenticated } else { file }
    }

    /// Whether there are receipts about pins or files of pins.
    pub fn has_pins(&self) -> bool {
        let is_about_pin = |part: &Vec<u8>| {
            let kinds: [&[u8]; 3] = [b"\"kind\":\"approve\"", b"\"kind\":\"block\"", b"\"kind\":\"unblock\""];
            kinds.iter().any(|kind| part.windows(kind.len()).any(|bytes| bytes == *kind))
        };
        !policy_files::is_missing(&self.data.join("pins"))
            || receipts::operator_parts(&self.environment).map_or(true, |parts| parts.iter().any(is_about_pin))
    }

    fn last_change(&self, server: &str) -> LastChange {
        let parts = receipts::operator_parts(&self.environment);
        parts.map_or(LastChange::Broken, |parts| LastChange::of_pin(&parts, server, &self.keys()))
    }

    fn last_observation(&self, server: &str) -> LastChange {
        let parts = receipts::observed_parts(&self.environment, server);
        parts.map_or(LastChange::Broken, |parts| LastChange::of_observed(&parts, server, &self.keys()))
    }

    /// The keys of the installation; none if they cannot be read.
    fn keys(&self) -> TrustedKeys {
        key::read(&self.environment).ok().flatten().map_or_else(TrustedKeys::default, |secret| secret.keys())
    }

    /// Reads the pin of a server; `None` if there is none.
    pub fn pin(&self, server: &str) -> Result<Option<Pin>, RecordError> {
        let path = self.pin_path(server);
        let pin = parse(&path, Pin::read, |pin| pin.server() == server)?;
        if self.pin_file(server) == RecordFile::Unauthenticated {
            let what = "it is not what the last `rune mcp approve`, `block` or `unblock` wrote";
            return Err(RecordError { path, what: what.to_owned() });
        }
        Ok(pin)
    }

    /// The pin of a server as a starting point for changes. Of an invalid one only the blocks count.
    pub fn pin_to_change(&self, server: &str) -> Pin {
        let mut fresh = Pin::new(server);
        match self.pin(server) {
            Ok(pin) => pin.unwrap_or(fresh),
            Err(_) => {
                let path = self.pin_path(server);
                if let Ok(Some(invalid)) = parse(&path, Pin::read, |pin| pin.server() == server) {
                    invalid.blocked_tools().for_each(|tool| fresh.block(Some(tool)));
                    if invalid.is_blocked() {
                        fresh.block(None);
                    }
                }
                fresh
            }
        }
    }

    /// Reads the observed record of a server; `None` if there is none.
    pub fn observed(&self, server: &str) -> Result<Option<Observed>, RecordError> {
        let path = self.observed_path(server);
        let observed = parse(&path, Observed::read, |observed| observed.server() == server)?;
        if self.observed_file(server) == RecordFile::Unauthenticated {
            return Err(RecordError { path, what: "it is not what `rune mcp` recorded last".to_owned() });
        }
        Ok(observed)
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
        if let Ok(Some(known)) = self.observed(observed.server()) {
            if !observed.replaces(&known) {
                return Ok(RecordOutcome::Kept(known.source()));
            }
            // A wrap sees the same list in each session. Only changes need a receipt.
            if observed.source() == Source::Wrap && observed.is_same_as(&known) {
                return Ok(RecordOutcome::Written);
            }
        }
        let text = observed.write();
        if text.len() > MCP_RECORD_BYTES.most {
            bail!("the server `{}` serves more than {}", observed.server().escape_debug(), MCP_RECORD_BYTES.what);
        }
        self.write_observed(observed.server(), Some(&text))?;
        Ok(RecordOutcome::Written)
    }

    /// Removes what was observed of a server that does not answer, unless a source that is stronger than a probe has
    /// seen it.
    pub fn forget(&self, server: &str) -> anyhow::Result<ForgetOutcome> {
        let _lock = self.lock()?;
        match self.observed(server) {
            Ok(Some(known)) if known.source() > Source::Probe => return Ok(ForgetOutcome::Kept(known.source())),
            Ok(None) => return Ok(ForgetOutcome::Unrecorded),
            // An unreadable record is removed.
            Ok(Some(_)) | Err(_) => {}
        }
        self.write_observed(server, None)?;
        Ok(ForgetOutcome::Removed)
    }

    /// Writes or removes an observed record, and writes the receipt of that. Without it, the record is invalid.
    fn write_observed(&self, server: &str, text: Option<&str>) -> anyhow::Result<()> {
        let path = self.observed_path(server);
        match text {
            Some(text) => write_private(&path, text.as_bytes())?,
            None => fs::remove_file(&path).with_context(|| path.display().to_string())?,
        }
        let change = RecordChange::of_observed(server, text.unwrap_or_default().as_bytes());
        let body = ReceiptBody::RecordChange(change);
        receipts::record_observation(&self.environment, server, &body).map_err(AnyError::msg)
    }

    /// Changes the pin of a server under the lock, and writes the receipt of the change. Without its receipt, the pin is
    /// invalid.
    pub fn change(&self, request: &PinChangeRequest<'_>, change: impl FnOnce(&mut Pin)) -> anyhow::Result<()> {
        let PinChangeRequest { kind, server, tool, shown, at } = request;
        let _lock = self.lock()?;
        let mut pin = self.pin_to_change(server);
        change(&mut pin);
        let text = pin.write();
        if text.len() > MCP_RECORD_BYTES.most {
            bail!("the pin would have more than {}", MCP_RECORD_BYTES.what);
        }
        let body =
            ReceiptBody::RecordChange(RecordChange::of_pin(*kind, server, *tool, shown.clone(), text.as_bytes()));
        write_private(&self.pin_path(server), text.as_bytes())?;
        let written = receipts::record_operator_action(&self.environment, &body, *at);
        written.map_err(AnyError::msg).context("the change is not in force: its receipt was not written")
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

fn record_file(path: &Path) -> RecordFile {
    match read_bytes(path) {
        Ok(bytes) => RecordFile::Bytes(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => RecordFile::Missing,
        Err(_) => RecordFile::Unreadable,
    }
}

fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let (file, length) = open(path)?;
    let mut bytes = Vec::with_capacity(length + 1);
    file.take(MCP_RECORD_BYTES.most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MCP_RECORD_BYTES.most { Err(too_large()) } else { Ok(bytes) }
}

/// Opens a record. Symlinks and files that are not regular are refused: they could lead to other files or block.
fn open(path: &Path) -> std::io::Result<(File, usize)> {
    let (file, length) = policy_files::open_with(path, OFlags::NOFOLLOW).map_err(|error| {
        let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        if is_link { Error::new(ErrorKind::InvalidInput, "a symlink, not a regular file") } else { error }
    })?;
    match usize::try_from(length) {
        Ok(length) if length <= MCP_RECORD_BYTES.most => Ok((file, length)),
        _ => Err(too_large()),
    }
}

fn too_large() -> Error {
    Error::new(ErrorKind::InvalidData, format!("more than {}", MCP_RECORD_BYTES.what))
}

#[cfg(test)]
#[path = "../../../tests/unit/runtime/mcp/records.rs"]
mod tests;
