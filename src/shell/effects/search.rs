//! Searches: what `find` deletes, and what `grep` and its like read.

use super::super::Arg;
use super::{Act, Recorder};
use crate::shell::wrappers;

pub(super) fn find(recorder: &mut Recorder<'_>) {
    let args = &recorder.command.args;
    let prints = recorder.command.values(&["-fprint", "-fprintf", "-fls", "-fprint0"]);
    recorder.all(Act::Write, &prints);
    let mut deletes = args.iter().enumerate().filter(|(_, arg)| arg.text == "-delete").peekable();
    if deletes.peek().is_none() {
        return;
    }
    let search = wrappers::Search::of(args);
    for (at, _) in deletes {
        for found in search.found(at).words("$FOUND") {
            recorder.record(Act::Remove, &found, true);
        }
        if recorder.effects.exceeded.is_some() {
            return;
        }
    }
}

pub(super) fn grep(recorder: &mut Recorder<'_>, operands: &[&Arg]) {
    let command = recorder.command;
    let scripted = !command.values(&["-e", "-f", "--regexp", "--file"]).is_empty();
    let files = operands.iter().skip(usize::from(!scripted)).copied();
    let greps = matches!(command.program.as_str(), "grep" | "egrep" | "fgrep");
    let recursive = command.has_flag(&["-r", "-R", "--recursive", "--dereference-recursive"])
        || command.values(&["-d", "--directories"]).iter().any(|action| action.text == "recurse");
    // By a pattern for names it reads what has such a name, and no key has.
    let picks = !command.values(&["--include", "-g", "--glob", "-t", "--type", "--iglob"]).is_empty();
    let lists = greps && !recursive || picks;
    let hidden = greps || command.has_flag(&["-u", "--hidden", "-.", "--unrestricted"]);
    // Such options show no line of a file.
    let quiet = command.has_flag(&[
        "-q", "-c", "-l", "-L", "--quiet", "--silent", "--count", "--files-with-matches", "--files-without-match",
    ]);
    let act = if quiet { Act::Match } else { Act::Read };
    for file in files {
        // Hidden directories are only searched where they are named.
        let named = file.text.trim_end_matches('/').rsplit('/').next().is_some_and(|name| name.starts_with('.'));
        recorder.record(act, file, !lists && (hidden || named));
    }
}
