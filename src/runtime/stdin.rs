//! Reads the event from standard input.

use super::environment::now;
use super::stderr::warn;
use rune::quarantined::{ContentSource, Origin, Quarantined};
use std::io::{IsTerminal, Read};

pub struct Input {
    pub bytes: Quarantined<Vec<u8>>,
    /// Whether `bytes` holds all of the input.
    pub is_complete: bool,
}

/// Reads standard input to its end and keeps at most `max_bytes` of it. A terminal is not read.
///
/// The rest is read and dropped, so that the client does not get a broken pipe. The watchdog bounds the time.
pub fn read_event(max_bytes: usize) -> Input {
    let mut bytes = Vec::new();
    let mut is_complete = true;
    if rustix::stdio::stdin().is_terminal() {
        warn("hook: an event is read from stdin, as JSON; see `rune hook --help`");
    } else {
        let mut stdin = std::io::stdin().lock();
        // After a read error the bytes so far are parsed, which fails because the event is not complete.
        stdin.by_ref().take(max_bytes as u64 + 1).read_to_end(&mut bytes).ok();
        is_complete = bytes.len() <= max_bytes;
        if !is_complete {
            bytes.truncate(max_bytes);
            std::io::copy(&mut stdin, &mut std::io::sink()).ok();
        }
    }
    Input { bytes: Quarantined::new(bytes, Origin::new(ContentSource::ToolOutput, "stdin", now())), is_complete }
}
