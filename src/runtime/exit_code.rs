//! Exit codes.

/// The command succeeded.
pub const DONE: u8 = 0;

/// The command failed.
pub const FAILED: u8 = 1;

/// The command was refused, or its command line is invalid. From a hook, it blocks the call.
pub const REFUSED: u8 = 2;
