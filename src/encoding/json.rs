//! A reader for JSON as clients send it.
//!
//! `serde_json` rejects lone surrogates and nesting over 128 levels, and clients send both: a tool server could hide its
//! result from the guard by making the parser fail. [`Fields`] therefore reads one object without recursion, keeps the raw
//! text of each field, and keeps the fields before an error. [`check()`] is a strict check for events before a call.

mod check;
mod cursor;

pub use check::check;

use cursor::Cursor;
use std::fmt;

/// The fields of one JSON object, raw, in order.
#[derive(Debug, Default)]
pub struct Fields<'a> {
    fields: Vec<(String, &'a [u8])>,
    error: Option<JsonError>,
}

/// What is wrong with a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonError {
    /// It is empty.
    Empty,
    /// It is not a JSON object.
    NotAnObject,
    /// It has a syntax error or ends early.
    Broken,
    /// There is text after its end.
    Trailing,
    /// A field occurs twice.
    Duplicate,
    /// It starts with a byte-order mark.
    Mark,
    /// It is not UTF-8.
    Encoding,
    /// It escapes half of a surrogate pair.
    Surrogate,
    /// It nests deeper than 128 levels.
    Deep,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JsonError::Empty => "it is empty",
            JsonError::NotAnObject => "it is not a JSON object",
            JsonError::Broken => "it is not valid JSON",
            JsonError::Trailing => "there is text after the JSON object",
            JsonError::Duplicate => "it names a field twice",
            JsonError::Mark => "it starts with a byte-order mark",
            JsonError::Encoding => "it is not UTF-8",
            JsonError::Surrogate => "it escapes half of a surrogate pair",
            JsonError::Deep => "it nests deeper than 128 levels",
        })
    }
}

impl<'a> Fields<'a> {
    /// Reads the object in `text`, up to the first error.
    pub fn read(text: &'a [u8]) -> Self {
        let mut fields = Fields::default();
        fields.error = fields.walk(text).err();
        fields
    }

    /// The first error in the text.
    pub fn error(&self) -> Option<JsonError> {
        self.error
    }

