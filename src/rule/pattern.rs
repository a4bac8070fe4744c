//! Patterns: regular expressions that are compiled only where they could match.
//!
//! Compiling is what costs. So the pattern's text is walked for characters that every match must hold; where one
//! of them is missing, nothing is compiled. What the walk does not understand may match, and is compiled.

use regex_lite::Regex;
use std::cell::{Cell, OnceCell};
use std::fmt;

/// A regular expression as written.
#[derive(Clone)]
pub struct Pattern {
    text: String,
    /// It is one of ours, and known to be well-formed.
    proven: bool,
    /// It was looked at before, and may be looked at often.
    seen: Cell<bool>,
    need: OnceCell<Need>,
    compiled: OnceCell<Result<Regex, PatternError>>,
}

/// Why a pattern is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// The pattern.
    pub pattern: String,
    /// What is wrong.
    pub what: String,
}

impl Pattern {
    /// A pattern; whether it is a valid one is seen when it is compiled.
    pub fn new(text: &str) -> Self {
        Pattern {
            text: text.to_owned(),
            proven: false,
            seen: Cell::new(false),
            need: OnceCell::new(),
            compiled: OnceCell::new(),
        }
    }

    /// A pattern that is embedded in the binary: a test has compiled it.
    pub fn proven(text: &str) -> Self {
        Pattern { proven: true, ..Pattern::new(text) }
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Compiles it, to see whether it can be.
    pub fn check(&self) -> Result<(), PatternError> {
        self.regex().map(drop)
    }

    /// Whether it matches somewhere in `text`.
    pub fn is_match(&self, text: &str) -> Result<bool, PatternError> {
        // The first look needs no analysis, and is all that most patterns get.
        let elsewhere = self.proven && !self.seen.replace(true) && !may_begin(&self.text, text);
        if elsewhere || !self.need.get_or_init(|| Need::of(&self.text)).allows(text) {
            return Ok(false);
        }
        Ok(self.regex()?.is_match(text))
    }

    fn regex(&self) -> Result<&Regex, PatternError> {
        let compiled = self.compiled.get_or_init(|| {
            let built = regex_lite::RegexBuilder::new(&self.text).size_limit(1 << 20).build();
            built.map_err(|error| PatternError { pattern: self.text.clone(), what: error.to_string() })
        });
        compiled.as_ref().map_err(Clone::clone)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.text)
    }
}

/// Whether a text could be the beginning that a pattern asks for, in whatever case: some patterns do not care, and to
/// the others it is no harm. Only for patterns that are well-formed: not all of the pattern is looked at.
fn may_begin(pattern: &str, text: &str) -> bool {
    let Some(rest) = pattern.strip_prefix("(?i)").unwrap_or(pattern).strip_prefix('^') else { return true };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ' ' | '/');
    // `^(npm|yarn) x`: any of the words in the group.
    let grouped = rest
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .filter(|(group, rest)| group.chars().all(|c| plain(c) || c == '|') && !rest.starts_with(['?', '*', '+', '{']));
    let (words, rest) = grouped.unwrap_or(("", rest));
    let end = rest.find(|c: char| !plain(c)).unwrap_or(rest.len());
    // A quantifier behind the last character is about that character.
    let optional = rest.get(end..).is_some_and(|rest| rest.starts_with(['?', '*', '{']));
    let run = rest.get(..end.saturating_sub(usize::from(optional))).unwrap_or_default();
    words.split('|').any(|word| begins(text, word).is_some_and(|rest| begins(rest, run).is_some()))
        || !has_no_alternative(rest)
}

/// What follows the beginning of a text, if it begins so.
fn begins<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(start.len())?;
    head.eq_ignore_ascii_case(start).then_some(rest)
}

/// Whether there is no `|` outside of groups and classes.
fn has_no_alternative(pattern: &str) -> bool {
    let (mut depth, mut escaped, mut class) = (0_usize, false, false);
    for byte in pattern.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b']' => class = false,
            _ if class => {}
            b'[' => class = true,
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'|' if depth == 0 => return false,
            _ => {}
        }
    }
    true
}

/// What every match of a pattern holds.
#[derive(Clone, Debug)]
struct Need {
    /// One of these has to be met; `None` where that cannot be told.
    any: Option<Vec<Vec<Clause>>>,
    /// Letters count in either case.
    folded: bool,
}

#[derive(Clone, Debug)]
enum Clause {
    /// The text begins so.
    Starts(String),
    /// The text holds this.
    Has(String),
    /// One of these is met.
    Any(Vec<Vec<Clause>>),
}

