//! Bind mounts of containers.

use super::Arg;
use crate::path::Place;
use crate::path::{AbsPath, names_overlap};
use crate::shell::effects::Target;
use compact_str::CompactString;

/// A directory of the host that a container may write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The path in the container, or `None` if it is unknown and may be any.
    target: Option<AbsPath>,
    source: Target,
    /// The working directory on the host. Relative paths in the container are resolved against it, because the working
    /// directory of the container is unknown.
    cwd: Option<AbsPath>,
}

/// The container that a command runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// The directories of the host that it may write to.
    pub(super) mounts: Vec<Mount>,
    /// How it relates to the host.
    pub(super) kind: ContainerKind,
}

/// How a container relates to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContainerKind {
    /// It is made for the command, and has nothing of the host but its mounts.
    New,
    /// It may have more of the host or of earlier work than the line tells.
    Other,
    /// It has the files of the host: `podman unshare`.
    Host,
}

/// The value of an option that defines a bind mount.
pub(super) struct Bind {
    /// The directory on the host.
    pub source: Arg,
    /// The path in the container.
    target: Option<Arg>,
    read_only: bool,
}

impl Bind {
    /// Parses the value of `--volume`: `source:target`, `source:target:ro`. Returns `None` for a named volume.
    pub fn from_volume(value: &Arg) -> Option<Bind> {
        let value = value.behind("=").unwrap_or_else(|| value.clone());
        let mut parts = split(&value, ':').into_iter();
        let source = parts.next()?;
        let target = parts.next();
        // An unknown word may also contain the target.
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

    /// Parses the value of `--mount`: fields `key=value` in any order, separated by commas, optionally quoted.
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
                    // The values that Go's `ParseBool` accepts as true.
                    let is_true = |value: &str| matches!(value, "1" | "t" | "T" | "true" | "TRUE" | "True");
                    read_only = value.is_none_or(|value| is_true(&value.text));
                }
                // The local driver binds the directory that its option `device` components.
                ("volume-opt", Some(option)) => device = option.behind("device=").or(device),
                _ => {}
            }
        }
        // An unknown word may contain a source.
        let source = device.or(source).or_else(|| Some(value.clone()).filter(|value| !value.is_known()))?;
        Some(Bind { source, target, read_only })
    }

    /// Resolves the mount against the working directory `cwd` of the host. Returns `None` for a read-only mount or a volume.
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

/// Whether a word is, or may be, a directory of the host and not the name of a volume.
fn is_source(source: &Arg) -> bool {
    !source.is_known() || source.text.contains('/') || source.text.starts_with(['.', '~'])
}

/// The paths on the host that a path in a container may refer to.
#[derive(Debug, Default)]
pub(super) struct HostTargets {
    pub targets: Vec<Target>,
    /// The path may also refer to a file of the container itself.
    pub contained: bool,
}

/// Maps a path in a container to the host. If an access is recursive, a path above a mount includes the mount.
pub(super) fn map_to_host(mounts: &[Mount], target: &Target, recursive: bool) -> HostTargets {
    let Some(path) = target.path.as_ref().filter(|_| !mounts.is_empty()) else {
        return HostTargets { contained: true, ..HostTargets::default() };
    };
    let components = path.components();
    let depth_of = |mount: &Mount| mount.target.as_ref().map(|target| target.components().len());
    let overlaps = |mount: &&Mount| {
        let target = mount.target.as_ref().map(AbsPath::components);
        target
            .is_some_and(|target| components.iter().zip(target).all(|(a, b)| names_overlap(a.as_bytes(), b.as_bytes())))
    };
    let (within, above): (Vec<&Mount>, Vec<&Mount>) =
        mounts.iter().filter(overlaps).partition(|mount| depth_of(mount) <= Some(components.len()));
    // The innermost mount is in force.
    let depth = within.iter().filter_map(|mount| depth_of(mount)).max();
    let within = within.into_iter().filter(|mount| depth_of(mount) == depth);
    let mut found = HostTargets {
        targets: within.map(|mount| mount.host_target(components, depth.unwrap_or_default(), target.open)).collect(),
        contained: false,
    };
    let is_glob = |name: &CompactString| name.contains(['*', '?', '[']);
    found.contained = found.targets.is_empty() || components.iter().take(depth.unwrap_or_default()).any(is_glob);
    let recursive = recursive || target.open;
    if recursive {
        found.targets.extend(above.into_iter().map(|mount| mount.source.clone()));
    }
    if found.contained {
        found.targets.extend(mounts.iter().filter_map(|mount| mount.map_relative(components, recursive, target.open)));
    }
    found
}

/// Whether a path of the host is below one of these mounts.
pub(super) fn reaches(mounts: &[Mount], path: &AbsPath) -> bool {
    let sources = mounts.iter().filter_map(|mount| mount.source.path.as_ref());
    sources.into_iter().any(|source| path.components().starts_with(source.components()))
}

impl Mount {
    /// Whether its directory on the host is not known.
    pub fn is_unclear(&self) -> bool {
        self.source.open || self.source.path.is_none()
    }

    /// Maps a path whose relation to the mount is uncertain: the mount may be anywhere, or the path is relative and the
    /// container resolves it against its root or against the directory that contains the mount.
    fn map_relative(&self, components: &[CompactString], recursive: bool, open: bool) -> Option<Target> {
        let Some(target) = &self.target else {
            return Some(Target { open: true, ..self.source.clone() });
        };
        let relative = components.strip_prefix(self.cwd.as_ref()?.components())?;
        let target = target.components();
        let matches = |start: usize| {
            let rest = target.get(start..).unwrap_or_default();
            relative.iter().zip(rest).all(|(a, b)| names_overlap(a.as_bytes(), b.as_bytes()))
                && (recursive || rest.len() <= relative.len())
        };
        // Only these two starts: trying each would be quadratic.
        let starts = [0, target.len().saturating_sub(1)];
        let start = starts.into_iter().find(|start| matches(*start)).filter(|_| !relative.is_empty())?;
        Some(self.host_target(relative, target.len() - start, open))
    }

    /// Returns the path on the host of a path in the container, whose first `depth` components lead to the mount.
    fn host_target(&self, components: &[CompactString], depth: usize, open: bool) -> Target {
        let rest = components.get(depth..).unwrap_or_default();
        if self.is_unclear() {
            let text = format!("{}/{}", self.source.text, rest.join("/"));
            return Target { text, ..self.source.clone() };
        }
        let source = self.source.path.as_ref().map(String::from).unwrap_or_default();
        let path = AbsPath::resolve(&format!("{source}/{}", rest.join("/")), &Place::default());
        Target { text: path.to_string(), path: Some(path), open }
    }
}

/// Splits an argument at each separator.
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

/// Returns the part of an argument between two byte offsets.
fn slice_arg(word: &Arg, from: usize, to: usize) -> Arg {
    let known = word.known.filter(|known| *known < to).map(|known| known.saturating_sub(from));
    Arg { text: word.text.get(from..to).unwrap_or_default().into(), known, glob: word.glob }
}

#[cfg(test)]
#[path = "../../tests/unit/shell/mount.rs"]
mod tests;
