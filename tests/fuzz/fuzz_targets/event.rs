//! Fuzzes the whole path from an event to its answer.
#![no_main]

#[path = "../properties/event.rs"]
mod properties;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // The bytes as an event, and an event that they select.
    properties::check(bytes);
    properties::check(&properties::build(bytes));
});
