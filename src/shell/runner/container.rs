//! Containers: `docker run`, `docker exec`, `docker compose exec`, `kubectl exec`.

use super::super::mount::{Bind, Mount};
use super::super::options::Options;
use super::super::{Arg, Command};
use super::{Inner, one};

const GLOBAL: Options =
    Options { short: "Hcl", long: &["host", "context", "config", "log-level", "namespace", "connection", "url"] };

/// The options of `run`, `create` and `exec` that take a value, of docker and podman.
const RUN: Options = Options {
    short: "aceuvwlhpm",
    long: &[
        "add-host",
        "annotation",
        "arch",
        "attach",
        "blkio-weight",
        "blkio-weight-device",
        "cap-add",
        "cap-drop",
        "cgroup-parent",
        "cgroupns",
        "cidfile",
        "cpu-count",
        "cpu-percent",
        "cpu-period",
        "cpu-quota",
        "cpu-rt-period",
        "cpu-rt-runtime",
        "cpu-shares",
        "cpus",
        "cpuset-cpus",
        "cpuset-mems",
        "detach-keys",
        "device",
        "device-cgroup-rule",
        "device-read-bps",
        "device-read-iops",
        "device-write-bps",
        "device-write-iops",
        "dns",
        "dns-option",
        "dns-search",
        "domainname",
        "entrypoint",
        "env",
        "env-file",
        "env-from-file",
        "expose",
        "gidmap",
        "gpus",
        "group-add",
        "health-cmd",
        "health-interval",
        "health-retries",
        "health-start-interval",
        "health-start-period",
        "health-timeout",
        "hostname",
        "hostuser",
        "image-volume",
        "index",
        "ip",
        "ip6",
        "ipc",
        "isolation",
        "label",
        "label-file",
        "link",
        "link-local-ip",
        "log-driver",
        "log-opt",
        "mac-address",
        "memory",
        "memory-reservation",
        "memory-swap",
        "memory-swappiness",
        "mount",
        "name",
        "net",
        "network",
        "network-alias",
        "oom-score-adj",
        "os",
        "personality",
        "pid",
        "pidfile",
        "pids-limit",
        "platform",
        "pod",
        "publish",
        "pull",
        "restart",
        "retry",
        "runtime",
        "sdnotify",
        "secret",
        "security-opt",
        "shm-size",
        "stop-signal",
        "stop-timeout",
        "storage-opt",
        "subgidname",
        "subuidname",
        "sysctl",
        "timeout",
        "tmpfs",
        "tz",
        "uidmap",
        "ulimit",
        "umask",
        "unsetenv",
        "user",
        "userns",
        "uts",
        "variant",
        "volume",
        "volume-driver",
        "volumes-from",
        "workdir",
    ],
};

const COMPOSE: Options =
    Options { short: "fp", long: &["file", "project-name", "profile", "env-file", "project-directory", "ansi"] };

const KUBECTL: Options = Options {
    short: "ncsf",
    long: &["namespace", "container", "context", "kubeconfig", "cluster", "server", "user", "filename"],
};

pub(super) fn docker(args: &[Arg]) -> Vec<Inner> {
    in_docker(args).map(in_container).unwrap_or_default()
}

pub(super) fn compose(args: &[Arg]) -> Vec<Inner> {
    in_compose(args).map(in_container).unwrap_or_default()
}

/// The words behind the verb where docker runs a command in a container.
fn in_docker(args: &[Arg]) -> Option<&[Arg]> {
    let rest = behind(&GLOBAL, args);
    let rest = rest.strip_prefix(&[Arg::literal("container")]).unwrap_or(rest);
    match rest.split_first().map(|(verb, rest)| (verb.text.as_str(), rest))? {
        ("run" | "exec" | "create", rest) => Some(rest),
        ("compose", rest) => in_compose(rest),
        _ => None,
    }
}

fn in_compose(args: &[Arg]) -> Option<&[Arg]> {
    let rest = behind(&COMPOSE, args);
    match rest.split_first().map(|(verb, rest)| (verb.text.as_str(), rest))? {
        ("run" | "exec", rest) => Some(rest),
        _ => None,
    }
}

/// What a container has of the host.
pub(in super::super) struct Container {
    /// Directories of the host that it may write to.
    pub mounts: Vec<Mount>,
    /// The directory of the container that its command runs in, where that lies in a mount.
    pub workdir: Option<String>,
}

/// The container that a command runs its words in, if it does.
pub(in super::super) fn container(command: &Command) -> Option<Container> {
    let args = match command.program.as_str() {
        "docker" | "podman" | "nerdctl" => in_docker(&command.args)?,
        "docker-compose" => in_compose(&command.args)?,
        _ => return None,
    };
    let options = args.get(..RUN.end(args)).unwrap_or_default();
    let volumes = RUN.values(options, "v volume").into_iter().filter_map(|value| Bind::of_volume(&value));
    let binds = RUN.values(options, "mount").into_iter().filter_map(|value| Bind::of_mount(&value));
    let mounts: Vec<Mount> = volumes.chain(binds).filter_map(|bind| bind.resolve(command.cwd.as_deref())).collect();
    let workdir = RUN
        .values(options, "w workdir")
        .pop()
        .filter(Arg::is_known)
        .map(|directory| directory.behind("=").unwrap_or(directory).text.to_string());
    let workdir = workdir.filter(|workdir| mounts.iter().any(|mount| mount.holds(workdir)));
    Some(Container { mounts, workdir })
}

pub(super) fn kubectl(args: &[Arg]) -> Vec<Inner> {
    let rest = behind(&KUBECTL, args);
    match rest.split_first().map(|(verb, rest)| (verb.text.as_str(), rest)) {
        Some(("exec" | "run" | "debug", rest)) => {
            let dashes = rest.iter().position(|arg| arg.text == "--");
            // The old form has no dashes: options, a pod, then the command.
            let start = dashes.unwrap_or_else(|| KUBECTL.end(rest));
            one(rest.iter().skip(start + 1).cloned().collect())
        }
        _ => Vec::new(),
    }
}

/// Options, then an image or a container, then a command.
fn in_container(args: &[Arg]) -> Vec<Inner> {
    let mut rest: Vec<Arg> = behind(&RUN, args).iter().skip(1).cloned().collect();
    if let Some(entry) = RUN.value(args, "entrypoint") {
        rest.insert(0, entry);
    }
    one(rest)
}

fn behind<'a>(options: &Options, args: &'a [Arg]) -> &'a [Arg] {
    args.get(options.end(args)..).unwrap_or_default()
}
