//! Exit codes.

/// The command did what it was asked for.
pub const DONE: u8 = 0;

/// The command failed.
pub const FAILED: u8 = 1;

/// The command was refused, or its command line is invalid. A client that runs a hook blocks the call.
pub const REFUSED: u8 = 2;
