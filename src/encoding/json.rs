//! JSON as clients send it, read so that nothing in it can make us blind.
//!
//! `serde_json` refuses lone surrogates and deep nesting, which real clients do send: a tool server could make
//! parsing fail and so slip its result past the guard. [`Fields`] therefore walks one object without recursion,
//! keeps the raw text of each field, and keeps what it has when the text breaks off. [`check`] is the strict
//! reading for what is judged before a call.

use crate::swar::Marks;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;

/// The fields of one JSON object, raw, in order.
#[derive(Debug, Default)]
pub struct Fields<'a> {
    fields: Vec<(String, &'a [u8])>,
    flaw: Option<Flaw>,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// There is nothing.
    Empty,
    /// It is not a JSON object.
    NotAnObject,
    /// It breaks the grammar or breaks off.
    Broken,
    /// It goes on after its end.
    Trailing,
    /// It names a field twice.
    Duplicate,
    /// It starts with a byte-order mark.
    Mark,
    /// It is not UTF-8.
    Encoding,
    /// It escapes half of a surrogate pair.
    Surrogate,
    /// It nests deeper than anybody needs.
    Deep,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flaw::Empty => "it is empty",
            Flaw::NotAnObject => "it is not a JSON object",
            Flaw::Broken => "it is not valid JSON",
            Flaw::Trailing => "there is text after the JSON object",
            Flaw::Duplicate => "it names a field twice",
            Flaw::Mark => "it starts with a byte-order mark",
            Flaw::Encoding => "it is not UTF-8",
            Flaw::Surrogate => "it escapes half of a surrogate pair",
            Flaw::Deep => "it nests deeper than 128 levels",
        })
    }
}

impl<'a> Fields<'a> {
    /// Reads the object in `text` as far as it goes.
    pub fn read(text: &'a [u8]) -> Self {
        let mut fields = Fields::default();
        fields.flaw = fields.walk(text).err();
        fields
    }

    /// The first thing wrong with the text.
    pub fn flaw(&self) -> Option<Flaw> {
        self.flaw
    }

    /// The raw text of a field; of one that is there twice, nothing: it cannot be told which one counts.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        let mut named = self.fields.iter().filter(|(key, _)| key == name);
        match (named.next(), named.next()) {
            (Some((_, raw)), None) => Some(raw),
            _ => None,
        }
    }

    /// The fields in order: name and raw text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a [u8])> {
        self.fields.iter().map(|(name, raw)| (name.as_str(), *raw))
    }

    /// The names of the fields.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| name.as_str())
    }

    /// The text of a field that is a string.
    pub fn string(&self, name: &str) -> Option<Text> {
        self.get(name).and_then(Text::read)
    }

    /// The fields of a field that is an object.
    pub fn object(&self, name: &str) -> Option<Fields<'a>> {
        self.get(name).filter(|raw| raw.first() == Some(&b'{')).map(Fields::read)
    }

    fn walk(&mut self, text: &'a [u8]) -> Result<(), Flaw> {
        let mark = text.strip_prefix(b"\xEF\xBB\xBF");
        let mut cursor = Cursor { rest: mark.unwrap_or(text) };
        match cursor.peek() {
            None => return Err(Flaw::Empty),
            Some(b'{') => cursor.step(),
            Some(_) => return Err(Flaw::NotAnObject),
        }
        let mut names = BTreeSet::new();
        let mut twice = false;
        if cursor.peek() == Some(b'}') {
            cursor.step();
        } else {
            loop {
                let key = cursor.key()?;
                let raw = cursor.value()?;
                let key = Text::read(key).map(|key| key.text).unwrap_or_default();
                twice |= !names.insert(key.clone());
                self.fields.push((key, raw));
                match cursor.next() {
                    Some(b',') => {}
                    Some(b'}') => break,
                    _ => return Err(Flaw::Broken),
                }
            }
        }
        let flaws = [(mark.is_some(), Flaw::Mark), (twice, Flaw::Duplicate), (cursor.peek().is_some(), Flaw::Trailing)];
        flaws.into_iter().find(|(holds, _)| *holds).map_or(Ok(()), |(_, flaw)| Err(flaw))
    }
}

