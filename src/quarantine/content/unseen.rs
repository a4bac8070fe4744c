//! What a page says to those who read its source: comments, elements that are not shown, and names of pictures.

/// Parts that are kept at most.
const MOST: usize = 200;

/// Bytes of one part.
const LONGEST: usize = 2_000;

/// How an element says that it is not shown.
const HIDDEN: [&str; 20] = [
    "display:none",
    "display: none",
    "visibility:hidden",
    "visibility: hidden",
    "font-size:0",
    "font-size: 0",
    "font-size:1px",
    "font-size: 1px",
    "opacity:0",
    "opacity: 0",
    "left:-",
    "left: -",
    "text-indent:-",
    "color:#fff",
    "color: #fff",
    "color:white",
    "color: white",
    "color:transparent",
    "clip:rect",
    " hidden",
];

/// Attributes whose words nobody sees, or few.
const WORDS: [&str; 6] = ["alt=\"", "title=\"", "aria-label=\"", "content=\"", "data-prompt=\"", "placeholder=\""];

/// How a comment begins in Markdown.
const COMMENT: &str = "[//]: #";

/// The parts of a page that are not shown.
pub(super) fn parts(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('<') {
        if parts.len() >= MOST {
            break;
        }
        if let Some(comment) = behind.strip_prefix("!--") {
            let (inside, after) = comment.split_once("-->").unwrap_or((comment, ""));
            parts.push(head(inside).to_owned());
            rest = after;
            continue;
        }
        let (tag, after) = behind.split_once('>').unwrap_or((behind, ""));
        let lower = head(tag).to_ascii_lowercase();
        for word in WORDS {
            if let Some((_, value)) = lower.split_once(word) {
                parts.push(value.split('"').next().unwrap_or_default().to_owned());
            }
        }
        if HIDDEN.iter().any(|hidden| lower.contains(hidden)) || lower.starts_with("noscript") {
            let name = lower.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
            parts.push(without_tags(head(after), &format!("</{name}")));
        }
        rest = after;
    }
    // Markdown has comments, too.
    let comments = if text.contains(COMMENT) { text } else { "" };
    parts.extend(
        comments
            .lines()
            .filter_map(|line| line.trim().strip_prefix(COMMENT))
            .take(MOST)
            .map(|part| head(part).to_owned()),
    );
    parts.retain(|part| part.len() > 15);
    parts
}

fn head(text: &str) -> &str {
    let end = (0..=LONGEST.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// The words up to where the element ends.
fn without_tags(text: &str, end: &str) -> String {
    text.split(end)
        .next()
        .unwrap_or_default()
        .split('<')
        .map(|part| part.split_once('>').map_or(part, |(_, words)| words))
        .collect()
}
