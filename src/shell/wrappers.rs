//! What runs its argument. The catalogue describes most of these programs (`by_entry`); the others have a grammar of
//! their own, and one file each.

mod by_entry;
mod container;
mod cwd;
mod find;
mod git;
mod names;
mod parallel;
mod script;
mod shells;
mod shown;
mod terminal;
mod windows;
mod xargs;

pub(super) use container::container;
pub(super) use find::Search;
pub(super) use git::{behind_global, works_in};
pub(super) use names::{Names, listed, names};
pub(super) use shells::{reads_posix_quotes, runs_last_stage};
pub(super) use shown::{expand_own_program, shown};

use super::{Arg, Command, Input};
use crate::programs::code::lists;
use crate::programs::{self, CommandLine, Use, roles};
use crate::shell::inline::{Language, obeys_input};
use crate::verdict::limits::Meter;
use std::rc::Rc;

/// What putting one word together costs, in steps.
const WORD: usize = 16;

/// Something that a command runs.
#[derive(Debug)]
pub(super) enum Inner {
    /// A program with arguments.
    Command {
        args: Vec<Arg>,
        /// Where it runs, if not where its runner does; the inner `None` is a directory that cannot be known.
        cwd: Option<Option<String>>,
        env: Vec<(String, Option<String>)>,
    },
    /// Shell text; `shared` if it runs in the shell that runs the command.
    Text { text: String, shared: bool },
    /// PowerShell text, which runs in a process of its own.
    PowerShell { text: String },
    /// A program in another language.
    Code { language: Language, text: String },
}

impl Inner {
    /// Says what the names are that a pipeline hands over, where that is known.
    pub fn found_below(&mut self, names: &Names, meter: &Meter) {
        if let Inner::Text { text, .. } = self {
            *text = names.in_text(text, meter);
            return;
        }
        let Inner::Command { args, .. } = self else { return };
        let names = names.of(args);
        meter.charge(WORD * names.len());
        let named = |arg: Arg| match arg.text.strip_prefix("$ARGS") {
            Some(end) if arg.known == Some(0) => {
                let with = |name: &Arg| Arg { text: format!("{}{end}", name.text).into(), ..name.clone() };
                let affordable = |name: &&Arg| meter.affords(name.text.len() + end.len());
                names.iter().filter(affordable).map(with).collect()
            }
            _ => vec![arg],
        };
        *args = std::mem::take(args).into_iter().flat_map(named).collect();
    }

    fn command(args: Vec<Arg>) -> Inner {
        Inner::Command { args, cwd: None, env: Vec::new() }
    }

    fn text(text: impl Into<String>) -> Inner {
        Inner::Text { text: text.into(), shared: false }
    }
}

/// Whether what a command runs is run by an option, a setting or code, and not because that is what it is for.
pub(super) fn hides(command: &Command) -> bool {
    match command.program.as_str() {
        "git" => git::hides(&command.args),
        program if program.starts_with("git-") => false,
        program if shells::is_shell(program) || windows::is_powershell(program) || windows::is_cmd(program) => false,
        _ => by_entry::hides(command),
    }
}

/// What a shell's text finds in `$0`, `$1` and so on.
pub(super) fn parameters(command: &Command) -> Option<Vec<Arg>> {
    if !shells::is_shell(&command.program) {
        return None;
    }
    let text = command
        .args
        .iter()
        .position(|arg| arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.contains('c'))?;
    Some(command.args.get(text + 2..).unwrap_or_default().to_vec())
}

/// Whether a command reads files whose names it gets on its standard input: `cpio -o`, `tar -T -`.
pub(super) fn reads_names(command: &Command) -> bool {
    let has = |word: &str| {
        command.args.iter().any(|arg| match word.strip_suffix('*') {
            Some(start) => arg.text.starts_with(start),
            None => {
                let by_path = arg.text.strip_suffix("/dev/stdin");
                arg.text == word || by_path.is_some() && by_path == word.strip_suffix('-')
            }
        })
    };
    // The rows are in order, so those of a program stand together.
    let program = command.program.as_str();
    let start = roles::FILES_NAMED_BY_INPUT.partition_point(|row| *row < program);
    let rows = roles::FILES_NAMED_BY_INPUT.iter().skip(start);
    let mut rows = rows.map_while(|row| row.strip_prefix(program)?.strip_prefix(' '));
    rows.any(|words| words.split(' ').all(has))
}

/// Everything that a command runs, in order. A program that reads files named by its input is like `xargs cat`.
pub(super) fn inner(command: &Command, meter: &Meter) -> Vec<Inner> {
    let mut found = by_program(command, meter);
    if reads_names(command) {
        found.extend(xargs::xargs(&[Arg::literal("cat")], &command.input, meter));
    }
    found
}

