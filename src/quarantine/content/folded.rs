//! Folding: a text sentence by sentence, in plain lower case letters.

use super::letters::{is_invisible, lookalike, undressed};
use crate::encoding::bytes::position;
use std::ops::Range;
use std::str::Chars;

/// Sentences up to this are whole; longer ones are cut at a blank.
const LONGEST_SENTENCE: usize = 300;

/// Passages go on up to this.
const LONGEST_PASSAGE: usize = 240;

/// Bytes of an element between its brackets.
const LONGEST_TAG: usize = 1_000;

/// A sentence up to this is repeated at the beginning of the next passage.
const SHORT: usize = 160;

/// A text in plain letters, one sentence a line, and its passages.
#[derive(Default)]
pub(crate) struct Folded {
    pub text: String,
    /// Some sentences each, in order; a short one that ends a passage begins the next one too.
    pub passages: Vec<Range<usize>>,
}

impl Folded {
    pub fn of(text: &str) -> Self {
        let mut passages = Vec::new();
        let Fold { text, sentences, .. } = folded(text);
        let mut passage: Option<Range<usize>> = None;
        let mut last = 0..0;
        for sentence in sentences {
            passage = Some(match passage {
                Some(passage) if passage.len() + sentence.len() > LONGEST_PASSAGE => {
                    let again = last.len() <= SHORT && last.start > passage.start;
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
        Folded { text, passages }
    }
}

/// The passages of a text that nobody sees, each behind `mark`.
pub(super) fn marked(text: &str, mark: &str) -> Vec<String> {
    let folded = Folded::of(text);
    let passage = |passage: &Range<usize>| format!("{mark}{}", folded.text.get(passage.clone()).unwrap_or_default());
    folded.passages.iter().map(passage).collect()
}

/// A text, folded.
fn folded(text: &str) -> Fold {
    let mut fold = Fold { lines: 1, ..Fold::default() };
    // Sentences without an end get one.
    fold.text.reserve(text.len() + text.len() / 64 + 1);
    let mut chars = text.chars();
    loop {
        let rest = chars.as_str();
        let word = rest.as_bytes().get(..LONGEST_SENTENCE).unwrap_or(rest.as_bytes());
        let word = position(word, |byte| !is_letter(byte)).unwrap_or(word.len());
        if let Some((word, behind)) = rest.split_at_checked(word).filter(|(word, _)| !word.is_empty()) {
            fold.take_word(word);
            chars = behind.chars();
            continue;
        }
        let Some(c) = chars.next() else { break };
        let next = || chars.as_str().as_bytes().first().copied();
        match c {
            // Colours and the like.
            '\u{1b}' if next() == Some(b'[') => {
                chars.find(|c| c.is_ascii_alphabetic());
            }
            '<' if ends_block(chars.as_str()) => fold.end_block(),
            '&' if next() == Some(b'#') => fold.take(entity(&mut chars).unwrap_or('&')),
            '\\' if next() == Some(b'u') => fold.take(escape(&mut chars).unwrap_or('\\')),
            '\\' if matches!(next(), Some(b'n' | b'r' | b't')) => {
                chars.next();
                fold.take('\n');
            }
            '\\' if next() == Some(b'"') => {}
            '<' if tag(chars.as_str()) => {
                fold.tag = true;
                fold.take('<');
            }
            '>' if fold.tag => {
                fold.tag = false;
                fold.take('>');
            }
            // What stands around the values of an element quotes nothing.
            '"' | '\'' if fold.tag => {}
            // Those of JSON and of tables quote nothing.
            '"' if matches!(next(), Some(b',' | b'}' | b']' | b':')) || fold.is_in_data() => {
                fold.recent = [fold.recent[1], '"']
            }
            '\'' | '\u{2018}' if fold.opens() && chars.clone().next().is_some_and(char::is_alphanumeric) => {
                fold.take('"')
            }
            _ => fold.take(c),
        }
    }
    fold.end_sentence();
    fold
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// Whether an element begins here, which also ends soon.
fn tag(rest: &str) -> bool {
    let begins = rest.as_bytes().first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'/');
    begins && rest.bytes().take(LONGEST_TAG).take_while(|byte| *byte != b'<').any(|byte| byte == b'>')
}

/// Whether a tag begins here that ends a paragraph, a row or the like.
fn ends_block(tag: &str) -> bool {
    let (closes, name) = tag.strip_prefix('/').map_or((false, tag), |name| (true, name));
    let length = name.bytes().take(6).take_while(u8::is_ascii_alphanumeric).count();
    let name = name.get(..length).unwrap_or_default();
    let is_one_of = |names: &[&str]| names.iter().any(|other| name.eq_ignore_ascii_case(other));
    closes && is_one_of(&["p", "div", "li", "h1", "h2", "h3", "h4", "td", "th", "tr", "title", "pre", "dd", "dt"])
        || is_one_of(&["br", "hr"])
}

/// `&#105;` and `&#x69;`
fn entity(chars: &mut Chars<'_>) -> Option<char> {
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

/// `\u0069`
fn escape(chars: &mut Chars<'_>) -> Option<char> {
    let mut ahead = chars.clone();
    ahead.next();
    let mut code = 0;
    for _ in 0..4 {
        code = code * 16 + ahead.next()?.to_digit(16)?;
    }
    *chars = ahead;
    char::from_u32(code)
}

/// A text on its way.
#[derive(Default)]
struct Fold {
    text: String,
    sentences: Vec<Range<usize>>,
    /// Where the sentence begins that is being read.
    sentence: usize,
    /// Where the word begins that is being read.
    word: usize,
    /// It has letters of our own, and some that only look like them.
    own: bool,
    alike: bool,
    /// The last two characters, as they came, but for blanks.
    recent: [char; 2],
    /// Ends of lines since the last letter.
    lines: usize,
    /// The sentence may end here.
    ends: bool,
    /// It is within the brackets of an element.
    tag: bool,
}

impl Fold {
    fn is_empty(&self) -> bool {
        self.text.len() == self.sentence
    }

    fn length(&self) -> usize {
        self.text.len() - self.sentence
    }

    /// What begins here is a value or a name in data.
    fn is_in_data(&self) -> bool {
        matches!(self.recent, ['"', ':' | ','] | [_, '{' | '['] | ['0'..='9' | '}' | ']' | 'e' | 'l', ','])
            || self.recent[1] == ',' && (self.is_empty() || !self.text.ends_with(' '))
    }

    /// A mark here opens a quotation.
    fn opens(&self) -> bool {
        self.is_empty() || self.text.ends_with([' ', '('])
    }

    /// Takes letters and digits of our own.
    fn take_word(&mut self, word: &str) {
        self.separate();
        self.own = true;
        let from = self.text.len();
        self.text.push_str(word);
        if let Some(word) = self.text.get_mut(from..) {
            word.make_ascii_lowercase();
        }
        let mut last = word.bytes().rev().map(char::from);
        let (second, first) = (last.next().unwrap_or(' '), last.next());
        self.ends &= first.is_none();
        self.recent = [first.unwrap_or(self.recent[1]), second];
        self.limit();
    }

    fn take(&mut self, c: char) {
        if is_invisible(c) {
            return;
        }
        if !c.is_whitespace() {
            self.recent = [self.recent[1], c];
        }
        let c = undressed(c);
        if c.is_ascii_lowercase() || c.is_ascii_digit() || !c.is_ascii() && c.is_alphanumeric() {
            self.separate();
            self.own |= c.is_ascii();
            self.alike |= !c.is_ascii() && lookalike(c).is_some();
            self.text.push(c);
            return self.limit();
        }
        if c == '\n' {
            self.lines += 1;
        }
        self.end_word();
        match c {
            // What a line begins with when it is a comment, a quotation or a row.
            '#' | '/' | '*' | '>' | '|' if self.lines > 0 => {}
            ' ' | '\t' | '\n' | '\r' => {
                if self.ends {
                    self.end_sentence();
                }
                if !self.is_empty() && !self.text.ends_with(' ') {
                    self.text.push(' ');
                    self.word = self.text.len();
                }
                if self.length() > LONGEST_SENTENCE || self.lines > 1 {
                    self.end_sentence();
                }
            }
            _ if c.is_control() => {}
            _ => {
                self.separate();
                self.text.push(c);
                self.word = self.text.len();
                self.ends = matches!(c, '.' | '!' | '?') || self.ends && matches!(c, '"' | '\'' | ')' | '`');
                self.limit();
            }
        }
        if !matches!(c, '.' | '!' | '?' | '"' | '\'' | ')' | '`') {
            self.ends = false;
        }
    }

    /// Where nobody writes blanks, a sentence ends all the same.
    fn limit(&mut self) {
        if self.length() > 2 * LONGEST_SENTENCE {
            self.end_sentence();
        }
    }

    /// Something follows on what was said.
    fn separate(&mut self) {
        if self.lines == 1
            && let Some(stem) = self.text.get(self.sentence..).and_then(|sentence| sentence.strip_suffix("- "))
            && stem.ends_with(char::is_alphabetic)
        {
            // A word that goes on in the next line.
            self.text.truncate(self.text.len() - "- ".len());
        }
        self.lines = 0;
        if self.is_empty() || !matches!(self.text.as_bytes().last(), Some(b'.' | b'!' | b'?')) {
            self.ends = false;
        }
    }

    fn end_word(&mut self) {
        if self.own && self.alike {
            let word = self.text.get(self.word..).unwrap_or_default();
            let latin: String = word.chars().map(|c| lookalike(c).unwrap_or(c)).collect();
            self.text.truncate(self.word);
            self.text.push_str(&latin);
        }
        (self.own, self.alike) = (false, false);
        self.word = self.text.len();
    }

    fn end_block(&mut self) {
        self.ends = false;
        self.end_sentence();
    }

    fn end_sentence(&mut self) {
        self.end_word();
        let blanks = self.text.len() - self.text.trim_end().len();
        let length = self.length().saturating_sub(blanks);
        // One word and a full stop is no sentence.
        let is_word = || !self.text.get(self.sentence..).unwrap_or_default().trim_end().contains(' ');
        if length < 12 && self.lines < 2 && length > 0 && self.ends && is_word() {
            self.ends = false;
            return;
        }
        self.text.truncate(self.sentence + length);
        if length > 0 {
            self.text.push('\n');
            self.sentences.push(self.sentence..self.text.len());
            self.sentence = self.text.len();
        }
        (self.word, self.ends) = (self.sentence, false);
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/quarantine/content/folded.rs"]
mod tests;
