//! Skimming: of a file with thousands of rules, finds those that could have to do with a call.
//!
//! It knows the plainest way to write a rule and nothing else. At the first line that it does not know it gives up, and
//! the file is read by the book: whatever is wrong with a file is found there.

use super::excerpt::Text;
use super::glance::begins_otherwise;
use super::parse::{line_end, one};
use super::{Kind, Owner, Rule};
use crate::verdict::MAX_RULE_NAME_CHARS;
use std::borrow::Cow;
use std::rc::Rc;

/// The first letters of all commands of a call, in either case.
#[derive(Clone, Copy, Debug, Default)]
pub struct Initials(u128);

impl Initials {
    /// With that of one more command.
    #[must_use]
    pub fn with(self, command: &str) -> Self {
        let first = command.bytes().next().filter(u8::is_ascii);
        Initials(self.0 | first.map_or(0, |byte| 1 << byte.to_ascii_lowercase()))
    }

    /// The letters.
    pub(super) fn letters(self) -> u128 {
        self.0
    }

    /// Whether a command begins with this letter, in either case.
    pub(super) fn hold(self, byte: u8) -> bool {
        byte.is_ascii() && self.0 & (1 << byte.to_ascii_lowercase()) != 0
    }
}

/// A file of rules that is skimmed piece by piece. Whatever it does not know ends it: the file is then to be read by
/// the book.
#[derive(Debug)]
pub struct Skim {
    file: Rc<str>,
    kind: Kind,
    owner: Owner,
    initials: Initials,
    /// The rules that could concern the call.
    found: Vec<Rule>,
    names: Seen,
    /// The line that comes next.
    number: usize,
    draft: Option<Draft>,
    /// The lines that follow are patterns.
    listing: bool,
}

/// What was seen of a rule so far.
#[derive(Debug)]
struct Draft {
    line: usize,
    start: usize,
    matchers: usize,
    patterns: usize,
    nudges: usize,
    concerns: bool,
}

impl Skim {
    /// A file of rules, for a call with these initials.
    pub fn new(file: &str, kind: Kind, owner: Owner, initials: Initials) -> Self {
        let file = Rc::from(file);
        let (found, names) = (Vec::new(), Seen::default());
        Skim { file, kind, owner, initials, found, names, number: 1, draft: None, listing: false }
    }

    /// Takes the next piece of the file, and tells how much of it was read: the last rule in it may go on.
    pub fn feed(&mut self, piece: &[u8]) -> Option<usize> {
        let mut end = piece.len();
        loop {
            end = piece.get(..end)?.iter().rposition(|byte| *byte == b'\n')?;
            if is_header(piece.get(end + 1..)?) {
                self.rules(piece.get(..=end)?)?;
                return Some(end + 1);
            }
        }
    }

    /// Takes the last piece of the file, and gives the rules.
    pub fn finish(mut self, piece: &[u8]) -> Option<Vec<Rule>> {
        self.rules(piece)?;
        // A file without a rule is an error.
        (self.names.count > 0).then_some(self.found)
    }

    /// Takes whole rules.
    fn rules(&mut self, piece: &[u8]) -> Option<()> {
        let text = std::str::from_utf8(piece).ok()?;
        let mut start = 0;
        while start < piece.len() {
            let end = line_end(piece, start);
            self.line(start, piece.get(start..end)?, text)?;
            start = end + 1;
            self.number += 1;
        }
        self.end(piece.len(), text)
    }

    fn line(&mut self, start: usize, line: &[u8], text: &str) -> Option<()> {
        // Lines of other systems, and blanks where nobody sees them.
        if let [.., b'\r' | b' ' | b'\t'] = line {
            return None;
        }
        match line {
            [] | [b'#', ..] => Some(()),
            [b' ', b' ', b' ', b' ', first, ..] if *first != b' ' && self.listing => {
                self.pattern(text.get(start + 4..start + line.len())?)
            }
            [b' ', b' ', first, ..] if *first != b' ' => self.clause(start + 2, line.get(2..)?, text),
            _ => {
                self.end(start, text)?;
                let name = line.strip_prefix(b"block \"").or_else(|| line.strip_prefix(b"suspicious \""))?;
                let name = name.strip_suffix(b"\"")?;
                // A project's names are read as labels, in which two names may become one.
                if self.owner == Owner::Project && name.contains(&b' ') {
                    return None;
                }
                self.names.add(name)?;
                self.listing = false;
                let line = self.number;
                self.draft = Some(Draft { line, start, matchers: 0, patterns: 0, nudges: 0, concerns: false });
                Some(())
            }
        }
    }

