//! What a process needs before its first line: three open streams, and no signal that ends it when nobody reads.

use nix::sys::signal::{SigSet, Signal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::stdio::{stderr, stdin, stdout};
use std::io::{Error, Result};
use std::os::fd::IntoRawFd;

/// Makes the process ready. Nobody would hear an answer on an output that is closed, and a file would take its place.
pub fn ready() -> Result<()> {
    let mut broken_pipe = SigSet::empty();
    broken_pipe.add(Signal::SIGPIPE);
    broken_pipe.thread_block()?;
    let streams = [stdin(), stdout(), stderr()];
    let mut streams = streams.map(|stream| PollFd::from_borrowed_fd(stream, PollFlags::empty()));
    poll(&mut streams, Some(&Timespec::default()))?;
    let [input, output, errors] = streams.map(|stream| stream.revents().contains(PollFlags::NVAL));
    // The lowest number that is free is the one that is closed.
    for _ in [input, output, errors].into_iter().filter(|closed| *closed) {
        let _stays_open = open("/dev/null", OFlags::RDWR, Mode::empty())?.into_raw_fd();
    }
    if output { Err(Error::other("standard output is closed")) } else { Ok(()) }
}
