//! One line of our own log, read in one go: plain texts and numbers under names, and nothing else.

use super::summary::Record;
use crate::json::plain_in_short;
use std::borrow::Cow;

/// The record in a line as we write them; `None` for any other line.
pub(super) fn record(line: &[u8]) -> Option<Record<'_>> {
    let line = std::str::from_utf8(line).ok()?.trim_ascii_end();
    in_order(line).or_else(|| in_any_order(line))
}

/// The same with all names in the order in which we write them.
fn in_order(line: &str) -> Option<Record<'_>> {
    let rest = &mut &*line;
    let event = behind_name(rest, b"{\"event\":\"")?;
    let ts = behind_name(rest, b"\",\"ts\":\"")?;
    let tool = behind_name(rest, b"\",\"tool\":\"")?;
    let decision = behind_name(rest, b"\",\"decision\":\"")?;
    let source = behind_name(rest, b"\",\"source\":\"")?;
    let session_id = behind_name(rest, b"\",\"session_id\":\"")?;
    let rule = behind_name(rest, b"\",\"rule\":\"")?;
    let digits = rest.strip_prefix("\",\"us\":")?.strip_suffix('}')?;
    if digits.len() > 1 && digits.starts_with('0') || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(Record { event, ts, decision, tool, source, session_id, rule, us: Some(digits.parse().ok()?) })
}

/// The text behind a name. How long the name is, the compiler knows, and compares it in one go.
#[inline(always)]
fn behind_name<'a, const LENGTH: usize>(rest: &mut &'a str, name: &[u8; LENGTH]) -> Option<Cow<'a, str>> {
    rest.as_bytes().first_chunk().filter(|start| *start == name)?;
    let behind = rest.get(LENGTH..)?;
    let (text, more) = behind.split_at_checked(plain_in_short(behind.as_bytes()))?;
    *rest = more;
    Some(Cow::Borrowed(text))
}

fn in_any_order(line: &str) -> Option<Record<'_>> {
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
                // A number that begins with a zero is none, and twice the same name is none of ours.
                if us.is_some() || (digits.len() > 1 && digits.starts_with('0')) {
                    return None;
                }
                us = Some(digits.parse().ok()?);
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
    let borrowed = |text: Option<_>| text.map(Cow::Borrowed);
    rest.is_empty().then_some(())?;
    Some(Record {
        event: borrowed(event)?,
        ts: borrowed(ts)?,
        decision: borrowed(decision)?,
        tool: borrowed(tool)?,
        source: borrowed(source)?,
        session_id: borrowed(session_id)?,
        rule: borrowed(rule).unwrap_or_default(),
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
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn our_lines_are_read_in_one_go() {
        let line = br#"{"event":"quarantine","ts":"2026-11-16T01:00:00.000Z","tool":"WebFetch","decision":"emit","source":"webfetch:a","session_id":"s","rule":"x","us":120}"#;
        assert_eq!(record(line).unwrap(), serde_json::from_slice(line).unwrap());
        assert!(in_order(std::str::from_utf8(line).unwrap()).is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

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
                let book: Result<Record<'_>, _> = serde_json::from_str(&line);
                prop_assert_eq!(Some(found), book.ok(), "{}", line);
            }
        }
    }
}
