//! Containers: the verb of `docker` and its like, and bind mounts: directories of the host that a container sees under
//! other names.

use super::Arg;
use super::options::Options;
use crate::path::Place;
use crate::path::{AbsPath, meet};
use crate::shell::effects::Target;
use compact_str::CompactString;

/// The options before the verb that take a value, of docker, podman and nerdctl.
const DOCKER_OPTIONS: Options = Options {
    short: "Hclan",
    long: &[
        "address", "cgroup-manager", "cni-netconfpath", "cni-path", "config", "conmon", "connection", "context",
        "data-root", "events-backend", "hooks-dir", "host", "hosts-dir", "identity", "imagestore", "log-level",
        "module", "namespace", "network-cmd-path", "network-config-dir", "out", "root", "runroot", "runtime",
        "runtime-flag", "snapshotter", "ssh", "storage-driver", "storage-opt", "tlscacert", "tlscert", "tlskey",
        "tmpdir", "url", "volumepath",
    ],
};

const COMPOSE_OPTIONS: Options = Options {
    short: "fp",
    long: &[
        "ansi", "env-file", "file", "parallel", "profile", "progress", "project-directory", "project-name", "workdir",
    ],
};

/// The verb by which `docker` and its like run a command, build or copy, and the words behind it. Options that are not
/// known here may take a value.
pub(super) fn find_verb<'a>(program: &str, args: &'a [Arg]) -> Option<(&'a str, &'a [Arg])> {
    let is_verb = |word: &str| matches!(word, "run" | "exec" | "create" | "cp" | "build");
    let is_group = |word: &str| matches!(word, "container" | "image" | "compose" | "buildx" | "builder");
    let options = match program {
        "docker" | "podman" | "nerdctl" => &DOCKER_OPTIONS,
        "docker-compose" => &COMPOSE_OPTIONS,
        _ => return None,
    };
    let (mut options, mut rest) = (options, args);
    loop {
        let at = options.verb(rest, |word| is_verb(word) || is_group(word))?;
        let word = rest.get(at)?.text.as_str();
        rest = rest.get(at + 1..).unwrap_or_default();
        if is_verb(word) {
            return Some((word, rest));
        }
        options = if word == "compose" { &COMPOSE_OPTIONS } else { &Options::NONE };
    }
}

/// A directory of the host that a container may write to, and where the container sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// `None` where that cannot be known: any path may lead there.
    target: Option<AbsPath>,
    source: Target,
    /// The directory of the host that words of the container are resolved in, as the container's own is not known.
    cwd: Option<AbsPath>,
}

/// A bind mount as an option names it.
pub(super) struct Bind {
    /// What is mounted, on the host.
    pub source: Arg,
    /// Where, in the container.
    target: Option<Arg>,
    read_only: bool,
}

impl Bind {
    /// The value of `--volume`: `source:target`, `source:target:ro`. A name without a path is a volume.
    pub fn from_volume(value: &Arg) -> Option<Bind> {
        let value = value.behind("=").unwrap_or_else(|| value.clone());
        let mut parts = split(&value, ':').into_iter();
        let source = parts.next()?;
        let target = parts.next();
        // Where the word ends is not known either.
        if target.is_none() && source.is_known() {
            return None;
        }
        let mut read_only = false;
        for option in parts.flat_map(|options| split(&options, ',')) {
            match option.text.as_str() {
                "ro" | "O" => read_only = true,
                "rw" => read_only = false,
                _ => {}
            }
        }
        is_source(&source).then_some(Bind { source, target, read_only })
    }

    /// The value of `--mount`: `key=value` in any order, separated by commas, each perhaps in quotes.
    pub fn from_mount(value: &Arg) -> Option<Bind> {
        let value = value.behind("=").unwrap_or_else(|| value.clone());
        let (mut source, mut device, mut target, mut read_only) = (None, None, None, false);
        for field in split(&value, ',') {
            let field = unquote(field);
            let mut key_and_value = split_once(&field, '=');
            let (key, value) = key_and_value.take().map_or((field, None), |(key, value)| (key, Some(value)));
            match (key.text.to_ascii_lowercase().as_str(), value) {
                ("source" | "src", value) => source = value.or(source),
                ("target" | "dst" | "destination", value) => target = value.or(target),
                ("readonly" | "ro", value) => {
                    // What Go's `ParseBool` takes for true.
                    let is_true = |value: &str| matches!(value, "1" | "t" | "T" | "true" | "TRUE" | "True");
                    read_only = value.is_none_or(|value| is_true(&value.text));
                }
                // The local driver binds a directory that is named as its device.
                ("volume-opt", Some(option)) => device = option.behind("device=").or(device),
                _ => {}
            }
        }
        // The word may name a source where it cannot be known.
        let source = device.or(source).or_else(|| Some(value.clone()).filter(|value| !value.is_known()))?;
        Some(Bind { source, target, read_only })
    }

    /// The mount for a command of the host that runs in `cwd`; `None` where nothing of the host can be written by it.
    pub fn resolve(&self, cwd: Option<&str>) -> Option<Mount> {
        if self.read_only || !is_source(&self.source) {
            return None;
        }
        let target = match &self.target {
            Some(target) if !target.is_known() => None,
            Some(target) if target.text.starts_with('/') => Some(AbsPath::resolve_in(&target.text, "/", None)),
            None if !self.source.is_known() => None,
            Some(_) | None => return None,
        };
        let cwd_path = cwd.map(|cwd| AbsPath::resolve_in(cwd, "/", None));
        Some(Mount { target, source: Target::of(&self.source, cwd), cwd: cwd_path })
    }
}

