//! Results in their own shape with their texts wrapped: what a client takes in place of the original.

use super::wrap::{Wrap, visible};
use crate::encoding::bytes::position;
use crate::encoding::json::{Fields, Text, items, unescaped};
use crate::event::Action;
use std::borrow::Cow;

/// Blocks of one result that are passed at most; of more, the first and the last.
const MOST_BLOCKS: usize = 200;

/// Bytes of all its blocks together, of which each has its share.
const MOST_BYTES: usize = 1 << 20;

/// A result with its texts wrapped, as JSON. `None` where it has none that could be replaced, or where a client would
/// not take a replacement.
pub(crate) fn wrapped(action: &Action, raw: &[u8], wrap: &Wrap<'_>) -> Option<String> {
    let text = |raw: &[u8]| in_wrap(raw, wrap);
    match action {
        Action::Mcp { .. } => Some(of_server(raw, wrap)),
        // A picture is no text.
        Action::Shell { .. } if Fields::read(raw).get("isImage") == Some(b"true") => None,
        Action::Shell { .. } => object(raw, |name, raw| match name {
            "stdout" | "stderr" => text(raw).filter(|_| raw != b"\"\""),
            _ => None,
        }),
        Action::Read { .. } => object(raw, |name, raw| match name {
            "file" => object(raw, |name, raw| if name == "content" { text(raw) } else { None }),
            _ => None,
        }),
        Action::Fetch { .. } => {
            Fields::read(raw).string("result")?;
            object(raw, |name, raw| if name == "result" { text(raw) } else { shown(raw) })
        }
        Action::Search => object(raw, |name, raw| match name {
            // A list of links is taken as a text, too.
            "results" => array(
                raw,
                wrap,
                |text| text,
                |item, wrap| in_wrap(item, wrap).unwrap_or_else(|| quoted(&wrap.text(&as_it_is(item)))),
            ),
            _ => None,
        }),
        // The resources that a server says it has.
        Action::Resource { .. } if raw.first() == Some(&b'[') => {
            array(raw, wrap, resource, |item, wrap| resource(quoted(&wrap.text(&as_it_is(item)))))
        }
        Action::Resource { .. } => object(raw, |name, raw| match name {
            "contents" => array(raw, wrap, content, |item, wrap| {
                let fields = Fields::read(item);
                if fields.get("text").is_none() && all_plain(&fields, &["uri", "mimeType", "blob"]) {
                    return as_it_is(item);
                }
                // A name that can be no sentence stays where the client looks for it.
                let is_kept = |name: &str, raw: &[u8]| matches!(name, "uri" | "mimeType") && is_plain(raw);
                let kept: Vec<_> = fields.iter().filter(|(name, raw)| is_kept(name, raw)).collect();
                let names: Vec<&str> = kept.iter().map(|(name, _)| *name).collect();
                let uri = if names.contains(&"uri") { "" } else { "\"uri\":\"\"," };
                let kept = kept.into_iter().map(|(name, raw)| format!("{}:{},", quoted(name), as_it_is(raw)));
                let text = quoted(&wrap.text(&words(item, &fields, &names)));
                format!("{{{uri}{}\"text\":{text}}}", kept.collect::<String>())
            }),
            _ => None,
        }),
        Action::Agent { .. }
        | Action::Edit { .. }
        | Action::Patch { .. }
        | Action::Files { .. }
        | Action::Settings { .. }
        | Action::Other => None,
    }
}

/// All that a result says: its strings, each a paragraph, and whatever stands between them.
pub(crate) fn flat(raw: &[u8]) -> String {
    // Most is valid, which is shown sooner than what is not valid is found.
    let text = std::str::from_utf8(raw).map_or_else(|_| String::from_utf8_lossy(raw), Cow::Borrowed);
    let mut flat = String::with_capacity(text.len());
    let mut inside = false;
    let mut rest = &*text;
    while let Some(at) = position(rest.as_bytes(), |byte| (byte == b'"') | (byte == b'\\')) {
        let (before, behind) = rest.split_at_checked(at).unwrap_or_default();
        flat.push_str(before);
        let mut chars = behind.chars();
        if chars.next() == Some('"') {
            inside = !inside;
            flat.push_str(if inside { "" } else { "\n\n" });
        } else {
            flat.push(unescaped(&mut chars).flatten().unwrap_or(' '));
        }
        rest = chars.as_str();
    }
    flat.push_str(rest);
    flat
}

/// What stands in place of a tool server's result that cannot be read.
pub(crate) fn stub(wrap: &Wrap<'_>) -> String {
    quoted(&wrap.withheld("it cannot be read"))
}

/// A result of a tool server, which may have any shape. What cannot be read is not passed.
fn of_server(raw: &[u8], wrap: &Wrap<'_>) -> String {
    let whole = || quoted(&wrap.text(&String::from_utf8_lossy(raw)));
    match raw.first() {
        Some(b'"') => in_wrap(raw, wrap).unwrap_or_else(|| stub(wrap)),
        Some(b'[') => array(raw, wrap, text_block, block).unwrap_or_else(whole),
        _ => whole(),
    }
}

