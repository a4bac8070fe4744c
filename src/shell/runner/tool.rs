//! Tools that run programs by a verb: package managers, terminals, prompts.

use super::super::options::Options;
use super::super::{Arg, Command, Input};
use super::{Inner, one, option};

/// What stands behind `--`, for a program called with these words.
pub(super) fn behind(args: &[Arg], verbs: &[&str]) -> Vec<Inner> {
    let called = verbs.iter().zip(args).all(|(verb, arg)| *verb == arg.text) && args.len() > verbs.len();
    let rest = args.iter().skip_while(|arg| arg.text != "--").skip(1).cloned().collect();
    if called { one(rest) } else { Vec::new() }
}

/// `npm exec x`, `pnpm dlx x`, `uv run x`: the verb, its options, then a command.
pub(super) fn package_runner(args: &[Arg], scripts: Scripts) -> Vec<Inner> {
    let options = Options {
        short: "pcCw",
        long: &["package", "call", "filter", "dir", "prefix", "workspace", "with", "from", "python"],
    };
    let start = options.end(args);
    let verb = args.get(start).map_or("", |arg| arg.text.as_str());
    if !matches!(verb, "exec" | "dlx" | "x" | "run" | "tool") {
        return Vec::new();
    }
    let rest: Vec<Arg> = args.iter().skip(start + 1).cloned().collect();
    if let Some(text) = options.value(&rest, "c call") {
        return vec![Inner::text(text.text.clone())];
    }
    let inner: Vec<Arg> = rest.iter().skip(options.end(&rest)).cloned().collect();
    match verb {
        // `npm run x` names a script of the project, `uv run x` a program.
        "run" if scripts == Scripts::Named => Vec::new(),
        "tool" => one(inner.into_iter().skip(1).collect()),
        // One word with blanks is a line.
        _ => match inner.as_slice() {
            [only] if only.text.contains(' ') => vec![Inner::text(only.text.clone())],
            _ => one(inner),
        },
    }
}

/// Whether `run` names a script of the project, or a program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scripts {
    Named,
    None,
}

pub(super) fn program_verbs(program: &str) -> &'static [&'static str] {
    match program {
        "tmux" => &[
            "new-session",
            "new",
            "new-window",
            "neww",
            "split-window",
            "splitw",
            "respawn-pane",
            "respawn-window",
            "run-shell",
            "run",
            "send-keys",
            "send",
            "popup",
            "display-popup",
        ],
        _ => &[],
    }
}

/// A terminal that outlives the call: the words behind its options are a command.
pub(super) fn terminal(verbs: &[&str], args: &[Arg]) -> Vec<Inner> {
    let at = args.iter().position(|arg| verbs.contains(&arg.text.as_str()));
    let rest = match at {
        Some(at) => args.get(at + 1..).unwrap_or_default(),
        None if verbs.is_empty() => args,
        None => return Vec::new(),
    };
    let options = Options { short: "ceFnstxyCSTh", long: &[] };
    let behind: Vec<Arg> = rest
        .iter()
        .skip(options.end(rest))
        .filter(|arg| !matches!(arg.text.as_str(), "Enter" | "C-m"))
        .cloned()
        .collect();
    match behind.as_slice() {
        [] => Vec::new(),
        [only] => vec![Inner::text(only.text.clone())],
        _ => one(behind),
    }
}

/// Lines that a program reads and hands to a shell: `\! x`, `.shell x`, `!x`.
pub(super) fn prompts(command: &Command) -> Vec<Inner> {
    let Input::Text(text) = &command.input else { return option::options(&command.program, &command.args) };
    let shell = text.lines().filter_map(|line| {
        let line = line.trim();
        let marks = ["\\!", ".shell ", ".system ", "system ", "!", "r !", "w !"];
        marks.iter().find_map(|mark| line.strip_prefix(mark)).map(Inner::text)
    });
    shell.chain(option::options(&command.program, &command.args)).collect()
}

/// `rustup run stable x`, `pyenv exec x`, `conda run -n env x`.
pub(super) fn behind_verb(args: &[Arg]) -> Vec<Inner> {
    let options = Options { short: "nepo", long: &["name", "prefix", "output", "switch"] };
    let start = options.end(args);
    let verb = args.get(start).map_or("", |arg| arg.text.as_str());
    if !matches!(verb, "run" | "exec" | "stat" | "record" | "shell") {
        return Vec::new();
    }
    let rest = args.get(start + 1..).unwrap_or_default();
    let rest = rest.get(options.end(rest)..).unwrap_or_default();
    // A toolchain or a version may stand first.
    let named = rest.first().is_some_and(|arg| {
        arg.text.starts_with(|c: char| c.is_ascii_digit())
            || matches!(arg.text.as_str(), "stable" | "nightly" | "beta" | "default" | "node")
    });
    one(rest.iter().skip(usize::from(named)).cloned().collect())
}

/// Code that a tool is given behind an option or a verb.
pub(super) fn tool_code(args: &[Arg]) -> Option<String> {
    let at = args
        .iter()
        .position(|arg| matches!(arg.text.as_str(), "-e" | "-E" | "-eval" | "--eval" | "--execute" | "runner" | "r"))?;
    args.get(at + 1).map(|arg| arg.text.clone())
}

/// The code behind `-e`.
pub(super) fn option_code(args: &[Arg]) -> Option<String> {
    let at = args.iter().position(|arg| matches!(arg.text.as_str(), "-e" | "--eval" | "--execute"))?;
    args.get(at + 1).map(|arg| arg.text.clone())
}
