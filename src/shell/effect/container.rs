//! Directories of this machine that a container is given.

use super::super::Arg;
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
    let volumes = MOUNTS.values(args, "v volume").into_iter().filter_map(|value| {
        let value = value.behind("=").unwrap_or(value);
        let end = value.text.find(':')?;
        // A name without a slash is a volume.
        Some(cut(&value, end)).filter(|source| source.text.contains('/') || source.text.starts_with('~'))
    });
    noted.all(Act::Read, &MOUNTS.values(args, "env-file"));
    let mounts = MOUNTS.values(args, "mount secret").into_iter().flat_map(|value| {
        let parts: Vec<Arg> = value.text.split(',').map(Arg::literal).collect();
        parts.into_iter().filter_map(|part| part.behind("source=").or_else(|| part.behind("src="))).collect::<Vec<_>>()
    });
    let sources: Vec<Arg> = volumes.chain(mounts).collect();
    // Of the root it is everything, which is judged as that.
    for source in sources.iter().filter(|source| source.text != "/") {
        noted.take_down(Act::Read, source, true);
    }
}

fn cut(value: &Arg, end: usize) -> Arg {
    let known = value.known.filter(|known| *known < end);
    Arg { text: value.text.get(..end).unwrap_or_default().into(), known, glob: false }
}
