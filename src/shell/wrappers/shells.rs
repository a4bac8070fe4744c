//! Shells, their builtins that run text, and `env -S`, which splits words as a shell does.

use super::super::{Arg, Command, Input};
use super::cwd::text_in;
use super::{Inner, quoted};
use crate::programs::code::lists;
use crate::programs::roles;

/// Whether a program is a shell, whatever its version: `zsh5`, `bash-5.2`, `ksh93`.
pub(super) fn is_shell(program: &str) -> bool {
    lists(&roles::SHELLS_ALL, unversioned(program))
}

/// Whether a shell runs the last stage of a pipeline itself, so that variables which it sets remain.
pub(in super::super) fn runs_last_stage(program: &str) -> bool {
    lists(&roles::SHELLS_LAST_STAGE, unversioned(program))
}

/// The name of a shell without its version: `ksh93`, `zsh-5.9`, `bash-static`.
fn unversioned(program: &str) -> &str {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let name = if name.len() < program.len() { name.trim_end_matches('-') } else { name };
    name.strip_suffix("-static").unwrap_or(name)
}

/// Whether a backslash in single quotes is only a character, as POSIX says.
pub(in super::super) fn reads_posix_quotes(program: &str) -> bool {
    !["elvish", "fish", "nu", "xonsh"].iter().any(|name| program.starts_with(name))
}

/// What a shell is given.
pub(super) struct Words<'a> {
    /// The first word behind its options: a file, or with `-c` the text.
    pub operand: Option<&'a Arg>,
    /// It is a text.
    pub text: bool,
    stdin: bool,
    /// Texts that come with their option.
    texts: Vec<Arg>,
    /// A file that it reads when it starts.
    pub started: Option<&'a Arg>,
}

/// Reads the words of a shell's command line.
pub(super) fn words<'a>(program: &str, args: &'a [Arg]) -> Words<'a> {
    let mut read = Words { operand: None, text: false, stdin: false, texts: Vec::new(), started: None };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.text.as_str() {
            "--" | "-" => {
                read.operand = args.next();
                break;
            }
            "--rcfile" | "--init-file" => read.started = args.next(),
            "-o" | "+o" | "-O" | "+O" => drop(args.next()),
            "--command" | "--commands" | "--init-command" | "--execute" => read.texts.extend(args.next().cloned()),
            "-C" if program.starts_with("fish") => read.texts.extend(args.next().cloned()),
            "-e" if program.starts_with("nu") => read.texts.extend(args.next().cloned()),
            option if option.starts_with("--") => {
                let named = ["--command=", "--commands=", "--init-command=", "--execute="];
                read.texts.extend(named.iter().find_map(|name| arg.behind(name)));
            }
            option if option.starts_with(['-', '+']) && option.len() > 1 => {
                read.text |= option.starts_with('-') && option.contains('c');
                read.stdin |= option.contains('s');
                if option.ends_with('o') {
                    args.next();
                }
            }
            _ => {
                read.operand = Some(arg);
                break;
            }
        }
    }
    read
}

/// What a shell runs: `-c` text, or its input where it is given neither text nor file.
pub(super) fn shell(program: &str, command: &Command) -> Option<Vec<Inner>> {
    if !is_shell(program) {
        return None;
    }
    let Words { operand, text, stdin, texts, .. } = words(program, &command.args);
    let is_escaped = |text: &str| !reads_posix_quotes(program) && text.contains("\\'");
    // Quotes that are not those of POSIX hide where a command begins: the text may run something else as well.
    let is_unclear = operand.is_some_and(|script| text && is_escaped(&script.text))
        || texts.iter().any(|text| is_escaped(&text.text));
    let unclear = if is_unclear { super::unknown_script() } else { Vec::new() };
    let given: Vec<Inner> = texts.into_iter().map(|text| Inner::text(text.text)).collect();
    let read = match (operand, &command.input) {
        (Some(script), _) if text => vec![Inner::text(script.text.clone())],
        (None, _) if !given.is_empty() => Vec::new(),
        (None, Input::Text(input)) => vec![Inner::text(&**input)],
        (None, Input::Pipe | Input::Unknown) => super::unknown_script(),
        (Some(_), Input::Text(input)) if stdin => vec![Inner::text(&**input)],
        // `bash /dev/stdin` and `bash -` read their input too.
        (Some(Arg { text, .. }), Input::Text(input)) if is_stdin(text) => vec![Inner::text(&**input)],
        (Some(Arg { text, .. }), Input::Pipe | Input::Unknown) if stdin || is_stdin(text) => super::unknown_script(),
        _ => Vec::new(),
    };
    Some(unclear.into_iter().chain(given).chain(read).collect())
}

