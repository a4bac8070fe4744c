//! Bind mounts: directories of the host that a container sees under other names.

use super::Arg;
use super::effect::Target;
use crate::event::Place;
use crate::path::{AbsPath, meet};
use compact_str::CompactString;

/// A directory of the host that a container may write to, and where the container sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    target: AbsPath,
    source: Target,
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
    pub fn of_volume(value: &Arg) -> Option<Bind> {
        let value = value.behind("=").unwrap_or_else(|| value.clone());
        let mut parts = split(&value, ':').into_iter();
        let (source, target) = (parts.next()?, parts.next()?);
        let read_only = parts.any(|options| options.text.split(',').any(|option| matches!(option, "ro" | "O")));
        is_path(&source.text).then_some(Bind { source, target: Some(target), read_only })
    }

    /// The value of `--mount`: `key=value` in any order, separated by commas, each perhaps in quotes.
    pub fn of_mount(value: &Arg) -> Option<Bind> {
        let value = value.behind("=").unwrap_or_else(|| value.clone());
        let (mut source, mut target, mut read_only) = (None, None, false);
        for field in split(&value, ',') {
            let field = unquoted(field);
            let mut key_and_value = split_once(&field, '=');
            let (key, value) = key_and_value.take().map_or((field, None), |(key, value)| (key, Some(value)));
            match (key.text.to_ascii_lowercase().as_str(), value) {
                ("source" | "src", value) => source = value.or(source),
                ("target" | "dst" | "destination", value) => target = value.or(target),
                ("readonly" | "ro", value) => {
                    read_only = value.is_none_or(|value| !matches!(value.text.as_str(), "false" | "0"));
                }
                // The local driver binds a directory that is named as its device.
                ("volume-opt", Some(option)) => source = option.behind("device=").or(source),
                _ => {}
            }
        }
        Some(Bind { source: source?, target, read_only })
    }

    /// The mount for a command of the host that runs in `cwd`; `None` where nothing of the host can be written by it, or
    /// either side is unknown.
    pub fn resolve(&self, cwd: Option<&str>) -> Option<Mount> {
        let target = self.target.as_ref().filter(|target| target.is_known() && target.text.starts_with('/'))?;
        let source = Target::of(&self.source, cwd);
        let there = is_path(&self.source.text) && source.path.is_some() && !self.read_only;
        there.then(|| Mount { target: AbsPath::resolve_in(&target.text, "/", None), source })
    }
}

fn is_path(source: &str) -> bool {
    source.contains('/') || source.starts_with(['.', '~'])
}

/// What a path in a container is on the host.
#[derive(Debug, Default)]
pub(super) struct Hosted {
    /// The directories and files of the host.
    pub targets: Vec<Target>,
    /// It may also be something of the container itself.
    pub contained: bool,
}

/// Maps a path of a container to the host. A path that holds a mount counts as the mount where what lies below is
/// concerned too.
pub(super) fn on_host(mounts: &[Mount], target: &Target, deep: bool) -> Hosted {
    let Some(path) = target.path.as_ref().filter(|_| !mounts.is_empty()) else {
        return Hosted { contained: true, ..Hosted::default() };
    };
    let names = path.components();
    let along =
        |mount: &&Mount| names.iter().zip(mount.target.components()).all(|(a, b)| meet(a.as_bytes(), b.as_bytes()));
    let (within, above): (Vec<&Mount>, Vec<&Mount>) =
        mounts.iter().filter(along).partition(|mount| mount.target.components().len() <= names.len());
    // The innermost mount is the one that is seen.
    let depth = within.iter().map(|mount| mount.target.components().len()).max();
    let within = within.into_iter().filter(|mount| Some(mount.target.components().len()) == depth);
    let mut found =
        Hosted { targets: within.map(|mount| mount.hosted(names, target.open)).collect(), contained: false };
    let wild = |name: &CompactString| name.contains(['*', '?', '[']);
    found.contained = found.targets.is_empty() || names.iter().take(depth.unwrap_or_default()).any(wild);
    if deep || target.open {
        found.targets.extend(above.into_iter().map(|mount| mount.source.clone()));
    }
    found
}

/// Whether a path of the host can be reached by way of these mounts.
pub(super) fn reach(mounts: &[Mount], path: &AbsPath) -> bool {
    let sources = mounts.iter().filter_map(|mount| mount.source.path.as_ref());
    sources.into_iter().any(|source| path.components().starts_with(source.components()))
}

