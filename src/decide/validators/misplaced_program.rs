//! Programs that are run from unusual places: outside of the project and of where programs are installed, or from the
//! project under the name of a well-known program.

use super::unknown_executable::{is_allowed, is_known};
use super::{Context, command, suspicious, suspicious_if};
use crate::decide::subject::Subject;
use crate::path::zones::Area;
use crate::path::{AbsPath, Place, protected};
use crate::programs::code::lists;
use crate::programs::roles;
use crate::rules::Match;
use crate::shell::{Access, Act, Command, Origin};
use compact_str::CompactString;
use std::collections::{BTreeMap, BTreeSet};

/// Directories of a project into which its tools install programs.
const TOOL_DIRECTORIES: [&[&str]; 7] = [
    &["node_modules", ".bin"],
    &[".venv", "bin"],
    &["venv", "bin"],
    &["env", "bin"],
    &["vendor", "bin"],
    &[".venv", "Scripts"],
    &["target"],
];

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let command = command(subject)?;
    let path = located(command, context)?;
    let Some(path) = path else { return suspicious("runs a program whose directory is only known when it runs") };
    let name = path.components().last().map_or("", CompactString::as_str);
    // `bin/rake` and the like are written by the tools themselves.
    let is_stub = lists(&roles::CODE_WRAPPERS, name)
        || ends_with(path.directories(), &["bin"]) && lists(&roles::CODE_STUBS, name);
    if context.zones.area(&path) == Area::InProject {
        let is_installed = is_stub || TOOL_DIRECTORIES.iter().any(|tool| ends_with(path.directories(), tool));
        let shadows = is_allowed(name, context) && !is_installed;
        return suspicious_if(shadows, "runs a program of the project that bears the name of a known one");
    }
    let is_in_other_project = matches!(context.zones.area(&path), Area::Other | Area::Vital);
    let misplaced = is_known(name, context)
        && (!is_stub || !is_in_other_project)
        && !is_in_new_environment(&path, command, context)
        && !is_installed(&path, context)
        && !is_just_compiled(&path, command, context);
    suspicious_if(misplaced, "")
}

/// Whether a command runs an unknown program by its path outside of the project.
pub(super) fn is_unknown_elsewhere(command: &Command, context: &Context<'_>) -> bool {
    let Some(Some(path)) = located(command, context) else { return false };
    let name = path.components().last().map_or("", CompactString::as_str);
    let name = name.strip_suffix(".exe").filter(|_| is_installed(&path, context)).unwrap_or(name);
    // A script that the line itself writes is judged by its commands.
    command.runs != Some(Origin::Shown)
        && context.zones.area(&path) != Area::InProject
        && !is_known(name, context)
        && !is_just_compiled(&path, command, context)
}

/// The path of the program, for a program that is run by its path on this machine. The inner `None` is an unknown directory.
fn located(command: &Command, context: &Context<'_>) -> Option<Option<AbsPath>> {
    let program = command.program.as_str();
    // Containers and other machines have files of their own.
    let is_elsewhere = command.via.iter().any(|runner| {
        matches!(runner.as_str(), "docker" | "podman" | "nerdctl" | "docker-compose" | "kubectl" | "oc" | "ssh")
    });
    if !command.known || !program.contains('/') || is_elsewhere {
        return None;
    }
    let cwd = command.cwd.as_deref();
    if cwd.is_none() && !program.starts_with('/') {
        return Some(None);
    }
    let home = context.event.place.home.clone();
    let place = Place { cwd: cwd.unwrap_or_default().to_owned(), home, project: None };
    Some(Some(AbsPath::resolve(program, &place)))
}

fn is_installed(path: &AbsPath, context: &Context<'_>) -> bool {
    let directory = path.head(path.directories().len());
    protected::is_installed(&directory, context.zones.home.as_ref())
}

/// Whether an earlier command of the same text made the virtual environment of Python that the program is in.
fn is_in_new_environment(path: &AbsPath, command: &Command, context: &Context<'_>) -> bool {
    let name = path.components().last().map_or("", CompactString::as_str);
    let is_python = name.starts_with("python") || name.starts_with("pip");
    let directories = path.directories();
    if !is_python || !(ends_with(directories, &["bin"]) || ends_with(directories, &["Scripts"])) {
        return false;
    }
    let Some((reading, effects)) = context.reading().zip(context.effects()) else { return false };
    let environment = path.head(directories.len() - 1).to_string();
    let makes = |maker: &Command| {
        let names_venv = |arg: &crate::shell::Arg| arg.text == "venv" || arg.text == "virtualenv";
        maker.span.start < command.span.start
            && (maker.program == "virtualenv" || maker.args.iter().any(names_venv))
            && (maker.program.starts_with("python") || matches!(maker.program.as_str(), "uv" | "virtualenv" | "py"))
    };
    let mut written =
        effects.accesses.iter().filter(|access| access.act.changes() && access.target.text == environment);
    written.any(|access| access.row.and_then(|row| reading.commands.get(row)).is_some_and(makes))
}

/// Whether an earlier command of the same text compiled the program from files of the project.
fn is_just_compiled(path: &AbsPath, command: &Command, context: &Context<'_>) -> bool {
    let compiled = context.compiled.get_or_init(|| Compiled::of(context));
    let start = command.span.start;
    let is_before = |at: Option<&usize>| at.is_some_and(|at| *at < start);
    !compiled.sets_path
        && !is_before(compiled.first_written.as_ref())
        && is_before(compiled.programs.get(&path.to_string()))
}

/// What the compilers in a shell text make. It is collected once, when it is first needed.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    /// The files that compilers make from files of the project, and where the first command begins that makes each.
    programs: BTreeMap<String, usize>,
    /// Where the first other command begins that writes a file of the project.
    first_written: Option<usize>,
    /// The text sets `PATH`.
    sets_path: bool,
}

impl Compiled {
    fn of(context: &Context<'_>) -> Compiled {
        let (Some(reading), Some(effects)) = (context.reading(), context.effects()) else { return Compiled::default() };
        let in_project =
            |access: &Access| access.target.path.as_ref().map(|path| context.zones.area(path) == Area::InProject);
        let compiles = |row: usize, command: &Command| {
            let mut read = effects.of_command(row).iter().filter(|access| access.act == Act::Read);
            lists(&roles::CODE_COMPILERS, &command.program) && read.all(|access| in_project(access) == Some(true))
        };
        let rows = reading.commands.iter().enumerate();
        let compilers: BTreeSet<usize> =
            rows.filter(|(row, command)| compiles(*row, command)).map(|(row, _)| row).collect();
        let sets_path = effects.env.iter().any(|(name, _)| name == "PATH");
        let mut compiled = Compiled { sets_path, ..Compiled::default() };
        for access in effects.accesses.iter().filter(|access| access.act.changes()) {
            let Some((row, writer)) = access.row.and_then(|row| Some((row, reading.commands.get(row)?))) else {
                continue;
            };
            let start = writer.span.start;
            if compilers.contains(&row) {
                let first = compiled.programs.entry(access.target.text.clone()).or_insert(start);
                *first = start.min(*first);
            } else if in_project(access) != Some(false) {
                compiled.first_written = Some(compiled.first_written.map_or(start, |first| first.min(start)));
            }
        }
        compiled
    }
}

/// Whether the last directories of a path are these.
fn ends_with(directories: &[CompactString], last: &[&str]) -> bool {
    let start = directories.len().checked_sub(last.len());
    start.and_then(|at| directories.get(at..)).is_some_and(|tail| tail.iter().zip(last).all(|(a, b)| a == b))
}
