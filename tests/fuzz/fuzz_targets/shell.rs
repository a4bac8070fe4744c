//! Any text is read, and in time.
#![no_main]

#[path = "../holds/shell.rs"]
mod holds;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(line) = std::str::from_utf8(bytes) {
        holds::holds(line);
    }
});
