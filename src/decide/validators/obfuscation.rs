//! Long encoded texts in commands.

use super::{Context, command, suspicious_if};
use crate::decide::subject::Subject;
use crate::rules::Match;
use crate::shell::Input;

/// Shorter texts are ids and hashes.
const MIN_ENCODED_BYTES: usize = 100;

pub(super) fn find(subject: &Subject<'_>, _context: &Context<'_>) -> Option<Match> {
    let command = command(subject)?;
    let decodes = matches!(command.program.as_str(), "base64" | "xxd" | "openssl" | "base32");
    let fed = decodes && matches!(&command.input, Input::Text(text) if is_encoded(text));
    suspicious_if(fed || command.args.iter().any(|arg| is_encoded(&arg.text)), "")
}

/// Whether a text contains long base64 that is neither a path nor a hexadecimal number.
fn is_encoded(text: &str) -> bool {
    text.len() >= MIN_ENCODED_BYTES
        && text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_'))).any(|run| {
            let has = |test: fn(&u8) -> bool| run.as_bytes().iter().any(test);
            let longest_word = run.split(['/', '-', '_']).map(str::len).max().unwrap_or_default();
            run.len() >= MIN_ENCODED_BYTES
                && has(u8::is_ascii_lowercase)
                && has(u8::is_ascii_uppercase)
                && has(u8::is_ascii_digit)
                && !run.bytes().all(|byte| byte.is_ascii_hexdigit())
                && longest_word >= 40
                && run.matches('/').count() * 20 < run.len()
        })
}

#[cfg(test)]
#[path = "../../../tests/unit/decide/validators/obfuscation.rs"]
mod tests;
