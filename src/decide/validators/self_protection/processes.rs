//! Commands that end the processes of the guard: by a pattern for their names, by the numbers that another command prints, or
//! with every other process.

use super::super::Context;
use crate::programs::code::lists;
use crate::programs::roles;
use crate::shell::{Arg, Command, Input};

/// The name of the guard's processes, and their command lines.
const NAMES: [&str; 3] = ["rune", "security-hook", "security-hookd"];
const COMMAND_LINES: [&str; 5] = ["rune hook pre", "rune hook", "rune", "security-hook", "quarantine hook"];

/// The longest pattern that is compiled; a longer one counts as one that matches.
const MAX_PATTERN_BYTES: usize = 4096;
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// Whether a command ends processes of the guard.
pub(super) fn ends_guard(command: &Command, context: &Context<'_>) -> bool {
    match command.program.as_str() {
        program if lists(&roles::GUARD_ENDING, program) => names_guard(command),
        "kill" | "spps" | "Stop-Process" | "stop-process" => {
            ends_everything(command) || names_guard(command) || has_numbers_of_guard(command, context)
        }
        _ => false,
    }
}

/// `kill -9 -1`: every process of the user.
fn ends_everything(command: &Command) -> bool {
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let is_last = words.len() > 1 && words.last() == Some(&"-1");
    // `kill -s KILL -- -1`, but not `kill -1 12`.
    is_last && !words.first().is_some_and(|first| matches!(*first, "-l" | "-L" | "--list"))
}

/// Whether a word of a command is a pattern for the guard's processes.
fn names_guard(command: &Command) -> bool {
    let letters = |letter: char| {
        let clusters = command.args.iter().filter_map(|arg| arg.text.strip_prefix('-'));
        clusters.filter(|cluster| !cluster.starts_with('-')).any(|cluster| cluster.contains(letter))
    };
    let has = |word: &str| command.args.iter().any(|arg| arg.text == word);
    let by_expression = match command.program.as_str() {
        "pkill" | "pgrep" => true,
        "killall" => letters('r') || has("--regexp"),
        _ => false,
    };
    let whole = letters('x') || has("--exact");
    let full = letters('f') || has("--full");
    let operands = command.args.iter().enumerate().filter(|(at, arg)| {
        let before = at.checked_sub(1).and_then(|at| command.args.get(at)).map_or("", |arg| arg.text.as_str());
        // What these options take are users, groups, terminals, signals and parents.
        let is_value = matches!(
            before,
            "-u" | "-U"
                | "-g"
                | "-G"
                | "-P"
                | "-s"
                | "-t"
                | "-F"
                | "-o"
                | "-y"
                | "--euid"
                | "--uid"
                | "--parent"
                | "--signal"
        );
        arg.is_known() && !arg.text.starts_with('-') && !is_value
    });
    operands.into_iter().any(|(_, arg)| {
        let text = arg.text.as_str();
        if by_expression {
            return matches_guard(text, whole, full);
        }
        let name = text.rsplit(['/', '\\']).next().unwrap_or_default().trim_end_matches(".exe");
        NAMES.iter().any(|guard| crate::path::names_overlap(guard.as_bytes(), name.as_bytes()))
            || COMMAND_LINES.iter().any(|line| line.contains(' ') && text.contains(line))
    })
}

/// Whether a regular expression matches a process of the guard, as `pgrep` compares it.
fn matches_guard(pattern: &str, whole: bool, full: bool) -> bool {
    if pattern.is_empty() {
        return false;
    }
    if pattern.len() > MAX_PATTERN_BYTES {
        return true;
    }
    let build = |pattern: &str| {
        let text = if whole { format!("^(?:{pattern})$") } else { pattern.to_owned() };
        regex_lite::RegexBuilder::new(&text).case_insensitive(true).size_limit(MAX_COMPILED_BYTES).build().ok()
    };
    // People write wildcards of the shell, and parentheses that are not closed.
    let plain = || pattern.trim_start_matches(['*', '+', '?']).replace(['(', ')'], "");
    // `pgrep` knows more syntax, and larger expressions.
    let Some(expression) = build(pattern).or_else(|| build(&plain())) else { return true };
    let names = NAMES.iter().chain(COMMAND_LINES.iter().filter(|_| full));
    names.into_iter().any(|name| expression.is_match(name))
}

/// Whether the numbers of the processes come from a command of the line that asks for those of the guard.
fn has_numbers_of_guard(command: &Command, context: &Context<'_>) -> bool {
    let is_piped = command.via.iter().any(|runner| matches!(runner.as_str(), "xargs" | "gxargs" | "parallel"));
    let is_open = command.args.iter().any(|arg| !arg.is_known() && !matches!(arg.text.as_str(), "$!" | "$$"));
    if !is_open && !is_piped && !matches!(command.input, Input::Pipe) {
        return false;
    }
    context.data_sources.process_searches(context).finds_guard
}

/// What the commands of a line that look for processes look for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessSearches {
    /// One of them finds those of the guard.
    finds_guard: bool,
}

impl ProcessSearches {
    /// Looks at each command of a line once.
    pub fn of(commands: &[Command]) -> Self {
        let shows_processes = |command: &Command| {
            lists(&roles::GUARD_LISTING, &command.program)
                || command.args.iter().any(|arg| arg.text.starts_with("/proc/") || arg.text.contains("/comm"))
        };
        let is_listed = commands.iter().any(shows_processes);
        ProcessSearches { finds_guard: is_listed && commands.iter().any(finds_guard) }
    }
}

/// Whether a command of a line that lists processes picks those of the guard.
fn finds_guard(command: &Command) -> bool {
    let operands = || command.args.iter().filter(|arg| arg.is_known() && !arg.text.starts_with('-'));
    let has = |word: &str| command.args.iter().any(|arg| arg.text == word);
    match command.program.as_str() {
        "pgrep" | "pidwait" => {
            let letters =
                |letter: char| command.args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains(letter));
            // The children of the agent.
            let of_parent = command
                .args
                .windows(2)
                .any(|pair| matches!(pair, [option, parent] if option.text == "-P" && parent.text.contains("PPID")));
            of_parent || names_guard(command) && (letters('f') || !letters('P'))
        }
        "pidof" => operands().any(|arg| NAMES.contains(&arg.text.as_str())),
        "lsof" | "fuser" => operands().any(|arg| arg.text.ends_with("/rune")) || has("rune"),
        "grep" | "egrep" | "rg" | "ag" => {
            let inverted = command.args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains('v'));
            let pattern = operands().next();
            command.stage > 0 && !inverted && pattern.is_some_and(|pattern| matches_guard(&pattern.text, false, true))
        }
        "awk" | "gawk" | "mawk" | "sed" => operands().any(|arg| {
            let between = arg.text.split('/').skip(1).step_by(2).any(|part| matches_guard(part, false, true));
            between || arg.text.contains("\"rune\"")
        }),
        "[" | "[[" | "test" | "case" | "ps" | "gps" | "Get-Process" | "get-process" => {
            let by_pattern = |arg: &Arg| {
                matches!(command.program.as_str(), "gps" | "Get-Process" | "get-process" | "ps")
                    && arg.text.ends_with('*')
                    && arg.text.len() > 1
            };
            let overlaps = |name: &str| crate::path::names_overlap(b"rune", name.as_bytes());
            command.args.iter().any(|arg| {
                by_pattern(arg) && overlaps(&arg.text)
                    || NAMES.contains(&arg.text.as_str())
                    || arg.text.contains("rune hook")
            })
        }
        _ => false,
    }
}
