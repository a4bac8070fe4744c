//! Containers: `docker run`, `docker exec`, `docker compose exec`, `kubectl exec`.

use super::super::Arg;
use super::super::options::Options;
use super::{Inner, one};

const GLOBAL: Options =
    Options { short: "Hcl", long: &["host", "context", "config", "log-level", "namespace", "connection", "url"] };

const RUN: Options = Options {
    short: "aceuvwlhpm",
    long: &[
        "add-host",
        "annotation",
        "attach",
        "cap-add",
        "cap-drop",
        "cgroup-parent",
        "cpus",
        "cpuset-cpus",
        "device",
        "dns",
        "entrypoint",
        "env",
        "env-file",
        "expose",
        "gpus",
        "group-add",
        "health-cmd",
        "hostname",
        "index",
        "ipc",
        "label",
        "link",
        "log-driver",
        "log-opt",
        "mac-address",
        "memory",
        "mount",
        "name",
        "net",
        "network",
        "pid",
        "platform",
        "publish",
        "pull",
        "restart",
        "runtime",
        "security-opt",
        "shm-size",
        "stop-signal",
        "tmpfs",
        "ulimit",
        "user",
        "userns",
        "volume",
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
    let rest = behind(&GLOBAL, args);
    let rest = rest.strip_prefix(&[Arg::literal("container")]).unwrap_or(rest);
    match rest.split_first().map(|(verb, rest)| (verb.text.as_str(), rest)) {
        Some(("run" | "exec" | "create", rest)) => in_container(rest),
        Some(("compose", rest)) => compose(rest),
        _ => Vec::new(),
    }
}

pub(super) fn compose(args: &[Arg]) -> Vec<Inner> {
    let rest = behind(&COMPOSE, args);
    match rest.split_first().map(|(verb, rest)| (verb.text.as_str(), rest)) {
        Some(("run" | "exec", rest)) => in_container(rest),
        _ => Vec::new(),
    }
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
