//! Replaces the texts in a result by wrapped ones, and keeps the shape that the client expects.

use super::wrap::{Wrapper, escape_into};
use crate::encoding::bytes::position;
use crate::encoding::json::{Fields, Text, items, unescaped};
use crate::event::Action;
use std::borrow::Cow;

/// Blocks of one result that are passed. Of more blocks, the first and the last ones are passed.
const MAX_BLOCKS: usize = 200;

/// Bytes of all blocks of one result; each has an equal share.
const MAX_BLOCKS_BYTES: usize = 1 << 20;

/// A result with its texts wrapped, as JSON. `None` if it has no replaceable text, or if the client would reject the
/// replacement.
pub(crate) fn wrapped(action: &Action, raw: &[u8], wrap: &Wrapper<'_>) -> Option<String> {
    let text = |raw: &[u8]| in_wrap(raw, wrap);
    match action {
        Action::Mcp { .. } => Some(server_result(raw, wrap)),
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
            object(raw, |name, raw| if name == "result" { text(raw) } else { escaped(raw) })
        }
        Action::Search { .. } => object(raw, |name, raw| match name {
            // The client also accepts a string in place of a list of links.
            "results" => array(
                raw,
                wrap,
                |text| text,
                |item, wrap| in_wrap(item, wrap).unwrap_or_else(|| quoted(&wrap.text(&lossy_text(item)))),
            ),
            _ => None,
        }),
        // A list of the server's resources.
        Action::Resource { .. } if raw.first() == Some(&b'[') => {
            array(raw, wrap, resource, |item, wrap| resource(quoted(&wrap.text(&lossy_text(item)))))
        }
        Action::Resource { .. } => object(raw, |name, raw| match name {
            "contents" => array(raw, wrap, content, |item, wrap| {
                let fields = Fields::read(item);
                if fields.get("text").is_none() && all_plain(&fields, &["uri", "mimeType", "blob"]) {
                    return lossy_text(item);
                }
                // The client needs these members, so they are kept if they cannot be a sentence.
                let is_kept = |name: &str, raw: &[u8]| matches!(name, "uri" | "mimeType") && is_plain(raw);
                let kept: Vec<_> = fields.iter().filter(|(name, raw)| is_kept(name, raw)).collect();
                let names: Vec<&str> = kept.iter().map(|(name, _)| *name).collect();
                let uri = if names.contains(&"uri") { "" } else { "\"uri\":\"\"," };
                let kept = kept.into_iter().map(|(name, raw)| format!("{}:{},", quoted(name), lossy_text(raw)));
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
        | Action::Prompt { .. }
        | Action::Other => None,
    }
}

/// A result as one wrapped text, as a JSON string: the texts of its parts, or the whole of it where it has others.
pub(crate) fn wrapped_text(raw: &[u8], wrap: &Wrapper<'_>) -> String {
    let part = |part: &[u8]| {
        let fields = Fields::read(part);
        let text = fields.string("text").filter(|_| fields.error().is_none())?;
        let is_text = |name: &str, raw: &[u8]| name == "text" || (name == "type" && raw == b"\"text\"");
        fields.iter().all(|(name, raw)| is_text(name, raw)).then_some(text.text)
    };
    let content = Fields::read(raw);
    let parts = content.get("content").filter(|_| content.names().count() == 1).unwrap_or(raw);
    let texts: Option<Vec<String>> = items(parts).into_iter().map(part).collect();
    let text = Text::read(raw).map(|text| text.text);
    let text = text.or_else(|| texts.filter(|texts| !texts.is_empty()).map(|texts| texts.join("\n")));
    quoted(&wrap.text(&text.unwrap_or_else(|| lossy_text(raw))))
}

/// The text of a result for content rules: its strings, each as a paragraph, and everything between them.
pub(crate) fn flat(raw: &[u8]) -> String {
    // Most results are valid UTF-8, for which `from_utf8` is faster than `from_utf8_lossy`.
    let text = std::str::from_utf8(raw).map_or_else(|_| String::from_utf8_lossy(raw), Cow::Borrowed);
    let mut flat = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = position(rest.as_bytes(), |byte| (byte == b'"') | (byte == b'\\')) {
        let (before, behind) = rest.split_at_checked(at).unwrap_or_default();
        flat.push_str(before);
        let mut chars = behind.chars();
        if chars.next() == Some('"') {
            flat.push_str("\n\n");
        } else {
            flat.push(unescaped(&mut chars).flatten().unwrap_or(' '));
        }
        rest = chars.as_str();
    }
    flat.push_str(rest);
    flat
}

/// The replacement for an unreadable result of an MCP server.
pub(crate) fn stub(wrap: &Wrapper<'_>) -> String {
    quoted(&wrap.withheld("it cannot be read"))
}

/// A result of an MCP server, which may have any shape. Unreadable results are withheld.
fn server_result(raw: &[u8], wrap: &Wrapper<'_>) -> String {
    let whole = || quoted(&wrap.text(&String::from_utf8_lossy(raw)));
    match raw.first() {
        Some(b'"') => in_wrap(raw, wrap).unwrap_or_else(|| stub(wrap)),
        Some(b'[') => array(raw, wrap, text_block, block).unwrap_or_else(whole),
        _ => whole(),
    }
}

/// A block of an MCP server's result. Everything except plain images and audio is wrapped.
fn block(raw: &[u8], wrap: &Wrapper<'_>) -> String {
    let fields = Fields::read(raw);
    let kind = fields.string("type").map(|kind| kind.text).unwrap_or_default();
    if matches!(kind.as_str(), "image" | "audio") && all_plain(&fields, &["type", "data", "mimeType"]) {
        return lossy_text(raw);
    }
    let words = if kind == "text" { words(raw, &fields, &["type"]) } else { lossy_text(raw) };
    text_block(quoted(&wrap.text(&words)))
}

/// The text of an item, followed by its other fields except `mute`.
fn words(raw: &[u8], fields: &Fields<'_>, mute: &[&str]) -> String {
    let Some(text) = fields.string("text").filter(|_| fields.error().is_none()) else { return lossy_text(raw) };
    let others = fields.iter().filter(|(name, _)| *name != "text" && !mute.contains(name));
    let others = others.map(|(name, raw)| format!("{}: {}", quoted(name), lossy_text(raw)));
    [text.text].into_iter().chain(others).collect::<Vec<_>>().join("\n")
}

/// Whether an item has only these fields, and none of them can be a sentence.
fn all_plain(fields: &Fields<'_>, names: &[&str]) -> bool {
    fields.error().is_none() && fields.iter().all(|(name, raw)| names.contains(&name) && is_plain(raw))
}

/// Whether a value is a string that cannot be a sentence.
fn is_plain(raw: &[u8]) -> bool {
    Text::read(raw).is_some_and(|value| is_token(&value.text))
}

/// A text block of an MCP server's result.
fn text_block(text: String) -> String {
    format!("{{\"type\":\"text\",\"text\":{text}}}")
}

/// An entry of a list of resources.
fn resource(text: String) -> String {
    format!("{{\"uri\":\"\",\"name\":{text},\"server\":\"\"}}")
}

/// The content of a resource.
fn content(text: String) -> String {
    format!("{{\"uri\":\"\",\"text\":{text}}}")
}

/// Whether a text consists of letters, digits and the signs of base64 and media types. Without blanks it cannot be a
/// sentence.
fn is_token(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=.:-_".contains(&byte))
}

/// A string with its text escaped; `None` for other values.
fn escaped(raw: &[u8]) -> Option<String> {
    let mut escaped = String::new();
    escape_into(&Text::read(raw)?.text, &mut escaped);
    Some(quoted(&escaped))
}

/// An object with some fields replaced; `None` if it is not an object or no field is replaced.
fn object(raw: &[u8], replace: impl Fn(&str, &[u8]) -> Option<String>) -> Option<String> {
    let fields = Fields::read(raw);
    if fields.error().is_some() {
        return None;
    }
    let mut changed = false;
    let mut written = Vec::new();
    for (name, raw) in fields.iter() {
        let value = replace(name, raw);
        changed |= value.is_some();
        written.push(format!("{}:{}", quoted(name), value.unwrap_or_else(|| lossy_text(raw))));
    }
    changed.then(|| format!("{{{}}}", written.join(",")))
}

/// A string with its text wrapped.
fn in_wrap(raw: &[u8], wrap: &Wrapper<'_>) -> Option<String> {
    Text::read(raw).map(|text| quoted(&wrap.text(&text.text)))
}

/// An array with all items replaced. `item` builds an item from a text: if one item has the wrong shape, the client
/// uses the original result.
fn array(
    raw: &[u8],
    wrap: &Wrapper<'_>,
    item: impl Fn(String) -> String,
    replace: impl Fn(&[u8], &Wrapper<'_>) -> String,
) -> Option<String> {
    let items = items(raw);
    if raw.first() != Some(&b'[') || items.is_empty() {
        return None;
    }
    let last = items.len().saturating_sub(MAX_BLOCKS / 2);
    let share = (MAX_BLOCKS_BYTES / items.len().min(MAX_BLOCKS)).max(4 << 10);
    let each = Wrapper { max_bytes: wrap.max_bytes.min(share), ..*wrap };
    let mut written = Vec::new();
    for (at, raw) in items.iter().enumerate() {
        match at {
            _ if items.len() <= MAX_BLOCKS || at < MAX_BLOCKS / 2 || at >= last => written.push(replace(raw, &each)),
            _ if at == MAX_BLOCKS / 2 => {
                written.push(item(quoted(&wrap.withheld(&format!("{} blocks", last - at)))));
            }
            _ => {}
        }
    }
    Some(format!("[{}]", written.join(",")))
}

fn lossy_text(raw: &[u8]) -> String {
    String::from_utf8_lossy(raw).into_owned()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