    fn clause(&mut self, start: usize, clause: &[u8], text: &str) -> Option<()> {
        self.listing = false;
        let draft = self.draft.as_mut()?;
        let head = Head::of(clause);
        if head.is(HITS) || head.is(MISSES) {
            return Some(());
        }
        if head.is(MATCH) {
            draft.matchers += 1;
            return self.pattern(text.get(start + 6..start + clause.len())?);
        }
        if head.is(NUDGE) {
            draft.nudges += 1;
            let inner = clause.get(7..)?.strip_suffix(b"\"")?;
            // Variables have names that may be wrong.
            draft.concerns |= inner.contains(&b'{');
            return Some(());
        }
        if clause == b"match_any" {
            draft.matchers += 1;
            self.listing = true;
        } else if clause.starts_with(b"validator ") {
            // What only a program finds is read by the book.
            draft.matchers += 1;
            draft.patterns += 1;
            draft.concerns = true;
        } else if clause != b"only_when_tainted" {
            clause.strip_prefix(b"except_when ").or_else(|| clause.strip_prefix(b"only_when "))?;
        }
        Some(())
    }

    fn pattern(&mut self, pattern: &str) -> Option<()> {
        let draft = self.draft.as_mut()?;
        draft.patterns += 1;
        let initials = self.initials;
        draft.concerns = draft.concerns || !begins_otherwise(pattern, |byte| initials.hold(byte));
        Some(())
    }

    /// A rule ends before `end`, and has all that it needs.
    fn end(&mut self, end: usize, text: &str) -> Option<()> {
        let Some(draft) = self.draft.take() else { return Some(()) };
        if draft.matchers != 1 || draft.nudges == 0 || draft.patterns == 0 {
            return None;
        }
        if draft.concerns {
            let lines: Text = Rc::new(Cow::Owned(text.get(draft.start..end)?.to_owned()));
            self.found.extend(one(lines, draft.line, &self.file, self.kind, self.owner)?);
        }
        Some(())
    }
}

/// Whether a rule begins here.
fn is_header(text: &[u8]) -> bool {
    text.starts_with(b"block \"") || text.starts_with(b"suspicious \"")
}

/// How a clause begins: at most eight bytes, and which of them count.
#[derive(Clone, Copy)]
struct Head {
    bytes: u64,
    mask: u64,
}

const HITS: Head = Head::of(b"hits ");
const MISSES: Head = Head::of(b"misses ");
const MATCH: Head = Head::of(b"match ");
const NUDGE: Head = Head::of(b"nudge \"");

impl Head {
    const fn of(text: &[u8]) -> Head {
        if let Some(bytes) = text.first_chunk() {
            return Head { bytes: u64::from_le_bytes(*bytes), mask: u64::MAX };
        }
        let (mut bytes, mut mask) = (0, 0);
        let mut rest = text;
        while let [more @ .., last] = rest {
            bytes = bytes << 8 | *last as u64;
            mask = mask << 8 | 0xff;
            rest = more;
        }
        Head { bytes, mask }
    }

    fn is(self, start: Head) -> bool {
        self.bytes & start.mask == start.bytes
    }
}

/// Whether a name is a plain one, which no reader of rules objects to.
fn is_plain(name: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-' | b'_' | b'.' | b':');
    name.len() <= MAX_RULE_NAME_CHARS && name.first().is_some_and(u8::is_ascii_alphanumeric) && name.iter().all(plain)
}

/// The names so far, by a number each: two names with one number are left to who reads by the book.
#[derive(Debug)]
struct Seen {
    places: Vec<u32>,
    count: usize,
}

impl Default for Seen {
    fn default() -> Self {
        Seen { places: vec![0; 64], count: 0 }
    }
}

