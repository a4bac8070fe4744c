//! Fuzzes the parser of rule files and the prefilter of patterns.
#![no_main]

#[path = "../properties/rules.rs"]
mod properties;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        properties::check(text);
    }
});
