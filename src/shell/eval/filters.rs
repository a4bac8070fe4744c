//! Text filters: programs whose output follows from their options and their input.

mod awk;
mod decode;
mod sed;
mod tr;

use crate::verdict::limits::Meter;
use std::collections::BTreeSet;

/// Computes the output from the options and the input. `None` if it cannot be known.
type Filter = fn(&[&str], &str, &Meter) -> Option<String>;

/// The filters by name. Files that they read are given to them as their input.
const FILTERS: [(&str, Filter); 23] = [
    ("awk", awk::awk),
    ("base32", decode::base32),
    ("base64", decode::base64),
    ("basenc", decode::basenc),
    ("cat", cat),
    ("cut", cut),
    ("dd", dd),
    ("gawk", awk::awk),
    ("gbase64", decode::base64),
    ("gsed", sed::sed),
    ("head", head),
    ("mawk", awk::awk),
    ("openssl", decode::openssl),
    ("paste", paste),
    ("rev", rev),
    ("sed", sed::sed),
    ("sort", sort),
    ("tac", tac),
    ("tail", tail),
    ("tr", tr::tr),
    ("uniq", uniq),
    ("xargs", xargs),
    ("xxd", decode::xxd),
];

/// Steps for one byte of input.
const BYTE_STEPS: usize = 1;

/// Whether the output of a program follows from its options and its input.
pub(super) fn is_filter(name: &str) -> bool {
    find(name).is_some()
}

/// Whether a filter changes the text, so that a reader may not see what is in it.
pub(super) fn changes_text(name: &str) -> bool {
    is_filter(name) && !matches!(name, "cat" | "head" | "sort" | "tail" | "uniq")
}

/// Returns the output of a filter, if it is known.
pub(super) fn apply(name: &str, options: &[&str], input: &str, meter: &Meter) -> Option<String> {
    let filter = find(name)?;
    // What a character is depends on the locale and on the program.
    if !input.is_ascii() && matches!(name, "awk" | "cut" | "gawk" | "mawk" | "rev" | "tr") {
        return None;
    }
    let output = filter(options, input, meter).filter(|_| meter.try_charge(BYTE_STEPS * input.len()))?;
    meter.affords(output.len()).then_some(output)
}

fn find(name: &str) -> Option<Filter> {
    // Most names differ in their length, so comparing all takes less time than a binary search.
    FILTERS.iter().find(|(known, _)| *known == name).map(|(_, filter)| *filter)
}

fn cat(options: &[&str], input: &str, _: &Meter) -> Option<String> {
    options.iter().all(|option| matches!(*option, "-" | "-u" | "--")).then(|| input.to_owned())
}

/// Changes each line, without its line end.
fn map_lines(input: &str, change: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut output = String::with_capacity(input.len());
    for line in input.split_inclusive('\n') {
        let text = line.strip_suffix('\n').unwrap_or(line);
        output.push_str(&change(text)?);
        output.push_str(line.get(text.len()..)?);
    }
    Some(output)
}

/// Joins lines, each with a line end.
fn join_lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    lines.into_iter().fold(String::new(), |text, line| text + line + "\n")
}

fn rev(options: &[&str], input: &str, _: &Meter) -> Option<String> {
    options.is_empty().then_some(())?;
    map_lines(input, |line| Some(line.chars().rev().collect()))
}

fn tac(options: &[&str], input: &str, _: &Meter) -> Option<String> {
    options.is_empty().then(|| join_lines(input.lines().rev()))
}

fn sort(options: &[&str], input: &str, _: &Meter) -> Option<String> {
    // The order of other characters depends on the locale. One line is in order.
    let is_plain = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase() || byte == b'\n';
    if input.lines().nth(1).is_some() && !input.bytes().all(is_plain) {
        return None;
    }
    let lines: BTreeSet<(&str, usize)> = match options {
        ["-u"] => input.lines().map(|line| (line, 0)).collect(),
        [] | ["-r"] => input.lines().zip(0..).collect(),
        _ => return None,
    };
    let lines = lines.into_iter().map(|(line, _)| line);
    Some(if options == ["-r"] { join_lines(lines.rev()) } else { join_lines(lines) })
}

fn uniq(options: &[&str], input: &str, _: &Meter) -> Option<String> {
    let mut lines: Vec<&str> = input.lines().collect();
    lines.dedup();
    options.is_empty().then(|| join_lines(lines))
}

/// `xargs` without a command prints its items.
fn xargs(options: &[&str], input: &str, _: &Meter) -> Option<String> {
    let plain = options.is_empty() && !input.contains(['\'', '"', '\\']);
    plain.then(|| input.split_whitespace().collect::<Vec<_>>().join(" ") + "\n")
}

/// `-n 3`, `-n3`, `-3`, `--lines=3`, and the same for bytes: the unit and the number.
fn count(options: &[&str]) -> Option<(char, String)> {
    match options {
        [] => Some(('n', "10".to_owned())),
        [option] => {
            let long = option.strip_prefix("--lines=").map(|number| ('n', number));
            let long = long.or_else(|| option.strip_prefix("--bytes=").map(|number| ('c', number)));
            let short = option.strip_prefix("-n").map(|number| ('n', number));
            let short = short.or_else(|| option.strip_prefix("-c").map(|number| ('c', number)));
            let bare = option.strip_prefix('-').map(|number| ('n', number));
            long.or(short).or(bare).map(|(unit, number)| (unit, number.to_owned()))
        }
        [unit, number] => match *unit {
            "-n" | "--lines" => Some(('n', (*number).to_owned())),
            "-c" | "--bytes" => Some(('c', (*number).to_owned())),
            _ => None,
        },
        _ => None,
    }
}

