//! Reads the log from where the last reading ended.

use crate::runtime::policy_files;
use rune::telemetry::LogRecord;
use std::collections::{BTreeSet, VecDeque};
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Longest line that the hook writes; a longer one is skipped.
const MAX_LINE_BYTES: u64 = 64 << 10;

const BUFFER_BYTES: usize = 256 << 10;

/// A log that is read in several steps.
pub struct LogFile {
    path: PathBuf,
    inode: u64,
    /// Up to where it was read: the end of a line.
    offset: u64,
}

impl LogFile {
    pub fn new(path: &Path) -> LogFile {
        LogFile { path: path.to_owned(), inode: 0, offset: 0 }
    }

    /// A log of which only the last bytes are read.
    pub fn near_end(path: &Path, bytes: u64) -> LogFile {
        let found = path.metadata().ok();
        let (inode, length) = found.map_or((0, 0), |found| (found.ino(), found.len()));
        LogFile { path: path.to_owned(), inode, offset: length.saturating_sub(bytes) }
    }

    /// Reads the lines since the last reading. A log that was replaced or truncated is read from its start, and a missing
    /// one is empty. Lines that cannot be parsed are skipped.
    pub fn read(&mut self, mut add: impl FnMut(LogRecord)) -> std::io::Result<()> {
        let (mut file, length) = match policy_files::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        let inode = file.metadata()?.ino();
        if inode != self.inode || length < self.offset {
            (self.inode, self.offset) = (inode, 0);
        }
        if length == self.offset {
            return Ok(());
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut log = BufReader::with_capacity(BUFFER_BYTES, file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let count = log.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
            let Some(text) = line.strip_suffix(b"\n") else {
                if count as u64 != MAX_LINE_BYTES {
                    // The rest of the last line may still be written.
                    return Ok(());
                }
                self.offset += count as u64 + log.skip_until(b'\n')? as u64;
                continue;
            };
            self.offset += count as u64;
            if let Some(record) = LogRecord::read(text) {
                add(record);
            }
        }
    }
}

/// The last lines that are wanted, and the names in all lines.
pub struct Recent {
    count: usize,
    pub kept: VecDeque<LogRecord>,
    pub sessions: BTreeSet<String>,
    pub rules: BTreeSet<String>,
}

impl Recent {
    pub fn new(count: usize) -> Recent {
        Recent { count, kept: VecDeque::new(), sessions: BTreeSet::new(), rules: BTreeSet::new() }
    }

    pub fn add(&mut self, record: LogRecord, is_wanted: impl Fn(&LogRecord) -> bool) {
        if !self.sessions.contains(&record.session_id) {
            self.sessions.insert(record.session_id.clone());
        }
        for rule in record.rules() {
            if !self.rules.contains(rule) {
                self.rules.insert(rule.to_owned());
            }
        }
        if is_wanted(&record) {
            self.kept.push_back(record);
            if self.kept.len() > self.count {
                self.kept.pop_front();
            }
        }
    }
}
