//! `parallel` and `hyperfine`: templates, and what is put into them.

use super::super::options::Options;
use super::super::{Arg, Command, Input};
use super::cwd::text_in;
use super::{Inner, WORD, by_entry, quoted, unknown_script, with_args};
use crate::shell::inline::Language;
use crate::verdict::limits::Meter;

const OPTIONS: Options = Options {
    short: "aCdEIJjLlNnPSs",
    long: &[
        "arg-file", "arg-file-sep", "arg-sep", "basefile", "block", "colsep", "delay", "delimiter", "env", "halt",
        "halt-on-error", "jobs", "joblog", "load", "max-args", "max-chars", "max-lines", "max-procs",
        "max-replace-args", "memfree", "nice", "profile", "recend", "recstart", "results", "retries", "return", "rpl",
        "sshlogin", "sshloginfile", "tagstring", "tempdir", "timeout", "tmpdir", "wd", "workdir",
    ],
};

/// What stands for a value that is only known when it runs.
const LATER: &str = "$ARGS";

pub(super) fn parallel(command: &Command, meter: &Meter) -> Vec<Inner> {
    let args = command.args.as_slice();
    // `{= code =}` is Perl.
    let marked = args.iter().flat_map(|arg| arg.text.split("{=").skip(1));
    let code =
        marked.map(|text| text.split("=}").next().unwrap_or_default().trim_start_matches(|c: char| c.is_ascii_digit()));
    let code: Vec<Inner> = code.map(|text| Inner::Code { language: Language::Perl, text: text.to_owned() }).collect();
    if !code.is_empty() {
        return code.into_iter().chain(templates(command, args, meter)).collect();
    }
    templates(command, args, meter)
}

/// The commands that the template gives for the values.
fn templates(command: &Command, args: &[Arg], meter: &Meter) -> Vec<Inner> {
    let rest = OPTIONS.behind(args);
    let template: Vec<&str> =
        rest.iter().take_while(|arg| !arg.text.starts_with(":::")).map(|arg| arg.text.as_str()).collect();
    let sources = sources(command, rest);
    let template = template.join(" ");
    let directory = OPTIONS.value(args, "wd workdir");
    // Without a template each value is a command of its own.
    if template.is_empty() {
        let values = sources.into_iter().flatten();
        return values
            .flat_map(|value| match value.as_str() {
                LATER => unknown_script(),
                text => vec![Inner::text(text_in(directory.as_ref(), text.to_owned()))],
            })
            .collect();
    }
    let mark = OPTIONS.value(args, "I").map(|mark| mark.text);
    let template = mark.map_or(template.clone(), |mark| template.replace(mark.as_str(), "{}"));
    let rows = product(&sources, meter);
    let marks = 1 + template.matches('{').count();
    let affordable = |row: &&Vec<String>| {
        let values = row.iter().map(String::len).sum::<usize>() + row.len();
        meter.affords(template.len().saturating_add(marks.saturating_mul(values)))
    };
    let texts = rows.iter().filter(affordable).map(|row| filled(&template, row));
    texts.map(|text| Inner::text(text_in(directory.as_ref(), text))).collect()
}

/// The values of each source, as words of shell text: behind `:::`, or from files and the standard input.
fn sources(command: &Command, rest: &[Arg]) -> Vec<Vec<String>> {
    let mut sources: Vec<Vec<String>> = Vec::new();
    let mut files = false;
    let as_word = |arg: &Arg| if arg.is_known() { quoted(&arg.text) } else { arg.text.to_string() };
    let bare = rest.iter().take_while(|arg| !arg.text.starts_with(":::")).count() == 0;
    for arg in rest.iter().skip_while(|arg| !arg.text.starts_with(":::")) {
        match arg.text.as_str() {
            ":::" | ":::+" | "::::" | "::::+" => {
                files = arg.text.starts_with("::::");
                sources.push(if files { vec![LATER.to_owned()] } else { Vec::new() });
            }
            _ if files => {}
            _ => {
                let value = if bare { arg.text.to_string() } else { as_word(arg) };
                sources.last_mut().into_iter().for_each(|values| values.push(value.clone()));
            }
        }
    }
    if OPTIONS.value(&command.args, "a arg-file").is_some() {
        sources.push(vec![LATER.to_owned()]);
    }
    if sources.is_empty() {
        sources.push(match &command.input {
            Input::Text(text) => text.lines().map(|line| if bare { line.to_owned() } else { quoted(line) }).collect(),
            Input::Inherited if bare => Vec::new(),
            Input::Inherited | Input::Pipe | Input::Unknown => vec![LATER.to_owned()],
        });
    }
    sources
}

