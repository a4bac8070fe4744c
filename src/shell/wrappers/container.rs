//! Containers. The catalogue says where in `docker run` the command begins; here are the entry point, which stands before
//! its words, and the mounts, whose values have a syntax of their own.

use super::super::mount::{Bind, Container, ContainerKind, Mount};
use super::super::{Arg, Command};
use super::{Inner, by_entry};
use crate::programs::code::lists;
use crate::programs::{CommandLine, Tail, roles};
use crate::verdict::limits::Meter;

/// The container that a command runs its words in, if it does, and the directory of the container that they run in,
/// where that is known and something is mounted.
pub(in super::super) fn container(command: &Command) -> Option<(Container, Option<String>)> {
    if !lists(&roles::CONTAINERS_ENGINES, &command.program) {
        return None;
    }
    let line = command.parsed.as_deref().filter(|line| line.tail != Some(Tail::Again))?;
    let values = |names: [&str; 2]| values(command, line, names);
    let volumes = values(["-v", "--volume"]).into_iter().map(|value| Bind::from_volume(&value));
    let binds = values(["--mount", "--mount"]).into_iter().map(|value| Bind::from_mount(&value));
    let binds: Vec<Option<Bind>> = volumes.chain(binds).collect();
    // A volume by name holds what earlier containers wrote.
    let has_volume = binds.iter().any(Option::is_none);
    let mounts: Vec<Mount> = binds.iter().flatten().filter_map(|bind| bind.resolve(command.cwd.as_deref())).collect();
    let workdir = values(["-w", "--workdir"]).pop().filter(Arg::is_known).filter(|_| !mounts.is_empty());
    let workdir = workdir.map(|directory| format!("/{}", directory.behind("=").unwrap_or(directory).text));
    let widens = |name: &str| lists(&roles::CONTAINERS_WIDENING, name);
    let is_unclear = mounts.iter().any(Mount::is_unclear);
    let is_wide = is_unclear
        || line.uses.iter().any(|used| used.option.is_some_and(widens))
        || command.has_flag(&["--privileged", "--rootfs"])
        || line.uses.iter().any(|used| used.doubtful);
    // A service of compose has the mounts of its file.
    let is_service = line.path.len() != 2 || command.program.ends_with("compose");
    let kind = match line.verb() {
        "unshare" => ContainerKind::Host,
        "run" if !has_volume && !is_wide && !is_service => ContainerKind::New,
        _ => ContainerKind::Other,
    };
    Some((Container { mounts, kind }, workdir))
}

/// What runs in the container: the command, behind the entry point if there is one.
pub(super) fn inner(command: &Command, meter: &Meter) -> Vec<Inner> {
    let mut inner = by_entry::inner(command, meter);
    // Variables of the container are none of the host.
    for inner in &mut inner {
        if let Inner::Command { env, .. } = inner {
            env.clear();
        }
    }
    let entry_point =
        command.parsed.as_deref().and_then(|line| values(command, line, ["--entrypoint"; 2]).into_iter().next());
    // An empty one removes that of the image.
    if let Some(entry_point) = entry_point.filter(|entry_point| !entry_point.text.is_empty()) {
        let run = inner.iter_mut().find_map(|inner| match inner {
            Inner::Command { args, .. } => Some(args),
            Inner::Text { .. } | Inner::PowerShell { .. } | Inner::Code { .. } => None,
        });
        match run {
            Some(args) => args.insert(0, entry_point),
            None => inner.push(Inner::command(vec![entry_point])),
        }
    }
    inner
}

/// The values of an option.
fn values(command: &Command, line: &CommandLine, names: [&str; 2]) -> Vec<Arg> {
    let used = line.uses.iter().filter(|used| used.option.is_some_and(|option| names.contains(&option)));
    used.filter_map(|used| command.value(used)).collect()
}
