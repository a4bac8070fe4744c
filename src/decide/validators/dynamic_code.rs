//! Code that is only known when it runs.

use super::{Context, command, suspicious, suspicious_if};
use crate::decide::subject::Subject;
use crate::encoding::address::is_remote_code;
use crate::path::zones::Area;
use crate::programs::{Does, Use};
use crate::rules::Match;
use crate::shell::{Arg, Command, Origin, PROCESS_SUBSTITUTION, Target};

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let command = command(subject)?;
    match command.runs {
        Some(Origin::Fetched) => return suspicious("runs a file that this call has just fetched"),
        Some(Origin::Generated) => return suspicious("runs a file whose content is only known when it runs"),
        Some(Origin::Shown) | None => {}
    }
    if runs_remote_code(command) {
        return suspicious("runs code from another machine");
    }
    // The input and the `-c` text of a shell are commands of their own, with an unknown program if they are unknown.
    if evaluates_activation(command, context) {
        return None;
    }
    if !command.known && !is_known_by_default(command) {
        return suspicious("runs a program that is only known when it runs");
    }
    // `-f <(…)`: a script from a process substitution.
    let pairs = command.args.iter().zip(command.args.iter().skip(1));
    if pairs
        .into_iter()
        .any(|(option, file)| matches!(option.text.as_str(), "-f" | "--file") && file.text == PROCESS_SUBSTITUTION)
    {
        return suspicious("runs whatever it is fed");
    }
    let scripts = command.scripts();
    if scripts.iter().any(|file| file.text == PROCESS_SUBSTITUTION) {
        return suspicious("runs whatever it is fed");
    }
    match command.program.as_str() {
        // An unknown subcommand may be any.
        "git" if command.behind_global().first().is_some_and(|arg| !arg.is_known() && arg.prefix().is_empty()) => {
            suspicious("has git do what is only known when it runs")
        }
        "eval" if command.args.iter().any(|arg| !arg.is_known()) => {
            suspicious("runs text that is only known when it runs")
        }
        program if matches!(program, "source" | ".") || command.is_shell() => {
            // `bash -n` only checks the syntax.
            let options = command.args.iter().take_while(|arg| arg.text.starts_with('-'));
            let checks = options.into_iter().any(|arg| !arg.text.starts_with("--") && arg.text.contains('n'));
            // Any file of the project may be run.
            let inside = |file: &Arg| {
                let target = Target::of(file, command.cwd.as_deref());
                target.path.is_some_and(|path| matches!(context.zones.area(&path), Area::InProject | Area::ProjectRoot))
            };
            let unknown = |file: &Arg| !file.is_known() && !inside(file);
            suspicious_if(!checks && scripts.iter().any(unknown), "runs a file that is only known when it runs")
        }
        _ => suspicious_if(runs_unknown_code(command, &scripts), "runs code that is only known when it runs"),
    }
}

/// Whether an interpreter is given code or a file of which nothing is known. Statements for databases and the scripts of
/// filters are often put together, so only programs with the effect `run` count.
fn runs_unknown_code(command: &Command, scripts: &[Arg]) -> bool {
    let Some(line) = command.parsed.as_deref() else { return false };
    let is_interpreter =
        line.language().is_some() && line.path.iter().rev().find_map(|entry| entry.does) == Some(Does::Run);
    let is_unknown = |text: &Arg| !text.is_known() && text.prefix().is_empty();
    let mut code = line.uses.iter().filter(|used| used.takes == Some(Use::Code)).filter_map(|used| command.value(used));
    let is_script_unknown = || scripts.first().is_some_and(|script| is_unknown(script) && !is_parameters(&script.text));
    is_interpreter && (code.any(|text| is_unknown(&text)) || is_script_unknown())
}

/// Whether a word is the parameters of the script that holds the line: `"$@"`, `"${@:2}"`.
fn is_parameters(word: &str) -> bool {
    let slice = word.strip_prefix("${@").and_then(|rest| rest.strip_suffix('}'));
    word == "$@" || slice.is_some_and(|slice| slice.chars().all(|c| c.is_ascii_digit() || c == ':' || c == ' '))
}

/// Whether the program is the value of a variable that the line does not set, or a default, which is judged beside it:
/// `${CC:-gcc}`.
fn is_known_by_default(command: &Command) -> bool {
    let inner = command.program.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    inner.and_then(|inner| inner.split_once(":-")).is_some_and(|(name, default)| {
        let is_word = |text: &str, more: &[u8]| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
        };
        is_word(name, b"_") && is_word(default, b"_-+./")
    })
}

/// Whether a command executes a file or a program by its address: `deno run https://…`, `nix run github:…`.
fn runs_remote_code(command: &Command) -> bool {
    let Some(line) = command.parsed.as_deref() else { return false };
    let executed = line.uses.iter().filter(|used| used.takes == Some(Use::Execute));
    let program = line.command.and_then(|start| command.args.get(start)).cloned();
    executed.filter_map(|used| command.value(used)).chain(program).any(|word| is_remote_code(&word.text))
}

/// Whether a command is `eval "$(direnv hook bash)"` or what it runs: the text comes from programs that print shell text
/// for this purpose.
fn evaluates_activation(command: &Command, context: &Context<'_>) -> bool {
    let by_eval = command.program == "eval" || command.via.last().is_some_and(|runner| runner == "eval");
    let by_source = matches!(command.program.as_str(), "source" | ".")
        && command.args.first().is_some_and(|file| file.text == PROCESS_SUBSTITUTION);
    if !by_eval && !by_source {
        return false;
    }
    let inside = context.data_sources.inside(&command.span, context);
    let mut inner = inside.filter(|inner| inner.program != "eval").peekable();
    let prints_shell_text =
        |inner: &Command| inner.known && (inner.doing().activates || by_source && prints_completion(inner));
    inner.peek().is_some() && inner.all(prints_shell_text)
}

/// Whether a known program prints the completion for a shell: `kubectl completion bash`.
fn prints_completion(command: &Command) -> bool {
    let is_verb =
        |arg: &Arg| matches!(arg.text.as_str(), "completion" | "completions" | "--completion" | "shell-completion");
    let is_shell = |arg: &Arg| matches!(arg.text.as_str(), "bash" | "zsh" | "fish" | "-s" | "--shell");
    command.parsed.is_some()
        && command.args.first().is_some_and(is_verb)
        && command.args.get(1).is_none_or(is_shell)
        && command.args.len() <= 3
}
