//! Shells of Windows: PowerShell, whose parameters are abbreviated without case, and `cmd`, which has a syntax and builtins of
//! its own.

use super::{Inner, unknown_script};
use crate::programs::words;
use crate::shell::{Arg, Command, Input};

/// Whether a program is PowerShell.
pub(super) fn is_powershell(program: &str) -> bool {
    matches_any(program, &["pwsh", "pwsh.exe", "powershell", "powershell.exe", "pwsh-preview"])
}

/// Whether a program is the command interpreter `cmd`.
pub(super) fn is_cmd(program: &str) -> bool {
    matches_any(program, &["cmd", "cmd.exe"])
}

fn matches_any(program: &str, names: &[&str]) -> bool {
    names.iter().any(|name| program.eq_ignore_ascii_case(name))
}

/// Returns the code that PowerShell runs: an operand, the value of `-Command`, or its input. A file is not read.
pub(super) fn powershell(command: &Command) -> Vec<Inner> {
    let mut args = command.args.iter();
    while let Some(arg) = args.next() {
        let Some(name) = arg.text.strip_prefix(['-', '/']).map(str::to_ascii_lowercase) else {
            // `pwsh FILE`, but `powershell TEXT`
            let is_file = command.program.starts_with("pwsh") && !arg.text.contains(char::is_whitespace);
            return if is_file { Vec::new() } else { script(std::iter::once(arg).chain(args)) };
        };
        // A parameter may be abbreviated.
        let is = |full: &str| !name.is_empty() && full.starts_with(&name);
        match name.as_str() {
            "" => return input(&command.input),
            "cwa" | "commandwithargs" => return script(args.take(1)),
            _ if is("command") => {
                let rest = args.as_slice();
                let is_input = matches!(rest, [only] if only.text == "-");
                return if is_input { input(&command.input) } else { script(rest.iter()) };
            }
            // The code is UTF-16 in base64.
            "ec" => return unknown_script(),
            _ if is("encodedcommand") => return unknown_script(),
            _ if is("file") => {
                let is_input = args.next().is_some_and(|file| file.text == "-");
                return if is_input { input(&command.input) } else { Vec::new() };
            }
            _ if words::POWERSHELL_PARAMETERS.iter().any(|full| is(full)) => drop(args.next()),
            _ => {}
        }
    }
    input(&command.input)
}

fn script<'a>(words: impl Iterator<Item = &'a Arg>) -> Vec<Inner> {
    let text = words.map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
    if text.trim().is_empty() { Vec::new() } else { vec![Inner::PowerShell { text }] }
}

fn input(input: &Input) -> Vec<Inner> {
    match input {
        Input::Text(text) => vec![Inner::PowerShell { text: text.to_string() }],
        Input::Pipe | Input::Unknown => unknown_script(),
        Input::Inherited => Vec::new(),
    }
}

/// Returns the commands that `cmd /c` runs. Its builtins for files become the equivalent programs.
pub(super) fn cmd(args: &[Arg]) -> Vec<Inner> {
    // MSYS shells need `//c`, because they take `/c` for a path.
    let is_switch = |arg: &&Arg| arg.text.starts_with('/') && arg.text.trim_start_matches('/').len() < 3;
    let words: Vec<&Arg> = args.iter().skip_while(is_switch).collect();
    let words = match words.as_slice() {
        [text] if text.is_known() => split_words(&text.text),
        several => several.iter().map(|arg| (*arg).clone()).collect(),
    };
    let is_operator = |arg: &Arg| !arg.text.is_empty() && arg.text.chars().all(|c| "&|".contains(c));
    let commands = words.split(is_operator).filter(|command| !command.is_empty());
    commands.map(|command| Inner::command(translate(command))).collect()
}

/// Splits the text of a command line at blanks and operators outside of quotes.
fn split_words(text: &str) -> Vec<Arg> {
    let mut words: Vec<String> = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            c if !quoted && c.is_whitespace() => words.push(String::new()),
            '&' | '|' if !quoted => words.extend([c.to_string(), String::new()]),
            c => {
                if let Some(word) = words.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    words.into_iter().filter(|word| !word.is_empty()).map(Arg::literal).collect()
}

/// Replaces a builtin of `cmd` by the equivalent program.
fn translate(words: &[Arg]) -> Vec<Arg> {
    let name = words.first().map(|name| name.text.to_ascii_lowercase()).unwrap_or_default();
    let program = match name.as_str() {
        "rd" | "rmdir" | "del" | "erase" => "rm",
        "copy" | "xcopy" => "cp",
        "move" | "ren" | "rename" => "mv",
        "type" => "cat",
        "md" => "mkdir",
        "dir" => "ls",
        _ => return words.to_vec(),
    };
    let option = |arg: &Arg| match (program, arg.text.trim_start_matches('/').to_ascii_lowercase().as_str()) {
        ("rm", "s") => Some(Arg::literal("-r")),
        ("rm", "q" | "f") => Some(Arg::literal("-f")),
        _ => None,
    };
    let operands = words.iter().skip(1).filter_map(|arg| {
        // `/q`, `/-y`, `/a:h`
        let is_switch = arg.text.starts_with('/') && (arg.text.len() < 4 || arg.text.contains(':'));
        if is_switch { option(arg) } else { Some(to_path(arg)) }
    });
    std::iter::once(Arg::literal(program)).chain(operands).collect()
}

/// Replaces the separators of a path. Wildcards are expanded by the builtins themselves, in quotes too.
fn to_path(arg: &Arg) -> Arg {
    Arg { text: arg.text.replace('\\', "/").into(), known: arg.known, glob: arg.glob || arg.text.contains(['*', '?']) }
}
