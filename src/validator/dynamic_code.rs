//! Code that is only put together when it runs: nobody can read it before.

use super::{Scene, command, suspicious};
use crate::ground::Area;
use crate::rule::Found;
use crate::shell::{Act, Arg, Command, PROCESS, Target};
use crate::unit::{Subject, Unit};

/// Interpreters that run the file they are given.
const SHELLS: [&str; 9] = ["ash", "bash", "csh", "dash", "fish", "ksh", "sh", "tcsh", "zsh"];

/// Interpreters that run the code they are given.
const INTERPRETERS: [&str; 10] = ["bun", "deno", "elixir", "lua", "node", "nodejs", "perl", "php", "python", "ruby"];

pub(super) fn find(unit: &Unit<'_>, scene: &Scene<'_>) -> Option<Found> {
    if matches!(unit.subject, Subject::Line) {
        return runs_fetched(scene);
    }
    let command = command(unit)?;
    // What a shell is fed, or told to run, is a command of its own, and here an unknown one.
    if !command.known {
        return suspicious("which program this runs is only known when it runs");
    }
    // `-f <(…)`: a program from a pipe.
    let pairs = command.args.iter().zip(command.args.iter().skip(1));
    if pairs.into_iter().any(|(option, file)| matches!(option.text.as_str(), "-f" | "--file") && file.text == PROCESS) {
        return suspicious("it runs whatever it is fed");
    }
    match command.program.as_str() {
        // Which verb it is decides everything.
        "git" if command.args.first().is_some_and(|arg| !arg.is_known() && arg.prefix().is_empty()) => {
            suspicious("what git does here is only known when it runs")
        }
        "awk" | "gawk" if command.args.first().is_some_and(|arg| !arg.is_known() && arg.prefix().is_empty()) => {
            suspicious("it runs code that is only known when it runs")
        }
        "eval" if command.args.iter().any(|arg| !arg.is_known()) => {
            suspicious("it runs text that is only known when it runs")
        }
        program if matches!(program, "source" | ".") || SHELLS.contains(&program) => {
            let options = command.args.iter().take_while(|arg| arg.text.starts_with('-'));
            let text = options.clone().any(|arg| !arg.text.starts_with("--") && arg.text.contains(['c', 'n']));
            let file = command.args.get(options.count()).filter(|_| !text);
            // Somewhere in the project it is one of the project's own.
            let inside = |file: &Arg| {
                let target = Target::of(file, command.cwd.as_deref());
                target.path.is_some_and(|path| matches!(scene.ground.area(&path), Area::Inside | Area::Project))
            };
            file.filter(|file| (!file.is_known() && !inside(file)) || file.text == PROCESS)
                .and_then(|_| suspicious("it runs a file that is only known when it runs"))
        }
        program if INTERPRETERS.contains(&program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')) => {
            let code = |option: &Arg| {
                let text = option.text.as_str();
                matches!(text, "--eval" | "--print" | "--run" | "eval")
                    || (text.starts_with('-') && !text.starts_with("--") && text.ends_with(['c', 'e', 'E', 'p', 'r']))
            };
            let pairs = command.args.iter().zip(command.args.iter().skip(1));
            let unknown = |text: &Arg| !text.is_known() && text.prefix().is_empty();
            let piped =
                command.args.iter().find(|arg| !arg.text.starts_with('-')).is_some_and(|arg| arg.text == PROCESS);
            let script = command.args.first().is_some_and(|arg| unknown(arg) && !arg.text.contains("$@"));
            (piped || script || pairs.into_iter().any(|(option, text)| code(option) && unknown(text))).then_some(())?;
            suspicious("it runs code that is only known when it runs")
        }
        _ => None,
    }
}

/// Whether the line runs a file that it has just fetched.
fn runs_fetched(scene: &Scene<'_>) -> Option<Found> {
    let (reading, effects) = (scene.reading()?, scene.effects()?);
    let fetchers = ["curl", "wget", "aria2c", "http", "https", "xh"];
    let fetched: Vec<String> = effects
        .accesses
        .iter()
        .filter(|access| matches!(access.act, Act::Write | Act::Redirect))
        .filter(|access| {
            let writer = access.row.and_then(|row| reading.commands.get(row));
            let fetcher = |command: &Command| fetchers.contains(&command.program.as_str());
            let fed = |writer: &Command| {
                let mut before = reading.commands.iter().filter(|other| other.pipeline == writer.pipeline);
                before.any(|other| other.stage < writer.stage && fetcher(other))
            };
            writer.is_some_and(|writer| fetcher(writer) || fed(writer))
        })
        .map(|access| access.target.text.clone())
        .collect();
    if fetched.is_empty() {
        return None;
    }
    let runs = reading.commands.iter().any(|command| {
        let interpreter = SHELLS.contains(&command.program.as_str())
            || INTERPRETERS.contains(&command.program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
            || matches!(command.program.as_str(), "source" | ".");
        let file = command.args.iter().find(|arg| !arg.text.starts_with('-')).filter(|_| interpreter).cloned();
        let program = Some(Arg::literal(command.program.clone())).filter(|program| program.text.contains('/'));
        [file, program]
            .into_iter()
            .flatten()
            .any(|word| fetched.contains(&Target::of(&word, command.cwd.as_deref()).text))
    });
    runs.then(|| suspicious("it runs a file that it has just fetched")).flatten()
}
