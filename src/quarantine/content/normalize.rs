//! Normalizes a text to sentences in plain lower-case letters, and groups them into passages.

use super::letters::{is_invisible, latin_lookalike, plain_letter};
use super::passage::Passage;
use crate::encoding::bytes::position;
use std::ops::Range;
use std::str::Chars;

/// Bytes of a sentence; longer ones are cut at a blank.
const MAX_SENTENCE_BYTES: usize = 300;

/// Bytes of a passage of several sentences.
const MAX_PASSAGE_BYTES: usize = 240;

/// Bytes of an HTML tag.
const MAX_TAG_BYTES: usize = 1_000;

/// Bytes of a sentence that is repeated at the beginning of the next passage.
const MAX_REPEATED_BYTES: usize = 160;

/// Bytes from which on a line counts as wrapped: the sentence goes on in the next one.
const WRAPPED_LINE_BYTES: usize = 50;

/// A text in plain letters, one sentence per line, and its passages.
#[derive(Default)]
pub(crate) struct NormalizedText {
    pub text: String,
    /// Ranges of consecutive sentences. A short sentence at the end of a passage also begins the next one.
    pub passages: Vec<Range<usize>>,
    /// Where a line begins inside a sentence, except after a line that was wrapped, and where a string behind a key begins.
    line_starts: Vec<usize>,
}

impl NormalizedText {
    /// Normalizes a text.
    pub fn of(text: &str) -> Self {
        let mut passages = Vec::new();
        let Normalizer { text, sentences, mut line_starts, .. } = normalize(text);
        line_starts.sort_unstable();
        let mut passage: Option<Range<usize>> = None;
        let mut last = 0..0;
        for sentence in sentences {
            passage = Some(match passage {
                Some(passage) if passage.len() + sentence.len() > MAX_PASSAGE_BYTES => {
                    let again = last.len() <= MAX_REPEATED_BYTES && last.start > passage.start;
                    let start = if again { last.start } else { sentence.start };
                    passages.push(passage);
                    start..sentence.end
                }
                Some(passage) => passage.start..sentence.end,
                None => sentence.clone(),
            });
            last = sentence;
        }
        passages.extend(passage);
        NormalizedText { text, passages, line_starts }
    }

    /// A passage.
    pub fn passage(&self, range: &Range<usize>) -> Passage<'_> {
        let starts = |at: usize| self.line_starts.partition_point(|start| *start < at);
        let line_starts = self.line_starts.get(starts(range.start)..starts(range.end)).unwrap_or_default();
        Passage::new(self.text.get(range.clone()).unwrap_or_default(), line_starts, range.start)
    }
}

/// The normalized passages of a text, with a prefix before each sentence.
pub(super) fn prefixed_passages(text: &str, prefix: &str) -> Vec<String> {
    let normalized = NormalizedText::of(text);
    let passage = |passage: &Range<usize>| {
        let sentences = normalized.text.get(passage.clone()).unwrap_or_default().lines();
        sentences.flat_map(|sentence| [prefix, sentence, "\n"]).collect()
    };
    normalized.passages.iter().map(passage).collect()
}

fn normalize(text: &str) -> Normalizer {
    let mut normalizer = Normalizer { lines: 1, ..Normalizer::default() };
    // A line end is added to each sentence.
    normalizer.text.reserve(text.len() + text.len() / 64 + 1);
    let mut chars = text.chars();
    loop {
        let rest = chars.as_str();
        let word = rest.as_bytes().get(..MAX_SENTENCE_BYTES).unwrap_or(rest.as_bytes());
        let word = position(word, |byte| !is_letter(byte)).unwrap_or(word.len());
        if let Some((word, after)) = rest.split_at_checked(word).filter(|(word, _)| !word.is_empty()) {
            normalizer.take_word(word);
            chars = after.chars();
            continue;
        }
        let Some(c) = chars.next() else { break };
        let next = || chars.as_str().as_bytes().first().copied();
        if normalizer.lines > 0 && matches!(c, '-' | '*' | '+') && next() == Some(b' ') {
            // An item of a list is a sentence of its own.
            normalizer.end_block();
        }
        match c {
            // Terminal control sequences.
            '\u{1b}' if next() == Some(b'[') => {
                chars.find(|c| c.is_ascii_alphabetic());
            }
            '<' if ends_block(chars.as_str()) => normalizer.end_block(),
            '&' if next() == Some(b'#') => normalizer.take(decode_entity(&mut chars).unwrap_or('&')),
            '\\' if next() == Some(b'u') => normalizer.take(decode_escape(&mut chars).unwrap_or('\\')),
            '\\' if matches!(next(), Some(b'n' | b'r' | b't')) => {
                chars.next();
                normalizer.take('\n');
            }
            // Also the folded lines of YAML and of a shell.
            '\\' if matches!(next(), Some(b'"' | b' ' | b'\n')) => {}
            '<' if is_tag(chars.as_str()) => {
                normalizer.in_tag = true;
                normalizer.take('<');
            }
            '>' if normalizer.in_tag => {
                normalizer.in_tag = false;
                normalizer.take('>');
            }
            // Quotes around the values of HTML attributes.
            '"' | '\'' if normalizer.in_tag => {}
            // Quotes around strings of JSON and tables.
            '"' if !normalizer.is_quoting
                && (matches!(next(), Some(b',' | b'}' | b']' | b':')) || normalizer.is_in_data()) =>
            {
                normalizer.recent = [normalizer.recent[1], '"'];
                if normalizer.recent == [':', '"'] {
                    normalizer.line_starts.push(normalizer.text.len());
                }
            }
            '\'' | '\u{2018}'
                if normalizer.opens_quotation() && chars.clone().next().is_some_and(char::is_alphanumeric) =>
            {
                normalizer.take('"')
            }
            _ => normalizer.take(c),
        }
    }
    normalizer.end_sentence();
    normalizer
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// Whether an HTML tag begins here that ends within the limit.
fn is_tag(rest: &str) -> bool {
    let begins = rest.as_bytes().first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'/');
    begins && rest.bytes().take(MAX_TAG_BYTES).take_while(|byte| *byte != b'<').any(|byte| byte == b'>')
}

