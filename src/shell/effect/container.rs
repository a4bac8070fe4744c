//! Directories of this machine that a container is given.

use super::super::Arg;
use super::super::mount::Bind;
use super::super::options::Options;
use super::{Act, Noted};

const MOUNTS: Options = Options { short: "v", long: &["env-file", "mount", "secret", "volume"] };

/// `docker run -v source:target`, `--mount source=…`: what is given can be read.
pub(super) fn mounts(noted: &mut Noted<'_>) {
    let args = &noted.command.args;
    let verb = args.iter().find(|arg| !arg.text.starts_with('-')).map_or("", |arg| arg.text.as_str());
    if verb == "cp" {
        let sources = args.iter().filter(|arg| !arg.text.starts_with('-')).skip(1).take(1);
        sources.filter(|arg| !arg.text.contains(':')).for_each(|source| noted.take_down(Act::Read, source, true));
        return;
    }
    let runs = args.iter().filter(|arg| !arg.text.starts_with('-')).take(4);
    if !runs.into_iter().any(|arg| matches!(arg.text.as_str(), "run" | "create" | "exec" | "build")) {
        return;
    }
    let volumes = MOUNTS.values(args, "v volume").into_iter().filter_map(|value| Bind::of_volume(&value));
    noted.all(Act::Read, &MOUNTS.values(args, "env-file"));
    let mounts = MOUNTS.values(args, "mount secret").into_iter().filter_map(|value| Bind::of_mount(&value));
    let sources: Vec<Arg> = volumes.chain(mounts).map(|bind| bind.source).collect();
    // Of the root it is everything, which is judged as that.
    for source in sources.iter().filter(|source| source.text != "/") {
        noted.take_down(Act::Read, source, true);
    }
}
