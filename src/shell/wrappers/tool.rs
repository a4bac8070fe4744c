//! Tools that run programs by a verb: version managers, monorepos, benchmarks, prompts.

use super::super::options::Options;
use super::super::{Arg, Command, Input};
use super::cwd::moved;
use super::{Inner, WORD, joined, one, option};
use crate::verdict::limits::Meter;

/// What stands behind `--`, for a program called with these words.
pub(super) fn behind(args: &[Arg], verbs: &[&str]) -> Vec<Inner> {
    let called = verbs.iter().zip(args).all(|(verb, arg)| *verb == arg.text) && args.len() > verbs.len();
    let rest = args.iter().skip_while(|arg| arg.text != "--").skip(1).cloned().collect();
    if called { one(rest) } else { Vec::new() }
}

/// `lerna exec -- x`, `nx exec -- x`: in every package, by a shell.
pub(super) fn monorepo(args: &[Arg]) -> Vec<Inner> {
    let options = Options {
        short: "",
        long: &["concurrency", "ignore", "loglevel", "npm-client", "parallel", "prefix", "scope", "since"],
    };
    // Of a number of jobs, `lerna` knows none.
    let Some(at) = options.verb(args, |word| word == "exec") else { return Vec::new() };
    let rest = args.get(at + 1..).unwrap_or_default();
    let flagged: Vec<Arg> = rest.iter().filter(|arg| arg.text != "--parallel").cloned().collect();
    joined(options.behind(&flagged))
}

/// `hyperfine 'x' 'y'`: every operand is a line of its own, with parameters in it.
pub(super) fn hyperfine(args: &[Arg], meter: &Meter) -> Vec<Inner> {
    let options = Options {
        short: "wmMrpscCnSu",
        long: &[
            "cleanup", "command-name", "conclude", "export-asciidoc", "export-csv", "export-json", "export-markdown",
            "export-orgmode", "input", "max-runs", "min-runs", "output", "prepare", "reference", "runs", "setup",
            "shell", "sort", "style", "time-unit", "warmup",
        ],
    };
    let mut parameters: Vec<(String, Vec<String>)> = Vec::new();
    let mut words: Vec<Arg> = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.text.as_str() {
            "-L" | "--parameter-list" => {
                let name = rest.next().map(|name| format!("{{{}}}", name.text));
                let values = rest.next().map(|values| values.text.split(',').map(str::to_owned).collect());
                parameters.extend(name.zip(values));
            }
            "-P" | "--parameter-scan" => drop(rest.nth(2)),
            _ => words.push(arg.clone()),
        }
    }
    let filled = |text: String| {
        parameters.iter().fold(vec![text], |texts, (mark, values)| {
            let with =
                |text: &String| values.iter().filter_map(|value| meter.replace(text, mark, value)).collect::<Vec<_>>();
            let is_affordable = meter.try_charge(WORD.saturating_mul(texts.len()).saturating_mul(values.len()));
            if is_affordable { texts.iter().flat_map(with).collect() } else { texts }
        })
    };
    let before = ["prepare p", "setup s", "cleanup c", "conclude C", "reference"];
    let before = before.iter().flat_map(|names| options.values(&words, names));
    let operands = options.operands(&words).into_iter().cloned();
    before.chain(operands).flat_map(|arg| filled(arg.text.into())).map(Inner::text).collect()
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

/// `rustup run stable x`, `pyenv exec x`, `conda run -n env x`, `perf stat x`.
pub(super) fn behind_verb(command: &Command) -> Vec<Inner> {
    let short = match command.program.as_str() {
        "perf" => "eopCtFcrIxGujDmk",
        "foreman" => "efpmt",
        _ => "nepo",
    };
    let long: &'static [&'static str] =
        &["cwd", "env", "event", "name", "node", "output", "prefix", "repeat", "switch", "using"];
    let options = Options { short, long };
    let verbs =
        ["run", "exec", "stat", "record", "shell", "trace", "top", "mem", "lock", "sched", "kmem", "c2c", "ftrace"];
    let args = command.args.as_slice();
    let Some(at) = options.verb(args, |word| verbs.contains(&word)) else { return Vec::new() };
    let within = args.get(at + 1..).unwrap_or_default();
    let rest = options.behind(within);
    // `perf mem record x`
    let rest = if rest.first().is_some_and(|arg| arg.text == "record") {
        options.behind(rest.get(1..).unwrap_or_default())
    } else {
        rest
    };
    // A toolchain or a version may stand first.
    let named = rest.first().is_some_and(|arg| {
        let text = arg.text.trim_start_matches(['v', '+']);
        text.starts_with(|c: char| c.is_ascii_digit())
            || text.starts_with("lts/")
            || ["stable", "nightly", "beta", "default"]
                .iter()
                .any(|name| text.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')))
            || (command.program == "nvm" && matches!(text, "node" | "system" | "iojs"))
    });
    // `nvm run 20 file` is `node file`.
    let node =
        (command.program == "nvm" && args.get(at).is_some_and(|verb| verb.text == "run")).then(|| Arg::literal("node"));
    let args: Vec<Arg> = node
        .into_iter()
        .chain(Options::NONE.behind(rest.get(usize::from(named)..).unwrap_or_default()).iter().cloned())
        .collect();
    let cwd = moved(options.value(within, "cwd"), command);
    if args.is_empty() { Vec::new() } else { vec![Inner::Command { args, cwd, env: Vec::new() }] }
}

/// Code that a tool is given behind an option or a verb.
pub(super) fn tool_code(args: &[Arg]) -> Option<String> {
    let at = args
        .iter()
        .position(|arg| matches!(arg.text.as_str(), "-e" | "-E" | "-eval" | "--eval" | "--execute" | "runner" | "r"))?;
    args.get(at + 1).map(|arg| arg.text.to_string())
}

/// The code behind `-e`.
pub(super) fn option_code(args: &[Arg]) -> Option<String> {
    let at = args.iter().position(|arg| matches!(arg.text.as_str(), "-e" | "--eval" | "--execute"))?;
    args.get(at + 1).map(|arg| arg.text.to_string())
}
