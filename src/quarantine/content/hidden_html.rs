//! What a page says to those who read its source: comments, elements that are not shown, and names of pictures.

use crate::verdict::limits::{CONTENT_STEPS, Meter};

/// How an element says that it is not shown.
const HIDDEN: [&str; 20] = [
    "display:none", "display: none", "visibility:hidden", "visibility: hidden", "font-size:0", "font-size: 0",
    "font-size:1px", "font-size: 1px", "opacity:0", "opacity: 0", "left:-", "left: -", "text-indent:-", "color:#fff",
    "color: #fff", "color:white", "color: white", "color:transparent", "clip:rect", " hidden",
];

/// Attributes whose words nobody sees, or few.
const WORDS: [&str; 6] = ["alt=\"", "title=\"", "aria-label=\"", "content=\"", "data-prompt=\"", "placeholder=\""];

/// How a comment begins in Markdown.
const COMMENT: &str = "[//]: #";

/// The parts of a page that are not shown.
pub(super) fn parts(text: &str, meter: &Meter) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('<') {
        if meter.exceeds(&CONTENT_STEPS) {
            break;
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
        for word in WORDS {
            if let Some((_, value)) = lower.split_once(word) {
                parts.push(value.split('"').next().unwrap_or_default().to_owned());
            }
        }
        if HIDDEN.iter().any(|hidden| lower.contains(hidden)) || lower.starts_with("noscript") {
            let name = lower.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
            let inside = inside(after, &format!("</{name}"));
            // What is not shown may hold more that is not shown.
            meter.charge(inside.len());
            parts.push(without_tags(inside));
        }
        rest = after;
    }
    // Markdown has comments, too.
    let comments = if text.contains(COMMENT) { text } else { "" };
    parts.extend(comments.lines().filter_map(|line| line.trim().strip_prefix(COMMENT)).map(str::to_owned));
    parts.retain(|part| part.len() > 15);
    parts
}

/// The text up to where the element ends.
fn inside<'a>(text: &'a str, end: &str) -> &'a str {
    text.split(end).next().unwrap_or_default()
}

fn without_tags(text: &str) -> String {
    text.split('<').map(|part| part.split_once('>').map_or(part, |(_, words)| words)).collect()
}