/// Whether a tag that ends a paragraph, a row or another block begins here.
fn ends_block(tag: &str) -> bool {
    let (closes, name) = tag.strip_prefix('/').map_or((false, tag), |name| (true, name));
    let length = name.bytes().take(6).take_while(u8::is_ascii_alphanumeric).count();
    let name = name.get(..length).unwrap_or_default();
    let is_one_of = |names: &[&str]| names.iter().any(|other| name.eq_ignore_ascii_case(other));
    closes && is_one_of(&["p", "div", "li", "h1", "h2", "h3", "h4", "td", "th", "tr", "title", "pre", "dd", "dt"])
        || is_one_of(&["br", "hr"])
}

/// Decodes `&#105;` and `&#x69;`.
fn decode_entity(chars: &mut Chars<'_>) -> Option<char> {
    let mut ahead = chars.clone();
    ahead.next();
    let hexadecimal = matches!(ahead.as_str().as_bytes().first(), Some(b'x' | b'X'));
    if hexadecimal {
        ahead.next();
    }
    let radix = if hexadecimal { 16 } else { 10 };
    let mut code = 0_u32;
    for _ in 0..8 {
        match ahead.next()? {
            ';' => {
                *chars = ahead;
                return char::from_u32(code);
            }
            digit => code = code.checked_mul(radix)?.checked_add(digit.to_digit(radix)?)?,
        }
    }
    None
}

/// Decodes `\u0069`.
fn decode_escape(chars: &mut Chars<'_>) -> Option<char> {
    let mut ahead = chars.clone();
    ahead.next();
    let mut code = 0;
    for _ in 0..4 {
        code = code * 16 + ahead.next()?.to_digit(16)?;
    }
    *chars = ahead;
    char::from_u32(code)
}

/// The state of normalizing a text.
#[derive(Default)]
struct Normalizer {
    text: String,
    sentences: Vec<Range<usize>>,
    /// The start of the current sentence.
    sentence: usize,
    /// Where a line begins inside a sentence, except after a line that was wrapped, and where a string behind a key begins.
    line_starts: Vec<usize>,
    /// The start of the current line.
    line: usize,
    /// The start of the current word.
    word: usize,
    /// The current word has ASCII letters or digits.
    has_ascii: bool,
    /// The current word has letters that look like Latin ones.
    has_lookalikes: bool,
    /// The last two input characters other than whitespace.
    recent: [char; 2],
    /// Line ends since the last letter.
    lines: usize,
    /// A sentence ends at the next blank.
    may_end: bool,
    /// The position is inside an HTML tag.
    in_tag: bool,
    /// The position is inside a quotation of the current sentence.
    is_quoting: bool,
}

impl Normalizer {
    fn is_empty(&self) -> bool {
        self.text.len() == self.sentence
    }

    fn length(&self) -> usize {
        self.text.len() - self.sentence
    }

    /// Whether a quote here opens a string in JSON or a table.
    fn is_in_data(&self) -> bool {
        matches!(self.recent, ['"', ':' | ','] | [_, '{' | '['] | ['0'..='9' | '}' | ']' | 'e' | 'l', ','])
            || self.recent[1] == ',' && (self.is_empty() || !self.text.ends_with(' '))
    }

    /// Whether an apostrophe here opens a quotation.
    fn opens_quotation(&self) -> bool {
        self.is_empty() || self.text.ends_with([' ', '('])
    }