/// A program without words of its own for a shell starts one, which reads the input.
pub(super) fn of_input(command: &Command) -> Vec<Inner> {
    match &command.input {
        Input::Text(text) if !text.trim().is_empty() => vec![Inner::text(&**text)],
        Input::Text(_) | Input::Inherited | Input::Pipe | Input::Unknown => Vec::new(),
    }
}

/// `source` reads a file; what a heredoc or a pipe gives to `/dev/stdin` is known.
pub(super) fn source(command: &Command) -> Vec<Inner> {
    let stdin = command.args.first().is_some_and(|arg| is_stdin(&arg.text));
    match &command.input {
        Input::Text(text) if stdin => vec![Inner::Text { text: text.to_string(), shared: true }],
        Input::Pipe | Input::Unknown if stdin => super::unknown_script(),
        Input::Text(_) | Input::Inherited | Input::Pipe | Input::Unknown => Vec::new(),
    }
}

fn is_stdin(file: &str) -> bool {
    ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].contains(&file)
}

/// `eval` joins its words and runs them here.
pub(super) fn eval(args: &[Arg]) -> Vec<Inner> {
    let words = args.iter().skip_while(|arg| arg.text == "--").map(|arg| arg.text.as_str());
    let text = words.collect::<Vec<_>>().join(" ");
    if text.trim().is_empty() { Vec::new() } else { vec![Inner::Text { text, shared: true }] }
}

/// `trap TEXT SIGNAL…`
pub(super) fn trap(args: &[Arg]) -> Vec<Inner> {
    match args {
        [first, _, ..] if !first.text.starts_with('-') => vec![Inner::text(first.text.clone())],
        [option, first, _, ..] if option.text == "--" => vec![Inner::text(first.text.clone())],
        _ => Vec::new(),
    }
}

/// `alias name=TEXT…`
pub(super) fn alias(args: &[Arg]) -> Vec<Inner> {
    args.iter().filter_map(|arg| arg.text.split_once('=')).map(|(_, text)| Inner::text(text)).collect()
}

/// Whether `env` is told to split a text.
pub(super) fn splits(args: &[Arg]) -> bool {
    split_at(args).is_some()
}

/// Where the option stands, and what is attached to it.
fn split_at(args: &[Arg]) -> Option<(usize, &str)> {
    let options = args.iter().take_while(|arg| arg.text.starts_with('-') || arg.text.contains('='));
    options.enumerate().find_map(|(at, arg)| {
        let text = arg.text.as_str();
        let (name, attached) = text.split_once('=').unwrap_or((text, ""));
        // GNU takes any beginning of the name.
        let is_long = name.len() > 2 && "--split-string".starts_with(name);
        // The letters before it take no value.
        let cluster = text.strip_prefix('-')?.trim_start_matches(['i', 'v', '0']).strip_prefix('S');
        if is_long { Some((at, attached)) } else { cluster.map(|attached| (at, attached)) }
    })
}

/// `env -S 'A=1 x y' z`: the words of the text, and what follows it, are words of `env` again.
pub(super) fn env_split(args: &[Arg]) -> Vec<Inner> {
    let Some((at, attached)) = split_at(args) else { return Vec::new() };
    let next = args.get(at + 1).map_or("", |arg| arg.text.as_str());
    let (text, used) = if attached.is_empty() { (next, 2) } else { (attached, 1) };
    let more = args.iter().skip(at + used).map(|arg| quoted(&arg.text));
    let words = [text.replace("\\_", " ")].into_iter().chain(more).collect::<Vec<_>>().join(" ");
    let before = args.iter().take(at).zip(args.iter().skip(1));
    let directory =
        before.filter(|(option, _)| matches!(option.text.as_str(), "-C" | "--chdir")).map(|(_, value)| value);
    let attached = args.iter().take(at).filter_map(|arg| arg.behind("--chdir=").or_else(|| arg.behind("-C")));
    let directory = directory.cloned().chain(attached.filter(|value| !value.text.is_empty())).last();
    vec![Inner::text(text_in(directory.as_ref(), format!("env {words}")))]
}
