//! The relay between a client and a server: passes bytes through, and observes the messages.

use super::record::ApprovedTools;
use super::wrap::RecorderMessage;
use rune::mcp::protocol::{Conversation, ListUpdate, MAX_SERVED_BYTES, filter_served};
use rustix::event::{PollFd, PollFlags, poll};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that are passed on at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// Longest client message that is parsed; a request for a list is much shorter.
const MAX_REQUEST_BYTES: usize = 256 << 10;

/// The state that both directions share.
#[derive(Clone)]
pub struct Relay {
    watch: Arc<Mutex<Conversation>>,
    /// Records what is served, in a thread of its own: a slow disk must not delay the stream.
    recorder: Sender<RecorderMessage>,
}

impl Relay {
    pub fn new(recorder: Sender<RecorderMessage>) -> Relay {
        Relay { watch: Arc::default(), recorder }
    }

    /// Passes the client's messages to the server until either closes its stream.
    pub fn to_server(&self, mut from: impl Read + AsFd, mut to: impl Write + AsFd) {
        let mut lines = LineBuffer::new(MAX_REQUEST_BYTES);
        let mut chunk = vec![0; CHUNK_BYTES];
        while let Some(bytes) = read_chunk(&mut from, &mut chunk) {
            // INVARIANT: a request is noted before it is passed on, because the server may answer at once.
            lines.push(bytes, &mut |line| {
                if let Line::Whole(line) = line {
                    self.with_watch(|watch| watch.record_request(line));
                }
            });
            if write_all(&mut to, bytes).is_err() {
                return;
            }
        }
    }

    /// Passes the server's messages to the client until either closes its stream.
    pub fn to_client(&self, mut from: impl Read + AsFd, to: &mut File) {
        let mut lines = LineBuffer::new(MAX_SERVED_BYTES);
        let mut chunk = vec![0; CHUNK_BYTES];
        while let Some(bytes) = read_chunk(&mut from, &mut chunk) {
            if write_all(to, bytes).is_err() {
                return;
            }
            lines.push(bytes, &mut |line| self.observe(line));
        }
    }

    /// Like [`Relay::to_client`], without tools and instructions that are not approved. Lines are passed on when they are complete.
    pub fn to_client_stripped(&self, mut from: impl Read + AsFd, to: &mut File, approved: &ApprovedTools) {
        let mut lines = LineBuffer::new(MAX_SERVED_BYTES);
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut open = true;
        let mut pass = |line: Line<'_>| {
            match line {
                Line::Whole(line) => {
                    let stripped = filter_served(line, &approved.filter());
                    open &= write_all(to, stripped.as_deref().unwrap_or(line)).is_ok();
                }
                Line::TooLong => {
                    let limit = MAX_SERVED_BYTES >> 20;
                    writeln!(std::io::stderr().lock(), "rune: dropped a line of more than {limit} MB").ok();
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

    /// Parses a message of the server, and sends what it changes to the recorder.
    fn observe(&self, line: Line<'_>) {
        let (heard, served) = self.with_watch(|watch| {
            let heard = match line {
                Line::Whole(line) => watch.record_response(line),
                Line::TooLong => watch.record_oversized_line(),
            };
            (heard, (heard != ListUpdate::Unchanged).then(|| watch.served()))
        });
        if let Some(served) = served {
            self.recorder.send(RecorderMessage::Served(served, heard)).ok();
        }
    }

    fn with_watch<T>(&self, use_watch: impl FnOnce(&mut Conversation) -> T) -> T {
        use_watch(&mut self.watch.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A line with its line end, or a line over the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    Whole(&'a [u8]),
    TooLong,
}

/// Assembles lines from chunks.
struct LineBuffer {
    partial: Vec<u8>,
    max_bytes: usize,
    too_long: bool,
}

impl LineBuffer {
    fn new(max_bytes: usize) -> LineBuffer {
        LineBuffer { partial: Vec::new(), max_bytes, too_long: false }
    }

    /// Calls `each` with every line that `bytes` completes.
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

    /// The bytes after the last line end.
    fn rest(self) -> Option<Vec<u8>> {
        Some(self.partial).filter(|rest| !rest.is_empty())
    }
}

/// Reads the next bytes; `None` at the end of the stream.
fn read_chunk<'a>(from: &mut (impl Read + AsFd), chunk: &'a mut [u8]) -> Option<&'a [u8]> {
    loop {
        match from.read(chunk) {
            Ok(0) => return None,
            Ok(read) => return chunk.get(..read),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // The parent process may have made the pipe non-blocking.
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait_until_ready(from, PollFlags::IN),
            Err(_) => return None,
        }
    }
}

/// Like `Write::write_all`, also for a non-blocking pipe.
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

fn wait_until_ready(stream: &impl AsFd, events: PollFlags) {
    poll(&mut [PollFd::new(stream, events)], None).ok();
}

#[cfg(test)]
#[path = "../../../tests/unit/commands/mcp/relay.rs"]
mod tests;
