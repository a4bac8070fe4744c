//! The strict parser: one pass, at most [`MAX_DEPTH`] levels.

use super::{CanonicalError as Error, MAX_DEPTH, Value, order};
use crate::encoding::json::unescaped;

/// The largest integer that every parser represents exactly.
const MAX_INTEGER: u64 = 1 << 53;

/// From this number on, ECMAScript writes integers with an exponent.
const MIN_EXPONENTIAL: f64 = 1e21;

/// Parses a JSON text.
pub(super) fn read(text: &[u8]) -> Result<Value, Error> {
    let text = std::str::from_utf8(text).map_err(|_| Error::Encoding)?;
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    reader.skip();
    if reader.rest.is_empty() { Ok(value) } else { Err(Error::Trailing) }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Consumes `word` if it comes next, and returns whether it did.
    fn take(&mut self, word: &str) -> bool {
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Like [`Reader::take`], after skipping white space.
    fn take_token(&mut self, token: &str) -> bool {
        self.skip();
        self.take(token)
    }

    // INVARIANT: `depth` bounds the recursion, so that no text can overflow the stack.
    fn value(&mut self, depth: usize) -> Result<Value, Error> {
        self.skip();
        match self.rest.bytes().next() {
            Some(b'{' | b'[') if depth >= MAX_DEPTH => Err(Error::Deep),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.take("true") => Ok(Value::Bool(true)),
            _ if self.take("false") => Ok(Value::Bool(false)),
            _ if self.take("null") => Ok(Value::Null),
            _ => Err(Error::Broken),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Error> {
        self.take("{");
        let mut fields = Vec::new();
        if self.take_token("}") {
            return Ok(Value::Object(fields));
        }
        loop {
            self.skip();
            if !self.rest.starts_with('"') {
                return Err(Error::Broken);
            }
            let name = self.string()?;
            if !self.take_token(":") {
                return Err(Error::Broken);
            }
            fields.push((name, self.value(depth + 1)?));
            match () {
                () if self.take_token(",") => {}
                () if self.take_token("}") => break,
                () => return Err(Error::Broken),
            }
        }
        fields.sort_by(|(one, _), (other, _)| order(one, other));
        let has_duplicate = fields.windows(2).any(|pair| matches!(pair, [(one, _), (other, _)] if one == other));
        if has_duplicate { Err(Error::Duplicate) } else { Ok(Value::Object(fields)) }
    }

    fn array(&mut self, depth: usize) -> Result<Value, Error> {
        self.take("[");
        let mut items = Vec::new();
        if self.take_token("]") {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            match () {
                () if self.take_token(",") => {}
                () if self.take_token("]") => return Ok(Value::Array(items)),
                () => return Err(Error::Broken),
            }
        }
    }

    fn string(&mut self) -> Result<String, Error> {
        self.take("\"");
        let mut text = String::new();
        loop {
            let at = self.rest.find(|c: char| c < ' ' || matches!(c, '"' | '\\')).ok_or(Error::Broken)?;
            let (plain, special) = self.rest.split_at(at);
            text.push_str(plain);
            self.rest = special;
            if self.take("\"") {
                return Ok(text);
            }
            if !self.take("\\") {
                return Err(Error::Broken);
            }
            if !self.rest.starts_with(['"', '\\', '/', 'b', 'f', 'n', 'r', 't', 'u']) {
                return Err(Error::Broken);
            }
            let mut chars = self.rest.chars();
            text.push(unescaped(&mut chars).ok_or(Error::Broken)?.ok_or(Error::Surrogate)?);
            self.rest = chars.as_str();
        }
    }

    fn digits(&mut self) -> usize {
        let rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let count = self.rest.len() - rest.len();
        self.rest = rest;
        count
    }

    fn number(&mut self) -> Result<Value, Error> {
        let start = self.rest;
        self.take("-");
        let whole = if self.take("0") { 1 } else { self.digits() };
        let mut integer = true;
        let mut complete = whole > 0;
        if self.take(".") {
            integer = false;
            complete &= self.digits() > 0;
        }
        if self.take("e") || self.take("E") {
            integer = false;
            if !self.take("+") {
                self.take("-");
            }
            complete &= self.digits() > 0;
        }
        let word = start.strip_suffix(self.rest).filter(|_| complete).ok_or(Error::Broken)?;
        if integer && !word.trim_start_matches('-').parse::<u64>().is_ok_and(|number| number <= MAX_INTEGER) {
            return Err(Error::Number);
        }
        let number: f64 = word.parse().map_err(|_| Error::Broken)?;
        // `1e20` would be written as an integer that cannot be parsed again, so it has no canonical form.
        if !integer && number.abs() >= MAX_INTEGER as f64 && number.abs() < MIN_EXPONENTIAL {
            return Err(Error::Number);
        }
        // -0 becomes 0.
        let number = if number == 0.0 { 0.0 } else { number };
        if number.is_finite() { Ok(Value::Number(number)) } else { Err(Error::Number) }
    }
}
