//! The `rune` binary: a shell of input and output around the pure library.
#![cfg_attr(not(test), no_main)]

mod cli;

use std::ffi::{c_char, c_int};

/// Where the C library hands over. The standard library's own entry would first look for the end of the stack, in a
/// file that the kernel has to write for it: a tenth of what a whole call costs.
#[allow(unsafe_code, reason = "a name that the linker knows; nothing in it is unsafe")]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn main(_count: c_int, _words: *const *const c_char) -> c_int {
    // Unwinding out of here would be an abort.
    std::panic::catch_unwind(cli::main).unwrap_or(cli::REFUSED).into()
}
