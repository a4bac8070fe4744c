//! Copies, moves and links: the files that they read, remove and write.

use super::super::{Arg, Command};
use super::{Act, Recorder, Target};

/// Whether a program copies, moves or links its first operands to the last one.
pub(in super::super) fn copies(program: &str) -> bool {
    matches!(program, "cp" | "gcp" | "ginstall" | "gln" | "gmv" | "install" | "link" | "ln" | "mv" | "rsync" | "scp")
}

/// The target of such a command, and its sources.
pub(in super::super) fn target_and_sources(command: &Command) -> Option<(Arg, Vec<&Arg>)> {
    let mut operands = command.operands();
    if let Some(target) = command.values(&["-t", "--target-directory"]).into_iter().next() {
        return Some((target, operands));
    }
    // `ln x` makes its link here.
    if operands.len() == 1 && matches!(command.program.as_str(), "ln" | "gln") {
        return Some((Arg::literal("."), operands));
    }
    let target = operands.pop()?.clone();
    Some((target, operands))
}

pub(super) fn copy(recorder: &mut Recorder<'_>) {
    let command = recorder.command;
    let remote = matches!(command.program.as_str(), "scp" | "rsync");
    let elsewhere = |arg: &Arg| remote && arg.text.split_once(':').is_some_and(|(host, _)| !host.contains('/'));
    if remote {
        let hosts = command.operands().into_iter().filter(|arg| elsewhere(arg));
        let hosts = hosts.filter_map(|arg| Some(arg.text.split_once(':')?.0.to_owned()));
        recorder.effects.network.extend(hosts);
    }
    let Some((target, sources)) = target_and_sources(command) else { return };
    let act = match command.program.as_str() {
        "mv" | "gmv" => Act::Move,
        "rsync" if command.has_flag(&["--remove-source-files"]) => Act::Remove,
        _ => Act::Read,
    };
    let linked = makes_hard_links(command);
    let whole = command.has_flag(&["-r", "-R", "-a", "--recursive", "--archive"]);
    for source in sources.iter().filter(|source| !elsewhere(source)) {
        recorder.record(act, source, true);
        if linked {
            recorder.record(Act::Link, source, whole);
        }
        // The user may read the moved file, if not the original.
        if act == Act::Move && source.text.starts_with('/') {
            recorder.note(Act::Read, source);
        }
    }
    if elsewhere(&target) {
        return;
    }
    // Files that are the same in this directory, which is relative to the target, become hard links.
    if command.program == "rsync" {
        let cwd = Target::of(&target, command.cwd.as_deref()).path.map(|path| path.to_string());
        for directory in command.values(&["--link-dest"]) {
            recorder.record_in(cwd.as_deref(), Act::Link, &directory, true);
        }
    }
    // A directory may contain any file.
    if matches!(command.program.as_str(), "rsync" | "ln" | "gln") || whole {
        recorder.record(Act::Write, &target, true);
    }
    if sources.is_empty() {
        recorder.note(Act::Write, &target);
    }
    sources.iter().for_each(|source| recorder.put(&target, Some(source)));
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