/// The elements of an array, raw.
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

/// Every string in a value, at any depth, each with the name of the field that it stands in or below.
pub fn strings(raw: &[u8]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    // An iterative walk: the client sends what would overflow a stack.
    let mut cursor = Cursor { rest: raw };
    let mut names: Vec<Option<String>> = vec![None];
    let mut key: Option<String> = None;
    while let Some(byte) = cursor.peek() {
        match byte {
            b'{' | b'[' => {
                cursor.step();
                let outer = names.last().cloned().flatten();
                names.push(key.take().or(outer));
            }
            b'}' | b']' => {
                cursor.step();
                names.pop();
            }
            b'"' => {
                let Ok(text) = cursor.value() else { break };
                let text = Text::read(text).map(|text| text.text).unwrap_or_default();
                if cursor.peek() == Some(b':') {
                    cursor.step();
                    key = Some(text);
                } else {
                    let name = key.take().or_else(|| names.last().cloned().flatten()).unwrap_or_default();
                    found.push((name, text));
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
    /// Its characters; what could not be decoded is U+FFFD.
    pub text: String,
    /// What had to be replaced.
    pub flaw: Option<Flaw>,
}

impl Text {
    /// Decodes a raw JSON string with its quotes; anything else is `None`.
    pub fn read(raw: &[u8]) -> Option<Text> {
        let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let (source, mut flaw) = match std::str::from_utf8(inner) {
            Ok(text) => (text.into(), None),
            Err(_) => (String::from_utf8_lossy(inner), Some(Flaw::Encoding)),
        };
        if !source.contains('\\') {
            return Some(Text { text: source.into_owned(), flaw });
        }
        let mut text = String::with_capacity(source.len());
        let mut rest = &*source;
        while let Some((before, escaped)) = rest.split_once('\\') {
            text.push_str(before);
            let mut chars = escaped.chars();
            let decoded = unescaped(&mut chars)?;
            flaw = flaw.or(decoded.is_none().then_some(Flaw::Surrogate));
            text.push(decoded.unwrap_or(char::REPLACEMENT_CHARACTER));
            rest = chars.as_str();
        }
        text.push_str(rest);
        Some(Text { text, flaw })
    }
}

/// The character that an escape stands for, behind its backslash. The outer `None` is no escape, the inner one half a
/// pair.
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
/// The outer `None` is bad hex, the inner one half a pair.
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

/// A place in a JSON text.
struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some((b' ' | b'\t' | b'\n' | b'\r', rest)) = self.rest.split_first() {
            self.rest = rest;
        }
        self.rest.first().copied()
    }

    fn step(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek();
        self.step();
        byte
    }

    /// A key and the colon behind it.
    fn key(&mut self) -> Result<&'a [u8], Flaw> {
        if self.peek() != Some(b'"') {
            return Err(Flaw::Broken);
        }
        let key = self.string()?;
        if self.next() == Some(b':') { Ok(key) } else { Err(Flaw::Broken) }
    }

    /// One value of any kind and depth, skipped with an explicit stack: a hostile depth cannot overflow ours.
    fn value(&mut self) -> Result<&'a [u8], Flaw> {
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
                None => return Err(Flaw::Broken),
            }
            loop {
                let Some(close) = open.last().copied() else {
                    let length = start.len() - self.rest.len();
                    return start.get(..length).ok_or(Flaw::Broken);
                };
                match self.next() {
                    Some(b',') => {
                        if close == b'}' {
                            self.key()?;
                        }
                        break;
                    }
                    Some(byte) if byte == close => drop(open.pop()),
                    _ => return Err(Flaw::Broken),
                }
            }
        }
    }

    /// A string with its quotes, not decoded.
    fn string(&mut self) -> Result<&'a [u8], Flaw> {
        let start = self.rest;
        let mut at = 1;
        loop {
            at += plain(start.get(at..).unwrap_or_default());
            match (start.get(at), start.get(at + 1)) {
                (Some(b'"'), _) => break,
                (Some(b'\\'), Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')) => at += 2,
                (Some(b'\\'), Some(b'u')) => {
                    let hex = start.get(at + 2..at + 6).ok_or(Flaw::Broken)?;
                    if !hex.iter().all(u8::is_ascii_hexdigit) {
                        return Err(Flaw::Broken);
                    }
                    at += 6;
                }
                _ => return Err(Flaw::Broken),
            }
        }
        let (string, rest) = start.split_at_checked(at + 1).ok_or(Flaw::Broken)?;
        self.rest = rest;
        Ok(string)
    }

    /// A number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Result<(), Flaw> {
        let length = self
            .rest
            .iter()
            .take_while(|byte| matches!(byte, b'+' | b'-' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z'))
            .count();
        let (word, rest) = self.rest.split_at_checked(length).ok_or(Flaw::Broken)?;
        self.rest = rest;
        serde_json::from_slice::<serde::de::IgnoredAny>(word).map(drop).map_err(|_| Flaw::Broken)
    }
}

