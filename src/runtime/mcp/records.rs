//! The records of servers on disk: one pin and one observed record each, written whole, for their owner alone.

use crate::runtime::environment::Environment;
use crate::runtime::files::put_private;
use anyhow::{Context, bail};
use rune::mcp::{InvalidRecord, MAX_RECORD_BYTES, Observed, ObservedFile, Pin, PinFile, Source, file_name};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Error, ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What became of something that was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It is the record now.
    Written,
    /// A stronger source has seen the server, and its record stays.
    Kept(Source),
}

/// The folders of the records.
#[derive(Clone, Debug)]
pub struct Store {
    data: PathBuf,
    /// How long another writer is waited for.
    patience: Duration,
}

/// How long another writer is waited for; each only writes a file.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often we look whether it is done.
const STEP: Duration = Duration::from_millis(5);

/// A file of the store that cannot be relied upon.
#[derive(Debug)]
pub struct Unreadable {
    pub path: PathBuf,
    pub what: String,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)
    }
}

impl std::error::Error for Unreadable {}

impl Store {
    pub fn of(environment: &Environment) -> anyhow::Result<Store> {
        let help = "help: set it, or XDG_DATA_HOME";
        let data =
            environment.data_dir.clone().with_context(|| format!("HOME is not an absolute directory\n  {help}"))?;
        Ok(Store { data, patience: PATIENCE })
    }

    pub fn pin_path(&self, server: &str) -> PathBuf {
        self.data.join("pins").join(file_name(server))
    }

    pub fn observed_path(&self, server: &str) -> PathBuf {
        self.data.join("observed").join(file_name(server))
    }

    /// What was approved of a server; `None` where nothing was.
    pub fn pin(&self, server: &str) -> Result<Option<Pin>, Unreadable> {
        let path = self.pin_path(server);
        parse(&path, Pin::read, |pin| pin.server() == server)
    }

    /// What a server was last seen to serve; `None` where it never was.
    pub fn observed(&self, server: &str) -> Result<Option<Observed>, Unreadable> {
        let path = self.observed_path(server);
        parse(&path, Observed::read, |observed| observed.server() == server)
    }

    /// The names of all servers with a record, and the files that do not tell one.
    pub fn servers(&self) -> (BTreeSet<String>, Vec<Unreadable>) {
        let (mut names, mut unreadable) = (BTreeSet::new(), Vec::new());
        for (folder, name) in [("pins", name_of_pin as fn(&[u8]) -> _), ("observed", name_of_observed)] {
            for entry in fs::read_dir(self.data.join(folder)).into_iter().flatten().flatten() {
                let path = entry.path();
                // What starts with a dot was being written when somebody was killed.
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
    pub fn record(&self, observed: &Observed) -> anyhow::Result<Recorded> {
        let _lock = self.lock()?;
        // A record that cannot be read tells nothing worth keeping, and whoever asks is told by the pin's side.
        if let Ok(Some(known)) = self.observed(observed.server())
            && !observed.replaces(&known)
        {
            return Ok(Recorded::Kept(known.source()));
        }
        let text = observed.write();
        if text.len() as u64 > MAX_RECORD_BYTES {
            bail!("the server `{}` serves more than {} MB", observed.server().escape_debug(), MAX_RECORD_BYTES >> 20);
        }
        put_private(&self.observed_path(observed.server()), text.as_bytes())?;
        Ok(Recorded::Written)
    }

    /// Changes what is pinned of a server, while nobody else does.
    pub fn change<R>(&self, server: &str, change: impl FnOnce(&mut Pin) -> R) -> anyhow::Result<R> {
        let _lock = self.lock()?;
        let mut pin = self.pin(server)?.unwrap_or_else(|| Pin::new(server));
        let result = change(&mut pin);
        put_private(&self.pin_path(server), pin.write().as_bytes())?;
        Ok(result)
    }

    /// One writer at a time; whoever is killed lets go, and whoever only hangs is not waited for.
    fn lock(&self) -> anyhow::Result<File> {
        let path = self.data.join(".lock");
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.data);
        made.with_context(|| self.data.display().to_string())?;
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let open =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(&path);
        let file = open.with_context(|| path.display().to_string())?;
        let until = Instant::now() + self.patience;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(file),
                Err(Errno::WOULDBLOCK) if Instant::now() >= until => bail!(
                    "{}: another process has held it for {} seconds\n  help: `fuser {}` tells which; end it, and run this again",
                    path.display(),
                    self.patience.as_secs(),
                    rune::shell::typed(&path.to_string_lossy()),
                ),
                Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(STEP),
                Err(error) => return Err(error).with_context(|| path.display().to_string()),
            }
        }
    }
}

/// Whether the file of a record tells nothing of its server's name.
pub fn hides_name(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"="))
}

fn name_of_pin(text: &[u8]) -> Result<String, InvalidRecord> {
    PinFile::parse(text).map(|file| file.head.server)
}

fn name_of_observed(text: &[u8]) -> Result<String, InvalidRecord> {
    ObservedFile::parse(text).map(|file| file.head.server)
}

fn parse<T>(
    path: &Path,
    read: impl FnOnce(&[u8]) -> Result<T, InvalidRecord>,
    fits: impl FnOnce(&T) -> bool,
) -> Result<Option<T>, Unreadable> {
    let unreadable = |what: String| Unreadable { path: path.to_owned(), what };
    let bytes = match bytes(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let record = read(&bytes).map_err(|invalid| unreadable(invalid.to_string()))?;
    if fits(&record) { Ok(Some(record)) } else { Err(unreadable("it is the record of another server".to_owned())) }
}

/// The bytes of a record.
pub fn bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let (file, length) = open(path)?;
    let mut bytes = Vec::with_capacity(length + 1);
    file.take(MAX_RECORD_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_RECORD_BYTES { Err(too_large()) } else { Ok(bytes) }
}

/// Opens a record. A link leads to where others write, and a pipe holds whoever opens it: neither is ours.
fn open(path: &Path) -> std::io::Result<(File, usize)> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path).map_err(|error| {
        let link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        if link { Error::new(ErrorKind::InvalidInput, "it is a link, and records are files") } else { error }
    })?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    if found.len() > MAX_RECORD_BYTES {
        Err(too_large())
    } else {
        Ok((file, usize::try_from(found.len()).unwrap_or_default()))
    }
}

fn too_large() -> Error {
    Error::new(ErrorKind::InvalidData, format!("larger than {} MB", MAX_RECORD_BYTES >> 20))
}

#[cfg(test)]
#[path = "../../../tests/unit/runtime/mcp/records.rs"]
mod tests;
