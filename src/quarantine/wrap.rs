//! Wraps untrusted text between delimiters with a nonce that the text cannot contain.
//!
//! Hidden characters and the beginnings of imitated markup are escaped as `⟦U+200B⟧`. The escape is reversible.

use super::markup;
use crate::encoding::escape::is_hidden;
use crate::encoding::label::Label;
use crate::event::Nonce;
use crate::verdict::RuleId;

/// The first and last character of an escape.
const ESCAPE: (char, char) = ('⟦', '⟧');

/// Wraps texts of one result.
#[derive(Clone, Copy)]
pub struct Wrapper<'a> {
    /// The nonce in both delimiters.
    pub nonce: &'a Nonce,
    /// The source of the text.
    pub source: &'a Label,
    /// The size of a text that is passed whole. Of a longer one, the beginning and the end are passed.
    pub max_bytes: usize,
    /// Returns the rule that withholds a text, if any.
    pub judge: &'a dyn Fn(&str) -> Option<RuleId>,
}

impl Wrapper<'_> {
    /// The opening delimiter.
    pub fn begin(&self) -> String {
        format!("-----{} {} {}-----", BEGIN, self.nonce.as_str(), self.source)
    }

    /// The closing delimiter.
    pub fn end(&self) -> String {
        format!("-----{} {}-----", END, self.nonce.as_str())
    }

    /// Wraps a text.
    pub fn text(&self, text: &str) -> String {
        let (head, withheld, tail) = cut(text, self.max_bytes);
        // Text that is not passed is not judged.
        let judged = (self.judge)(head).or_else(|| if withheld > 0 { (self.judge)(tail) } else { None });
        if let Some(rule) = judged {
            let way =
                "A person can look at the source itself, or disable the rule under `[rules]` in config.local.toml";
            return format!("{}\n{way} and have it called again.", self.withheld(&format!("by the rule `{rule}`")));
        }
        let mut wrapped = self.begin();
        wrapped.push('\n');
        escape_into(head, &mut wrapped);
        if withheld > 0 {
            wrapped.push_str(&format!("\n{}\n", self.withheld(&format!("{withheld} bytes"))));
            escape_into(tail, &mut wrapped);
        }
        wrapped.push('\n');
        wrapped.push_str(&self.end());
        wrapped
    }

    /// The line that replaces withheld text.
    pub fn withheld(&self, what: &str) -> String {
        format!("-----{WITHHELD} {} {what}-----", self.nonce.as_str())
    }
}

const BEGIN: &str = "BEGIN UNTRUSTED DATA";
const END: &str = "END UNTRUSTED DATA";
const WITHHELD: &str = "WITHHELD UNTRUSTED DATA";

/// The beginning of a text, the number of bytes that are left out, and the end.
fn cut(text: &str, max_bytes: usize) -> (&str, usize, &str) {
    if text.len() <= max_bytes {
        return (text, 0, "");
    }
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let head = (0..=max_bytes / 2).rev().find(is_boundary).unwrap_or(0);
    let tail = (text.len() - max_bytes / 2..=text.len()).find(is_boundary).unwrap_or(text.len());
    (text.get(..head).unwrap_or_default(), tail - head, text.get(tail..).unwrap_or_default())
}

/// Appends a text with hidden characters and imitated markup escaped.
pub(super) fn escape_into(text: &str, to: &mut String) {
    to.reserve(text.len());
    let mut line_begins = true;
    let mut plain = 0;
    for (at, c) in text.char_indices() {
        let hidden = is_hidden(c) || c == ESCAPE.0 || c == ESCAPE.1;
        if hidden
            || markup::may_begin(c, line_begins) && markup::begins(text.get(at..).unwrap_or_default(), line_begins)
        {
            to.push_str(text.get(plain..at).unwrap_or_default());
            to.push_str(&format!("{}U+{:04X}{}", ESCAPE.0, u32::from(c), ESCAPE.1));
            plain = at + c.len_utf8();
        }
        line_begins = c == '\n' || line_begins && (markup::is_ornament(c) || hidden);
    }
    to.push_str(text.get(plain..).unwrap_or_default());
}

/// Reverses [`escape_into`].
#[cfg(test)]
fn restore(text: &str) -> Option<String> {
    let mut parts = text.split(ESCAPE.0);
    let mut restored = parts.next()?.to_owned();
    for part in parts {
        let (code, rest) = part.strip_prefix("U+")?.split_once(ESCAPE.1)?;
        restored.push(char::from_u32(u32::from_str_radix(code, 16).ok()?)?);
        restored.push_str(rest);
    }
    Some(restored)
}

#[cfg(test)]
#[path = "../../tests/unit/quarantine/wrap.rs"]
mod tests;
