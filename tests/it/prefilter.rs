//! The prefilter hides no match: matching with and without it agrees for every embedded pattern.
//!
//! By default, a sample of pairs of a pattern and a text is compared. `RUNE_PREFILTER_PAIRS` sets the number of random
//! pairs. With `RUNE_PREFILTER_TEXTS`, all patterns are compared with all texts of the examples, the cases and the files
//! that the variable lists, separated by `:`, with one JSON value per line.

use regex_lite::Regex;
use regex_syntax::hir::{Class, Hir, HirKind};
use rune::policy::Config;
use rune::rules::{Matcher, Pattern, RuleKind};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Random pairs that a test run compares.
const PAIRS: usize = 100_000;

/// A text is compared with every 40th pattern.
const SAMPLE: usize = 40;

/// Characters of a text that are compared.
const MAX_TEXT_CHARS: usize = 2_000;

/// An embedded pattern with its regular expression and its syntax tree.
struct EmbeddedPattern {
    pattern: Pattern,
    regex: Regex,
    tree: Hir,
}

impl EmbeddedPattern {
    /// Panics if the prefilter changes the result; returns whether the pattern matches.
    fn compare(&self, text: &str) -> bool {
        let plain = self.regex.is_match(text);
        assert_eq!(self.pattern.matches(text), Ok(plain), "{:?} {text:?}", self.pattern);
        plain
    }
}

/// All embedded patterns.
fn patterns() -> Vec<EmbeddedPattern> {
    let kinds = RuleKind::all();
    let config = Config::fold([], Vec::new()).with_default_rules(&kinds);
    let mut texts = BTreeSet::new();
    for rule in &config.rules {
        let own = match &rule.matcher {
            Matcher::Patterns(patterns) => &**patterns,
            Matcher::Validator(_) | Matcher::Does(_) => &[],
        };
        let patterns = own.iter().chain(rule.only_when.iter()).chain(rule.except_when.iter());
        texts.extend(patterns.map(|pattern| pattern.as_str().to_owned()));
    }
    let tree = |text: &str| {
        let parse = |unicode| regex_syntax::ParserBuilder::new().unicode(unicode).utf8(false).build().parse(text).ok();
        parse(false).or_else(|| parse(true)).unwrap()
    };
    texts
        .iter()
        .map(|text| EmbeddedPattern {
            pattern: Pattern::new(text.clone()),
            regex: Regex::new(text).unwrap(),
            tree: tree(text),
        })
        .collect()
}

