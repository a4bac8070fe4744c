//! Long encoded texts: nobody can read them, and a guard neither.

use super::{Context, command, suspicious};
use crate::decide::subject::Subject;
use crate::rules::Match;
use crate::shell::Input;

/// Shorter ones are ids and hashes.
const LONG: usize = 100;

pub(super) fn find(subject: &Subject<'_>, _context: &Context<'_>) -> Option<Match> {
    let command = command(subject)?;
    let fed = matches!(&command.input, Input::Text(text) if matches!(command.program.as_str(), "base64" | "xxd" | "openssl" | "base32") && is_encoded(text));
    (fed || command.args.iter().any(|arg| is_encoded(&arg.text)))
        .then(|| suspicious("it holds a long encoded text"))
        .flatten()
}

/// A long run of base64 that is neither a path nor a number in hex.
fn is_encoded(text: &str) -> bool {
    text.len() >= LONG
        && text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_'))).any(|run| {
            let has = |test: fn(&u8) -> bool| run.as_bytes().iter().any(test);
            let words = run.split(['/', '-', '_']).map(str::len).max().unwrap_or_default();
            run.len() >= LONG
                && has(u8::is_ascii_lowercase)
                && has(u8::is_ascii_uppercase)
                && has(u8::is_ascii_digit)
                && !run.bytes().all(|byte| byte.is_ascii_hexdigit())
                && words >= 40
                && run.matches('/').count() * 20 < run.len()
        })
}

#[cfg(test)]
#[path = "../../../tests/unit/decide/validators/obfuscation.rs"]
mod tests;
