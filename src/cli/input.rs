//! What comes on stdin, as long as it comes in time.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{ErrorKind, Read};
use std::time::{Duration, Instant};

/// What was read.
pub struct Input {
    pub bytes: Vec<u8>,
    /// All of it was kept.
    pub whole: bool,
}

/// Bytes that are asked for at first.
const FIRST: usize = 8 << 10;

/// Bytes that are asked for at once where more is thrown away.
const CHUNK: usize = 64 << 10;

/// Reads stdin to its end and keeps up to `most` bytes of it. The rest is drained, so that the client is never left
/// with a broken pipe. `None` where the end has not come after `limit`.
///
/// Waiting needs no second thread: the kernel tells when there is something to read.
pub fn read(most: usize, limit: Duration) -> Option<Input> {
    let until = Instant::now() + limit;
    let stdin = std::io::stdin();
    // What is kept, and room for what is thrown away.
    let (mut bytes, mut rest) = (Vec::new(), Vec::new());
    let (mut length, mut whole) = (0, true);
    loop {
        let left = until.checked_duration_since(Instant::now())?;
        let timeout = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], timeout.as_ref()) {
            Ok(0) => return None,
            Err(rustix::io::Errno::INTR) => continue,
            // What cannot be waited for can still be read.
            Ok(_) | Err(_) => {}
        }
        if length < most && bytes.len() == length {
            bytes.resize((length * 2).clamp(FIRST, most), 0);
        }
        let room = if length < most { bytes.get_mut(length..).unwrap_or_default() } else { rest.as_mut_slice() };
        match stdin.lock().read(room) {
            Ok(0) => break,
            Ok(more) if length < most => length += more,
            Ok(_) => whole = false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        if length == most {
            rest.resize(CHUNK, 0);
        }
    }
    bytes.truncate(length);
    Some(Input { bytes, whole })
}
