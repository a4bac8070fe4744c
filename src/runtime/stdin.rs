//! Standard input.

use std::io::Read;

/// What was read.
pub struct Input {
    pub bytes: Vec<u8>,
    /// Whether all of it was kept.
    pub whole: bool,
}

/// Reads standard input to its end and keeps up to `most` bytes of it. The rest is drained, so that the client never
/// meets a broken pipe. The watchdog bounds the time.
pub fn read(most: usize) -> Input {
    let mut stdin = std::io::stdin().lock();
    let mut bytes = Vec::new();
    // After an error, what was read is judged: it is no whole event.
    stdin.by_ref().take(most as u64 + 1).read_to_end(&mut bytes).ok();
    let whole = bytes.len() <= most;
    if !whole {
        bytes.truncate(most);
        std::io::copy(&mut stdin, &mut std::io::sink()).ok();
    }
    Input { bytes, whole }
}
