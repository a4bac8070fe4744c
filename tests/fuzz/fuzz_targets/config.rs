//! Any policy file is read, or said not to be one.
#![no_main]

#[path = "../holds/config.rs"]
mod holds;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        holds::holds(text);
    }
});
