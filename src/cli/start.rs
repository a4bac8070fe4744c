//! What a process needs before its first line: three open streams, and no signal that ends it when nobody reads.

use nix::sys::signal::{SigSet, Signal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use std::io::{Error, Result};
use std::os::fd::{AsFd, IntoRawFd};

/// Makes the process ready. Nobody would hear an answer on an output that is closed, and a file would take its place.
pub fn ready() -> Result<()> {
    let mut broken_pipe = SigSet::empty();
    broken_pipe.add(Signal::SIGPIPE);
    broken_pipe.thread_block()?;
    let (input, output, errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let mut streams = [input.as_fd(), output.as_fd(), errors.as_fd()]
        .map(|stream| PollFd::from_borrowed_fd(stream, PollFlags::empty()));
    poll(&mut streams, Some(&Timespec::default()))?;
    let [input, output, errors] = streams.map(|stream| stream.revents().contains(PollFlags::NVAL));
    // The lowest number that is free is the one that is closed.
    for _ in [input, output, errors].into_iter().filter(|closed| *closed) {
        let _stays_open = open("/dev/null", OFlags::RDWR, Mode::empty())?.into_raw_fd();
    }
    if output { Err(Error::other("standard output is closed")) } else { Ok(()) }
}
