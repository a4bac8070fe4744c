//! `xargs`: the words that it is given, by its own rules of quoting, in place of a mark or behind its command.

use super::super::{Arg, Command, Input};
use super::{Inner, WORD, later, one, replaced};
use crate::verdict::limits::Meter;
use compact_str::CompactString;

/// Whether the items stand in a file.
pub(super) fn reads_file(command: &Command) -> bool {
    !command.values(&["-a", "--arg-file"]).is_empty()
}

pub(super) fn xargs(command: &Command, meter: &Meter) -> Vec<Inner> {
    let Some((line, start)) = command.parsed.as_deref().and_then(|line| Some((line, line.command?))) else {
        return Vec::new();
    };
    // `--arg-f list rm`: the word behind an abbreviated option is its value, although the program may be read there.
    let is_value = |at: &usize| line.uses_of(*at).iter().any(|used| used.by_option);
    let start = start + (start..command.args.len()).take_while(is_value).count();
    let Some((options, rest)) = command.args.split_at_checked(start).filter(|(_, rest)| !rest.is_empty()) else {
        return Vec::new();
    };
    let attached = options.iter().find_map(|arg| {
        arg.text
            .strip_prefix("-i")
            .or_else(|| arg.text.strip_prefix("--replace").map(|mark| mark.trim_start_matches('=')))
    });
    let attached = attached.map(|mark| if mark.is_empty() { "{}" } else { mark });
    let mark = command.values(&["-I", "-J"]).pop().map(|mark| mark.text).or(attached.map(CompactString::from));
    let mark = mark.filter(|mark| !mark.is_empty());
    let items = match &command.input {
        Input::Text(text) if !reads_file(command) => items(text, delimiter(command), mark.is_some()),
        Input::Text(_) | Input::Inherited | Input::Pipe | Input::Unknown => None,
    };
    match (mark, items) {
        (None, Some(items)) => one(rest.iter().cloned().chain(items.into_iter().map(Arg::literal)).collect()),
        (None, None) => one(rest.iter().cloned().chain([later("$ARGS")]).collect()),
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

/// What separates the items, where that is neither blanks nor lines.
fn delimiter(command: &Command) -> Option<char> {
    let zero = command.has_flag(&["-0", "--null"]);
    let named = command.values(&["-d", "--delimiter"]).into_iter().next().map(|arg| arg.text);
    let named = named.and_then(|text| match text.as_str() {
        "\\n" => Some('\n'),
        "\\t" => Some('\t'),
        "\\0" => Some('\0'),
        _ => text
            .strip_prefix("\\x")
            .map_or_else(|| text.chars().next(), |hex| u8::from_str_radix(hex, 16).ok().map(char::from)),
    });
    named.or(zero.then_some('\0'))
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
