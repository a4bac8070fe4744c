//! The log, folded by all processors at once, each a part of the file and in constant room.

use rune::telemetry::summary::{Filter, Summary};
use std::fs::File;
use std::io::{Error, ErrorKind, IsTerminal, Write};
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

/// Bytes for which a second thread is worth its start.
const SHARE: u64 = 4 << 20;

/// More threads than this wait for each other.
const MOST_THREADS: usize = 8;

/// How long a person waits without being told.
const PATIENCE: Duration = Duration::from_secs(1);

/// Folds the log. A log that is not there yet is an empty one.
pub fn summary(path: &Path, filter: &Filter) -> std::io::Result<Summary> {
    // A pipe would be waited for, and there is nothing behind it.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Summary::default()),
        Err(error) => return Err(error),
    };
    let size = file.metadata()?.len();
    let most = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS) as u64;
    let share = size.div_ceil((size / SHARE).clamp(1, most)).max(1);
    let parts = (0..size).step_by(usize::try_from(share).unwrap_or(usize::MAX));
    let parts: Vec<Range<u64>> = parts.map(|start| start..(start + share).min(size)).collect();
    if let [only] = parts.as_slice() {
        return part(&file, only.clone(), filter, BUFFER, &AtomicU64::new(0));
    }
    let done = AtomicU64::new(0);
    let (send, receive) = channel();
    std::thread::scope(|scope| {
        for range in &parts {
            let (send, file, done) = (send.clone(), &file, &done);
            scope.spawn(move || send.send(part(file, range.clone(), filter, BUFFER, done)).ok());
        }
        drop(send);
        let (mut all, mut bar) = (Summary::default(), Bar::new(size));
        loop {
            match receive.recv_timeout(Duration::from_millis(100)) {
                Ok(part) => all.join(part?),
                Err(RecvTimeoutError::Timeout) => bar.show(done.load(Ordering::Relaxed)),
                Err(RecvTimeoutError::Disconnected) => return Ok(all),
            }
        }
    })
}

/// Folds the lines that begin in a part of the file.
fn part(file: &File, range: Range<u64>, filter: &Filter, buffer: usize, done: &AtomicU64) -> std::io::Result<Summary> {
    let mut summary = Summary::default();
    let mut bytes = vec![0; buffer];
    // The line that began before is another part's; a line end right before the part begins none.
    let mut foreign = range.start > 0;
    let mut long = false;
    // Where the buffer begins, and where the line does that is being read.
    let mut base = range.start.saturating_sub(1);
    let mut begun = base;
    let mut filled = 0;
    loop {
        let read = read_at(file, bytes.get_mut(filled..).unwrap_or_default(), base + filled as u64)?;
        done.fetch_add(read as u64, Ordering::Relaxed);
        filled += read;
        let mut rest = bytes.get(..filled).unwrap_or_default();
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, more) = rest.split_at(end);
            if !foreign && begun >= range.end {
                return Ok(summary);
            }
            take(&mut summary, line, filter, long, foreign);
            (foreign, long) = (false, false);
            base += end as u64 + 1;
            begun = base;
            rest = more.get(1..).unwrap_or_default();
        }
        if !foreign && begun >= range.end {
            return Ok(summary);
        }
        if read == 0 {
            // The last line has no end yet.
            take(&mut summary, rest, filter, long, foreign);
            return Ok(summary);
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
        for cuts in [vec![], vec![1], vec![size / 2], (0..size).step_by(997).collect(), vec![size - 1, size]] {
            for buffer in [LONGEST_LINE + 1, 100_000, BUFFER] {
                let mut all = Summary::default();
                let bounds: Vec<u64> = [0].into_iter().chain(cuts.iter().copied()).chain([size]).collect();
                for pair in bounds.windows(2) {
                    let range = pair[0]..pair[1];
                    all.join(part(&file, range, &Filter::default(), buffer, &AtomicU64::new(0)).unwrap());
                }
                assert!(told(all) == expected, "{} cuts, {buffer} bytes at once", cuts.len());
            }
        }
    }
}