fn head(options: &[&str], input: &str, _: &Meter) -> Option<String> {
    let (unit, number) = count(options)?;
    let (is_rest, number) = number.strip_prefix('-').map_or((false, number.as_str()), |number| (true, number));
    let number: usize = number.parse().ok()?;
    let all = if unit == 'n' { input.split_inclusive('\n').count() } else { input.len() };
    let taken = if is_rest { all.saturating_sub(number) } else { number.min(all) };
    match unit {
        'n' => Some(input.split_inclusive('\n').take(taken).collect()),
        _ => input.get(..taken).map(str::to_owned),
    }
}

fn tail(options: &[&str], input: &str, _: &Meter) -> Option<String> {
    let (unit, number) = count(options)?;
    let all = if unit == 'n' { input.split_inclusive('\n').count() } else { input.len() };
    let skipped = match number.strip_prefix('+') {
        Some(from) => from.parse::<usize>().ok()?.saturating_sub(1),
        None => all.saturating_sub(number.trim_start_matches('-').parse::<usize>().ok()?),
    };
    match unit {
        'n' => Some(input.split_inclusive('\n').skip(skipped).collect()),
        _ => input.get(skipped.min(all)..).map(str::to_owned),
    }
}

/// Parses `1,3-5,7-`: ranges of positions, which begin at 1.
fn ranges(list: &str) -> Option<Vec<(usize, usize)>> {
    let range = |part: &str| match part.split_once('-') {
        Some((first, last)) => {
            let first = if first.is_empty() { 1 } else { first.parse().ok()? };
            let last = if last.is_empty() { usize::MAX } else { last.parse().ok()? };
            Some((first, last))
        }
        None => part.parse().ok().map(|only| (only, only)),
    };
    list.split(',').map(range).collect()
}

fn cut(options: &[&str], input: &str, meter: &Meter) -> Option<String> {
    let mut delimiter = '\t';
    let mut fields = None;
    let mut characters = None;
    let mut words = options.iter();
    while let Some(word) = words.next() {
        let mut value = |name: &str| match word.strip_prefix(name) {
            Some("") => words.next().copied(),
            rest => rest,
        };
        if let Some(list) = value("-d").or_else(|| word.strip_prefix("--delimiter=")) {
            let mut chars = list.chars();
            delimiter = chars.next()?;
            chars.next().is_none().then_some(())?;
        } else if let Some(list) = value("-f").or_else(|| word.strip_prefix("--fields=")) {
            fields = Some(ranges(list)?);
        } else if let Some(list) = value("-c").or_else(|| value("-b")).or_else(|| word.strip_prefix("--characters=")) {
            characters = Some(ranges(list)?);
        } else {
            return None;
        }
    }
    let list = fields.as_ref().or(characters.as_ref())?;
    let is_in = |at: usize| list.iter().any(|(first, last)| (*first..=*last).contains(&at));
    meter.try_charge(input.len().saturating_mul(list.len())).then_some(())?;
    map_lines(input, |line| {
        if characters.is_some() {
            return Some(line.chars().zip(1..).filter(|(_, at)| is_in(*at)).map(|(c, _)| c).collect());
        }
        // A line without the delimiter is printed as it is.
        if !line.contains(delimiter) {
            return Some(line.to_owned());
        }
        let kept = line.split(delimiter).zip(1..).filter(|(_, at)| is_in(*at)).map(|(field, _)| field);
        Some(kept.collect::<Vec<_>>().join(&delimiter.to_string()))
    })
}

/// `paste -s -d ''` joins lines.
fn paste(options: &[&str], input: &str, _: &Meter) -> Option<String> {
    let separator = match options {
        ["-s"] => "\t",
        ["-s", "-d", separator] | ["-sd", separator] => separator,
        ["-d", separator, "-s"] => separator,
        [option] => option.strip_prefix("-sd")?,
        _ => return None,
    };
    let separator = if separator == "\\0" { "" } else { separator };
    (separator.chars().count() <= 1 && separator != "\\")
        .then(|| input.lines().collect::<Vec<_>>().join(separator) + "\n")
}

/// `dd bs=1 skip=2 count=3`
fn dd(options: &[&str], input: &str, _: &Meter) -> Option<String> {
    let (mut block, mut skip, mut count) = (512_usize, 0_usize, None);
    for option in options {
        let (name, value) = option.split_once('=')?;
        match name {
            "bs" | "ibs" => block = value.parse().ok()?,
            "skip" => skip = value.parse().ok()?,
            "count" => count = Some(value.parse::<usize>().ok()?),
            "status" | "if" | "of" => {}
            _ => return None,
        }
    }
    let start = skip.saturating_mul(block).min(input.len());
    let end = count.map_or(input.len(), |count| start.saturating_add(count.saturating_mul(block)).min(input.len()));
    input.get(start..end).map(str::to_owned)
}

#[cfg(test)]
#[path = "../../../tests/unit/shell/filters.rs"]
mod tests;
