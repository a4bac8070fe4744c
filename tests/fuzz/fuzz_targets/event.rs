//! Any bytes are an event or are none, and get their answer.
#![no_main]

#[path = "../holds/event.rs"]
mod holds;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // Any bytes, and what grows from them.
    holds::holds(bytes);
    holds::holds(&holds::grown(bytes));
});
