//! A pull reader that skips over JSON values without decoding them.

use super::JsonError;
use crate::encoding::bytes::position;

/// The unread rest of a JSON text.
pub(super) struct Cursor<'a> {
    pub rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Skips white space and returns the next byte without consuming it.
    pub fn peek(&mut self) -> Option<u8> {
        while let Some((b' ' | b'\t' | b'\n' | b'\r', rest)) = self.rest.split_first() {
            self.rest = rest;
        }
        self.rest.first().copied()
    }

    /// Consumes one byte.
    pub fn step(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    /// Skips white space and consumes the next byte.
    pub fn next(&mut self) -> Option<u8> {
        let byte = self.peek();
        self.step();
        byte
    }

    /// Reads a key and its colon; returns the raw key.
    pub fn key(&mut self) -> Result<&'a [u8], JsonError> {
        if self.peek() != Some(b'"') {
            return Err(JsonError::Broken);
        }
        let key = self.string()?;
        if self.next() == Some(b':') { Ok(key) } else { Err(JsonError::Broken) }
    }

    /// Skips one value and returns its raw text. Uses an explicit stack, so that deep nesting cannot overflow the call stack.
    pub fn value(&mut self) -> Result<&'a [u8], JsonError> {
        self.peek();
        let start = self.rest;
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.peek() {
                Some(b'{') => {
                    self.step();
                    if self.peek() != Some(b'}') {
                        self.key()?;
                        open.push(b'}');
                        continue;
                    }
                    self.step();
                }
                Some(b'[') => {
                    self.step();
                    if self.peek() != Some(b']') {
                        open.push(b']');
                        continue;
                    }
                    self.step();
                }
                Some(b'"') => drop(self.string()?),
                Some(_) => self.scalar()?,
                None => return Err(JsonError::Broken),
            }
            loop {
                let Some(close) = open.last().copied() else {
                    let length = start.len() - self.rest.len();
                    return start.get(..length).ok_or(JsonError::Broken);
                };
                match self.next() {
                    Some(b',') => {
                        if close == b'}' {
                            self.key()?;
                        }
                        break;
                    }
                    Some(byte) if byte == close => drop(open.pop()),
                    _ => return Err(JsonError::Broken),
                }
            }
        }
    }

    /// Skips a string; returns it raw, with its quotes.
    fn string(&mut self) -> Result<&'a [u8], JsonError> {
        let start = self.rest;
        let mut at = 1;
        loop {
            let rest = start.get(at..).unwrap_or_default();
            at += position(rest, is_special).unwrap_or(rest.len());
            match (start.get(at), start.get(at + 1)) {
                (Some(b'"'), _) => break,
                (Some(b'\\'), Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')) => at += 2,
                (Some(b'\\'), Some(b'u')) => {
                    let hex = start.get(at + 2..at + 6).ok_or(JsonError::Broken)?;
                    if !hex.iter().all(u8::is_ascii_hexdigit) {
                        return Err(JsonError::Broken);
                    }
                    at += 6;
                }
                _ => return Err(JsonError::Broken),
            }
        }
        let (string, rest) = start.split_at_checked(at + 1).ok_or(JsonError::Broken)?;
        self.rest = rest;
        Ok(string)
    }

    /// Skips a number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Result<(), JsonError> {
        let length = self
            .rest
            .iter()
            .take_while(|byte| matches!(byte, b'+' | b'-' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z'))
            .count();
        let (word, rest) = self.rest.split_at_checked(length).ok_or(JsonError::Broken)?;
        self.rest = rest;
        serde_json::from_slice::<serde::de::IgnoredAny>(word).map(drop).map_err(|_| JsonError::Broken)
    }
}

/// Whether a byte ends, escapes or is forbidden in a string (RFC 8259, section 7).
fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}
