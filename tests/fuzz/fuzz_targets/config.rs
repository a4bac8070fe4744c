//! Fuzzes the parser of policy files.
#![no_main]

#[path = "../properties/config.rs"]
mod properties;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        properties::check(text);
    }
});