impl Seen {
    fn add(&mut self, name: &[u8]) -> Option<()> {
        let mut number = 0x811c_9dc5_u32;
        for byte in name {
            number = (number ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
        if !is_plain(name) || number == 0 {
            return None;
        }
        self.count += 1;
        // Room that is mostly empty costs more, page by page, than a look at the next place.
        if self.count * 4 > self.places.len() * 3 {
            let more = vec![0; self.places.len() * 4];
            let known = std::mem::replace(&mut self.places, more);
            known.into_iter().filter(|number| *number != 0).try_for_each(|number| self.put(number))?;
        }
        self.put(number)
    }

    fn put(&mut self, number: u32) -> Option<()> {
        let mask = self.places.len() - 1;
        let mut at = number as usize & mask;
        loop {
            let place = self.places.get_mut(at)?;
            match *place {
                0 => {
                    *place = number;
                    return Some(());
                }
                known if known == number => return None,
                _ => at = (at + 1) & mask,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Matcher, parse};
    use super::*;
    use proptest::prelude::*;

    fn skim(text: &str, pieces: usize) -> Option<Vec<Rule>> {
        let mut skim = Skim::new("f.rules", Kind::Bash, Owner::Operator, Initials::default().with("git status"));
        let mut rest = text.as_bytes();
        for _ in 0..pieces {
            let piece = rest.get(..rest.len() / 2)?;
            rest = rest.get(skim.feed(piece).unwrap_or(0)..)?;
        }
        skim.finish(rest)
    }

    #[test]
    fn an_example_is_passed_over_and_nothing_that_only_looks_like_one() {
        let skimmed = |lines: &str| skim(&format!("block \"a\"\n  match_any\n    ^npm x\n  nudge \"n\"\n{lines}"), 0);
        assert!(skimmed("  hits npm x\n  misses npm y\n  hits  z\n  misses  z\n").is_some());
        for wrong in
            ["  hits npm x\n    ^git y\n", "  missesnpm x\n", "  hits npm x \n", "  misses x\r\n", "   hits npm x\n"]
        {
            assert!(skimmed(wrong).is_none(), "{wrong:?}");
        }
        assert!(skim("  hits npm x\nblock \"a\"\n  match ^npm x\n  nudge \"n\"\n", 0).is_none());
    }

    #[test]
    fn only_what_could_concern_a_call_is_kept() {
        let rule = |name: &str, clause: &str| format!("# why\nblock \"{name}\"\n  {clause}\n  nudge \"n\"\n\n");
        let rules = [
            ("a", "match ^npm publish"),
            ("b", "match ^git push"),
            ("c", "match_any\n    ^npm x\n    ^yarn y"),
            ("d", "match_any\n    ^npm x\n    ^(yarn|gh) y"),
            ("e", "match push"),
            ("f", "validator Disk"),
            ("g", "match ^npm("),
            ("h", "match ^npm x\n  except_when y\n  only_when z\n  only_when_tainted\n  hits npm x\n  misses y"),
        ];
        let text: String = rules.iter().map(|(name, clause)| rule(name, clause)).collect();
        for pieces in 0..4 {
            let kept: Vec<String> = skim(&text, pieces).unwrap().iter().map(|rule| rule.id.to_string()).collect();
            assert_eq!(kept, ["b", "d", "e", "f", "g"], "{pieces}");
        }
    }

    #[test]
    fn names_with_blanks_and_capitals_are_skimmed_and_others_are_left_to_the_parser() {
        let skimmed = |name: &str| skim(&format!("block \"{name}\"\n  match ^git x\n  nudge \"n\"\n"), 0);
        for name in ["My Rule 2", "a_b.c:d", &"n".repeat(100)] {
            assert_eq!(skimmed(name).unwrap()[0].id.as_str(), name);
        }
        for name in ["", " ", "rune/limit", "a\"b", "\u{1b}", "Größe", &"n".repeat(101)] {
            assert!(skimmed(name).is_none(), "{name}");
        }
    }

    fn concerns(rule: &Rule) -> bool {
        let initials = Initials::default().with("git status");
        match &rule.matcher {
            Matcher::Patterns(patterns) => {
                patterns.iter().any(|pattern| !begins_otherwise(pattern.as_str(), |byte| initials.hold(byte)))
            }
            Matcher::Validator(_) => true,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_skimmed_is_what_is_read(
            text in "((block|suspicious|blok) ?\"([ab]{0,2}|a B|rune/a| |n{100,101}|\u{1b}|\u{e9}|a\"b)\"?\n|  match( \\^[ag] ?)?\n|  match_any ?\n|    (\\^x|\\^\\(a\\|g\\))\n|  nudge \"[{x]?\"\n|  (hits|misses) x\r?\n|\n|#\n|  (except_when|only_when) ?x?\n|  only_when_tainted\n|  validator (Disk|x)\n|\t\n| x\n){0,12}",
            pieces in 0_usize..3,
        ) {
            let (all, errors) = parse(text.clone(), "f.rules", Kind::Bash, Owner::Operator);
            let Some(found) = skim(&text, pieces) else { return Ok(()) };
            prop_assert_eq!(errors, [], "{:?}", text);
            let wanted: Vec<Rule> = all.into_iter().filter(concerns).collect();
            let kept: Vec<Rule> = found.into_iter().filter(concerns).collect();
            prop_assert_eq!(kept, wanted, "{:?}", text);
        }
    }
}
