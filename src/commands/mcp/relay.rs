//! The relay between a client and a server: bytes go through as they come, and somebody looks on.

use super::record::Strip;
use super::wrap::Note;
use rune::mcp::protocol::{Conversation, ListUpdate, MAX_SERVED_BYTES, filter_tools};
use rustix::event::{PollFd, PollFlags, poll};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that go through at a time.
const CHUNK: usize = 64 << 10;

/// Bytes of a client's line that may be a question about lists; none is nearly as long.
const LONGEST_QUESTION: usize = 256 << 10;

/// What the two directions know together.
#[derive(Clone)]
pub struct Relay {
    watch: Arc<Mutex<Conversation>>,
    /// Whoever records what was served; it must not hold up the stream.
    recorder: Sender<Note>,
}

impl Relay {
    pub fn new(recorder: Sender<Note>) -> Relay {
        Relay { watch: Arc::default(), recorder }
    }

    /// Passes what the client says on to the server, until either ends.
    pub fn to_server(&self, mut from: impl Read + AsFd, mut to: impl Write + AsFd) {
        let mut lines = Lines::new(LONGEST_QUESTION);
        let mut chunk = vec![0; CHUNK];
        while let Some(bytes) = next(&mut from, &mut chunk) {
            // Before it is passed on: the server may answer at once.
            lines.take(bytes, &mut |line| {
                if let Line::Whole(line) = line {
                    self.with_watch(|watch| watch.record_request(line));
                }
            });
            if put(&mut to, bytes).is_err() {
                return;
            }
        }
    }

    /// Passes what the server says on to the client, until either ends.
    pub fn to_client(&self, mut from: impl Read + AsFd, to: &mut File) {
        let mut lines = Lines::new(MAX_SERVED_BYTES);
        let mut chunk = vec![0; CHUNK];
        while let Some(bytes) = next(&mut from, &mut chunk) {
            if put(to, bytes).is_err() {
                return;
            }
            lines.take(bytes, &mut |line| self.hear(line));
        }
    }

    /// The same without the tools that are not approved. A line is passed on when it is whole; before that, no
    /// client can do anything with it.
    pub fn to_client_stripped(&self, mut from: impl Read + AsFd, to: &mut File, approved: &Strip) {
        let mut lines = Lines::new(MAX_SERVED_BYTES);
        let mut chunk = vec![0; CHUNK];
        let mut open = true;
        let mut pass = |line: Line<'_>| {
            match line {
                Line::Whole(line) => {
                    let stripped = filter_tools(line, &approved.keep());
                    open &= put(to, stripped.as_deref().unwrap_or(line)).is_ok();
                }
                Line::TooLong => {
                    let most = MAX_SERVED_BYTES >> 20;
                    writeln!(std::io::stderr().lock(), "rune: a line of more than {most} MB was left out").ok();
                }
            }
            self.hear(line);
            open
        };
        while let Some(bytes) = next(&mut from, &mut chunk) {
            let mut goes_on = true;
            lines.take(bytes, &mut |line| goes_on &= pass(line));
            if !goes_on {
                return;
            }
        }
        if let Some(rest) = lines.rest() {
            pass(Line::Whole(&rest));
        }
    }

    fn hear(&self, line: Line<'_>) {
        let (heard, served) = self.with_watch(|watch| {
            let heard = match line {
                Line::Whole(line) => watch.record_response(line),
                Line::TooLong => watch.record_oversized_line(),
            };
            (heard, (heard != ListUpdate::Unchanged).then(|| watch.served()))
        });
        if let Some(served) = served {
            self.recorder.send(Note::Sight(served, heard)).ok();
        }
    }

    fn with_watch<T>(&self, look: impl FnOnce(&mut Conversation) -> T) -> T {
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

/// Lines put together from chunks.
struct Lines {
    begun: Vec<u8>,
    most: usize,
    too_long: bool,
}

impl Lines {
    fn new(most: usize) -> Lines {
        Lines { begun: Vec::new(), most, too_long: false }
    }

    fn take(&mut self, bytes: &[u8], each: &mut dyn FnMut(Line<'_>)) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.too_long || self.begun.len() + part.len() > self.most {
                self.too_long = true;
                self.begun = Vec::new();
            } else if self.begun.is_empty() && part.ends_with(b"\n") {
                each(Line::Whole(part));
                continue;
            } else {
                self.begun.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                each(if self.too_long { Line::TooLong } else { Line::Whole(&self.begun) });
                self.begun.clear();
                self.too_long = false;
            }
        }
    }

    /// What came after the last line.
    fn rest(self) -> Option<Vec<u8>> {
        Some(self.begun).filter(|rest| !rest.is_empty())
    }
}

/// The next bytes; `None` at the end.
fn next<'a>(from: &mut (impl Read + AsFd), chunk: &'a mut [u8]) -> Option<&'a [u8]> {
    loop {
        match from.read(chunk) {
            Ok(0) => return None,
            Ok(read) => return chunk.get(..read),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Whoever gave us the pipe may have made it one that does not wait.
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait(from, PollFlags::IN),
            Err(_) => return None,
        }
    }
}

fn put(to: &mut (impl Write + AsFd), mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait(to, PollFlags::OUT),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn wait(on: &impl AsFd, what: PollFlags) {
    poll(&mut [PollFd::new(on, what)], None).ok();
}

#[cfg(test)]
#[path = "../../../tests/unit/commands/mcp/relay.rs"]
mod tests;
