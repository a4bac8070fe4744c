//! Shells, and the builtins that run text.

use super::super::{Arg, Command, Input};
use super::Inner;

const SHELLS: [&str; 9] = ["bash", "sh", "zsh", "dash", "ksh", "ash", "rbash", "mksh", "fish"];

pub(super) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

/// What a shell runs: `-c` text, or its input where it is given neither text nor file.
pub(super) fn shell(program: &str, command: &Command) -> Option<Vec<Inner>> {
    if !SHELLS.contains(&program) {
        return None;
    }
    let mut text = false;
    let mut stdin = false;
    let mut args = command.args.iter();
    let operand = loop {
        let Some(arg) = args.next() else { break None };
        match arg.text.as_str() {
            "--" | "-" => break args.next(),
            "--rcfile" | "--init-file" | "-o" | "+o" | "-O" | "+O" => drop(args.next()),
            option if option.starts_with("--") => {}
            option if option.starts_with(['-', '+']) && option.len() > 1 => {
                text |= option.starts_with('-') && option.contains('c');
                stdin |= option.contains('s');
                if option.ends_with('o') {
                    args.next();
                }
            }
            _ => break Some(arg),
        }
    };
    Some(match (operand, &command.input) {
        (Some(script), _) if text => vec![Inner::text(script.text.clone())],
        (None, Input::Text(input)) => vec![Inner::text(input.clone())],
        (None, Input::Pipe | Input::Unknown) => super::unknown_script(),
        (Some(_), Input::Text(input)) if stdin => vec![Inner::text(input.clone())],
        // `bash /dev/stdin` and `bash -` read their input too.
        (Some(Arg { text, .. }), Input::Text(input)) if is_stdin(text) => vec![Inner::text(input.clone())],
        (Some(Arg { text, .. }), Input::Pipe | Input::Unknown) if stdin || is_stdin(text) => super::unknown_script(),
        _ => Vec::new(),
    })
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
