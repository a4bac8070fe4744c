//! Programs that run through an option or a setting of another program, or through code in another language.

use super::exfiltration::is_local;
use super::unknown_executable::is_known;
use super::{Context, command, suspicious, suspicious_if};
use crate::decide::subject::Subject;
use crate::programs::Does;
use crate::rules::Match;
use crate::shell::Command;

/// Programs that such options usually run, such as compressors and pagers.
const EXPECTED: &[&str] = &[
    ":", "brotli", "cc", "ccache", "clang", "clang++", "g++", "gcc", "sccache", "zig", "cc", "ccache", "clang",
    "clang++", "g++", "gcc", "sccache", "zig", "bzip2", "cat", "gzip", "lbzip2", "less", "lz4", "lzma", "lzop", "more",
    "pbzip2", "pigz", "pxz", "pzstd", "ssh", "unzstd", "xz", "zstd", "zstdmt", "true",
];

/// Commands by which the shell parser represents file accesses of inline code. The accesses are judged themselves.
const FILE_COMMANDS: &[&str] = &["cat", "cp", "mv", "rm", "tee"];

/// Prefixes of settings of git that neither run programs nor change remotes.
const HARMLESS_SETTINGS: [&str; 33] = [
    "core.commentchar", "advice.", "color.", "column.", "commit.gpgsign", "core.abbrev", "core.autocrlf", "core.eol",
    "core.filemode", "core.ignorecase", "core.longpaths", "core.precomposeunicode", "core.quotepath", "core.safecrlf",
    "core.whitespace", "diff.", "fetch.", "format.", "gc.", "grep.", "init.defaultbranch", "log.", "merge.", "pull.",
    "push.", "rebase.", "rerere.", "stash.", "status.", "submodule.recurse", "tag.", "user.", "blame.",
];

/// Whether a `-c` option of git sets something that may run a program or change a remote.
fn has_harmful_setting(command: &Command) -> bool {
    let pairs = command.args.iter().zip(command.args.iter().skip(1));
    let mut settings = pairs
        .filter(|(option, _)| option.text == "-c" || option.text == "--config")
        .filter_map(|(_, setting)| setting.text.split_once('='));
    settings.any(|(key, value)| {
        let key = key.to_ascii_lowercase();
        let harmless_value = !key.starts_with("remote.")
            && matches!(value, "" | "true" | "false" | "cat" | "less" | ":" | "vi" | "vim" | "nano" | "0" | "1");
        let runs = ["external", "textconv", "command", "driver", ".cmd", ".path", ".tool"]
            .iter()
            .any(|end| key.ends_with(end));
        (!HARMLESS_SETTINGS.iter().any(|start| key.starts_with(start)) || runs)
            && !harmless_value
            && !matches!(key.as_str(), "safe.directory" | "protocol.version" | "http.postbuffer" | "http.version")
    })
}

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let command = command(subject)?;
    let program = command.program.as_str();
    // `-c` is a setting only before the subcommand: `git commit -c x` reuses a message.
    if program == "git"
        && command.args.first().is_some_and(|arg| arg.text.starts_with('-') || arg.text == "clone")
        && has_harmful_setting(command)
    {
        return suspicious("a setting here changes what git runs or where it goes");
    }
    // Git runs programs for the user, such as `git bisect run npm test`. Shells and unknown programs are unusual there.
    let by_git = command.via.last().is_some_and(|runner| runner == "git");
    let unusual = ["bash", "dash", "env", "id", "ksh", "sh", "whoami", "zsh"].contains(&program);
    let usual = is_known(program, context) && !unusual;
    if by_git && !usual && !command.hidden {
        return suspicious("git runs a program here that is not one of the usual ones");
    }
    // A deletion is judged by its operands, if it has any.
    let has_operands = program != "rm" || command.args.iter().any(|arg| !arg.text.starts_with('-'));
    // Code that asks this machine, such as `requests.get("http://localhost:8000/")`.
    let asks_this_machine = program == "curl" && is_local(command, context);
    let expected =
        asks_this_machine || EXPECTED.contains(&program) || (FILE_COMMANDS.contains(&program) && has_operands);
    // Ordinary work that code starts, such as `node -e "execSync('npm test')"`, is judged by itself.
    let by_code =
        command.via.last().is_some_and(|runner| context.entry(runner).is_some_and(|entry| entry.language.is_some()));
    let has_verbs = context.entry(program).is_some_and(|entry| !entry.verbs.is_empty());
    let ordinary = by_code
        && has_verbs
        && !command.args.is_empty()
        && matches!(command.doing().does, Some(Does::Look | Does::Work))
        && !command.is_dynamic();
    suspicious_if(
        command.hidden && !expected && !ordinary,
        "a program runs here by way of another one's option or code",
    )
}