/// Whether a word names a directory of the host, or may. Another name is that of a volume.
fn is_source(source: &Arg) -> bool {
    !source.is_known() || source.text.contains('/') || source.text.starts_with(['.', '~'])
}

/// What a path in a container is on the host.
#[derive(Debug, Default)]
pub(super) struct HostTargets {
    /// The directories and files of the host.
    pub targets: Vec<Target>,
    /// It may also be something of the container itself.
    pub contained: bool,
}

/// Maps a path of a container to the host. A path that holds a mount counts as the mount where what lies below is
/// concerned too.
pub(super) fn map_to_host(mounts: &[Mount], target: &Target, recursive: bool) -> HostTargets {
    let Some(path) = target.path.as_ref().filter(|_| !mounts.is_empty()) else {
        return HostTargets { contained: true, ..HostTargets::default() };
    };
    let names = path.components();
    let at = |mount: &Mount| mount.target.as_ref().map(|target| target.components().len());
    let along = |mount: &&Mount| {
        let target = mount.target.as_ref().map(AbsPath::components);
        target.is_some_and(|target| names.iter().zip(target).all(|(a, b)| meet(a.as_bytes(), b.as_bytes())))
    };
    let (within, above): (Vec<&Mount>, Vec<&Mount>) =
        mounts.iter().filter(along).partition(|mount| at(mount) <= Some(names.len()));
    // The innermost mount is the one that is seen.
    let depth = within.iter().filter_map(|mount| at(mount)).max();
    let within = within.into_iter().filter(|mount| at(mount) == depth);
    let mut found = HostTargets {
        targets: within.map(|mount| mount.host_target(names, depth.unwrap_or_default(), target.open)).collect(),
        contained: false,
    };
    let wild = |name: &CompactString| name.contains(['*', '?', '[']);
    found.contained = found.targets.is_empty() || names.iter().take(depth.unwrap_or_default()).any(wild);
    let recursive = recursive || target.open;
    if recursive {
        found.targets.extend(above.into_iter().map(|mount| mount.source.clone()));
    }
    if found.contained {
        found.targets.extend(mounts.iter().filter_map(|mount| mount.map_relative(names, recursive, target.open)));
    }
    found
}

/// Whether a path of the host can be reached by way of these mounts.
pub(super) fn reaches(mounts: &[Mount], path: &AbsPath) -> bool {
    let sources = mounts.iter().filter_map(|mount| mount.source.path.as_ref());
    sources.into_iter().any(|source| path.components().starts_with(source.components()))
}

impl Mount {
    /// What a path may be on the host where the mount may be anywhere, or the path may be a word that the container
    /// resolves in its root or in the directory that holds the mount.
    fn map_relative(&self, names: &[CompactString], recursive: bool, open: bool) -> Option<Target> {
        let Some(target) = &self.target else {
            return Some(Target { open: true, ..self.source.clone() });
        };
        let word = names.strip_prefix(self.cwd.as_ref()?.components())?;
        let target = target.components();
        let leads = |start: usize| {
            let rest = target.get(start..).unwrap_or_default();
            word.iter().zip(rest).all(|(a, b)| meet(a.as_bytes(), b.as_bytes()))
                && (recursive || rest.len() <= word.len())
        };
        // Two starts and no more: trying each would take steps in proportion to the product of the lengths.
        let starts = [0, target.len().saturating_sub(1)];
        let start = starts.into_iter().find(|start| leads(*start)).filter(|_| !word.is_empty())?;
        Some(self.host_target(word, target.len() - start, open))
    }

    /// The path on the host of what has these names in the container, of which so many lead to the mount.
    fn host_target(&self, names: &[CompactString], depth: usize, open: bool) -> Target {
        let rest = names.get(depth..).unwrap_or_default();
        if self.source.open || self.source.path.is_none() {
            let text = format!("{}/{}", self.source.text, rest.join("/"));
            return Target { text, ..self.source.clone() };
        }
        let source = self.source.path.as_ref().map(String::from).unwrap_or_default();
        let path = AbsPath::resolve(&format!("{source}/{}", rest.join("/")), &Place::default());
        Target { text: path.to_string(), path: Some(path), open }
    }
}

/// The parts of a word between separators.
fn split(word: &Arg, separator: char) -> Vec<Arg> {
    let mut parts = Vec::new();
    let mut from = 0;
    for part in word.text.split(separator) {
        parts.push(slice_arg(word, from, from + part.len()));
        from += part.len() + separator.len_utf8();
    }
    parts
}

fn split_once(word: &Arg, separator: char) -> Option<(Arg, Arg)> {
    let at = word.text.find(separator)?;
    Some((slice_arg(word, 0, at), slice_arg(word, at + separator.len_utf8(), word.text.len())))
}

fn unquote(word: Arg) -> Arg {
    let inner = word.text.strip_prefix('"').is_some_and(|rest| rest.ends_with('"'));
    if inner { slice_arg(&word, 1, word.text.len() - 1) } else { word }
}

/// The characters of a word from one place to another.
fn slice_arg(word: &Arg, from: usize, to: usize) -> Arg {
    let known = word.known.filter(|known| *known < to).map(|known| known.saturating_sub(from));
    Arg { text: word.text.get(from..to).unwrap_or_default().into(), known, glob: word.glob }
}

#[cfg(test)]
#[path = "../../tests/unit/shell/mount.rs"]
mod tests;