/// One of each source, in all combinations.
fn product(sources: &[Vec<String>], meter: &Meter) -> Vec<Vec<String>> {
    let count = sources.iter().map(Vec::len).fold(1_usize, usize::saturating_mul);
    // Each source is added to the rows so far.
    if !meter.try_charge(count.saturating_mul(sources.len()).saturating_mul(WORD + sources.len())) {
        return vec![sources.iter().map(|_| LATER.to_owned()).collect()];
    }
    sources.iter().fold(vec![Vec::new()], |rows, values| {
        let with = |row: &Vec<String>| {
            let longer = |value: &String| [row.as_slice(), std::slice::from_ref(value)].concat();
            values.iter().map(longer).collect::<Vec<_>>()
        };
        rows.iter().flat_map(with).collect()
    })
}

/// `hyperfine 'x' 'y'`: every operand is a line of its own, with parameters of `-L` in it.
pub(super) fn hyperfine(command: &Command, meter: &Meter) -> Vec<Inner> {
    let mut parameters: Vec<(String, Vec<String>)> = Vec::new();
    let mut others: Vec<Arg> = Vec::new();
    let mut rest = command.args.iter();
    while let Some(arg) = rest.next() {
        if matches!(arg.text.as_str(), "-L" | "--parameter-list") {
            let name = rest.next().map(|name| format!("{{{}}}", name.text));
            let values = rest.next().map(|values| values.text.split(',').map(str::to_owned).collect());
            parameters.extend(name.zip(values));
        } else {
            others.push(arg.clone());
        }
    }
    let lines = by_entry::inner(&with_args(command, others), meter);
    let filled = |line: Inner| match line {
        Inner::Text { text, .. } => parameters.iter().fold(vec![text], |texts, (mark, values)| {
            let with =
                |text: &String| values.iter().filter_map(|value| meter.replace(text, mark, value)).collect::<Vec<_>>();
            let is_affordable = meter.try_charge(WORD.saturating_mul(texts.len()).saturating_mul(values.len()));
            if is_affordable { texts.iter().flat_map(with).collect() } else { texts }
        }),
        Inner::Command { .. } | Inner::PowerShell { .. } | Inner::Code { .. } => Vec::new(),
    };
    lines.into_iter().flat_map(filled).map(Inner::text).collect()
}

/// The template with a row of values in it: `{}`, `{2}`, `{//}`; where it names none, they follow.
fn filled(template: &str, row: &[String]) -> String {
    let all = row.join(" ");
    let mut text = String::new();
    let mut put = false;
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        text.push_str(before);
        let Some((inner, after)) = behind.split_once('}') else {
            rest = rest.get(before.len()..).unwrap_or_default();
            break;
        };
        let digits: String = inner.chars().take_while(char::is_ascii_digit).collect();
        let value = match digits.parse::<usize>() {
            Ok(at) => row.get(at.wrapping_sub(1)).cloned(),
            Err(_) => Some(all.clone()),
        };
        let known = value.map(|value| (value, inner.get(digits.len()..).unwrap_or_default()));
        match known {
            Some((value, "" | "." | "/" | "/." | "+/" | "+.")) => text.push_str(&value),
            // The directory that it lies in.
            Some((value, "//")) => text.push_str(&directory(&value)),
            Some((_, change)) if change.starts_with('=') => text.push_str(LATER),
            Some(_) | None => {
                text.push_str(&format!("{{{inner}}}"));
                rest = after;
                continue;
            }
        }
        put = true;
        rest = after;
    }
    text.push_str(rest);
    if put { text } else { format!("{text} {all}") }
}

fn directory(value: &str) -> String {
    match value.trim_end_matches('\'').rsplit_once('/') {
        Some(("'" | "", _)) => "/".to_owned(),
        Some((above, _)) => format!("{above}'"),
        None => ".".to_owned(),
    }
}
