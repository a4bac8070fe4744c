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

/// What a static C library asks for before it hands over: the directory of the program, for libraries that name theirs
/// by it. None do, and the look into `/proc` costs a twentieth of a whole call; this is how it is told that there is none.
#[allow(unsafe_code, reason = "a name that the linker knows; nothing in it is unsafe")]
#[cfg(all(not(test), target_feature = "crt-static", target_env = "gnu"))]
#[unsafe(no_mangle)]
pub extern "C" fn _dl_get_origin() -> *const c_char {
    std::ptr::without_provenance(usize::MAX)
}
