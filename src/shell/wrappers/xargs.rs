//! `xargs`: the words that it is given, by its own rules of quoting, in place of a mark or behind its command.

use super::super::options::Options;
use super::super::{Arg, Input};
use super::{Inner, WORD, later, one, replaced};
use crate::verdict::limits::Meter;
use compact_str::CompactString;
use std::collections::BTreeSet;

pub(super) const OPTIONS: Options = Options {
    short: "aEILnPsdRSJ",
    long: &["arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"],
};

pub(super) fn xargs(args: &[Arg], given: &Input, meter: &Meter) -> Vec<Inner> {
    let start = OPTIONS.end(args);
    let options = args.get(..start).unwrap_or_default();
    let rest: Vec<Arg> = args.iter().skip(start).cloned().collect();
    if rest.is_empty() {
        return Vec::new();
    }
    let marks = marks(options);
    // `-n` and `-L` end the replacement in some versions, and of several marks the last one counts.
    let by_lines = ["L max-lines", "l"].iter().any(|name| OPTIONS.value(args, name).is_some());
    let by_items = OPTIONS.value(args, "n max-args");
    // One item for each command is what a mark means too.
    let appends = marks.is_empty() || by_lines || by_items.is_some_and(|count| count.text != "1");
    let marks = marks.into_iter().map(Some).chain(appends.then_some(None));
    let items = |by_lines: bool| match given {
        // What stands in a file is only known when it is read.
        Input::Text(text) if OPTIONS.value(args, "a arg-file").is_none() => {
            delimiter(options).and_then(|delimiter| items(text, delimiter, by_lines))
        }
        Input::Text(_) | Input::Inherited | Input::Pipe | Input::Unknown => None,
    };
    let (by_words, by_lines) = (items(false), items(true));
    let filled = |mark: Option<CompactString>| {
        let items = if mark.is_some() { &by_lines } else { &by_words };
        filled(&rest, mark, items.as_deref(), meter)
    };
    marks.filter(|_| meter.try_charge(WORD * rest.len())).flat_map(filled).collect()
}

/// The marks that items are put in place of: `-I {}`, `-J %`, `-i`, `--replace=R`.
fn marks(options: &[Arg]) -> Vec<CompactString> {
    let attached = options.iter().filter_map(|arg| {
        arg.text
            .strip_prefix("-i")
            .or_else(|| arg.text.strip_prefix("--replace").map(|mark| mark.trim_start_matches('=')))
    });
    let attached = attached.map(|mark| if mark.is_empty() { "{}" } else { mark }).map(CompactString::from);
    let named = OPTIONS.values(options, "I J").into_iter().map(|mark| mark.text);
    let marks: BTreeSet<CompactString> = named.chain(attached).filter(|mark| !mark.is_empty()).collect();
    marks.into_iter().collect()
}

/// The commands with the items in place of a mark, or behind the words.
fn filled(rest: &[Arg], mark: Option<CompactString>, items: Option<&[String]>, meter: &Meter) -> Vec<Inner> {
    let words = || rest.iter().cloned();
    match (mark, items) {
        (None, Some(items)) => one(words().chain(items.iter().map(|item| Arg::literal(item.as_str()))).collect()),
        (None, None) => one(words().chain([later("$ARGS")]).collect()),
        (Some(mark), Some(items)) => {
            let with = |item: &String| {
                let put = |arg: &Arg| match meter.replace(&arg.text, mark.as_str(), item) {
                    Some(text) => Arg { text: text.into(), ..arg.clone() },
                    None => later("$ARGS"),
                };
                Inner::command(rest.iter().map(put).collect())
            };
            let affordable = |_: &&String| meter.try_charge(WORD * rest.len());
            items.iter().filter(affordable).map(with).collect()
        }
        (Some(mark), None) => {
            let put =
                |arg: &Arg| if arg.text.contains(mark.as_str()) { replaced(arg, &mark, "$ARGS") } else { arg.clone() };
            one(rest.iter().map(put).collect())
        }
    }
}

/// What separates the items: `Some(None)` for blanks and lines, `None` if it is not known.
#[expect(clippy::option_option, reason = "the outer one is an unknown delimiter")]
fn delimiter(options: &[Arg]) -> Option<Option<char>> {
    let zero = options.iter().any(|arg| {
        let cluster = arg.text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        let plain = cluster.chars().take_while(|letter| !OPTIONS.short.contains(*letter));
        arg.text == "--null" || plain.into_iter().any(|letter| letter == '0')
    });
    match OPTIONS.value(options, "d delimiter") {
        Some(named) => escaped(&named.text).map(Some),
        None => Some(zero.then_some('\0')),
    }
}

/// The character that the value of `-d` names: itself, or an escape as in C.
fn escaped(text: &str) -> Option<char> {
    let Some(escape) = text.strip_prefix('\\') else {
        let mut chars = text.chars();
        return chars.next().filter(|_| chars.next().is_none());
    };
    let code = |digits: &str, radix: u32| u8::from_str_radix(digits, radix).ok().filter(u8::is_ascii).map(char::from);
    match escape {
        "a" => Some('\u{7}'),
        "b" => Some('\u{8}'),
        "f" => Some('\u{c}'),
        "n" => Some('\n'),
        "r" => Some('\r'),
        "t" => Some('\t'),
        "v" => Some('\u{b}'),
        "\\" => Some('\\'),
        _ => escape.strip_prefix('x').map_or_else(|| code(escape, 8), |hex| code(hex, 16)),
    }
}

/// The items of a text. Blanks and lines separate them, quotes and backslashes hold them together; `None` where a quote
/// does not end.
fn items(text: &str, delimiter: Option<char>, by_line: bool) -> Option<Vec<String>> {
    if let Some(delimiter) = delimiter {
        // A text that was printed ends in a line end, which is part of the last item.
        let items = text.trim_end_matches('\n').split(delimiter);
        return Some(items.filter(|item| !item.is_empty()).map(str::to_owned).collect());
    }
    let mut items = Vec::new();
    let mut item: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\n' => items.extend(item.take()),
            c if c.is_whitespace() && (!by_line || item.is_none()) => items.extend(item.take()),
            '\\' => item.get_or_insert_default().push(chars.next()?),
            '"' | '\'' => {
                let item = item.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\n' => return None,
                        end if end == c => break,
                        inner => item.push(inner),
                    }
                }
            }
            c => item.get_or_insert_default().push(c),
        }
    }
    items.extend(item);
    Some(items)
}
