//! The relay between a client and a server: bytes go through as they come, and somebody looks on.

use super::record::ApprovedTools;
use super::wrap::RecorderMessage;
use rune::mcp::protocol::{Heard, MOST_BYTES, Watch, strip};
use rustix::event::{PollFd, PollFlags, poll};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that go through at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// Bytes of a client's line that may be a question about lists; none is nearly as long.
const MAX_REQUEST_BYTES: usize = 256 << 10;

/// What the two directions know together.
#[derive(Clone)]
pub struct Relay {
    watch: Arc<Mutex<Watch>>,
    /// Whoever records what was served; it must not hold up the stream.
    recorder: Sender<RecorderMessage>,
}

impl Relay {
    pub fn new(recorder: Sender<RecorderMessage>) -> Relay {
        Relay { watch: Arc::default(), recorder }
    }

    /// Passes what the client says on to the server, until either ends.
    pub fn to_server(&self, mut from: impl Read + AsFd, mut to: impl Write + AsFd) {
        let mut lines = LineBuffer::new(MAX_REQUEST_BYTES);
        let mut chunk = vec![0; CHUNK_BYTES];
        while let Some(bytes) = read_chunk(&mut from, &mut chunk) {
            // Before it is passed on: the server may answer at once.
            lines.push(bytes, &mut |line| {
                if let Line::Whole(line) = line {
                    self.with_watch(|watch| watch.sent(line));
                }
            });
            if write_all(&mut to, bytes).is_err() {
                return;
            }
        }
    }

    /// Passes what the server says on to the client, until either ends.
    pub fn to_client(&self, mut from: impl Read + AsFd, to: &mut File) {
        let mut lines = LineBuffer::new(MOST_BYTES);
        let mut chunk = vec![0; CHUNK_BYTES];
        while let Some(bytes) = read_chunk(&mut from, &mut chunk) {
            if write_all(to, bytes).is_err() {
                return;
            }
            lines.push(bytes, &mut |line| self.observe(line));
        }
    }

    /// The same without the tools that are not approved. A line is passed on when it is whole; before that, no
    /// client can do anything with it.
    pub fn to_client_stripped(&self, mut from: impl Read + AsFd, to: &mut File, approved: &ApprovedTools) {
        let mut lines = LineBuffer::new(MOST_BYTES);
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut open = true;
        let mut pass = |line: Line<'_>| {
            match line {
                Line::Whole(line) => {
                    let stripped = strip(line, &approved.filter());
                    open &= write_all(to, stripped.as_deref().unwrap_or(line)).is_ok();
                }
                Line::TooLong => {
                    let most = MOST_BYTES >> 20;
                    writeln!(std::io::stderr().lock(), "rune: a line of more than {most} MB was left out").ok();
                }
            }
            self.observe(line);
            open
        };
        while let Some(bytes) = read_chunk(&mut from, &mut chunk) {
            let mut goes_on = true;
            lines.push(bytes, &mut |line| goes_on &= pass(line));
            if !goes_on {
                return;
            }
        }
        if let Some(rest) = lines.rest() {
            pass(Line::Whole(&rest));
        }
    }

    fn observe(&self, line: Line<'_>) {
        let (heard, served) = self.with_watch(|watch| {
            let heard = match line {
                Line::Whole(line) => watch.heard(line),
                Line::TooLong => watch.missed(),
            };
            (heard, (heard != Heard::Nothing).then(|| watch.served()))
        });
        if let Some(served) = served {
            self.recorder.send(RecorderMessage::Served(served, heard)).ok();
        }
    }

    fn with_watch<T>(&self, look: impl FnOnce(&mut Watch) -> T) -> T {
        look(&mut self.watch.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A line, or that there was one that nobody can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    /// With its end.
    Whole(&'a [u8]),
    TooLong,
}

/// LineBuffer put together from chunks.
struct LineBuffer {
    partial: Vec<u8>,
    max_bytes: usize,
    too_long: bool,
}

impl LineBuffer {
    fn new(max_bytes: usize) -> LineBuffer {
        LineBuffer { partial: Vec::new(), max_bytes, too_long: false }
    }

    fn push(&mut self, bytes: &[u8], each: &mut dyn FnMut(Line<'_>)) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.too_long || self.partial.len() + part.len() > self.max_bytes {
                self.too_long = true;
                self.partial = Vec::new();
            } else if self.partial.is_empty() && part.ends_with(b"\n") {
                each(Line::Whole(part));
                continue;
            } else {
                self.partial.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                each(if self.too_long { Line::TooLong } else { Line::Whole(&self.partial) });
                self.partial.clear();
                self.too_long = false;
            }
        }
    }

    /// What came after the last line.
    fn rest(self) -> Option<Vec<u8>> {
        Some(self.partial).filter(|rest| !rest.is_empty())
    }
}

/// The next bytes; `None` at the end.
fn read_chunk<'a>(from: &mut (impl Read + AsFd), chunk: &'a mut [u8]) -> Option<&'a [u8]> {
    loop {
        match from.read(chunk) {
            Ok(0) => return None,
            Ok(read) => return chunk.get(..read),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Whoever gave us the pipe may have made it one that does not wait.
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait_until_ready(from, PollFlags::IN),
            Err(_) => return None,
        }
    }
}

fn write_all(to: &mut (impl Write + AsFd), mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait_until_ready(to, PollFlags::OUT),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn wait_until_ready(on: &impl AsFd, what: PollFlags) {
    poll(&mut [PollFd::new(on, what)], None).ok();
}

#[cfg(test)]
#[path = "../../../tests/unit/commands/mcp/relay.rs"]
mod tests;
