//! What comes on stdin, as long as it comes in time.

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::time::{Duration, Instant};

/// What was read.
pub struct Input {
    pub bytes: Vec<u8>,
    /// All of it was kept.
    pub whole: bool,
}

/// Bytes that are asked for at first, which are enough for most events.
const FIRST: usize = 8 << 10;

/// Bytes that are made room for where there are more. So much is a mapping of its own, which grows without being copied,
/// and what is never written to costs nothing.
const MORE: usize = 256 << 10;

/// Bytes that are asked for at once where more is thrown away.
const CHUNK: usize = 64 << 10;

/// Reads stdin to its end and keeps up to `most` bytes of it. The rest is drained, so that the client is never left
/// with a broken pipe. `None` where the end has not come after `limit`.
///
/// Waiting needs no second thread: the kernel tells when there is something to read.
pub fn read(most: usize, limit: Duration) -> Option<Input> {
    let until = Instant::now() + limit;
    let stdin = rustix::stdio::stdin();
    // What is kept, and room for what is thrown away.
    let (mut bytes, mut rest) = (Vec::new(), Vec::new());
    let mut whole = true;
    loop {
        let left = until.checked_duration_since(Instant::now())?;
        let timeout = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], timeout.as_ref()) {
            Ok(0) => return None,
            Err(Errno::INTR) => continue,
            // What cannot be waited for can still be read.
            Ok(_) | Err(_) => {}
        }
        let kept = bytes.len() < most;
        let room = if kept {
            let room = if bytes.len() < FIRST { FIRST } else { bytes.len().max(MORE) };
            let room = room.min(most - bytes.len());
            bytes.reserve_exact(room);
            &mut bytes
        } else {
            rest.clear();
            rest.reserve_exact(CHUNK);
            &mut rest
        };
        match rustix::io::read(stdin, spare_capacity(room)) {
            Ok(0) => break,
            Ok(_) => whole &= kept,
            Err(Errno::INTR) => {}
            Err(_) => break,
        }
    }
    Some(Input { bytes, whole })
}
