//! The parts of an HTML or Markdown page that are not shown: comments, hidden elements and attribute texts.

use crate::verdict::limits::{CONTENT_STEPS, Meter};

/// Attributes and styles that hide an element.
const HIDING: [&str; 20] = [
    "display:none", "display: none", "visibility:hidden", "visibility: hidden", "font-size:0", "font-size: 0",
    "font-size:1px", "font-size: 1px", "opacity:0", "opacity: 0", "left:-", "left: -", "text-indent:-", "color:#fff",
    "color: #fff", "color:white", "color: white", "color:transparent", "clip:rect", " hidden",
];

/// Attributes whose text is rarely seen.
const TEXT_ATTRIBUTES: [&str; 6] =
    ["alt=\"", "title=\"", "aria-label=\"", "content=\"", "data-prompt=\"", "placeholder=\""];

/// The beginning of a Markdown comment.
const MARKDOWN_COMMENT: &str = "[//]: #";

/// Extracts the parts that are not shown.
pub(super) fn parts(text: &str, meter: &Meter) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('<') {
        if meter.exceeds(&CONTENT_STEPS) {
            break;
        }
        if let Some(mark) = code_mark(before) {
            rest = behind.split_once([mark, '\n']).map_or("", |(_, after)| after);
            continue;
        }
        if let Some(comment) = behind.strip_prefix("!--") {
            let (inside, after) = comment.split_once("-->").unwrap_or((comment, ""));
            parts.push(inside.to_owned());
            rest = after;
            continue;
        }
        let (tag, after) = behind.split_once('>').unwrap_or((behind, ""));
        let lower = tag.to_ascii_lowercase();
        meter.charge(1 + lower.len());
        for word in TEXT_ATTRIBUTES {
            if let Some((_, value)) = lower.split_once(word) {
                parts.push(value.split('"').next().unwrap_or_default().to_owned());
            }
        }
        if HIDING.iter().any(|hidden| lower.contains(hidden)) || lower.starts_with("noscript") {
            let name = lower.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
            let inside = inside(after, &format!("</{name}"));
            // Hidden elements may be nested, so their text is charged for each level.
            meter.charge(4 * inside.len());
            parts.push(without_tags(inside));
        }
        rest = after;
    }
    let comments = if text.contains(MARKDOWN_COMMENT) { text } else { "" };
    parts.extend(comments.lines().filter_map(|line| line.trim().strip_prefix(MARKDOWN_COMMENT)).map(str::to_owned));
    parts.retain(|part| part.len() > 15);
    parts
}

/// The mark that ends a code span or a string literal, if a tag after this text begins one: it is shown as it is.
fn code_mark(before: &str) -> Option<char> {
    let mark = before.chars().next_back().filter(|c| matches!(c, '`' | '\'' | '"'))?;
    let outside = before.strip_suffix(mark)?.trim_end();
    (mark == '`' || outside.ends_with(['=', '(', '[', ',', ':'])).then_some(mark)
}

/// The text up to the end tag.
fn inside<'a>(text: &'a str, end: &str) -> &'a str {
    text.split(end).next().unwrap_or_default()
}

fn without_tags(text: &str) -> String {
    text.split('<').map(|part| part.split_once('>').map_or(part, |(_, words)| words)).collect()
}