/// Pseudo-random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ mixed >> 31) % limit as u64).unwrap()
    }

    fn one_of<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.below(list.len())]
    }

    /// Appends a text that a syntax tree matches, except for its assertions.
    fn sample(&mut self, tree: &Hir, bytes: &mut Vec<u8>) {
        match tree.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => bytes.extend(&*literal.0),
            HirKind::Class(Class::Bytes(class)) => {
                let range = self.one_of(class.ranges());
                let byte = usize::from(range.start()) + self.below(usize::from(range.end() - range.start()) + 1);
                // A negated class has bytes that are not ASCII.
                bytes.push(u8::try_from(byte).ok().filter(u8::is_ascii).unwrap_or(b'~'));
            }
            HirKind::Class(Class::Unicode(class)) => {
                let range = self.one_of(class.ranges());
                let c = if self.below(2) == 0 { range.start() } else { range.end() };
                bytes.extend(c.to_string().into_bytes());
            }
            HirKind::Repetition(repetition) => {
                let most = repetition.max.map_or(3, |max| (max - repetition.min).min(3));
                let times = repetition.min as usize + self.below(most as usize + 1);
                (0..times).for_each(|_| self.sample(&repetition.sub, bytes));
            }
            HirKind::Capture(capture) => self.sample(&capture.sub, bytes),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.sample(part, bytes)),
            HirKind::Alternation(branches) => {
                let at = self.below(branches.len());
                self.sample(&branches[at], bytes);
            }
        }
    }

    /// A text that a pattern matches or nearly matches: a sample of it with a few characters changed.
    fn text(&mut self, patterns: &[EmbeddedPattern], pattern: &EmbeddedPattern) -> String {
        const EXTRA: [&str; 12] = ["", "", "", " ", "\n", "x", "_", "é", "\u{17f}", "\u{212a}", ".", "a b"];
        let mut bytes = self.one_of(&EXTRA).as_bytes().to_vec();
        if self.below(8) == 0 {
            let other = self.below(patterns.len());
            self.sample(&patterns[other].tree, &mut bytes);
        }
        if self.below(8) != 0 {
            self.sample(&pattern.tree, &mut bytes);
        }
        bytes.extend(self.one_of(&EXTRA).as_bytes());
        let mut chars: Vec<char> = String::from_utf8_lossy(&bytes).chars().collect();
        for _ in 0..self.below(3) {
            let at = self.below(chars.len() + 1);
            match (self.below(4), chars.get(at).copied()) {
                (0, Some(c)) if c.is_ascii_lowercase() => chars[at] = c.to_ascii_uppercase(),
                (0, Some(c)) => chars[at] = c.to_ascii_lowercase(),
                (1, Some(_)) => drop(chars.remove(at)),
                (2, Some(_)) => chars.swap(at, 0),
                (..) => chars.splice(at..at, self.one_of(&EXTRA).chars()).for_each(drop),
            }
        }
        chars.into_iter().collect()
    }
}

#[test]
fn random_texts_match_alike_with_and_without_the_prefilter() {
    let pairs = std::env::var("RUNE_PREFILTER_PAIRS").map_or(PAIRS, |count| count.parse().unwrap());
    let patterns = patterns();
    let mut random = Random(u64::from(std::process::id()));
    let mut matched = 0;
    for at in 0..pairs {
        let pattern = &patterns[at % patterns.len()];
        let text = random.text(&patterns, pattern);
        matched += usize::from(pattern.compare(&text));
    }
    println!("{pairs} pairs of {} patterns and random texts, {matched} matches", patterns.len());
    assert!(matched > pairs / 10 && matched < pairs / 10 * 9, "{matched} of {pairs}");
}

/// Adds the texts in a JSON value.
fn collect(value: &Value, texts: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            texts.insert(text.chars().take(MAX_TEXT_CHARS).collect());
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| collect(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn examples_and_cases_match_alike_with_and_without_the_prefilter() {
    let mut texts = BTreeSet::new();
    let kinds = RuleKind::all();
    for rule in &Config::fold([], Vec::new()).with_default_rules(&kinds).rules {
        texts.extend(rule.hits().chain(rule.misses()).map(|example| example.text().to_owned()));
    }
    let entries = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let folders = entries(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases"))).filter(|path| path.is_dir());
    let own = folders.flat_map(|folder| entries(&folder).collect::<Vec<_>>());
    let more = std::env::var_os("RUNE_PREFILTER_TEXTS");
    let step = if more.is_some() { 1 } else { SAMPLE };
    let more = more.unwrap_or_default();
    for path in own.chain(std::env::split_paths(&more).filter(|path| !path.as_os_str().is_empty())) {
        for line in std::fs::read_to_string(&path).unwrap().split('\n').filter(|line| !line.is_empty()) {
            collect(&serde_json::from_str(line).unwrap(), &mut texts);
        }
    }
    let patterns = patterns();
    let (mut pairs, mut matched) = (0, 0);
    for (at, text) in texts.iter().enumerate() {
        for pattern in patterns.iter().skip(at % step).step_by(step) {
            pairs += 1;
            matched += usize::from(pattern.compare(text));
        }
    }
    println!("{pairs} pairs of {} patterns and {} texts, {matched} matches", patterns.len(), texts.len());
    assert!(texts.len() > 1_000 && matched > 100);
}