impl Need {
    fn of(pattern: &str) -> Self {
        let folded = pattern.starts_with("(?i)");
        let lower = pattern.strip_prefix("(?i)").map(lowered);
        let mut walk = Walk { rest: lower.as_deref().unwrap_or(pattern), depth: 0, repeated: false };
        let any = walk.alternatives();
        // An unmatched parenthesis is for the compiler to find.
        Need { any: any.filter(|_| walk.rest.is_empty() && (!folded || pattern.is_ascii())), folded }
    }

    /// Whether a text could match. `true` where that cannot be told.
    fn allows(&self, text: &str) -> bool {
        let Some(any) = &self.any else { return true };
        // Most are decided by how the text begins.
        let begins = |clauses: &Vec<Clause>| match clauses.first() {
            Some(Clause::Starts(start)) => begins(text, start).is_some(),
            Some(Clause::Has(_) | Clause::Any(_)) | None => true,
        };
        if !any.iter().any(begins) {
            return false;
        }
        if self.folded { is_met(any, &text.to_lowercase()) } else { is_met(any, text) }
    }
}

fn is_met(any: &[Vec<Clause>], text: &str) -> bool {
    let clause = |clause: &Clause| match clause {
        Clause::Starts(start) => text.starts_with(start.as_str()),
        Clause::Has(part) => text.contains(part.as_str()),
        Clause::Any(any) => is_met(any, text),
    };
    any.iter().any(|clauses| clauses.iter().all(clause))
}

/// The pattern in small letters, but for the letters behind a backslash.
fn lowered(pattern: &str) -> String {
    let mut escaped = false;
    let lower = |c: char| {
        let kept = escaped;
        escaped = c == '\\' && !kept;
        if kept { c } else { c.to_ascii_lowercase() }
    };
    pattern.chars().map(lower).collect()
}

struct Walk<'a> {
    rest: &'a str,
    depth: usize,
    /// The quantifier that was just passed repeats.
    repeated: bool,
}

impl Walk<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let first = chars.next();
        self.rest = chars.as_str();
        first
    }

    /// Up to the end or an unmatched `)`; `None` for what we do not understand.
    fn alternatives(&mut self) -> Option<Vec<Vec<Clause>>> {
        let mut any = Vec::new();
        loop {
            any.push(self.sequence()?);
            if self.peek() != Some('|') {
                return Some(any);
            }
            self.take();
        }
    }

    /// Everything that a sequence requires.
    fn sequence(&mut self) -> Option<Vec<Clause>> {
        let mut clauses = Vec::new();
        let mut run = String::new();
        let mut anchored = false;
        loop {
            let literal = match self.peek() {
                None | Some('|' | ')') => {
                    note(&mut clauses, &mut run, &mut anchored);
                    return Some(clauses);
                }
                Some('(') => {
                    note(&mut clauses, &mut run, &mut anchored);
                    let inside = self.group()?;
                    // What may be missing, or may be empty, requires nothing.
                    if !self.quantifier()? && !inside.iter().any(Vec::is_empty) {
                        clauses.push(Clause::Any(inside));
                    }
                    continue;
                }
                Some('[') => {
                    self.class()?;
                    None
                }
                Some('^') => {
                    self.take();
                    note(&mut clauses, &mut run, &mut anchored);
                    anchored = true;
                    continue;
                }
                Some('.' | '$') => {
                    self.take();
                    None
                }
                Some('\\') => {
                    self.take();
                    self.escape()?
                }
                Some('*' | '+' | '?' | '{' | '}' | ']') => return None,
                Some(c) => {
                    self.take();
                    Some(c)
                }
            };
            let optional = self.quantifier()?;
            match literal {
                Some(c) if !optional => {
                    run.push(c);
                    // A character that is repeated stands next to itself, and ends what is known of its place.
                    if self.repeated {
                        note(&mut clauses, &mut run, &mut anchored);
                    }
                }
                _ => note(&mut clauses, &mut run, &mut anchored),
            }
        }
    }

    fn group(&mut self) -> Option<Vec<Vec<Clause>>> {
        self.take();
        // Flags change what characters mean.
        if self.peek() == Some('?') {
            self.rest = self.rest.strip_prefix("?:")?;
        }
        self.depth += 1;
        if self.depth > 16 {
            return None;
        }
        let inside = self.alternatives()?;
        self.depth -= 1;
        (self.take() == Some(')')).then_some(inside)
    }

    /// Passes a quantifier; tells whether it allows for nothing at all.
    fn quantifier(&mut self) -> Option<bool> {
        self.repeated = matches!(self.peek(), Some('+' | '{'));
        let optional = match self.peek() {
            Some('*' | '?') => true,
            Some('+') => false,
            Some('{') => return self.repetition(),
            _ => return Some(false),
        };
        self.take();
        if self.peek() == Some('?') {
            self.take();
        }
        // Two in a row are for the compiler to judge.
        (!matches!(self.peek(), Some('*' | '+' | '?'))).then_some(optional)
    }

    /// `{2}`, `{2,}` or `{2,5}`.
    fn repetition(&mut self) -> Option<bool> {
        let (inside, rest) = self.rest.strip_prefix('{')?.split_once('}')?;
        let (least, most) = inside.split_once(',').map_or((inside, None), |(least, most)| (least, Some(most)));
        let number = |text: &str| {
            text.parse::<usize>().ok().filter(|number| *number <= 100 && text.bytes().all(|b| b.is_ascii_digit()))
        };
        let least = number(least)?;
        if let Some(most) = most.filter(|most| !most.is_empty()) {
            number(most).filter(|most| *most >= least)?;
        }
        self.rest = rest;
        // What follows may make it lazy, or be an error.
        (!matches!(self.peek(), Some('*' | '+' | '?' | '{'))).then_some(least == 0)
    }

    /// What an escape stands for, where that is one character.
    fn escape(&mut self) -> Option<Option<char>> {
        match self.take()? {
            'b' | 'd' | 's' | 'w' | 'D' | 'S' | 'W' => Some(None),
            c if c.is_ascii_punctuation() && !"<>".contains(c) => Some(Some(c)),
            _ => None,
        }
    }

    /// A class of the plain kind; anything else is for the compiler to judge.
    fn class(&mut self) -> Option<()> {
        self.take();
        if self.peek() == Some('^') {
            self.take();
        }
        if self.peek() == Some(']') {
            return None;
        }
        loop {
            let from = match self.take()? {
                ']' => return Some(()),
                '[' | '&' | '~' => return None,
                '\\' => {
                    let escaped = self
                        .take()
                        .filter(|c| "dswDSW".contains(*c) || (c.is_ascii_punctuation() && !"<>".contains(*c)))?;
                    // A range from or to an escape.
                    if self.peek() == Some('-') && !self.rest.starts_with("-]") {
                        return None;
                    }
                    escaped
                }
                c => c,
            };
            // A sign at the end is only a sign.
            if self.rest.starts_with("-]") || self.peek() != Some('-') {
                continue;
            }
            self.take();
            let to = self.take().filter(|to| to.is_ascii_alphanumeric() && from.is_ascii_alphanumeric())?;
            if from > to || self.peek() == Some('-') && !self.rest.starts_with("-]") {
                return None;
            }
        }
    }
}

