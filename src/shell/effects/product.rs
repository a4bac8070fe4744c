//! Programs that are told by an operand where to put what they make.

use super::super::Arg;
use super::{Act, Noted};

/// What the operands say; tells whether the program is one of these.
pub(super) fn product(noted: &mut Noted<'_>, operands: &[&Arg]) -> bool {
    let command = noted.command;
    let word = |at: usize| command.args.get(at).map_or("", |arg| arg.text.as_str());
    let given = |option: &str| command.args.iter().any(|arg| arg.text == option);
    match command.program.as_str() {
        // `uniq in out`
        "uniq" | "split" => {
            noted.all(Act::Read, operands.iter().take(1).copied());
            noted.all(Act::Write, operands.iter().skip(1).copied());
        }
        "xxd" if given("-r") => {
            noted.all(Act::Read, operands.iter().take(1).copied());
            noted.all(Act::Write, operands.iter().skip(1).copied());
        }
        "7z" | "7za" | "7zr" if word(0) == "x" || word(0) == "e" => {
            let outputs: Vec<Arg> = command.args.iter().filter_map(|arg| arg.behind("-o")).collect();
            outputs.iter().for_each(|output| noted.take_down(Act::Write, output, true));
        }
        "cmake" if word(0) == "-E" => cmake(noted, word(1)),
        "virtualenv" if given("--clear") => emptied(noted, operands),
        "python" | "python3" if word(0) == "-m" && matches!(word(1), "venv" | "virtualenv") && given("--clear") => {
            emptied(noted, operands.get(1..).unwrap_or_default());
        }
        "uv" if word(0) == "venv" && given("--clear") => emptied(noted, operands.get(1..).unwrap_or_default()),
        "python" | "python3" if word(0) == "-m" && matches!(word(1), "zipfile" | "tarfile") && given("-e") => {
            operands.iter().skip(2).for_each(|directory| noted.take_down(Act::Write, directory, true));
        }
        _ => return false,
    }
    true
}

/// Whatever was in these directories is gone.
fn emptied(noted: &mut Noted<'_>, directories: &[&Arg]) {
    directories.iter().for_each(|directory| noted.take_down(Act::Remove, directory, true));
}

/// `cmake -E verb …`: the tools of a shell, everywhere.
fn cmake(noted: &mut Noted<'_>, verb: &str) {
    let operands = || noted.command.args.iter().skip(2).filter(|arg| !arg.text.starts_with('-'));
    let all: Vec<&Arg> = operands().collect();
    match verb {
        "rm" | "remove" | "remove_directory" => all.iter().for_each(|path| noted.take_down(Act::Remove, path, true)),
        "cat" | "md5sum" | "sha256sum" => noted.all(Act::Read, all),
        "touch" | "make_directory" => noted.all(Act::Write, all),
        "copy" | "copy_if_different" | "copy_directory" | "create_symlink" | "create_hardlink" | "rename" => {
            let Some((target, sources)) = all.split_last() else { return };
            noted.all(if verb == "rename" { Act::Move } else { Act::Read }, sources.iter().copied());
            sources.iter().for_each(|source| noted.put(target, Some(source)));
        }
        _ => {}
    }
}
