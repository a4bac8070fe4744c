//! Copies, moves and links: what is read, what is taken away, and what is written where.

use super::super::{Arg, Command};
use super::{Act, Noted, Target};

pub(super) fn copy(noted: &mut Noted<'_>, operands: &[&Arg]) {
    let command = noted.command;
    let remote = matches!(command.program.as_str(), "scp" | "rsync");
    let elsewhere = |arg: &Arg| remote && arg.text.split_once(':').is_some_and(|(host, _)| !host.contains('/'));
    if remote {
        let hosts = operands.iter().filter(|arg| elsewhere(arg)).filter_map(|arg| arg.text.split_once(':'));
        noted.effects.network.extend(hosts.map(|(host, _)| host.to_owned()));
    }
    let named = command.values(&["-t", "--target-directory"]);
    let (target, sources) = match (named.first(), operands.split_last()) {
        (Some(target), _) => (Some(target.clone()), operands),
        // `ln x` makes its link here.
        (None, Some((only, []))) if matches!(command.program.as_str(), "ln" | "gln") => {
            (Some(Arg::literal(".")), std::slice::from_ref(only))
        }
        (None, Some((last, sources))) => (Some((*last).clone()), sources),
        (None, None) => (None, operands),
    };
    let act = match command.program.as_str() {
        "mv" | "gmv" => Act::Move,
        "rsync" if command.has_flag(&["--remove-source-files"]) => Act::Remove,
        _ => Act::Read,
    };
    let linked = makes_hard_links(command);
    let whole = command.has_flag(&["-r", "-R", "-a", "--recursive", "--archive"]);
    for source in sources.iter().filter(|source| !elsewhere(source)) {
        noted.take_down(act, source, true);
        if linked {
            noted.take_down(Act::Link, source, whole);
        }
        // What is taken from elsewhere can be read here.
        if act == Act::Move && source.text.starts_with('/') {
            noted.note(Act::Read, source);
        }
    }
    let Some(target) = target.filter(|target| !elsewhere(target)) else { return };
    // What is the same in this directory is linked from there, which is named from the target.
    if command.program == "rsync" {
        let cwd = Target::of(&target, command.cwd.as_deref()).path.map(|path| path.to_string());
        for directory in command.values(&["--link-dest"]) {
            noted.take_down_in(cwd.as_deref(), Act::Link, &directory, true);
        }
    }
    // What is copied whole may bring any file with it, and so may what becomes a hidden directory.
    let is_hidden = |arg: &Arg| {
        let name = arg.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        name.len() > 1 && name.starts_with('.') && name != ".." && !name.get(1..).unwrap_or_default().contains('.')
    };
    let is_directory = |arg: &&Arg| !arg.text.rsplit('/').next().unwrap_or_default().contains('.');
    let moves_directory = act == Act::Move && is_hidden(&target) && sources.iter().any(is_directory);
    if matches!(command.program.as_str(), "rsync" | "ln" | "gln") || whole || moves_directory {
        noted.take_down(Act::Write, &target, true);
    }
    match sources {
        [] => noted.note(Act::Write, &target),
        sources => sources.iter().for_each(|source| noted.put(&target, Some(source))),
    }
}

/// Whether a command gives files further names.
fn makes_hard_links(command: &Command) -> bool {
    match command.program.as_str() {
        "ln" | "gln" => !command.has_flag(&["-s", "--symbolic"]),
        "link" => true,
        "cp" | "gcp" => command.has_flag(&["-l", "--link"]),
        _ => false,
    }
}
