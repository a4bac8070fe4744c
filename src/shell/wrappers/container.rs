//! Containers: `docker run`, `docker exec`, `docker compose exec`, `kubectl exec`.

use super::super::mount::{self, Bind, Mount};
use super::super::options::Options;
use super::super::{Arg, Command};
use super::{Inner, one};

/// The options of `run`, `create` and `exec` that take a value, of docker and podman.
const RUN: Options = Options {
    short: "aceuvwlhpm",
    long: &[
        "add-host", "annotation", "arch", "attach", "blkio-weight", "blkio-weight-device", "cap-add", "cap-drop",
        "cgroup-parent", "cgroupns", "cidfile", "cpu-count", "cpu-percent", "cpu-period", "cpu-quota", "cpu-rt-period",
        "cpu-rt-runtime", "cpu-shares", "cpus", "cpuset-cpus", "cpuset-mems", "detach-keys", "device",
        "device-cgroup-rule", "device-read-bps", "device-read-iops", "device-write-bps", "device-write-iops", "dns",
        "dns-option", "dns-search", "domainname", "entrypoint", "env", "env-file", "env-from-file", "expose", "gidmap",
        "gpus", "group-add", "health-cmd", "health-interval", "health-retries", "health-start-interval",
        "health-start-period", "health-timeout", "hostname", "hostuser", "image-volume", "index", "ip", "ip6", "ipc",
        "isolation", "label", "label-file", "link", "link-local-ip", "log-driver", "log-opt", "mac-address", "memory",
        "memory-reservation", "memory-swap", "memory-swappiness", "mount", "name", "net", "network", "network-alias",
        "oom-score-adj", "os", "personality", "pid", "pidfile", "pids-limit", "platform", "pod", "publish", "pull",
        "restart", "retry", "runtime", "sdnotify", "secret", "security-opt", "shm-size", "stop-signal", "stop-timeout",
        "storage-opt", "subgidname", "subuidname", "sysctl", "timeout", "tmpfs", "tz", "uidmap", "ulimit", "umask",
        "unsetenv", "user", "userns", "uts", "variant", "volume", "volume-driver", "volumes-from", "workdir",
    ],
};

/// The options of the same that take none.
const FLAGS: [&str; 38] = [
    "build", "detach", "disable-content-trust", "dry-run", "env-host", "help", "http-proxy", "init", "interactive",
    "interactive-shell", "latest", "no-deps", "no-healthcheck", "no-hostname", "no-hosts", "no-TTY", "no-tty",
    "oom-kill-disable", "passwd", "privileged", "publish-all", "quiet", "quiet-build", "quiet-pull", "read-only",
    "read-only-tmpfs", "remove-orphans", "replace", "rm", "rmi", "rootfs", "service-ports", "sig-proxy", "systemd",
    "tls-verify", "transient", "tty", "use-aliases",
];

const KUBECTL: Options = Options {
    short: "ncsf",
    long: &["namespace", "container", "context", "kubeconfig", "cluster", "server", "user", "filename"],
};

pub(super) fn docker(args: &[Arg]) -> Vec<Inner> {
    behind_verb("docker", args).map(in_container).unwrap_or_default()
}

pub(super) fn compose(args: &[Arg]) -> Vec<Inner> {
    behind_verb("docker-compose", args).map(in_container).unwrap_or_default()
}

/// The words behind the verb where a command is run in a container.
fn behind_verb<'a>(program: &str, args: &'a [Arg]) -> Option<&'a [Arg]> {
    let (_, rest) = mount::find_verb(program, args).filter(|(verb, _)| matches!(*verb, "run" | "exec" | "create"))?;
    Some(rest)
}

/// What a container has of the host.
pub(in super::super) struct Container {
    /// Directories of the host that it may write to.
    pub mounts: Vec<Mount>,
    /// The directory of the container that its command runs in, where that is known and something is mounted.
    pub workdir: Option<String>,
}

/// The container that a command runs its words in, if it does.
pub(in super::super) fn container(command: &Command) -> Option<Container> {
    let args = behind_verb(&command.program, &command.args)?;
    let options = args.get(..last_end(args)).unwrap_or_default();
    let volumes = RUN.values(options, "v volume").into_iter().filter_map(|value| Bind::from_volume(&value));
    let binds = RUN.values(options, "mount").into_iter().filter_map(|value| Bind::from_mount(&value));
    let mounts: Vec<Mount> = volumes.chain(binds).filter_map(|bind| bind.resolve(command.cwd.as_deref())).collect();
    let workdir = RUN.values(options, "w workdir").pop().filter(Arg::is_known).filter(|_| !mounts.is_empty());
    let workdir = workdir.map(|directory| format!("/{}", directory.behind("=").unwrap_or(directory).text));
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

/// Options, then an image or a container, then a command. An option that is not known may take a value or none.
fn in_container(args: &[Arg]) -> Vec<Inner> {
    let (first, last) = (RUN.end(args), last_end(args));
    let run = |end: usize| {
        let mut rest: Vec<Arg> = args.iter().skip(end + 1).cloned().collect();
        if let Some(entry) = RUN.values(args.get(..end).unwrap_or_default(), "entrypoint").into_iter().next() {
            rest.insert(0, entry);
        }
        one(rest)
    };
    let mut inner = run(first);
    let is_command = args.get(last + 1).is_some_and(|word| !word.text.starts_with('-'));
    if last != first && is_command {
        inner.extend(run(last));
    }
    inner
}

/// Where the options end if each that is not known takes a value.
fn last_end(args: &[Arg]) -> usize {
    let mut end = RUN.end(args);
    loop {
        let before = end.checked_sub(1).and_then(|at| args.get(at)).map_or("", |arg| arg.text.as_str());
        let unknown = before.strip_prefix("--").is_some_and(|name| {
            !name.is_empty() && !name.contains('=') && !FLAGS.contains(&name) && !RUN.long.contains(&name)
        });
        let taken = args.get(end).is_some_and(|word| !word.text.starts_with('-'));
        if !unknown || !taken {
            return end;
        }
        end += 1 + RUN.end(args.get(end + 1..).unwrap_or_default());
    }
}

fn behind<'a>(options: &Options, args: &'a [Arg]) -> &'a [Arg] {
    args.get(options.end(args)..).unwrap_or_default()
}
