//! Appends receipts to a file, one at a time, while the file is locked.

use super::{OPERATOR_FILE, file_name, folder, key, observed_folder, observed_name, session_name, time};
use crate::runtime::environment::Environment;
use crate::runtime::files::create_private_dir;
use rune::encoding::label::Label;
use rune::receipt::{ChainEnd, ChainPosition, OPERATOR_SESSION, Receipt, ReceiptBody, observed_session};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use time::OffsetDateTime;

/// Bytes at the end of a file that are read, first the smaller number. A receipt is shorter than half of the larger one.
const TAIL_BYTES: [u64; 2] = [2 << 10, 8 << 10];

/// A session with more parts is an error.
const MAX_PARTS: u64 = 10_000;

/// Writes to the receipt files of one session.
pub struct Writer<'a> {
    environment: &'a Environment,
    folder: PathBuf,
    /// The name of the first part's file, without its extension.
    name: String,
    session: String,
    client: &'static str,
    at: Option<OffsetDateTime>,
}

impl<'a> Writer<'a> {
    pub fn of_session(
        environment: &'a Environment,
        session: &Label,
        client: &'static str,
        at: Option<OffsetDateTime>,
    ) -> Result<Self, String> {
        let (name, session) = (session_name(session), session.to_string());
        Ok(Writer { environment, folder: folder(environment)?, name, session, client, at })
    }

    pub fn of_operator(environment: &'a Environment, at: Option<OffsetDateTime>) -> Result<Self, String> {
        let (name, session) = (OPERATOR_FILE.to_owned(), OPERATOR_SESSION.to_owned());
        Ok(Writer { environment, folder: folder(environment)?, name, session, client: "rune", at })
    }

    pub fn of_observed(environment: &'a Environment, server: &str) -> Result<Self, String> {
        let (name, session) = (observed_name(server), observed_session(server));
        Ok(Writer { environment, folder: observed_folder(environment)?, name, session, client: "rune", at: None })
    }

    pub fn append(&self, body: &ReceiptBody) -> Result<(), String> {
        let mut next = None;
        for part in 1..MAX_PARTS {
            let path = self.path(part);
            let in_file = |error: Error| format!("receipts: {}: {error}", path.display());
            let file = self.open(&path).map_err(in_file)?;
            let (end, torn) = read_end(&file, part).map_err(in_file)?;
            let position = match (end, next) {
                (Some(ChainEnd::Open(position)), _) => position,
                (Some(ChainEnd::Closed(position)), _) => {
                    next = Some(position);
                    continue;
                }
                (None, next) => ChainPosition { torn, ..next.unwrap_or_else(|| ChainPosition::first(&self.session)) },
            };
            return self.write(&file, position, body, &path);
        }
        Err(format!("receipts: {}: too many parts", self.path(1).display()))
    }

    /// Seals the open part, if there is one.
    pub fn seal(&self) -> Result<(), String> {
        for part in 1..MAX_PARTS {
            let path = self.path(part);
            let in_file = |error: Error| format!("receipts: {}: {error}", path.display());
            let file = match options().open(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
                opened => opened.and_then(lock).map_err(in_file)?,
            };
            match read_end(&file, part).map_err(in_file)?.0 {
                Some(ChainEnd::Open(position)) => return self.write(&file, position, &ReceiptBody::Seal, &path),
                Some(ChainEnd::Closed(_)) => {}
                // The file is empty.
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn path(&self, part: u64) -> PathBuf {
        self.folder.join(file_name(&self.name, part))
    }

    /// Opens a file with mode 600 and locks it. Creates the file and its directory if needed.
    fn open(&self, path: &Path) -> Result<File, Error> {
        let opened = options().create(true).open(path).or_else(|error| {
            if error.kind() != ErrorKind::NotFound {
                return Err(error);
            }
            create_private_dir(&self.folder)?;
            options().create(true).open(path)
        });
        opened.and_then(lock)
    }

    /// Signs and writes a receipt.
    ///
    /// INVARIANT: the file is locked. The key is read under the lock, so that receipts follow the order of key changes.
    fn write(&self, mut file: &File, position: ChainPosition, body: &ReceiptBody, path: &Path) -> Result<(), String> {
        let secret = key::read_or_create(self.environment)?;
        let line = Receipt::sign(body, &self.session, self.client, time(self.at), position, &secret).to_line();
        let in_file = |error: Error| format!("receipts: {}: {error}", path.display());
        let written = file.write(&line).map_err(in_file)?;
        if written == line.len() {
            return Ok(());
        }
        // The disk is full. If truncating fails, the next writer cuts the torn line off.
        let length = file.metadata().map_err(in_file)?.len();
        file.set_len(length.saturating_sub(written as u64)).ok();
        Err(in_file(Error::new(ErrorKind::StorageFull, "only part of the receipt was written")))
    }
}

/// Reads the end of a file, and cuts off a torn last line. Returns its length in bytes as well. The end is `None` if the
/// file contains no line.
fn read_end(file: &File, part: u64) -> Result<(Option<ChainEnd>, u64), Error> {
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    let length = found.len();
    let (mut start, mut tail) = (0, Vec::new());
    for bytes in TAIL_BYTES {
        start = length.saturating_sub(bytes);
        tail.resize(usize::try_from(length - start).unwrap_or_default(), 0);
        file.read_exact_at(&mut tail, start)?;
        // With two line ends, the tail contains the last line whole.
        if start == 0 || tail.iter().filter(|byte| **byte == b'\n').count() > 1 {
            break;
        }
    }
    let (end, torn) = ChainEnd::read(&tail, part);
    if end.is_none() && start > 0 {
        // This is not a receipt file. Keep it, and continue in the next part.
        let prev = rune::receipt::hash(&tail);
        return Ok((Some(ChainEnd::Closed(ChainPosition { part: part + 1, seq: 1, prev, torn: 0 })), 0));
    }
    let open = matches!(end, None | Some(ChainEnd::Open(_)));
    if torn > 0 && open {
        file.set_len(length - torn as u64)?;
    }
    Ok((end, torn as u64))
}

fn options() -> OpenOptions {
    // Opening a pipe could block until the deadline, and a symlink could lead to another file.
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).append(true).mode(0o600).custom_flags(flags);
    options
}

fn lock(file: File) -> Result<File, Error> {
    loop {
        match flock(&file, FlockOperation::LockExclusive) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(()) => return Ok(file),
        }
    }
}
