//! What programs do to files and variables. The catalogue tells for most of them; those with a grammar of their own have
//! a function here.

use super::super::{Arg, Input};
use super::scope::runs_containers;
use super::{Act, Recorder, archive, by_entry, container, copy, fetch, git, mode, search};
use crate::programs::words;

pub(super) fn note(recorder: &mut Recorder<'_>) {
    let command = recorder.command;
    let program = command.program.as_str();
    // A patch on the standard input names its files itself.
    let patches = matches!(program, "apply_patch" | "patch")
        || program == "git" && command.args.iter().any(|arg| arg.text == "apply");
    if let (true, Input::Text(patch)) = (patches, &command.input) {
        crate::encoding::patch::paths(patch)
            .into_iter()
            .for_each(|path| recorder.note(Act::Write, &Arg::literal(path)));
    }
    if command.args.is_empty() {
        return;
    }
    let operands = command.operands();
    let operands = operands.as_slice();
    match program {
        "find" | "gfind" | "bfs" => search::find(recorder),
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "ugrep" => search::grep(recorder, operands),
        _ if mode::changes_rights(program) => mode::note(recorder, operands),
        // It makes directories, and sets the mode of those that are there.
        "install" if command.has_flag(&["-d", "--directory"]) => {
            recorder.all(Act::Write, operands.iter().copied());
            mode::change(recorder, operands);
        }
        _ if copy::copies(program) => copy::copy(recorder),
        "cmake" if command.parsed.as_ref().is_some_and(|line| line.path.len() > 2) => cmake(recorder, operands),
        "curl" | "wget" | "http" | "https" | "xh" => fetch::note(recorder, operands),
        "tar" | "gtar" | "bsdtar" => archive::tar(recorder),
        "git" => git::git(recorder),
        _ if runs_containers(program) => {
            container::mounts(recorder);
            by_entry::note(recorder);
        }
        "export" | "declare" | "typeset" | "readonly" | "local" | "read" | "mapfile" | "readarray" | "printf"
        | "getopts" | "let" | "wait" => variables(recorder, operands),
        _ => {
            if !by_entry::note(recorder) {
                named_outputs(recorder);
            }
        }
    }
}

/// The variables that a builtin of the shell sets.
fn variables(recorder: &mut Recorder<'_>, operands: &[&Arg]) {
    let command = recorder.command;
    match command.program.as_str() {
        "read" | "mapfile" | "readarray" => {
            recorder.effects.env.extend(command.values(&["-a"]).into_iter().map(|arg| (arg.text.into(), None)));
            recorder.effects.env.extend(operands.iter().map(|arg| (arg.text.to_string(), None)));
        }
        "printf" => recorder.effects.env.extend(command.values(&["-v"]).into_iter().map(|arg| (arg.text.into(), None))),
        "wait" => recorder.effects.env.extend(command.values(&["-p"]).into_iter().map(|arg| (arg.text.into(), None))),
        "getopts" => recorder.effects.env.extend(operands.get(1).map(|arg| (arg.text.to_string(), None))),
        "let" => {
            let assigned = |arg: &&Arg| Some((arg.text.split_once('=')?.0.to_owned(), None));
            recorder.effects.env.extend(operands.iter().filter_map(assigned));
        }
        program => {
            let is_reference = program != "export" && command.has_flag(&["-n"]);
            for arg in operands {
                let (name, value) = arg.text.split_once('=').map_or((arg.text.as_str(), None), |(n, v)| (n, Some(v)));
                let value = value.and_then(|_| crate::shell::eval::env_value(name, &arg.behind(&format!("{name}="))?));
                // `declare -n x=PATH` makes another name for it.
                if is_reference {
                    recorder.effects.env.extend(arg.text.split_once('=').map(|(_, named)| (named.to_owned(), None)));
                }
                // A name alone is handed on as it is.
                if !name.is_empty() && (arg.text.contains('=') || program == "export") {
                    recorder.effects.env.push((name.to_owned(), value));
                }
            }
        }
    }
}

/// `cmake -E copy a b`: the last operand may be a directory.
fn cmake(recorder: &mut Recorder<'_>, operands: &[&Arg]) {
    let verb = recorder.command.parsed.as_ref().map_or("", |line| line.verb());
    let act = match verb {
        "copy" | "copy_if_different" | "copy_directory" | "create_symlink" | "create_hardlink" => Act::Read,
        "rename" => Act::Move,
        _ => {
            by_entry::note(recorder);
            return;
        }
    };
    let Some((target, sources)) = operands.split_last() else { return };
    recorder.all(act, sources.iter().copied());
    sources.iter().for_each(|source| recorder.put(target, Some(source)));
}

/// Records the outputs of a program that the catalogue does not know, by the usual names of options for them.
fn named_outputs(recorder: &mut Recorder<'_>) {
    let command = recorder.command;
    for (option, next) in command.args.iter().zip(command.args.iter().skip(1).map(Some).chain([None])) {
        let name = option.text.split('=').next().unwrap_or_default();
        if !words::OUTPUT_OPTIONS.contains(&name) {
            continue;
        }
        let value = option.behind(name).and_then(|rest| rest.behind("=")).or_else(|| next.cloned());
        recorder.all(Act::Write, value.iter().filter(|path| path.text.starts_with('/')));
    }
}