/// Takes down the characters that were read in a row.
fn note(clauses: &mut Vec<Clause>, run: &mut String, anchored: &mut bool) {
    let anchored = std::mem::take(anchored);
    if !run.is_empty() {
        let run = std::mem::take(run);
        clauses.push(if anchored { Clause::Starts(run) } else { Clause::Has(run) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_missing_character_saves_the_compiler() {
        for (pattern, text, expected) in [
            ("^git push\\b", "git status", false),
            ("^git push\\b", "git push", true),
            ("^push", "git push", false),
            ("^(npm|yarn) unpublish", "npm install", false),
            ("^(npm|yarn) unpublish", "yarn unpublish x", true),
            ("xmrig|minerd", "ls", false),
            ("xmrig|minerd", "minerd -a", true),
            ("ab?c", "ac", true),
            ("a(b)?c", "ac", true),
            ("(?i)SUDO", "sudo", true),
            ("a{0}b", "b", true),
            ("x(", "y", true),
            ("", "y", true),
        ] {
            assert_eq!(Need::of(pattern).allows(text), expected, "{pattern} {text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_beginning_never_hides_a_match(pattern in "\\^?(a|b|ab|\\(a\\|b\\)|\\(a\\)|\\?|\\*|\\||x|\\(|\\)|\\[ab\\]){0,6}", text in "[abx|]{0,4}") {
            if let Ok(regex) = Regex::new(&pattern) {
                prop_assert!(may_begin(&pattern, &text) || !regex.is_match(&text), "{pattern:?} {text:?}");
            }
        }

        #[test]
        fn the_shortcut_never_hides_a_match(pattern in "[ab|()^$.*+?\\[\\]{}\\\\-]{0,8}|(a|b|ab|[ab]|\\.|\\^|\\$|\\||\\(|\\)|\\*|\\?|\\(\\?:|\\\\b|\\[ab\\]|\\[\\^a\\]){0,8}",
            text in "[ab|]{0,6}") {
            match Regex::new(&pattern) {
                Ok(regex) => prop_assert!(Need::of(&pattern).allows(&text) || !regex.is_match(&text), "{pattern:?} {text:?}"),
                Err(_) => prop_assert!(Need::of(&pattern).allows(&text), "{pattern:?} is broken and must be seen to be"),
            }
        }
    }
}
