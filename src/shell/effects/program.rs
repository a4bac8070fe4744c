//! What programs do to files and variables. The catalogue tells for most of them; those with a grammar of their own have
//! a function here.

use super::super::options::Options;
use super::super::{Arg, Input};
use super::{Act, Noted, archive, by_entry, container, copy, fetch, git, mode, search, words};
use crate::programs::code::lists;
use crate::programs::roles;

/// The options of filters that take a value, for the names that a pipeline hands to `xargs`.
pub(in super::super) fn options(program: &str) -> Options {
    let (short, long): (&'static str, &'static [&'static str]) = match program {
        _ if lists(&roles::FILES_SEARCHERS, program) => (
            "ABCDefgmtdT",
            &[
                "after-context", "before-context", "context", "exclude", "exclude-dir", "file", "glob", "include",
                "max-count", "max-depth", "regexp", "sort", "type",
            ],
        ),
        "head" | "tail" => ("nc", &["bytes", "lines"]),
        "uniq" => ("fsw", &["skip-fields", "skip-chars", "check-chars"]),
        "shuf" => ("nio", &["head-count", "input-range", "output"]),
        "sort" => ("kotST", &["key", "output"]),
        _ => return Options::NONE,
    };
    Options { short, long }
}

pub(super) fn note(noted: &mut Noted<'_>) {
    let command = noted.command;
    let program = command.program.as_str();
    // A patch on the standard input names its files itself.
    let patches = matches!(program, "apply_patch" | "patch")
        || program == "git" && command.args.iter().any(|arg| arg.text == "apply" || arg.text == "am");
    if let (true, Input::Text(patch)) = (patches, &command.input) {
        crate::encoding::patch::paths(patch).into_iter().for_each(|path| noted.note(Act::Write, &Arg::literal(path)));
        // What a new link leads to can be read by its name.
        let targets = crate::encoding::patch::link_targets(patch);
        targets.into_iter().for_each(|target| noted.take_down(Act::Read, &Arg::literal(target), true));
    }
    if command.args.is_empty() {
        return;
    }
    let operands = command.operands();
    let operands = operands.as_slice();
    match program {
        "find" | "gfind" | "bfs" => search::find(noted),
        _ if lists(&roles::FILES_SEARCHERS, program) => search::grep(noted, operands),
        _ if lists(&roles::FILES_RIGHTS, program) => mode::note(noted, operands),
        // It makes directories, and sets the mode of those that are there.
        "install" if command.has_flag(&["-d", "--directory"]) => {
            noted.all(Act::Write, operands.iter().copied());
            mode::change(noted, operands);
        }
        _ if lists(&roles::FILES_COPIERS, program) => copy::copy(noted, operands),
        "cmake" if command.parsed.as_ref().is_some_and(|line| line.path.len() > 2) => cmake(noted, operands),
        "curl" | "wget" | "wget2" | "http" | "https" | "xh" | "xhs" => fetch::note(noted, operands),
        "tar" | "gtar" | "bsdtar" => archive::tar(noted),
        "git" => git::git(noted),
        _ if lists(&roles::CONTAINERS_ENGINES, program) => {
            container::mounts(noted);
            by_entry::note(noted);
        }
        "export" | "declare" | "typeset" | "readonly" | "local" | "read" | "mapfile" | "readarray" | "printf"
        | "getopts" | "let" | "wait" => variables(noted, operands),
        _ => {
            if !by_entry::note(noted) {
                named_outputs(noted);
            }
        }
    }
}

/// The variables that a builtin of the shell sets.
fn variables(noted: &mut Noted<'_>, operands: &[&Arg]) {
    let command = noted.command;
    match command.program.as_str() {
        "read" | "mapfile" | "readarray" => {
            noted.effects.env.extend(command.values(&["-a"]).into_iter().map(|arg| (arg.text.into(), None)));
            noted.effects.env.extend(operands.iter().map(|arg| (arg.text.to_string(), None)));
        }
        "printf" => noted.effects.env.extend(command.values(&["-v"]).into_iter().map(|arg| (arg.text.into(), None))),
        "wait" => noted.effects.env.extend(command.values(&["-p"]).into_iter().map(|arg| (arg.text.into(), None))),
        "getopts" => noted.effects.env.extend(operands.get(1).map(|arg| (arg.text.to_string(), None))),
        "let" => {
            let assigned = |arg: &&Arg| Some((arg.text.split_once('=')?.0.to_owned(), None));
            noted.effects.env.extend(operands.iter().filter_map(assigned));
        }
        program => {
            let is_reference = program != "export" && command.has_flag(&["-n"]);
            for arg in operands {
                let (name, value) = arg.text.split_once('=').map_or((arg.text.as_str(), None), |(n, v)| (n, Some(v)));
                let value = value.and_then(|_| crate::shell::eval::env_value(name, &arg.behind(&format!("{name}="))?));
                // `declare -n x=PATH` makes another name for it.
                if is_reference {
                    noted.effects.env.extend(arg.text.split_once('=').map(|(_, named)| (named.to_owned(), None)));
                }
                // A name alone is handed on as it is.
                if !name.is_empty() && (arg.text.contains('=') || program == "export") {
                    noted.effects.env.push((name.to_owned(), value));
                }
            }
        }
    }
}

/// `cmake -E copy a b`: the last operand may be a directory.
fn cmake(noted: &mut Noted<'_>, operands: &[&Arg]) {
    let verb = noted.command.parsed.as_ref().map_or("", |line| line.verb());
    let act = match verb {
        "copy" | "copy_if_different" | "copy_directory" | "create_symlink" | "create_hardlink" => Act::Read,
        "rename" => Act::Move,
        _ => {
            by_entry::note(noted);
            return;
        }
    };
    let Some((target, sources)) = operands.split_last() else { return };
    noted.all(act, sources.iter().copied());
    sources.iter().for_each(|source| noted.put(target, Some(source)));
}

/// Where a program that the catalogue does not describe says that it writes, it does.
fn named_outputs(noted: &mut Noted<'_>) {
    let command = noted.command;
    for (option, next) in command.args.iter().zip(command.args.iter().skip(1).map(Some).chain([None])) {
        let name = option.text.split('=').next().unwrap_or_default();
        if !words::OUTPUT_OPTIONS.contains(&name) {
            continue;
        }
        let value = option.behind(name).and_then(|rest| rest.behind("=")).or_else(|| next.cloned());
        noted.all(Act::Write, value.iter().filter(|path| path.text.starts_with('/')));
    }
}