/// A block of a tool server's result. All that a server can write goes into the wrap; a picture has no words.
fn block(raw: &[u8], wrap: &Wrap<'_>) -> String {
    let fields = Fields::read(raw);
    let kind = fields.string("type").map(|kind| kind.text).unwrap_or_default();
    if matches!(kind.as_str(), "image" | "audio") && all_plain(&fields, &["type", "data", "mimeType"]) {
        return as_it_is(raw);
    }
    let words = if kind == "text" { words(raw, &fields, &["type"]) } else { as_it_is(raw) };
    text_block(quoted(&wrap.text(&words)))
}

/// What an item says: its text, and behind it whatever else is in it but for the fields that say nothing.
fn words(raw: &[u8], fields: &Fields<'_>, mute: &[&str]) -> String {
    let Some(text) = fields.string("text").filter(|_| fields.flaw().is_none()) else { return as_it_is(raw) };
    let others = fields.iter().filter(|(name, _)| *name != "text" && !mute.contains(name));
    let others = others.map(|(name, raw)| format!("{}: {}", quoted(name), as_it_is(raw)));
    [text.text].into_iter().chain(others).collect::<Vec<_>>().join("\n")
}

/// Whether an item has only these fields, and nothing in them that could be a sentence.
fn all_plain(fields: &Fields<'_>, names: &[&str]) -> bool {
    fields.flaw().is_none() && fields.iter().all(|(name, raw)| names.contains(&name) && is_plain(raw))
}

/// A string that has no sentences.
fn is_plain(raw: &[u8]) -> bool {
    Text::read(raw).is_some_and(|value| is_token(&value.text))
}

/// A text as a block of a tool server's result.
fn text_block(text: String) -> String {
    format!("{{\"type\":\"text\",\"text\":{text}}}")
}

/// A text as a resource that a server has.
fn resource(text: String) -> String {
    format!("{{\"uri\":\"\",\"name\":{text},\"server\":\"\"}}")
}

/// A text as the content of a resource.
fn content(text: String) -> String {
    format!("{{\"uri\":\"\",\"text\":{text}}}")
}

/// Letters, digits and the signs of base64 and of types: no blanks, so no sentences.
fn is_token(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=.:-_".contains(&byte))
}

/// A string with everything in it made visible; anything else as it is.
fn shown(raw: &[u8]) -> Option<String> {
    let mut seen = String::new();
    visible(&Text::read(raw)?.text, &mut seen);
    Some(quoted(&seen))
}

/// An object with some of its fields replaced; `None` where it is none, or none of its fields is replaced.
fn object(raw: &[u8], replace: impl Fn(&str, &[u8]) -> Option<String>) -> Option<String> {
    let fields = Fields::read(raw);
    if fields.flaw().is_some() {
        return None;
    }
    let mut changed = false;
    let mut written = Vec::new();
    for (name, raw) in fields.iter() {
        let value = replace(name, raw);
        changed |= value.is_some();
        written.push(format!("{}:{}", quoted(name), value.unwrap_or_else(|| as_it_is(raw))));
    }
    changed.then(|| format!("{{{}}}", written.join(",")))
}

/// A string in its wrap.
fn in_wrap(raw: &[u8], wrap: &Wrap<'_>) -> Option<String> {
    Text::read(raw).map(|text| quoted(&wrap.text(&text.text)))
}

/// An array with each of its items replaced. A text of our own becomes an `item` of it: of one item that does not fit, a
/// client would take the whole original.
fn array(
    raw: &[u8],
    wrap: &Wrap<'_>,
    item: impl Fn(String) -> String,
    replace: impl Fn(&[u8], &Wrap<'_>) -> String,
) -> Option<String> {
    let items = items(raw);
    if raw.first() != Some(&b'[') || items.is_empty() {
        return None;
    }
    let last = items.len().saturating_sub(MOST_BLOCKS / 2);
    let share = (MOST_BYTES / items.len().min(MOST_BLOCKS)).max(4 << 10);
    let each = Wrap { most: wrap.most.min(share), ..*wrap };
    let mut written = Vec::new();
    for (at, raw) in items.iter().enumerate() {
        match at {
            _ if items.len() <= MOST_BLOCKS || at < MOST_BLOCKS / 2 || at >= last => written.push(replace(raw, &each)),
            _ if at == MOST_BLOCKS / 2 => {
                written.push(item(quoted(&wrap.withheld(&format!("{} blocks", last - at)))));
            }
            _ => {}
        }
    }
    Some(format!("[{}]", written.join(",")))
}

fn as_it_is(raw: &[u8]) -> String {
    String::from_utf8_lossy(raw).into_owned()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
