//! Files of this machine that a container is given or that are copied from or to it.

use super::super::Arg;
use super::super::mount::{self, Bind};
use super::super::options::Options;
use super::{Act, Noted};

const MOUNTS: Options = Options { short: "v", long: &["env-file", "mount", "secret", "volume"] };

const COPY: Options = Options { short: "", long: &["index"] };

/// `docker run -v source:target`, `--mount source=…`: what is given can be read.
pub(super) fn mounts(noted: &mut Noted<'_>) {
    let command = noted.command;
    let Some((verb, behind)) = mount::find_verb(&command.program, &command.args) else { return };
    if verb == "cp" {
        return copy(noted, behind);
    }
    if noted.command.args.iter().any(|arg| matches!(arg.text.as_str(), "build" | "bake")) {
        contexts(noted);
    }
    let args = &command.args;
    let volumes = MOUNTS.values(args, "v volume").into_iter().filter_map(|value| Bind::from_volume(&value));
    noted.all(Act::Read, &MOUNTS.values(args, "env-file"));
    let mounts = MOUNTS.values(args, "mount secret").into_iter().filter_map(|value| Bind::from_mount(&value));
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
fn copy(noted: &mut Noted<'_>, args: &[Arg]) {
    let is_local =
        |word: &Arg| word.text != "-" && (!word.text.contains(':') || word.text.starts_with(['/', '.', '~']));
    let operands = COPY.operands(args);
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