    /// Adds a run of ASCII letters and digits.
    fn take_word(&mut self, word: &str) {
        self.begin_character();
        self.has_ascii = true;
        let from = self.text.len();
        self.text.push_str(word);
        if let Some(word) = self.text.get_mut(from..) {
            word.make_ascii_lowercase();
        }
        let mut last = word.bytes().rev().map(char::from);
        let (second, first) = (last.next().unwrap_or(' '), last.next());
        self.may_end &= first.is_none();
        self.recent = [first.unwrap_or(self.recent[1]), second];
        self.enforce_limit();
    }

    fn take(&mut self, c: char) {
        if is_invisible(c) {
            return;
        }
        if !c.is_whitespace() {
            self.recent = [self.recent[1], c];
        }
        let c = plain_letter(c);
        if c.is_ascii_lowercase() || c.is_ascii_digit() || !c.is_ascii() && c.is_alphanumeric() {
            self.begin_character();
            self.has_ascii |= c.is_ascii();
            self.has_lookalikes |= !c.is_ascii() && latin_lookalike(c).is_some();
            self.text.push(c);
            return self.enforce_limit();
        }
        if c == '\n' {
            self.lines += 1;
        }
        self.end_word();
        match c {
            // Markers of comments, quotations and table rows at the beginning of a line.
            '#' | '/' | '*' | '>' | '|' if self.lines > 0 => {}
            ' ' | '\t' | '\n' | '\r' => {
                if self.may_end {
                    self.end_sentence();
                }
                if !self.is_empty() && !self.text.ends_with(' ') {
                    self.text.push(' ');
                    self.word = self.text.len();
                }
                if self.length() > MAX_SENTENCE_BYTES || self.lines > 1 {
                    self.end_sentence();
                }
            }
            _ if c.is_control() => {}
            _ => {
                self.begin_character();
                self.text.push(c);
                self.word = self.text.len();
                self.is_quoting ^= c == '"';
                self.may_end = matches!(c, '.' | '!' | '?') || self.may_end && matches!(c, '"' | '\'' | ')' | '`');
                self.enforce_limit();
            }
        }
        if !matches!(c, '.' | '!' | '?' | '"' | '\'' | ')' | '`') {
            self.may_end = false;
        }
    }

    /// Ends a sentence without blanks at twice the limit.
    fn enforce_limit(&mut self) {
        if self.length() > 2 * MAX_SENTENCE_BYTES {
            self.end_sentence();
        }
    }

    /// Prepares for a character that continues the text.
    fn begin_character(&mut self) {
        if self.lines == 1
            && let Some(stem) = self.text.get(self.sentence..).and_then(|sentence| sentence.strip_suffix("- "))
            && stem.ends_with(char::is_alphabetic)
        {
            // A word that is hyphenated at the line end.
            self.text.truncate(self.text.len() - "- ".len());
        }
        if self.lines > 0 {
            if !self.is_empty() && self.text.len() - self.line.max(self.sentence) < WRAPPED_LINE_BYTES {
                self.line_starts.push(self.text.len());
                self.is_quoting = false;
            }
            self.line = self.text.len();
        }
        self.lines = 0;
        if self.is_empty() || !matches!(self.text.as_bytes().last(), Some(b'.' | b'!' | b'?')) {
            self.may_end = false;
        }
    }

    fn end_word(&mut self) {
        if self.has_ascii && self.has_lookalikes {
            let word = self.text.get(self.word..).unwrap_or_default();
            let latin: String = word.chars().map(|c| latin_lookalike(c).unwrap_or(c)).collect();
            self.text.truncate(self.word);
            self.text.push_str(&latin);
        }
        (self.has_ascii, self.has_lookalikes) = (false, false);
        self.word = self.text.len();
    }

    fn end_block(&mut self) {
        self.may_end = false;
        self.end_sentence();
    }

    fn end_sentence(&mut self) {
        self.end_word();
        let blanks = self.text.len() - self.text.trim_end().len();
        let length = self.length().saturating_sub(blanks);
        // An abbreviation does not end a sentence: a single short word with a full stop, or one with two.
        let words = || self.text.get(self.sentence..).unwrap_or_default().trim_end();
        let is_word = || length < 12 && !words().contains(' ');
        let is_abbreviation = || {
            let last = words().strip_suffix('.').and_then(|words| words.rsplit(' ').next()).unwrap_or_default();
            last.len() < 6 && last.contains('.')
        };
        if self.lines < 2 && length > 0 && self.may_end && (is_word() || is_abbreviation()) {
            self.may_end = false;
            return;
        }
        self.text.truncate(self.sentence + length);
        if length > 0 {
            self.text.push('\n');
            self.sentences.push(self.sentence..self.text.len());
            self.sentence = self.text.len();
        }
        (self.word, self.may_end, self.is_quoting) = (self.sentence, false, false);
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/quarantine/content/normalize.rs"]
mod tests;
