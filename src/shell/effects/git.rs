//! `git`: the verbs whose operands are not told apart by options: what is put back, taken away and moved, and in which
//! work tree. The catalogue tells the rest.

use super::super::{Arg, Command};
use super::{Act, Recorder, by_entry};
use crate::shell::wrappers;

/// Where a project keeps what it has agreed on: to take a file from there is to put it back.
fn is_trunk(commit: &str) -> bool {
    matches!(commit.strip_prefix("origin/").unwrap_or(commit), "HEAD" | "main" | "master" | "develop" | "trunk")
}

/// `git checkout x -- file`, `git restore file`, `git clean`, `git mv`.
pub(super) fn git(recorder: &mut Recorder<'_>) {
    let command = recorder.command;
    let Some(line) = command.parsed.as_deref() else { return };
    let Some(verb) = line.path.get(1).and_then(|verb| verb.names.first()) else { return };
    let (cwd, tree) = wrappers::works_in(command);
    let moved = Command { cwd, ..command.clone() };
    let mut recorder =
        Recorder { command: &moved, row: recorder.row, unlikely: recorder.unlikely, effects: &mut *recorder.effects };
    let recorder = &mut recorder;
    let operands = command.operands();
    // Behind `--` there are only paths.
    let dashes = command.args.iter().position(|arg| arg.text == "--");
    let behind = dashes.and_then(|at| command.args.get(at + 1..)).unwrap_or_default();
    let paths = || if behind.is_empty() { operands.clone() } else { behind.iter().collect() };
    // What is written to a work tree elsewhere may be any of its files.
    let writes =
        ["checkout", "checkout-index", "restore", "reset", "switch", "merge", "pull", "read-tree", "stash", "apply"];
    if let Some(tree) = tree.as_ref().filter(|_| writes.contains(&verb.as_ref())) {
        recorder.record(Act::Write, tree, true);
    }
    match verb.as_ref() {
        "clean" if !command.has_flag(&["-n", "--dry-run"]) => {
            let everything = tree.unwrap_or_else(|| Arg::literal("."));
            let removed = if operands.is_empty() { vec![&everything] } else { operands };
            removed.iter().for_each(|path| recorder.record(Act::Remove, path, false));
        }
        "clean" => {}
        // A file of another commit is new content.
        "checkout" if dashes.is_some() => {
            let before = operands.len().saturating_sub(behind.len());
            let from = operands.iter().take(before).any(|commit| !is_trunk(&commit.text));
            let act = if from { Act::Write } else { Act::Restore };
            paths().into_iter().for_each(|path| recorder.record(act, path, true));
        }
        // `git checkout abc123 file`
        "checkout" => {
            let makes_branch = !command.values(&["-b", "-B", "--orphan"]).is_empty();
            let named = !makes_branch && !command.has_flag(&["-t", "--track"]);
            recorder.all(Act::Write, operands.iter().skip(1).filter(|_| named).copied());
        }
        "restore" => {
            let from = command.values(&["-s", "--source"]).iter().any(|commit| !is_trunk(&commit.text));
            let act = if from { Act::Write } else { Act::Restore };
            paths().into_iter().for_each(|path| recorder.record(act, path, true));
        }
        "stash" if dashes.is_some() => {
            paths().into_iter().for_each(|path| recorder.record(Act::Restore, path, true));
        }
        "mv" => {
            if let Some((target, sources)) = operands.split_last() {
                recorder.all(Act::Move, sources.iter().copied());
                sources.iter().for_each(|source| recorder.put(target, Some(source)));
            }
        }
        _ => by_entry::note_uses(recorder, line, moved.cwd.as_deref()),
    }
}
