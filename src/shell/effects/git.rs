//! `git`: the files that its verbs write, put back and take away, and in which work tree.

use super::super::options::Options;
use super::super::{Arg, Command};
use super::{Act, Noted};
use crate::shell::wrappers;

/// `git clean -n` only shows.
fn is_rehearsal(word: &str) -> bool {
    let cluster = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    word.starts_with("--dry")
        || cluster.is_some_and(|letters| letters.split('e').next().unwrap_or_default().contains('n'))
}

/// Where a project keeps what it has agreed on: to take a file from there is to put it back.
fn is_trunk(commit: &str) -> bool {
    matches!(commit.strip_prefix("origin/").unwrap_or(commit), "HEAD" | "main" | "master" | "develop" | "trunk")
}

/// `git checkout x -- file`, `git restore file`, `git rm`, `git mv`.
pub(super) fn git(noted: &mut Noted<'_>) {
    let command = noted.command;
    let words = wrappers::behind_global(&command.args);
    let (cwd, tree) = wrappers::works_in(command);
    let moved = Command { cwd, ..command.clone() };
    let mut noted = Noted { command: &moved, row: noted.row, astray: noted.astray, effects: &mut *noted.effects };
    let noted = &mut noted;
    let Some((verb, rest)) = words.split_first() else { return };
    let paths = || {
        let named = rest.iter().skip_while(|arg| arg.text != "--").skip(1);
        let named: Vec<&Arg> = named.collect();
        if named.is_empty() { rest.iter().filter(|arg| !arg.text.starts_with('-')).collect() } else { named }
    };
    // What is written to a work tree elsewhere may be any of its files.
    let writes =
        ["checkout", "checkout-index", "restore", "reset", "switch", "merge", "pull", "read-tree", "stash", "apply"];
    if let Some(tree) = tree.as_ref().filter(|_| writes.contains(&verb.text.as_str())) {
        noted.take_down(Act::Write, tree, true);
    }
    match verb.text.as_str() {
        "clean" if !rest.iter().any(|arg| is_rehearsal(&arg.text)) => {
            let options = Options { short: "e", long: &["exclude"] };
            let named: Vec<Arg> = options.operands(rest).into_iter().cloned().collect();
            let everything = tree.unwrap_or_else(|| Arg::literal("."));
            let removed = if named.is_empty() { vec![everything] } else { named };
            removed.iter().for_each(|path| noted.take_down(Act::Remove, path, false));
        }
        "hash-object" => noted.all(Act::Read, rest.iter().filter(|arg| !arg.text.starts_with('-'))),
        "diff" if rest.iter().any(|arg| arg.text == "--no-index") => {
            let files = rest.iter().filter(|arg| !arg.text.starts_with('-'));
            files.for_each(|path| noted.take_down(Act::Read, path, true));
        }
        "grep" if rest.iter().any(|arg| arg.text == "--no-index") => {
            let options = Options { short: "ABCefmO", long: &[] };
            options.operands(rest).iter().skip(1).for_each(|path| noted.take_down(Act::Read, path, true));
        }
        // From another commit it is as good as written anew.
        "checkout" if rest.iter().any(|arg| arg.text == "--") => {
            let mut before = rest.iter().take_while(|arg| arg.text != "--");
            let from = before.any(|arg| !arg.text.starts_with('-') && !is_trunk(&arg.text));
            let act = if from { Act::Write } else { Act::Restore };
            paths().into_iter().for_each(|path| noted.take_down(act, path, true));
        }
        // `git checkout abc123 file`
        "checkout" => {
            let words = rest.iter().filter(|arg| !arg.text.starts_with('-')).skip(1);
            let named =
                !rest.iter().any(|arg| matches!(arg.text.as_str(), "-b" | "-B" | "--orphan" | "-t" | "--track"));
            noted.all(Act::Write, words.filter(|_| named));
        }
        "clone" => noted.all(Act::Write, rest.iter().filter(|arg| !arg.text.starts_with('-')).skip(1)),
        "diff" | "log" | "archive" | "format-patch" | "bundle" => {
            let files =
                rest.iter().filter_map(|arg| arg.behind("--output=").or_else(|| arg.behind("--output-directory=")));
            let pairs = rest
                .iter()
                .zip(rest.iter().skip(1))
                .filter(|(option, _)| option.text == "-o" || option.text == "--output");
            let files: Vec<Arg> = files.chain(pairs.map(|(_, file)| file.clone())).collect();
            noted.all(Act::Write, &files);
        }
        "restore" => {
            let source =
                |arg: &&Arg| matches!(arg.text.as_str(), "-s" | "--source") || arg.text.starts_with("--source=");
            let from = rest.iter().any(|arg| source(&arg));
            let act = if from { Act::Write } else { Act::Restore };
            paths().into_iter().for_each(|path| noted.take_down(act, path, true));
        }
        "stash" if rest.iter().any(|arg| arg.text == "--") => {
            paths().into_iter().for_each(|path| noted.take_down(Act::Restore, path, true));
        }
        "rm" if !rest.iter().any(|arg| arg.text == "--cached") => {
            paths().into_iter().for_each(|path| noted.take_down(Act::Remove, path, true));
        }
        "init" | "worktree" => {
            let words = rest.iter().filter(|arg| !arg.text.starts_with('-') && arg.text.contains('/'));
            noted.all(Act::Write, words);
        }
        "mv" => {
            if let Some((target, sources)) = paths().split_last() {
                noted.all(Act::Move, sources.iter().copied());
                sources.iter().for_each(|source| noted.put(target, Some(source)));
            }
        }
        _ => {}
    }
}
