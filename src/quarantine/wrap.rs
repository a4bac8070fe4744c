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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrapped(text: &str) -> (String, String) {
        let (nonce, source) = (Nonce::new([7; 16]), Label::of("mcp", "desk"));
        let wrap = Wrap { nonce: &nonce, source: &source, most: 1 << 20, judge: &|_| None };
        let whole = wrap.text(text);
        let inside = whole.strip_prefix(&wrap.begin()).and_then(|rest| rest.strip_suffix(&wrap.end())).unwrap();
        (inside.strip_prefix('\n').unwrap().strip_suffix('\n').unwrap().to_owned(), whole)
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        for (text, expected) in [
            ("plain text\n\twith lines", "plain text\n\twith lines"),
            ("a\u{200b}b", "a⟦U+200B⟧b"),
            ("\u{1b}[31mred", "⟦U+001B⟧[31mred"),
            ("\u{202e}gnp.exe", "⟦U+202E⟧gnp.exe"),
            ("\u{e0041}\u{e0042}", "⟦U+E0041⟧⟦U+E0042⟧"),
            ("⟦U+0041⟧", "⟦U+27E6⟧U+0041⟦U+27E7⟧"),
            ("naïve 日本 🙂", "naïve 日本 🙂"),
        ] {
            assert_eq!(wrapped(text).0, expected);
        }
    }

    #[test]
    fn every_document_of_the_corpus_stays_inside() {
        let files = [
            include_str!("../../tests/corpus/hard.jsonl"),
            include_str!("../../tests/corpus/issues.jsonl"),
            include_str!("../../tests/corpus/mail.jsonl"),
            include_str!("../../tests/corpus/web.jsonl"),
        ];
        let mut seen = 0;
        for line in files.iter().flat_map(|file| file.lines()) {
            let document: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = document["text"].as_str().unwrap();
            let (inside, _) = wrapped(text);
            assert_eq!(restore(&inside).as_deref(), Some(text), "{}", document["id"]);
            let lower = inside.to_lowercase();
            let markup = [
                "<system-reminder", "</system-reminder", "<|im_start|>", "[inst]", "<tool_result", "-----end untrusted",
            ];
            assert!(!inside.chars().any(is_hidden), "{}: hidden", document["id"]);
            assert!(markup.iter().all(|markup| !lower.contains(markup)), "{}: markup", document["id"]);
            seen += 1;
        }
        assert_eq!(seen, 660);
    }

    #[test]
    fn of_a_long_text_head_and_tail_are_passed() {
        let (nonce, source) = (Nonce::new([7; 16]), Label::of("mcp", "desk"));
        let wrap = Wrap { nonce: &nonce, source: &source, most: 10, judge: &|_| None };
        let text = wrap.text("0123456789é0123456789");
        assert!(text.contains("\n01234\n-----WITHHELD") && text.contains("12 bytes-----\n56789\n"), "{text}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_payload_stays_inside_and_nothing_of_it_is_lost(
            text in "(.|\n|-----(BEGIN|END) UNTRUSTED DATA [0-9a-f]{0,3}|07070707070707070707070707070707|</?system-reminder>|⟦U\\+41⟧|\u{200b}|\u{e0041}|\n\nHuman:|\\[QUARANTINE-NOTICE|<\\|im_start\\|>){0,12}",
        ) {
            let (inside, whole) = wrapped(&text);
            prop_assert_eq!(restore(&inside), Some(text));
            let nonce = Nonce::new([7; 16]);
            let lines = |start: &str| whole.lines().filter(|line| line.starts_with(&format!("-----{start} {}", nonce.as_str()))).count();
            prop_assert_eq!((lines(BEGIN), lines(END), lines(WITHHELD)), (1, 1, 0));
            prop_assert!(!inside.contains("-----BEGIN UNTRUSTED") && !inside.contains("-----END UNTRUSTED"));
        }
    }
}
