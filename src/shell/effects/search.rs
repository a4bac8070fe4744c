//! Searches: what `find` deletes, and what `grep` and its like read.

use super::super::Arg;
use super::{Act, Noted};
use crate::shell::wrappers;

pub(super) fn find(noted: &mut Noted<'_>) {
    let args = &noted.command.args;
    let prints = noted.command.values(&["-fprint", "-fprintf", "-fls", "-fprint0"]);
    noted.all(Act::Write, &prints);
    let mut deletes = args.iter().enumerate().filter(|(_, arg)| arg.text == "-delete").peekable();
    if deletes.peek().is_none() {
        return;
    }
    let search = wrappers::Search::of(args);
    for (at, _) in deletes {
        for found in search.found(at).words("$FOUND") {
            noted.take_down(Act::Remove, &found, true);
        }
        if noted.effects.exceeded.is_some() {
            return;
        }
    }
}

pub(super) fn grep(noted: &mut Noted<'_>, operands: &[&Arg]) {
    let command = noted.command;
    let scripted = !command.values(&["-e", "-f", "--regexp", "--file"]).is_empty();
    let files = operands.iter().skip(usize::from(!scripted)).copied();
    let greps = matches!(command.program.as_str(), "grep" | "egrep" | "fgrep");
    let recursive = command.has_flag(&["-r", "-R", "--recursive", "--dereference-recursive"])
        || command.values(&["-d", "--directories"]).iter().any(|action| action.text == "recurse");
    // By a pattern for names it reads what has such a name.
    let globs = command.values(&["--include", "-g", "--glob", "--iglob"]);
    let globs: Vec<&Arg> = globs.iter().filter(|glob| !glob.text.starts_with('!')).collect();
    let picks = !globs.is_empty() || !command.values(&["-t", "--type"]).is_empty();
    let lists = greps && !recursive || picks;
    let hidden = greps || command.has_flag(&["-u", "--hidden", "-.", "--unrestricted"]);
    // Such options show no line of a file.
    let quiet = command.has_flag(&[
        "-q", "-c", "-l", "-L", "--quiet", "--silent", "--count", "--files-with-matches", "--files-without-match",
    ]);
    let act = if quiet { Act::Match } else { Act::Read };
    let here = Arg::literal(".");
    let starts = files.clone().chain(Some(&here).filter(|_| files.clone().next().is_none()));
    for (start, glob) in starts.flat_map(|start| globs.iter().map(move |glob| (start, glob))) {
        let text = format!("{}/**/{}", start.text.trim_end_matches('/'), glob.text.trim_start_matches('/'));
        noted.take_down(act, &Arg { text: text.into(), known: start.known, glob: true }, false);
        if noted.effects.exceeded.is_some() {
            return;
        }
    }
    for file in files {
        // Hidden directories are only searched where they are named.
        let named = file.text.trim_end_matches('/').rsplit('/').next().is_some_and(|name| name.starts_with('.'));
        noted.take_down(act, file, !lists && (hidden || named));
    }
}
