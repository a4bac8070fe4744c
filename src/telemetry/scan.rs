//! One line of our own log, read in one go: plain texts and numbers under names, and nothing else.

use crate::encoding::json::plain_in_short;
use crate::swar::Marks;

/// What a line says. Its texts are UTF-8; they are bytes so that nobody has to find that out again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub event: &'a [u8],
    pub ts: &'a [u8],
    pub decision: &'a [u8],
    pub tool: &'a [u8],
    pub source: &'a [u8],
    pub session_id: &'a [u8],
    pub rule: &'a [u8],
    pub us: Option<u64>,
}

/// The record in a line as we write them; `None` for any other line.
#[inline]
pub(super) fn record(line: &[u8]) -> Option<Record<'_>> {
    in_order(line).or_else(|| in_any_order(std::str::from_utf8(line).ok()?.trim_ascii_end()))
}

/// The same with all names in the order in which we write them and all of it in ASCII, which is UTF-8 unread.
#[inline]
fn in_order(line: &[u8]) -> Option<Record<'_>> {
    let rest = &mut &*line;
    let event = behind_name(rest, b"{\"event\":\"")?;
    let ts = behind_name(rest, b"\",\"ts\":\"")?;
    let tool = behind_name(rest, b"\",\"tool\":\"")?;
    let decision = behind_name(rest, b"\",\"decision\":\"")?;
    let source = behind_name(rest, b"\",\"source\":\"")?;
    let session_id = behind_name(rest, b"\",\"session_id\":\"")?;
    let rule = behind_name(rest, b"\",\"rule\":\"")?;
    let us = number(rest.strip_prefix(b"\",\"us\":")?.strip_suffix(b"}")?)?;
    Some(Record { event, ts, decision, tool, source, session_id, rule, us: Some(us) })
}

/// The text behind a name. How long the name is, the compiler knows, and compares it in one go.
#[inline(always)]
fn behind_name<'a, const LENGTH: usize>(rest: &mut &'a [u8], name: &[u8; LENGTH]) -> Option<&'a [u8]> {
    let (_, behind) = rest.split_first_chunk().filter(|(start, _)| *start == name)?;
    let (text, more) = behind.split_at_checked(plain(behind))?;
    *rest = more;
    Some(text)
}

/// How many bytes at the start are ASCII and stand for themselves; none where that goes on into the last few, because
/// behind every text of ours there are more.
#[inline(always)]
fn plain(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        if let Some(first) = Marks::not_plain(u64::from_le_bytes(*word)).first() {
            return at * 8 + first;
        }
    }
    0
}

/// The number that these digits are. One that begins with a zero is none.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 1 && digits.starts_with(b"0") {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.wrapping_sub(b'0');
        number.checked_mul(10)?.checked_add(u64::from(digit)).filter(|_| digit < 10)
    })
}

// Apart, so that the way of most lines is short.
#[inline(never)]
fn in_any_order<'a>(line: &'a str) -> Option<Record<'a>> {
    let mut rest = line.strip_prefix('{')?;
    let (mut event, mut ts, mut decision, mut tool) = (None, None, None, None);
    let (mut source, mut session_id, mut rule, mut us) = (None, None, None, None);
    loop {
        let key = text(&mut rest)?;
        rest = rest.strip_prefix(':')?;
        let to = match key {
            "event" => &mut event,
            "ts" => &mut ts,
            "decision" => &mut decision,
            "tool" => &mut tool,
            "source" => &mut source,
            "session_id" => &mut session_id,
            "rule" => &mut rule,
            "us" => {
                let end = rest.bytes().position(|byte| !byte.is_ascii_digit())?;
                let (digits, more) = rest.split_at_checked(end)?;
                // Twice the same name is none of ours.
                if us.replace(number(digits.as_bytes())?).is_some() {
                    return None;
                }
                rest = more;
                match behind(&mut rest)? {
                    true => break,
                    false => continue,
                }
            }
            _ => &mut None,
        };
        let value = text(&mut rest)?;
        if to.replace(value).is_some() {
            return None;
        }
        if behind(&mut rest)? {
            break;
        }
    }
    let bytes = |text: Option<&'a str>| text.map(str::as_bytes);
    rest.is_empty().then_some(())?;
    Some(Record {
        event: bytes(event)?,
        ts: bytes(ts)?,
        decision: bytes(decision)?,
        tool: bytes(tool)?,
        source: bytes(source)?,
        session_id: bytes(session_id)?,
        rule: bytes(rule).unwrap_or_default(),
        us,
    })
}

