//! The strict reader: one pass, at most 128 levels deep.

use super::{CanonicalError, DEEPEST, Value, order};

/// The largest integer that every reader keeps exactly.
const LARGEST: u64 = 1 << 53;

/// Numbers below this are written as integers where they are some, and from here on with an exponent.
const EXPONENT: f64 = 1e21;

/// Reads one JSON text.
pub(super) fn read(text: &[u8]) -> Result<Value, CanonicalError> {
    let text = std::str::from_utf8(text).map_err(|_| CanonicalError::Encoding)?;
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    reader.skip();
    if reader.rest.is_empty() { Ok(value) } else { Err(CanonicalError::Trailing) }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Whether this comes next; if so, it is behind us.
    fn take(&mut self, word: &str) -> bool {
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// The same for a mark that blanks may precede.
    fn mark(&mut self, mark: &str) -> bool {
        self.skip();
        self.take(mark)
    }

    // INVARIANT: `depth` bounds the recursion, so a hostile text cannot use up the stack.
    fn value(&mut self, depth: usize) -> Result<Value, CanonicalError> {
        self.skip();
        match self.rest.bytes().next() {
            Some(b'{' | b'[') if depth >= DEEPEST => Err(CanonicalError::Deep),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.take("true") => Ok(Value::Bool(true)),
            _ if self.take("false") => Ok(Value::Bool(false)),
            _ if self.take("null") => Ok(Value::Null),
            _ => Err(CanonicalError::Broken),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, CanonicalError> {
        self.take("{");
        let mut fields = Vec::new();
        if self.mark("}") {
            return Ok(Value::Object(fields));
        }
        loop {
            self.skip();
            if !self.rest.starts_with('"') {
                return Err(CanonicalError::Broken);
            }
            let name = self.string()?;
            if !self.mark(":") {
                return Err(CanonicalError::Broken);
            }
            fields.push((name, self.value(depth + 1)?));
            match () {
                () if self.mark(",") => {}
                () if self.mark("}") => break,
                () => return Err(CanonicalError::Broken),
            }
        }
        fields.sort_by(|(one, _), (other, _)| order(one, other));
        let twice = fields.windows(2).any(|pair| matches!(pair, [(one, _), (other, _)] if one == other));
        if twice { Err(CanonicalError::Duplicate) } else { Ok(Value::Object(fields)) }
    }

    fn array(&mut self, depth: usize) -> Result<Value, CanonicalError> {
        self.take("[");
        let mut items = Vec::new();
        if self.mark("]") {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            match () {
                () if self.mark(",") => {}
                () if self.mark("]") => return Ok(Value::Array(items)),
                () => return Err(CanonicalError::Broken),
            }
        }
    }

    fn string(&mut self) -> Result<String, CanonicalError> {
        self.take("\"");
        let mut text = String::new();
        loop {
            let at = self.rest.find(|c: char| c < ' ' || matches!(c, '"' | '\\')).ok_or(CanonicalError::Broken)?;
            let (plain, special) = self.rest.split_at(at);
            text.push_str(plain);
            self.rest = special;
            if self.take("\"") {
                return Ok(text);
            }
            if !self.take("\\") {
                return Err(CanonicalError::Broken);
            }
            let mut chars = self.rest.chars();
            let escape = chars.next();
            self.rest = chars.as_str();
            text.push(match escape {
                Some(same @ ('"' | '\\' | '/')) => same,
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('u') => self.escaped()?,
                _ => return Err(CanonicalError::Broken),
            });
        }
    }

    /// The character of one `\u` escape, or of two that make a pair.
    fn escaped(&mut self) -> Result<char, CanonicalError> {
        let first = self.unit()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first).ok_or(CanonicalError::Surrogate);
        }
        if !self.take("\\u") {
            return Err(CanonicalError::Surrogate);
        }
        match self.unit()? {
            second @ 0xDC00..0xE000 => {
                char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)).ok_or(CanonicalError::Surrogate)
            }
            _ => Err(CanonicalError::Surrogate),
        }
    }

    fn unit(&mut self) -> Result<u32, CanonicalError> {
        let (digits, rest) = self.rest.split_at_checked(4).ok_or(CanonicalError::Broken)?;
        self.rest = rest;
        // `from_str_radix` would take a sign.
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(CanonicalError::Broken);
        }
        u32::from_str_radix(digits, 16).map_err(|_| CanonicalError::Broken)
    }

    fn digits(&mut self) -> usize {
        let rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let count = self.rest.len() - rest.len();
        self.rest = rest;
        count
    }

    fn number(&mut self) -> Result<Value, CanonicalError> {
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
        let word = start.strip_suffix(self.rest).filter(|_| complete).ok_or(CanonicalError::Broken)?;
        if integer && !word.trim_start_matches('-').parse::<u64>().is_ok_and(|number| number <= LARGEST) {
            return Err(CanonicalError::Number);
        }
        let number: f64 = word.parse().map_err(|_| CanonicalError::Broken)?;
        // `1e20` is written as an integer: what could be written and then not read has no canonical form either.
        if !integer && number.abs() >= LARGEST as f64 && number.abs() < EXPONENT {
            return Err(CanonicalError::Number);
        }
        // The sign of nothing is not kept.
        let number = if number == 0.0 { 0.0 } else { number };
        if number.is_finite() { Ok(Value::Number(number)) } else { Err(CanonicalError::Number) }
    }
}
