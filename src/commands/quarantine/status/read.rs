//! Reads the telemetry log line by line, in constant memory.

use crate::runtime::policy_files;
use rune::telemetry::summary::{Filter, Summary};
use std::io::{BufRead, BufReader, ErrorKind, IsTerminal, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest line that the hook writes; a longer one counts as malformed.
const MAX_LINE_BYTES: usize = 64 << 10;

const BUFFER_BYTES: usize = 256 << 10;

/// Bytes between two updates of the progress bar.
const PROGRESS_BYTES: u64 = 16 << 20;

/// Time before the progress bar appears.
const PROGRESS_DELAY: Duration = Duration::from_secs(1);

/// Reads and summarises the log at `path`. A missing log is empty.
pub fn summary(path: &Path, filter: &Filter) -> std::io::Result<Summary> {
    match policy_files::open(path) {
        Ok((file, size)) => summarize(BufReader::with_capacity(BUFFER_BYTES, file), filter, ProgressBar::new(size)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Summary::default()),
        Err(error) => Err(error),
    }
}

/// Counts all lines but empty ones.
fn summarize(mut log: impl BufRead, filter: &Filter, mut progress: ProgressBar) -> std::io::Result<Summary> {
    let mut summary = Summary::default();
    let mut line = Vec::new();
    let (mut done, mut next_update) = (0, PROGRESS_BYTES);
    loop {
        line.clear();
        done += log.by_ref().take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut line)? as u64;
        match line.as_slice() {
            [] => return Ok(summary),
            [b'\n'] => {}
            [text @ .., b'\n'] => summary.add(text, filter),
            text if text.len() > MAX_LINE_BYTES => {
                summary.add_malformed();
                done += log.skip_until(b'\n')? as u64;
            }
            // The last line may have no line end.
            text => summary.add(text, filter),
        }
        if done >= next_update {
            progress.show(done);
            next_update = done + PROGRESS_BYTES;
        }
    }
}

/// A progress bar on stderr, shown only on a terminal.
struct ProgressBar {
    started: Instant,
    size: u64,
    shown: bool,
}

impl ProgressBar {
    fn new(size: u64) -> Self {
        ProgressBar { started: Instant::now(), size, shown: false }
    }

    fn show(&mut self, done: u64) {
        if std::io::stderr().is_terminal() && self.started.elapsed() > PROGRESS_DELAY {
            let percent = done.min(self.size) * 100 / self.size.max(1);
            let filled = usize::try_from(percent / 5).unwrap_or(20).min(20);
            let bar = format!("{}{}", "#".repeat(filled), ".".repeat(20 - filled));
            write!(std::io::stderr(), "\r[{bar}] {percent:>3} % of {} MB", self.size >> 20).ok();
            self.shown = true;
        }
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        if self.shown {
            write!(std::io::stderr(), "\r{:50}\r", "").ok();
        }
    }
}

#[cfg(test)]
#[path = "../../../../tests/unit/commands/quarantine/status/read.rs"]
mod tests;
