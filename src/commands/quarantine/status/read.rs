//! The log, folded by all processors at once, each a part of the file and in constant room.

use crate::runtime::policy_files;
use rune::telemetry::summary::{Filter, Summary};
use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A line beyond this is not one of ours.
const LONGEST_LINE: usize = 64 << 10;

/// Bytes that are read at once.
const BUFFER: usize = 512 << 10;

/// Bytes of one part, for which a second thread is worth its start.
const SHARE: u64 = 4 << 20;

/// Bytes that are read at once where a part has ended and its last line has not.
const REST: usize = 4 << 10;

/// More threads than this wait for each other.
const MOST_THREADS: usize = 8;

/// How long a person waits without being told.
const PATIENCE: Duration = Duration::from_secs(1);

/// Folds the log. A log that is not there yet is an empty one.
pub fn summary(path: &Path, filter: &Filter) -> std::io::Result<Summary> {
    let (file, size) = match policy_files::open(path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Summary::default()),
        Err(error) => return Err(error),
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS) as u64;
    let threads = threads.min(size / SHARE);
    let parts = Parts { size, share: SHARE, taken: AtomicU64::new(0) };
    if threads < 2 {
        return parts.fold(&file, filter, BUFFER);
    }
    let (send, receive) = channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (send, file, parts) = (send.clone(), &file, &parts);
            scope.spawn(move || send.send(parts.fold(file, filter, BUFFER)).ok());
        }
        drop(send);
        let (mut all, mut bar) = (Summary::default(), Bar::new(size));
        loop {
            match receive.recv_timeout(Duration::from_millis(100)) {
                Ok(part) => all.join(part?),
                Err(RecvTimeoutError::Timeout) => bar.show(parts.taken.load(Ordering::Relaxed)),
                Err(RecvTimeoutError::Disconnected) => return Ok(all),
            }
        }
    })
}

/// The parts of a file, which are taken one by one: a thread that others keep waiting takes fewer.
struct Parts {
    size: u64,
    share: u64,
    /// Bytes in the parts that were taken.
    taken: AtomicU64,
}

impl Parts {
    /// Folds parts until there are no more.
    fn fold(&self, file: &File, filter: &Filter, buffer: usize) -> std::io::Result<Summary> {
        let mut summary = Summary::default();
        let mut bytes = vec![0; buffer];
        loop {
            let start = self.taken.fetch_add(self.share, Ordering::Relaxed);
            if start >= self.size {
                return Ok(summary);
            }
            part(file, start..(start + self.share).min(self.size), filter, &mut bytes, &mut summary)?;
        }
    }
}

/// Folds the lines that begin in a part of the file.
fn part(
    file: &File,
    range: Range<u64>,
    filter: &Filter,
    bytes: &mut [u8],
    summary: &mut Summary,
) -> std::io::Result<()> {
    // The line that began before is another part's; a line end right before the part begins none.
    let mut foreign = range.start > 0;
    let mut long = false;
    // Where the buffer begins, and where the line does that is being read.
    let mut base = range.start.saturating_sub(1);
    let mut begun = base;
    let mut filled = 0;
    loop {
        let offset = base + filled as u64;
        // Of the part behind, only what the last line needs.
        let wanted = usize::try_from(range.end.saturating_sub(offset)).unwrap_or(usize::MAX).max(REST);
        let room = bytes.get_mut(filled..).unwrap_or_default();
        let wanted = wanted.min(room.len());
        let read = read_at(file, room.get_mut(..wanted).unwrap_or_default(), offset)?;
        filled += read;
        let mut rest = bytes.get(..filled).unwrap_or_default();
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, more) = rest.split_at(end);
            if !foreign && begun >= range.end {
                return Ok(());
            }
            take(summary, line, filter, long, foreign);
            (foreign, long) = (false, false);
            base += end as u64 + 1;
            begun = base;
            rest = more.get(1..).unwrap_or_default();
        }
        if !foreign && begun >= range.end {
            return Ok(());
        }
        if read == 0 {
            // The last line has no end yet.
            take(summary, rest, filter, long, foreign);
            return Ok(());
        }
        long |= rest.len() > LONGEST_LINE;
        // Of a line that is too long, or not ours, only the end matters.
        let kept = if long || foreign { 0 } else { rest.len() };
        let from = filled - rest.len();
        base += (rest.len() - kept) as u64;
        bytes.copy_within(from..from + kept, 0);
        filled = kept;
    }
}

fn take(summary: &mut Summary, line: &[u8], filter: &Filter, long: bool, foreign: bool) {
    match () {
        () if foreign => {}
        () if long || line.len() > LONGEST_LINE => summary.add_malformed(),
        () if !line.is_empty() => summary.add(line, filter),
        () => {}
    }
}

fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<usize> {
    loop {
        match file.read_at(bytes, offset) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Tells a person who waits how far it has come.
struct Bar {
    started: Instant,
    size: u64,
    wanted: bool,
    shown: bool,
}

impl Bar {
    fn new(size: u64) -> Self {
        Bar { started: Instant::now(), size, wanted: std::io::stderr().is_terminal(), shown: false }
    }

    fn show(&mut self, done: u64) {
        if self.wanted && self.started.elapsed() > PATIENCE {
            let percent = done.min(self.size) * 100 / self.size.max(1);
            let filled = usize::try_from(percent / 5).unwrap_or(20).min(20);
            let bar = format!("{}{}", "#".repeat(filled), ".".repeat(20 - filled));
            write!(std::io::stderr(), "\r[{bar}] {percent:>3} % of {} MB", self.size >> 20).ok();
            self.shown = true;
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.shown {
            write!(std::io::stderr(), "\r{:50}\r", "").ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_together_are_the_whole() {
        let line = |at: usize| {
            format!(
                r#"{{"event":"quarantine","ts":"2026-11-{:02}T01:00:00.000Z","tool":"T{}","decision":"emit","source":"s{}","session_id":"{}","us":{at}}}"#,
                at % 28 + 1,
                at % 3,
                at % 5,
                "x".repeat(at % 40)
            )
        };
        let mut text = String::new();
        for at in 0..400 {
            text.push_str(&match at % 50 {
                7 => "half a li".to_owned(),
                13 => String::new(),
                21 => "y".repeat(LONGEST_LINE + at),
                _ => line(at),
            });
            text.push('\n');
        }
        text.push_str(&line(3));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, &text).unwrap();
        let file = File::open(&path).unwrap();
        let mut expected = Summary::default();
        for line in text.split('\n') {
            take(&mut expected, line.as_bytes(), &Filter::default(), false, false);
        }
        let told = |summary: Summary| serde_json::to_string(&summary.report()).unwrap();
        let expected = told(expected);
        let size = text.len() as u64;
        for share in [997, 65_537, size / 2, size - 1, size, size + 1] {
            for buffer in [LONGEST_LINE + 1, 100_000, BUFFER] {
                let parts = Parts { size, share, taken: AtomicU64::new(0) };
                let all = parts.fold(&file, &Filter::default(), buffer).unwrap();
                assert!(told(all) == expected, "{share} bytes a part, {buffer} bytes at once");
                // What two have folded, each some of it, is the same.
                let parts = Parts { size, share, taken: AtomicU64::new(0) };
                let (mut one, other) = std::thread::scope(|scope| {
                    let fold = || parts.fold(&file, &Filter::default(), buffer).unwrap();
                    let (one, other) = (scope.spawn(fold), scope.spawn(fold));
                    (one.join().unwrap(), other.join().unwrap())
                });
                one.join(other);
                assert!(told(one) == expected, "{share} bytes a part, two threads");
            }
        }
    }
}
