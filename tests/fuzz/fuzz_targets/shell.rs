//! Fuzzes the shell parser.
#![no_main]

#[path = "../properties/shell.rs"]
mod properties;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(line) = std::str::from_utf8(bytes) {
        properties::check(line);
    }
});
