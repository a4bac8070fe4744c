//! `sed`: substitution, transliteration, and printing or deleting lines by number.

use crate::verdict::limits::Meter;
use regex_lite::{Captures, Regex, RegexBuilder};

/// One command of a script.
enum Edit {
    Substitute {
        pattern: Regex,
        replacement: String,
        all: bool,
        prints: bool,
    },
    Transliterate {
        from: Vec<char>,
        to: Vec<char>,
    },
    /// `2p`, `1,3p`
    Print(usize, usize),
    /// `2d`, `1,3d`
    Delete(usize, usize),
}

/// The longest script.
const MAX_SCRIPT_BYTES: usize = 2_000;

pub(super) fn sed(options: &[&str], input: &str, meter: &Meter) -> Option<String> {
    let (mut quiet, mut extended) = (false, false);
    let mut scripts: Vec<&str> = Vec::new();
    let mut words = options.iter();
    while let Some(word) = words.next() {
        match *word {
            "-n" | "--quiet" | "--silent" => quiet = true,
            "-E" | "-r" | "--regexp-extended" => extended = true,
            "-e" | "--expression" => scripts.push(words.next()?),
            "-nE" | "-En" | "-nr" | "-rn" => (quiet, extended) = (true, true),
            word if word.starts_with("--expression=") => scripts.push(word.strip_prefix("--expression=")?),
            word if word.starts_with('-') => return None,
            script if scripts.is_empty() => scripts.push(script),
            _ => return None,
        }
    }
    let length: usize = scripts.iter().map(|script| script.len()).sum();
    // Each character of the input is compared with each position of a pattern.
    (length <= MAX_SCRIPT_BYTES && meter.try_charge((1 + input.len() / 8).saturating_mul(1 + length))).then_some(())?;
    let mut edits = Vec::new();
    for script in scripts {
        parse(script, extended, &mut edits)?;
    }
    let mut output = String::with_capacity(input.len());
    for (number, line) in (1..).zip(input.split_inclusive('\n')) {
        let text = line.strip_suffix('\n').unwrap_or(line);
        let end = line.get(text.len()..)?;
        let mut current = text.to_owned();
        let mut deleted = false;
        for edit in &edits {
            match edit {
                Edit::Substitute { pattern, replacement, all, prints } => {
                    let matched = pattern.is_match(&current);
                    let with = |found: &Captures<'_>| replace(replacement, found);
                    current = pattern.replacen(&current, usize::from(!*all), with).into_owned();
                    if matched && *prints {
                        output = output + &current + end;
                    }
                }
                Edit::Transliterate { from, to } => {
                    let change = |c: char| from.iter().position(|known| *known == c).and_then(|at| to.get(at)).copied();
                    current = current.chars().map(|c| change(c).unwrap_or(c)).collect();
                }
                Edit::Print(first, last) => {
                    if (*first..=*last).contains(&number) {
                        output = output + &current + end;
                    }
                }
                Edit::Delete(first, last) => deleted |= (*first..=*last).contains(&number),
            }
            if deleted {
                break;
            }
        }
        if !quiet && !deleted {
            output = output + &current + end;
        }
        // The output of many commands may be longer than the input.
        meter.affords(current.len()).then_some(())?;
    }
    Some(output)
}

/// Parses commands that are separated by `;` or line ends.
fn parse(script: &str, extended: bool, edits: &mut Vec<Edit>) -> Option<()> {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';']);
        let Some(first) = rest.chars().next() else { return Some(()) };
        match first {
            's' | 'y' => {
                let separator = rest.chars().nth(1).filter(|c| !c.is_alphanumeric() && *c != '\\' && *c != '\n')?;
                let body = rest.get(1 + separator.len_utf8()..)?;
                let (pattern, behind) = operand(body, separator)?;
                let (with, behind) = operand(behind, separator)?;
                let flags =
                    behind.find([';', '\n', '}', ' ']).map_or(behind, |end| behind.get(..end).unwrap_or(behind));
                rest = behind.get(flags.len()..)?;
                edits.push(if first == 's' {
                    substitution(&pattern, with, flags, extended)?
                } else {
                    let (from, to): (Vec<char>, Vec<char>) = (pattern.chars().collect(), with.chars().collect());
                    (from.len() == to.len() && flags.is_empty()).then_some(())?;
                    Edit::Transliterate { from, to }
                });
            }
            '0'..='9' => {
                let end = rest.find(|c: char| !c.is_ascii_digit() && c != ',')?;
                let (lines, behind) = rest.split_at_checked(end)?;
                let (first, last) = lines.split_once(',').unwrap_or((lines, lines));
                let (first, last) = (first.parse().ok()?, last.parse().ok()?);
                edits.push(match behind.chars().next()? {
                    'p' => Edit::Print(first, last),
                    'd' => Edit::Delete(first, last),
                    _ => return None,
                });
                rest = behind.get(1..)?;
            }
            _ => return None,
        }
    }
}

/// Splits at the next separator. An escaped separator is the character itself.
fn operand(text: &str, separator: char) -> Option<(String, &str)> {
    let mut found = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == separator {
            return Some((found, text.get(at + c.len_utf8()..)?));
        }
        match c {
            '\\' => match chars.next()? {
                (_, escaped) if escaped == separator => found.push(escaped),
                (_, escaped) => found.extend(['\\', escaped]),
            },
            c => found.push(c),
        }
    }
    None
}

fn substitution(pattern: &str, replacement: String, flags: &str, extended: bool) -> Option<Edit> {
    flags.chars().all(|flag| matches!(flag, 'g' | 'i' | 'I' | 'p')).then_some(())?;
    let pattern = if extended { pattern.to_owned() } else { from_basic(pattern) };
    let pattern = RegexBuilder::new(&pattern).case_insensitive(flags.contains(['i', 'I'])).build().ok()?;
    Some(Edit::Substitute { pattern, replacement, all: flags.contains('g'), prints: flags.contains('p') })
}

/// Converts a basic regular expression: there, `\(` groups and `(` is a character.
fn from_basic(pattern: &str) -> String {
    let mut converted = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars();
    let mut in_brackets = false;
    while let Some(c) = chars.next() {
        match c {
            '[' => in_brackets = true,
            ']' => in_brackets = false,
            _ => {}
        }
        match c {
            _ if in_brackets => converted.push(c),
            '\\' => match chars.next() {
                Some(special @ ('(' | ')' | '{' | '}' | '+' | '?' | '|')) => converted.push(special),
                Some(other) => converted.extend(['\\', other]),
                None => converted.push_str("\\\\"),
            },
            '(' | ')' | '{' | '}' | '+' | '?' | '|' => converted.extend(['\\', c]),
            // At the start, a star is a character.
            '*' if converted.is_empty() || converted == "^" => converted.push_str("\\*"),
            c => converted.push(c),
        }
    }
    converted
}

/// Builds the replacement: `&` is the match and `\1` a group.
fn replace(replacement: &str, found: &Captures<'_>) -> String {
    let group = |number: usize| found.get(number).map_or("", |group| group.as_str());
    let mut text = String::new();
    let mut chars = replacement.chars();
    while let Some(c) = chars.next() {
        match c {
            '&' => text.push_str(group(0)),
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(digit) if digit.is_ascii_digit() => {
                    text.push_str(group(digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok()).unwrap_or(0)));
                }
                Some(other) => text.push(other),
                None => {}
            },
            c => text.push(c),
        }
    }
    text
}
