//! Reads the telemetry log line by line, in constant memory.

use crate::runtime::policy_files;
use rune::telemetry::summary::{Filter, Summary};
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

/// Longest line that the hook writes; a longer one counts as malformed.
const MAX_LINE_BYTES: usize = 64 << 10;

const BUFFER_BYTES: usize = 256 << 10;

/// Reads and summarises the log at `path`. A missing log is empty.
pub fn summary(path: &Path, filter: &Filter) -> std::io::Result<Summary> {
    match policy_files::open(path) {
        Ok((file, _)) => summarize(BufReader::with_capacity(BUFFER_BYTES, file), filter),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Summary::default()),
        Err(error) => Err(error),
    }
}

/// Counts all lines but empty ones.
fn summarize(mut log: impl BufRead, filter: &Filter) -> std::io::Result<Summary> {
    let mut summary = Summary::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        log.by_ref().take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut line)?;
        match line.as_slice() {
            [] => return Ok(summary),
            [b'\n'] => {}
            [text @ .., b'\n'] => summary.add(text, filter),
            text if text.len() > MAX_LINE_BYTES => {
                summary.add_malformed();
                log.skip_until(b'\n')?;
            }
            // The last line may have no line end.
            text => summary.add(text, filter),
        }
    }
}

#[cfg(test)]
#[path = "../../../../tests/unit/commands/quarantine/status/read.rs"]
mod tests;
