//! Any file of rules is read, and no shortcut hides a match.
#![no_main]

#[path = "../holds/rules.rs"]
mod holds;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        holds::holds(text);
    }
});