/// How many bytes at the start stand for themselves in a string. A result may be megabytes of them, so behind the first
/// few they are taken in blocks that the compiler can compare at once.
fn plain(bytes: &[u8]) -> usize {
    let (head, rest) = bytes.split_at_checked(FEW).unwrap_or((bytes, &[]));
    let length = plain_in_short(head);
    if length < head.len() {
        return length;
    }
    let (blocks, _) = rest.as_chunks::<64>();
    let special = |block: &[u8; 64]| block.iter().fold(false, |any, byte| any | is_special(byte));
    let skipped = blocks.iter().position(special).unwrap_or(blocks.len()) * 64;
    length + skipped + plain_in_short(rest.get(skipped..).unwrap_or_default())
}

/// Bytes up to which a text goes on between two that stand for something else, more often than not.
const FEW: usize = 32;

/// The same for a string that is mostly short.
pub(crate) fn plain_in_short(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let special = Marks::same(word, b'"').or(Marks::same(word, b'\\')).or(Marks::less(word, 0x20));
        if let Some(first) = special.first() {
            return at * 8 + first;
        }
    }
    bytes.len() - tail.len() + tail.iter().take_while(|byte| !is_special(byte)).count()
}

fn is_special(byte: &u8) -> bool {
    // With one bit turned, a quote follows the controls.
    (*byte ^ 2 <= 0x20) | (*byte == b'\\')
}

/// Whether `raw` can be read in one way only: valid, at most 128 deep, no field named twice at any level.
pub fn check(raw: &[u8]) -> Result<(), Flaw> {
    let text = std::str::from_utf8(raw).map_err(|_| Flaw::Encoding)?;
    serde_json::from_str::<Unambiguous>(text).map(drop).map_err(|error| {
        // serde_json has no kinds within a syntax error; its words are the only way to tell them apart.
        let words = error.to_string();
        [
            ("recursion limit", Flaw::Deep),
            ("surrogate", Flaw::Surrogate),
            ("hex escape", Flaw::Surrogate),
            (TWICE, Flaw::Duplicate),
        ]
        .into_iter()
        .find(|(phrase, _)| words.contains(phrase))
        .map_or(Flaw::Broken, |(_, flaw)| flaw)
    })
}

const TWICE: &str = "field named twice";

/// Accepts every JSON value but one that names a field twice.
struct Unambiguous;

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Unambiguous)
    }
}