impl Mount {
    /// Whether a directory of the container is this mount or lies in it.
    pub(super) fn holds(&self, directory: &str) -> bool {
        let directory = AbsPath::resolve_in(directory, "/", None);
        directory.components().starts_with(self.target.components())
    }

    /// The path on the host of what has these names in the container.
    fn hosted(&self, names: &[CompactString], open: bool) -> Target {
        let rest = names.get(self.target.components().len()..).unwrap_or_default();
        if self.source.open {
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
        parts.push(part_of(word, from, from + part.len()));
        from += part.len() + separator.len_utf8();
    }
    parts
}

fn split_once(word: &Arg, separator: char) -> Option<(Arg, Arg)> {
    let at = word.text.find(separator)?;
    Some((part_of(word, 0, at), part_of(word, at + separator.len_utf8(), word.text.len())))
}

fn unquoted(word: Arg) -> Arg {
    let inner = word.text.strip_prefix('"').is_some_and(|rest| rest.ends_with('"'));
    if inner { part_of(&word, 1, word.text.len() - 1) } else { word }
}

/// The characters of a word from one place to another.
fn part_of(word: &Arg, from: usize, to: usize) -> Arg {
    let known = word.known.filter(|known| *known < to).map(|known| known.saturating_sub(from));
    Arg { text: word.text.get(from..to).unwrap_or_default().into(), known, glob: word.glob }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounts(volumes: &[&str], binds: &[&str]) -> Vec<Mount> {
        let volumes = volumes.iter().filter_map(|value| Bind::of_volume(&Arg::literal(*value)));
        let binds = binds.iter().filter_map(|value| Bind::of_mount(&Arg::literal(*value)));
        volumes.chain(binds).filter_map(|bind| bind.resolve(Some("/p"))).collect()
    }

    fn hosted(mounts: &[Mount], path: &str, deep: bool) -> (Vec<String>, bool) {
        let found = on_host(mounts, &Target::of(&Arg::literal(path), None), deep);
        (found.targets.into_iter().map(|target| target.text).collect(), found.contained)
    }

    #[test]
    fn the_innermost_mount_is_the_one_that_is_seen() {
        let mounts = mounts(&["/data:/h", "./x:/h/x/"], &[]);
        for (path, deep, targets, contained) in [
            ("/h", false, vec!["/data"], false),
            ("/h/a/b", false, vec!["/data/a/b"], false),
            ("/h/x/y", false, vec!["/p/x/y"], false),
            ("/hx", false, vec![], true),
            ("/", false, vec![], true),
            ("/", true, vec!["/data", "/p/x"], true),
            ("/h", true, vec!["/data", "/p/x"], false),
            ("/*/a", false, vec!["/data/a"], true),
        ] {
            let targets: Vec<String> = targets.into_iter().map(str::to_owned).collect();
            assert_eq!(hosted(&mounts, path, deep), (targets, contained), "{path}");
        }
    }

    #[test]
    fn options_in_any_order_name_the_same_mount() {
        for value in [
            "type=bind,source=/data,target=/h",
            "dst=/h,src=/data,type=bind",
            "type=bind,Source=/data,destination=/h,bind-propagation=rslave",
            "\"type=bind\",\"src=/data\",\"dst=/h\"",
            "readonly=false,src=/data,dst=/h",
            "type=volume,dst=/h,volume-opt=type=none,volume-opt=device=/data,volume-opt=o=bind",
        ] {
            assert_eq!(hosted(&mounts(&[], &[value]), "/h/a", false).0, ["/data/a"], "{value}");
        }
        for value in
            ["type=bind,src=/data,dst=/h,readonly", "ro,src=/data,dst=/h", "src=data,dst=/h", "type=tmpfs,dst=/h"]
        {
            assert_eq!(hosted(&mounts(&[], &[value]), "/h/a", false).0, [""; 0], "{value}");
        }
        for value in ["=/data:/h", "/data:/h:z", "/data:/h/"] {
            assert_eq!(hosted(&mounts(&[value], &[]), "/h/a", false).0, ["/data/a"], "{value}");
        }
        for value in ["data:/h", "/h", "/data:/h:ro", "/data:/h:z,ro"] {
            assert_eq!(hosted(&mounts(&[value], &[]), "/h/a", false).0, [""; 0], "{value}");
        }
    }
}