    /// The raw text of a field. `None` for a field that occurs twice, because it is ambiguous.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        let mut named = self.fields.iter().filter(|(key, _)| key == name);
        match (named.next(), named.next()) {
            (Some((_, raw)), None) => Some(raw),
            _ => None,
        }
    }

    /// The names and the raw text of all fields, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a [u8])> {
        self.fields.iter().map(|(name, raw)| (name.as_str(), *raw))
    }

    /// The names of all fields, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| name.as_str())
    }

    /// The text of a field; `None` if it is not a string.
    pub fn string(&self, name: &str) -> Option<Text> {
        self.get(name).and_then(Text::read)
    }

    /// The fields of a field; `None` if it is not an object.
    pub fn object(&self, name: &str) -> Option<Fields<'a>> {
        self.get(name).filter(|raw| raw.first() == Some(&b'{')).map(Fields::read)
    }

    fn walk(&mut self, text: &'a [u8]) -> Result<(), JsonError> {
        let mark = text.strip_prefix(b"\xEF\xBB\xBF");
        let mut cursor = Cursor { rest: mark.unwrap_or(text) };
        match cursor.peek() {
            None => return Err(JsonError::Empty),
            Some(b'{') => cursor.step(),
            Some(_) => return Err(JsonError::NotAnObject),
        }
        if cursor.peek() == Some(b'}') {
            cursor.step();
        } else {
            loop {
                let key = cursor.key()?;
                let raw = cursor.value()?;
                let key = Text::read(key).map(|key| key.text).unwrap_or_default();
                self.fields.push((key, raw));
                match cursor.next() {
                    Some(b',') => {}
                    Some(b'}') => break,
                    _ => return Err(JsonError::Broken),
                }
            }
        }
        let mut names: Vec<&str> = self.names().collect();
        names.sort_unstable();
        let has_duplicate = names.windows(2).any(|pair| matches!(pair, [one, next] if one == next));
        let errors = [
            (mark.is_some(), JsonError::Mark),
            (has_duplicate, JsonError::Duplicate),
            (cursor.peek().is_some(), JsonError::Trailing),
        ];
        errors.into_iter().find(|(occurs, _)| *occurs).map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// The raw elements of an array; empty for any other value.
pub fn items(raw: &[u8]) -> Vec<&[u8]> {
    let mut cursor = Cursor { rest: raw };
    let mut found = Vec::new();
    if cursor.peek() != Some(b'[') {
        return found;
    }
    cursor.step();
    while let Some(byte) = cursor.peek() {
        match byte {
            b']' => break,
            b',' => cursor.step(),
            _ => match cursor.value() {
                Ok(item) => found.push(item),
                Err(_) => break,
            },
        }
    }
    found
}

/// The strings in a value, at any depth, with the name of the innermost field that contains each. Many strings may share
/// a long name, so that names are kept once.
#[derive(Debug, Default)]
pub struct Strings {
    names: Vec<String>,
    /// The index of the name, and the text.
    texts: Vec<(usize, String)>,
}

impl Strings {
    /// The texts, in order.
    pub fn into_texts(self) -> impl Iterator<Item = String> {
        self.texts.into_iter().map(|(_, text)| text)
    }

    /// The texts, each with what a function returns for its name. It is called once for each name.
    pub fn by_name<T>(&self, of_name: impl Fn(&str) -> T) -> impl Iterator<Item = (T, &str)>
    where
        T: Clone,
    {
        let of_names: Vec<T> = self.names.iter().map(|name| of_name(name)).collect();
        self.texts.iter().filter_map(move |(name, text)| Some((of_names.get(*name)?.clone(), text.as_str())))
    }
}

/// All strings in a value. Those outside of fields have an empty name.
pub fn strings(raw: &[u8]) -> Strings {
    let mut found = Strings { names: vec![String::new()], texts: Vec::new() };
    // Iterative, so that deep nesting cannot overflow the call stack.
    let mut cursor = Cursor { rest: raw };
    let mut outer: Vec<usize> = vec![0];
    let mut key: Option<usize> = None;
    while let Some(byte) = cursor.peek() {
        match byte {
            b'{' | b'[' => {
                cursor.step();
                let around = outer.last().copied().unwrap_or_default();
                outer.push(key.take().unwrap_or(around));
            }
            b'}' | b']' => {
                cursor.step();
                outer.pop();
            }
            b'"' => {
                let Ok(text) = cursor.value() else { break };
                let text = Text::read(text).map(|text| text.text).unwrap_or_default();
                if cursor.peek() == Some(b':') {
                    cursor.step();
                    key = Some(found.names.len());
                    found.names.push(text);
                } else {
                    let name = key.take().or(outer.last().copied()).unwrap_or_default();
                    found.texts.push((name, text));
                }
            }
            b',' | b':' => cursor.step(),
            _ => {
                key = None;
                if cursor.value().is_err() {
                    break;
                }
            }
        }
    }
    found
}

/// A decoded JSON string.
#[derive(Debug, PartialEq, Eq)]
pub struct Text {
    /// The characters; U+FFFD replaces those that cannot be decoded.
    pub text: String,
    /// Why characters were replaced.
    pub error: Option<JsonError>,
}

impl Text {
    /// Decodes a raw JSON string with its quotes; anything else is `None`.
    pub fn read(raw: &[u8]) -> Option<Text> {
        let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let (source, mut error) = match std::str::from_utf8(inner) {
            Ok(text) => (text.into(), None),
            Err(_) => (String::from_utf8_lossy(inner), Some(JsonError::Encoding)),
        };
        if !source.contains('\\') {
            return Some(Text { text: source.into_owned(), error });
        }
        let mut text = String::with_capacity(source.len());
        let mut rest = &*source;
        while let Some((before, escaped)) = rest.split_once('\\') {
            text.push_str(before);
            let mut chars = escaped.chars();
            let decoded = unescaped(&mut chars)?;
            error = error.or(decoded.is_none().then_some(JsonError::Surrogate));
            text.push(decoded.unwrap_or(char::REPLACEMENT_CHARACTER));
            rest = chars.as_str();
        }
        text.push_str(rest);
        Some(Text { text, error })
    }
}

/// Decodes an escape, after its backslash. The outer `None` is an invalid escape, the inner one a lone surrogate.
pub(crate) fn unescaped(chars: &mut std::str::Chars<'_>) -> Option<Option<char>> {
    Some(Some(match chars.next()? {
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => return pair(chars),
        other => other,
    }))
}

/// Reads the digits of one `\u` escape and, after a high surrogate, the low one that follows it.
/// The outer `None` is invalid hexadecimal, the inner one a lone surrogate.
fn pair(chars: &mut std::str::Chars<'_>) -> Option<Option<char>> {
    let first = unit(chars)?;
    if !(0xD800..0xDC00).contains(&first) {
        return Some(char::from_u32(first));
    }
    let mut ahead = chars.clone();
    if (ahead.next(), ahead.next()) != (Some('\\'), Some('u')) {
        return Some(None);
    }
    match unit(&mut ahead) {
        Some(second) if (0xDC00..0xE000).contains(&second) => {
            *chars = ahead;
            Some(char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)))
        }
        _ => Some(None),
    }
}

fn unit(chars: &mut std::str::Chars<'_>) -> Option<u32> {
    (0..4).try_fold(0, |unit, _| Some(unit * 16 + chars.next()?.to_digit(16)?))
}

#[cfg(test)]
#[path = "../../tests/unit/encoding/json.rs"]
mod tests;
