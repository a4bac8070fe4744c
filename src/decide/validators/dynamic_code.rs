//! Code that is only put together when it runs: nobody can read it before.

use super::{Context, command, suspicious};
use crate::decide::subject::{Subject, SubjectKind};
use crate::path::zones::Area;
use crate::rules::Match;
use crate::shell::{Access, Act, Arg, Command, Effects, PROCESS_SUBSTITUTION, Target};
use std::collections::BTreeSet;

/// Interpreters that run the code they are given.
const INTERPRETERS: &[&str] =
    &["bun", "deno", "elixir", "lua", "node", "nodejs", "perl", "php", "python", "ruby", "ts-node", "tsx"];

/// Files that a program runs without being told to.
const IMPLIED: [(&[&str], &[&str]); 5] = [
    (&["make", "gmake"], &["Makefile", "makefile", "GNUmakefile"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["rake"], &["Rakefile"]),
    (&["npm", "pnpm", "yarn", "bun"], &["package.json"]),
    (&["gradle"], &["build.gradle", "build.gradle.kts", "settings.gradle"]),
];

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    if matches!(subject.subject, SubjectKind::Line) {
        return runs_fetched(context);
    }
    let command = command(subject)?;
    // What a shell is fed, or told to run, is a command of its own, and here an unknown one.
    if !command.known {
        return suspicious("which program this runs is only known when it runs");
    }
    // `-f <(…)`: a program from a pipe.
    let pairs = command.args.iter().zip(command.args.iter().skip(1));
    if pairs
        .into_iter()
        .any(|(option, file)| matches!(option.text.as_str(), "-f" | "--file") && file.text == PROCESS_SUBSTITUTION)
    {
        return suspicious("it runs whatever it is fed");
    }
    let scripts = command.scripts();
    if scripts.iter().any(|file| file.text == PROCESS_SUBSTITUTION) {
        return suspicious("it runs whatever it is fed");
    }
    match command.program.as_str() {
        // Which verb it is decides everything.
        "git" if command.behind_global().first().is_some_and(|arg| !arg.is_known() && arg.prefix().is_empty()) => {
            suspicious("what git does here is only known when it runs")
        }
        "awk" | "gawk" if command.args.first().is_some_and(|arg| !arg.is_known() && arg.prefix().is_empty()) => {
            suspicious("it runs code that is only known when it runs")
        }
        "eval" if command.args.iter().any(|arg| !arg.is_known()) => {
            suspicious("it runs text that is only known when it runs")
        }
        program if matches!(program, "source" | ".") || command.is_shell() => {
            // `bash -n` only reads.
            let checks = command.args.iter().take_while(|arg| arg.text.starts_with('-'));
            let checks = checks.into_iter().any(|arg| !arg.text.starts_with("--") && arg.text.contains('n'));
            // Somewhere in the project it is one of the project's own.
            let inside = |file: &Arg| {
                let target = Target::of(file, command.cwd.as_deref());
                target.path.is_some_and(|path| matches!(context.zones.area(&path), Area::Inside | Area::Project))
            };
            scripts
                .iter()
                .find(|file| !checks && !file.is_known() && !inside(file))
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
            let script = scripts.first().is_some_and(|arg| unknown(arg) && !arg.text.contains("$@"));
            (script || pairs.into_iter().any(|(option, text)| code(option) && unknown(text))).then_some(())?;
            suspicious("it runs code that is only known when it runs")
        }
        _ => None,
    }
}

/// Whether the line runs a file that it has just fetched.
fn runs_fetched(context: &Context<'_>) -> Option<Match> {
    let (reading, effects) = (context.reading()?, context.effects()?);
    let fetchers = ["curl", "wget", "http", "https", "xh"];
    let fetcher = |command: &Command| fetchers.contains(&command.program.as_str());
    let feeding: BTreeSet<(usize, usize)> = reading
        .commands
        .iter()
        .filter(|command| fetcher(command))
        .map(|command| (command.pipeline, command.stage))
        .collect();
    if feeding.is_empty() {
        return None;
    }
    let fetched: BTreeSet<String> = effects
        .accesses
        .iter()
        .filter(|access| matches!(access.act, Act::Write | Act::Redirect))
        .filter(|access| {
            let writer = access.row.and_then(|row| reading.commands.get(row));
            let fed = |writer: &Command| {
                feeding.range((writer.pipeline, 0)..(writer.pipeline, writer.stage)).next().is_some()
            };
            writer.is_some_and(|writer| fetcher(writer) || fed(writer))
        })
        .map(|access| access.target.text.clone())
        .collect();
    let fetched = handed_on(fetched, effects);
    if fetched.is_empty() {
        return None;
    }
    let runs = reading.commands.iter().any(|command| {
        let program = Some(Arg::literal(command.program.clone())).filter(|program| program.text.contains('/'));
        let implied = IMPLIED.iter().filter(|(names, _)| names.contains(&command.program.as_str()));
        let implied = implied.flat_map(|(_, files)| files.iter().copied().map(Arg::literal));
        command
            .scripts()
            .into_iter()
            .chain(program)
            .chain(implied)
            .any(|word| fetched.contains(&Target::of(&word, command.cwd.as_deref()).text))
    });
    runs.then(|| suspicious("it runs a file that it has just fetched")).flatten()
}

/// These files, and those that a command makes of them: copies, links, what is decoded or moved.
fn handed_on(mut files: BTreeSet<String>, effects: &Effects) -> BTreeSet<String> {
    if files.is_empty() {
        return files;
    }
    for command in effects.accesses.chunk_by(|one, other| one.row == other.row) {
        let takes = |access: &Access| {
            access.row.is_some() && matches!(access.act, Act::Read | Act::Move) && files.contains(&access.target.text)
        };
        if command.iter().any(takes) {
            let makes = |access: &&Access| matches!(access.act, Act::Write | Act::Redirect) && !access.deep;
            files.extend(command.iter().filter(makes).map(|made| made.target.text.clone()));
        }
    }
    files
}
