//! Shells, and the builtins that run text.

use super::super::{Arg, Command, Input};
use super::Inner;

/// Whether a program is a shell, whatever its version: `zsh5`, `bash-5.2`, `ksh93`.
#[rustfmt::skip]
pub(super) fn is_shell(program: &str) -> bool {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let name = if name.len() < program.len() { name.trim_end_matches('-') } else { name };
    matches!(
        name.strip_suffix("-static").unwrap_or(name),
        "ash" | "bash" | "csh" | "dash" | "elvish" | "fish" | "ksh" | "lksh" | "mksh" | "nu" | "oksh" | "posh"
            | "rbash" | "sh" | "tcsh" | "xonsh" | "yash" | "zsh"
    )
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
    let given: Vec<Inner> = texts.into_iter().map(|text| Inner::text(text.text)).collect();
    let read = match (operand, &command.input) {
        (Some(script), _) if text => vec![Inner::text(script.text.clone())],
        (None, _) if !given.is_empty() => Vec::new(),
        (None, Input::Text(input)) => vec![Inner::text(input.clone())],
        (None, Input::Pipe | Input::Unknown) => super::unknown_script(),
        (Some(_), Input::Text(input)) if stdin => vec![Inner::text(input.clone())],
        // `bash /dev/stdin` and `bash -` read their input too.
        (Some(Arg { text, .. }), Input::Text(input)) if is_stdin(text) => vec![Inner::text(input.clone())],
        (Some(Arg { text, .. }), Input::Pipe | Input::Unknown) if stdin || is_stdin(text) => super::unknown_script(),
        _ => Vec::new(),
    };
    Some(given.into_iter().chain(read).collect())
}

/// `source` reads a file; what a heredoc or a pipe gives to `/dev/stdin` is known.
pub(super) fn source(command: &Command) -> Vec<Inner> {
    let stdin = command.args.first().is_some_and(|arg| is_stdin(&arg.text));
    match &command.input {
        Input::Text(text) if stdin => vec![Inner::Text { text: text.clone(), shared: true }],
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
