//! Programs that run where nobody looks for one: by an option, a setting, or a line of code in another language.

use super::unknown_executable::is_known;
use super::{Context, command, suspicious};
use crate::decide::subject::Subject;
use crate::rules::Match;
use crate::shell::Command;

/// What such options are made for.
const EXPECTED: &[&str] = &[
    ":", "brotli", "bzip2", "cat", "gzip", "lbzip2", "less", "lz4", "lzma", "lzop", "more", "pbzip2", "pigz", "pxz",
    "pzstd", "ssh", "unzstd", "xz", "zstd", "zstdmt", "true",
];

/// How the reader writes down that code changes a file: it is judged as that.
const FILES: &[&str] = &["cat", "cp", "mv", "rm", "tee"];

/// Settings of git that change how it looks, and not what it runs or where it goes.
const LOOKS: [&str; 33] = [
    "core.commentchar", "advice.", "color.", "column.", "commit.gpgsign", "core.abbrev", "core.autocrlf", "core.eol",
    "core.filemode", "core.ignorecase", "core.longpaths", "core.precomposeunicode", "core.quotepath", "core.safecrlf",
    "core.whitespace", "diff.", "fetch.", "format.", "gc.", "grep.", "init.defaultbranch", "log.", "merge.", "pull.",
    "push.", "rebase.", "rerere.", "stash.", "status.", "submodule.recurse", "tag.", "user.", "blame.",
];

/// Whether a setting on the command line makes git run or obey something.
fn sets_more_than_looks(command: &Command) -> bool {
    let pairs = command.args.iter().zip(command.args.iter().skip(1));
    let mut settings = pairs
        .filter(|(option, _)| option.text == "-c" || option.text == "--config")
        .filter_map(|(_, setting)| setting.text.split_once('='));
    settings.any(|(key, value)| {
        let key = key.to_ascii_lowercase();
        let quiet = !key.starts_with("remote.")
            && matches!(value, "" | "true" | "false" | "cat" | "less" | ":" | "vi" | "vim" | "nano" | "0" | "1");
        let runs = ["external", "textconv", "command", "driver", ".cmd", ".path", ".tool"]
            .iter()
            .any(|end| key.ends_with(end));
        (!LOOKS.iter().any(|start| key.starts_with(start)) || runs)
            && !quiet
            && !matches!(key.as_str(), "safe.directory" | "protocol.version" | "http.postbuffer" | "http.version")
    })
}

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let command = command(subject)?;
    let program = command.program.as_str();
    // `git commit -c x` reuses a message; only what stands before the verb is a setting.
    if program == "git"
        && command.args.first().is_some_and(|arg| arg.text.starts_with('-') || arg.text == "clone")
        && sets_more_than_looks(command)
    {
        return suspicious("a setting here changes what git runs or where it goes");
    }
    // `git bisect run npm test` is what it is for; running anything else that way is not.
    let by_git = command.via.last().is_some_and(|runner| runner == "git");
    let odd = ["bash", "dash", "env", "id", "ksh", "sh", "whoami", "zsh"].contains(&program);
    let usual = is_known(program, context) && !odd;
    if by_git && !usual && !command.hidden {
        return suspicious("git runs a program here that is not one of the usual ones");
    }
    // What it deletes is judged too, as long as it says what.
    let says = program != "rm" || command.args.iter().any(|arg| !arg.text.starts_with('-'));
    let expected = EXPECTED.contains(&program) || (FILES.contains(&program) && says);
    (command.hidden && !expected)
        .then(|| suspicious("a program runs here by way of another one's option or code"))
        .flatten()
}