/// Passes what stands behind a value; tells whether it was the last.
fn behind(rest: &mut &str) -> Option<bool> {
    let last = rest.starts_with('}');
    *rest = rest.strip_prefix(['}', ','])?;
    Some(last)
}

/// Takes a text in quotes without escapes.
fn text<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let inside = rest.strip_prefix('"')?;
    let end = plain_in_short(inside.as_bytes());
    let (text, more) = inside.split_at_checked(end)?;
    *rest = more.strip_prefix('"')?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::super::summary::Written;
    use super::*;
    use proptest::prelude::*;

    const LINE: &str = r#"{"event":"quarantine","ts":"2026-11-16T01:00:00.000Z","tool":"WebFetch","decision":"emit","source":"webfetch:a","session_id":"s","rule":"x","us":120}"#;

    #[test]
    fn our_lines_are_read_in_one_go() {
        let book: Written<'_> = serde_json::from_str(LINE).unwrap();
        assert_eq!(in_order(LINE.as_bytes()), Some(book.record()));
    }

    #[test]
    fn no_byte_of_a_line_is_read_otherwise_than_by_the_book() {
        for at in 0..LINE.len() {
            for byte in 0..=255 {
                let mut line = LINE.as_bytes().to_vec();
                line[at] = byte;
                let book: Option<Written<'_>> = serde_json::from_slice(&line).ok();
                let (found, book) = (in_order(&line), book.as_ref().map(Written::record));
                assert!(found.is_none() || found == book, "{}", line.escape_ascii());
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_read_in_order_is_what_is_read_by_the_book(
            texts in proptest::collection::vec("[ -~]{0,40}|[a-z]{0,20}[\u{0}-\u{ff}][a-z]{0,9}|[a-z]{0,40}", 7),
            us in "0|7|12|0[0-9]|[1-9][0-9]{0,21}|-1|1e3|",
        ) {
            let names = ["event", "ts", "tool", "decision", "source", "session_id", "rule"];
            let fields: Vec<String> = names.iter().zip(&texts).map(|(name, text)| format!("\"{name}\":\"{text}\",")).collect();
            let line = format!("{{{}\"us\":{us}}}", fields.concat());
            let book: Option<Written<'_>> = serde_json::from_str(&line).ok();
            let (found, book) = (in_order(line.as_bytes()), book.as_ref().map(Written::record));
            let is_plain = |byte: u8| (b' '..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
            if texts.iter().all(|text| text.bytes().all(is_plain)) {
                prop_assert_eq!(found, book, "{}", line);
            } else if found.is_some() {
                prop_assert_eq!(found, book, "{}", line);
            }
        }

        #[test]
        fn what_is_read_in_one_go_is_what_is_read_by_the_book(
            fields in proptest::collection::vec(("event|ts|decision|tool|source|session_id|us|rule|x", "\"[a-z\u{e9}]{0,3}\"|0|07|12|-1|1e3|\"\\\\n\"|\"\t\"|null|\\[\\]|"), 0..10),
            end in "\\}|\\} |\\}\r|\\}\\}|,\\}|",
        ) {
            let mut all: Vec<(String, String)> = ["event", "ts", "decision", "tool", "source", "session_id"].map(|key| (key.to_owned(), "\"v\"".to_owned())).to_vec();
            if fields.len() % 2 == 1 { all.truncate(fields.len() / 2); }
            all.extend(fields);
            let inside: Vec<String> = all.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
            let line = format!("{{{}{end}", inside.join(","));
            if let Some(found) = record(line.as_bytes()) {
                let book: Option<Written<'_>> = serde_json::from_str(&line).ok();
                prop_assert_eq!(Some(found), book.as_ref().map(Written::record), "{}", line);
            }
        }
    }
}
