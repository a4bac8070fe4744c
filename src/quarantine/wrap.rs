//! Wrapping: a text from strangers between delimiters that it cannot know, with everything in it made visible.
//!
//! Nothing is lost: what cannot be seen, and what imitates somebody else's words, is written as `⟦U+200B⟧`, and
//! [`restore`] gives the text back.

use super::markup;
use crate::encoding::escape::is_hidden;
use crate::encoding::label::Label;
use crate::event::Nonce;
use crate::verdict::RuleId;

/// What an escape begins and ends with.
const ESCAPE: (char, char) = ('⟦', '⟧');

/// How a text is wrapped.
#[derive(Clone, Copy)]
pub struct Wrap<'a> {
    /// What stands in both delimiters.
    pub nonce: &'a Nonce,
    /// Where the text came from.
    pub source: &'a Label,
    /// Bytes that are passed at most; of a longer text, its head and its tail.
    pub most: usize,
    /// The rule that would have a text withheld.
    pub judge: &'a dyn Fn(&str) -> Option<RuleId>,
}

impl Wrap<'_> {
    /// The line before the text.
    pub fn begin(&self) -> String {
        format!("-----{} {} {}-----", BEGIN, self.nonce.as_str(), self.source)
    }

    /// The line behind it.
    pub fn end(&self) -> String {
        format!("-----{} {}-----", END, self.nonce.as_str())
    }

    /// The text between its delimiters.
    pub fn text(&self, text: &str) -> String {
        let (head, withheld, tail) = cut(text, self.most);
        // What is not passed need not be judged.
        let judged = (self.judge)(head).or_else(|| if withheld > 0 { (self.judge)(tail) } else { None });
        if let Some(rule) = judged {
            let way =
                "A person can look at the source itself, or disable the rule under `[rules]` in config.local.toml";
            return format!("{}\n{way} and have it called again.", self.withheld(&format!("by the rule `{rule}`")));
        }
        let mut wrapped = self.begin();
        wrapped.push('\n');
        visible(head, &mut wrapped);
        if withheld > 0 {
            wrapped.push_str(&format!("\n{}\n", self.withheld(&format!("{withheld} bytes"))));
            visible(tail, &mut wrapped);
        }
        wrapped.push('\n');
        wrapped.push_str(&self.end());
        wrapped
    }

    /// What stands in place of something that is not passed.
    pub fn withheld(&self, what: &str) -> String {
        format!("-----{WITHHELD} {} {what}-----", self.nonce.as_str())
    }
}

const BEGIN: &str = "BEGIN UNTRUSTED DATA";
const END: &str = "END UNTRUSTED DATA";
const WITHHELD: &str = "WITHHELD UNTRUSTED DATA";

/// The head of a text, how many bytes follow that are not passed, and its tail.
pub(super) fn cut(text: &str, most: usize) -> (&str, usize, &str) {
    if text.len() <= most {
        return (text, 0, "");
    }
    let begins = |at: &usize| text.is_char_boundary(*at);
    let head = (0..=most / 2).rev().find(begins).unwrap_or(0);
    let tail = (text.len() - most / 2..=text.len()).find(begins).unwrap_or(text.len());
    (text.get(..head).unwrap_or_default(), tail - head, text.get(tail..).unwrap_or_default())
}

/// Writes a text so that all of it can be seen and none of it is taken for somebody else's words.
pub(super) fn visible(text: &str, to: &mut String) {
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

/// The text that [`visible`] was given.
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
