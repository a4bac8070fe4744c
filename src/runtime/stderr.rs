//! Diagnostics on standard error.

use std::io::Write;

/// Writes a diagnostic to standard error, best effort.
pub fn warn(text: &str) {
    writeln!(std::io::stderr().lock(), "rune: {text}").ok();
}