fn by_program(command: &Command, meter: &Meter) -> Vec<Inner> {
    let args = command.args.as_slice();
    match command.program.as_str() {
        "xargs" | "gxargs" => xargs::xargs(args, &command.input, meter),
        "parallel" => parallel::parallel(command, meter),
        "hyperfine" => parallel::hyperfine(command, meter),
        "find" | "gfind" | "bfs" => find::find(command, meter),
        "fd" | "fdfind" => find::fd(args, meter),
        "git" => git::git(command, meter),
        program if program.starts_with("git-") && program.len() > 4 => {
            let verb = program.get(4..).map(Arg::literal);
            one([Arg::literal("git")].into_iter().chain(verb).chain(args.iter().cloned()).collect())
        }
        program if lists(&roles::CONTAINERS_ENGINES, program) => container::inner(command, meter),
        "tmux" => terminal::tmux(command, meter),
        "history" if args.first().is_some_and(|flag| flag.text == "-s") => {
            joined(args.get(1..).unwrap_or_default()).map(Inner::text).into_iter().collect()
        }
        "psql" => by_entry::inner(command, meter).into_iter().chain(output_pipes(command)).collect(),
        "newgrp" | "su" | "runuser" | "chroot" | "unshare" | "nsenter" => {
            let inner = by_entry::inner(command, meter);
            if inner.is_empty() { shells::of_input(command) } else { inner }
        }
        "eval" => shells::eval(args),
        "trap" => shells::trap(args),
        "alias" => shells::alias(args),
        "source" | "." => shells::source(command),
        "env" | "genv" if shells::splits(args) => shells::env_split(args),
        // `ruby -run -e cp -- a b`: the library `un` has a command for each file operation.
        "ruby" if args.iter().any(|arg| arg.text == "-run" || arg.text == "-run.rb") => ruby_un(args),
        program if windows::is_powershell(program) => windows::powershell(command),
        program if windows::is_cmd(program) => windows::cmd(args),
        program => shells::shell(program, command).unwrap_or_else(|| by_entry::inner(command, meter)),
    }
}

/// `psql -o '|sh'`: what it prints is read by a program.
fn output_pipes(command: &Command) -> impl Iterator<Item = Inner> {
    let outputs = command.values(&["-o", "--output", "-L", "--log-file"]).into_iter();
    outputs.filter_map(|output| output.behind("|")).filter_map(|text| joined(&[text])).map(Inner::text)
}

/// `ruby -run -e cp -- a b`
fn ruby_un(args: &[Arg]) -> Vec<Inner> {
    let verb = args.iter().skip_while(|arg| arg.text != "-e").nth(1);
    let operands = args.iter().skip_while(|arg| arg.text != "--").skip(1);
    one(verb.into_iter().chain(operands).cloned().collect())
}

fn one(args: Vec<Arg>) -> Vec<Inner> {
    if args.is_empty() { Vec::new() } else { vec![Inner::command(args)] }
}

/// The words, joined, as shell text. What cannot be known stands in it as an expansion again.
fn joined(args: &[Arg]) -> Option<String> {
    let text = args.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
    Some(text).filter(|text| !text.trim().is_empty())
}

/// The word in single quotes.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The same program with other words.
fn with_args(command: &Command, args: Vec<Arg>) -> Command {
    let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
    let entry = command.parsed.as_deref().and_then(CommandLine::program);
    let parsed = entry.map(|entry| Rc::new(programs::parse(entry, &words)));
    Command { args, parsed, ..command.clone() }
}

/// A word that is only known when the command runs.
fn later(written: &str) -> Arg {
    Arg { text: written.into(), known: Some(0), glob: false }
}

/// A word with something in place of a mark that is only known when the command runs.
fn replaced(arg: &Arg, mark: &str, by: &str) -> Arg {
    Arg { text: arg.text.replace(mark, by).into(), known: arg.text.find(mark), glob: false }
}

/// An interpreter that reads its program from somewhere that cannot be known.
fn unknown_script() -> Vec<Inner> {
    vec![Inner::command(vec![later("$SCRIPT")])]
}

/// Code on the command line, or on the standard input of an interpreter without a file.
fn code(language: Language, command: &Command) -> Vec<Inner> {
    let reads_input = || language.reads_input(command) || language.reads_program(&command.args);
    let mut texts = language.inline_code(&command.args);
    let is_given = !texts.is_empty();
    let obeys = texts.iter().any(|code| obeys_input(code));
    match &command.input {
        Input::Text(text) if is_given && (obeys || language.prompts(&command.args)) || !is_given && reads_input() => {
            texts.push(text.to_string());
        }
        Input::Pipe | Input::Unknown if !is_given && reads_input() => return unknown_script(),
        Input::Pipe | Input::Unknown if obeys => {
            let codes = texts.into_iter().map(|text| Inner::Code { language, text });
            return unknown_script().into_iter().chain(codes).collect();
        }
        Input::Text(_) | Input::Inherited | Input::Pipe | Input::Unknown => {}
    }
    // Perl runs an operand that ends with `|` where it reads files.
    let is_code = |word: usize| {
        let line = command.parsed.as_deref();
        line.is_some_and(|line| line.uses_of(word).iter().any(|used| used.takes == Some(Use::Code)))
    };
    let is_operand = |word: usize, arg: &Arg| !is_code(word) && !arg.text.starts_with('-');
    let operands = command.args.iter().enumerate().filter(|(word, arg)| is_operand(*word, arg)).map(|(_, arg)| arg);
    let piped = operands.filter(|_| language == Language::Perl && !texts.is_empty());
    let piped = piped.filter_map(|arg| arg.text.trim().strip_suffix('|'));
    let piped: Vec<Inner> = piped.map(Inner::text).collect();
    let assigned = if language == Language::Awk { assigned(command) } else { String::new() };
    let codes = texts.into_iter().map(|text| Inner::Code { language, text: format!("{assigned}{text}") });
    codes.chain(piped).collect()
}

/// The variables that an `awk` is given, as assignments: `-v name=value`, `name=value`.
fn assigned(command: &Command) -> String {
    let operands = command.args.iter().filter(|arg| !arg.text.starts_with('-')).cloned();
    let known = command.values(&["-v", "--assign"]).into_iter().chain(operands).filter(Arg::is_known);
    let mut code = String::new();
    for arg in known {
        let Some((name, value)) = arg.text.split_once('=') else { continue };
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name(name) && name.starts_with(|c: char| !c.is_ascii_digit()) && !value.contains(['"', '\\', '\n']) {
            code.push_str(&format!("{name} = \"{value}\"\n"));
        }
    }
    code
}
