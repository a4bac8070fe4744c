//! Files of this machine that a container is given or that are copied from or to it.

use super::super::Arg;
use super::super::mount::Bind;
use super::{Act, Noted};

/// `docker run -v source:target`, `--mount source=…`: what is given can be read.
pub(super) fn mounts(noted: &mut Noted<'_>) {
    let command = noted.command;
    if command.parsed.as_deref().is_some_and(|line| line.verb() == "cp") {
        return copy(noted, &command.operands());
    }
    if command.args.iter().any(|arg| matches!(arg.text.as_str(), "build" | "bake")) {
        contexts(noted);
    }
    // Compose fills in its own files with it.
    let is_compose =
        command.program.contains("compose") || command.args.first().is_some_and(|arg| arg.text == "compose");
    if !is_compose {
        noted.all(Act::Read, &command.values(&["--env-file"]));
    }
    let volumes = command.values(&["-v", "--volume"]).into_iter().filter_map(|value| Bind::from_volume(&value));
    let mounts = command.values(&["--mount", "--secret"]).into_iter().filter_map(|value| Bind::from_mount(&value));
    let sources: Vec<Arg> = volumes.chain(mounts).map(|bind| bind.source).collect();
    // Of the root it is everything, which is judged as that.
    for source in sources.iter().filter(|source| source.text != "/") {
        noted.take_down(Act::Read, source, true);
    }
}

/// `docker build ~`, `--build-context name=~`: the build can copy everything in the directory. Of the home directory and
/// those above it that is the keys too.
fn contexts(noted: &mut Noted<'_>) {
    let words: Vec<Arg> =
        noted.command.args.iter().flat_map(|arg| [arg.clone()].into_iter().chain(arg.behind_equals())).collect();
    let is_directory = |word: &&Arg| word.is_known() && (word.text.starts_with(['/', '.', '~']) && word.text != ".");
    for word in words.iter().filter(is_directory) {
        noted.take_down(Act::Read, word, true);
    }
}

/// `docker cp container:source target`, `docker cp source container:target`.
fn copy(noted: &mut Noted<'_>, operands: &[&Arg]) {
    let is_local =
        |word: &Arg| word.text != "-" && (!word.text.contains(':') || word.text.starts_with(['/', '.', '~']));
    let Some((target, sources)) = operands.split_last() else { return };
    for source in sources.iter().filter(|source| is_local(source)) {
        noted.take_down(Act::Read, source, true);
    }
    if !is_local(target) {
        return;
    }
    noted.take_down(Act::Write, target, true);
    // Into a directory it goes by its own name.
    for source in sources.iter().filter(|source| source.is_known() && target.is_known()) {
        if let Some(name) = source.text.trim_end_matches('/').rsplit(['/', ':']).next() {
            let text = format!("{}/{name}", target.text.trim_end_matches('/'));
            noted.take_down(Act::Write, &Arg { text: text.into(), known: None, glob: target.glob }, true);
        }
    }
}