impl<'de> DeserializeSeed<'de> for Unambiguous {
    type Value = Unambiguous;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unambiguous {
    type Value = Unambiguous;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<Unambiguous>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if !names.insert(name) {
                return Err(A::Error::custom(TWICE));
            }
            map.next_value::<Unambiguous>()?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flaw(text: &[u8]) -> Option<Flaw> {
        Fields::read(text).flaw()
    }

    #[test]
    fn flaws_are_named() {
        for (text, expected) in [
            (&b""[..], Some(Flaw::Empty)),
            (b"  \n", Some(Flaw::Empty)),
            (b"[]", Some(Flaw::NotAnObject)),
            (b"rm -rf", Some(Flaw::NotAnObject)),
            (b"{}", None),
            (b" {\"a\" : [1, {\"b\": null}] }\n", None),
            (b"{\"a\":1}{}", Some(Flaw::Trailing)),
            (b"{\"a\":1,\"\\u0061\":2}", Some(Flaw::Duplicate)),
            (b"\xEF\xBB\xBF{}", Some(Flaw::Mark)),
            (b"{\"a\":1,}", Some(Flaw::Broken)),
            (b"{\"a\":01}", Some(Flaw::Broken)),
            (b"{\"a\":[1}", Some(Flaw::Broken)),
            (b"{\"a\":\"x\ny\"}", Some(Flaw::Broken)),
            (b"{\"a\":\"x", Some(Flaw::Broken)),
        ] {
            assert_eq!(flaw(text), expected, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn what_came_before_the_break_is_kept() {
        let fields = Fields::read(br#"{"tool_name":"WebFetch","tool_response":"cut of"#);
        assert_eq!(fields.flaw(), Some(Flaw::Broken));
        assert_eq!(fields.string("tool_name").map(|text| text.text).as_deref(), Some("WebFetch"));
    }

    #[test]
    fn strings_are_decoded_and_halves_replaced() {
        for (raw, text, flaw) in [
            (&br#""a\u0062\n\"""#[..], "ab\n\"", None),
            (br#""\ud83d\ude00""#, "\u{1F600}", None),
            (br#""x\ud83dy""#, "x\u{FFFD}y", Some(Flaw::Surrogate)),
            (br#""\ude00\ud83d""#, "\u{FFFD}\u{FFFD}", Some(Flaw::Surrogate)),
            (br#""\ud83d\u0041""#, "\u{FFFD}A", Some(Flaw::Surrogate)),
            (b"\"\xff\"", "\u{FFFD}", Some(Flaw::Encoding)),
        ] {
            assert_eq!(Text::read(raw), Some(Text { text: text.to_owned(), flaw }), "{}", String::from_utf8_lossy(raw));
        }
    }

    #[test]
    fn what_stands_for_itself_ends_where_the_first_byte_does_not() {
        for length in (0..300).step_by(7) {
            for at in 0..=length {
                for special in [b'"', b'\\', b'\n', 0, 0x1f] {
                    let mut text = "aé !#[]\u{7f}".as_bytes().iter().cycle().take(length).copied().collect::<Vec<u8>>();
                    text.get_mut(at).into_iter().for_each(|byte| *byte = special);
                    assert_eq!(plain(&text), at, "{length} bytes, {special} at {at}");
                }
            }
        }
    }

    #[test]
    fn a_hostile_depth_is_walked_and_not_followed() {
        let deep = [b"{\"a\":".repeat(100_000), b"1".to_vec(), b"}".repeat(100_000)].concat();
        assert_eq!(flaw(&deep), None);
        assert_eq!(check(&deep), Err(Flaw::Deep));
    }

    #[test]
    fn the_strict_reading_knows_one_meaning_only() {
        assert_eq!(check(br#"{"a":{"b":1,"c":[{"d":2}]},"e":1.5e3,"f":-1,"g":true,"h":null}"#), Ok(()));
        assert_eq!(check(br#"{"a":[{"b":1,"b":2}]}"#), Err(Flaw::Duplicate));
        assert_eq!(check(br#"{"a":"\ud800"}"#), Err(Flaw::Surrogate));
        assert_eq!(check(b"{\"a\":\"\xff\"}"), Err(Flaw::Encoding));
        assert_eq!(check(b"{"), Err(Flaw::Broken));
    }
}
