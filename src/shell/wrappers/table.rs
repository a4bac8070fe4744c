//! The table: one row a program that is made to run others.

use super::super::options::Options;

/// Where in the arguments the command begins.
pub(super) enum Shape {
    /// Behind the options and this many operands.
    Command(usize),
    /// The same, joined with blanks and read by a shell.
    Text(usize),
    /// The value of this option, before any operand, is shell text; where it is missing, as `Command(0)`.
    Before(&'static str),
    /// The value of this option, wherever it stands, is shell text; where it is missing, as `Command`.
    Either(usize, &'static str),
    /// The value of this option is shell text; where it is missing, nothing is run.
    OnlyOption(&'static str),
}

pub(super) struct Row {
    pub names: &'static [&'static str],
    pub options: Options,
    pub shape: Shape,
}

const fn row(names: &'static [&'static str], short: &'static str, long: &'static [&'static str], shape: Shape) -> Row {
    Row { names, options: Options { short, long }, shape }
}

/// Programs whose options come first and whose command is the rest.
pub(super) const ROWS: [Row; 42] = [
    row(
        &["builtin", "nohup", "setsid", "unbuffer", "torsocks", "torify", "dbus-run-session"],
        "",
        &[],
        Shape::Command(0),
    ),
    row(&["busybox", "toybox"], "", &[], Shape::Command(0)),
    row(&["exec"], "a", &[], Shape::Command(0)),
    row(&["time", "gtime"], "fo", &["format", "output"], Shape::Command(0)),
    row(&["nice"], "n", &["adjustment"], Shape::Command(0)),
    row(&["ionice"], "cnpPu", &["class", "classdata"], Shape::Command(0)),
    row(&["chrt"], "pTDP", &[], Shape::Command(1)),
    row(&["taskset"], "p", &[], Shape::Command(1)),
    row(&["stdbuf"], "ioe", &["input", "output", "error"], Shape::Command(0)),
    row(&["timeout", "gtimeout"], "ks", &["kill-after", "signal"], Shape::Command(1)),
    row(&["chroot"], "", &["userspec", "groups"], Shape::Command(1)),
    row(&["doas"], "Cu", &[], Shape::Command(0)),
    row(
        &["sudo"],
        "CDghpRrTtUu",
        &["user", "group", "host", "prompt", "chdir", "chroot", "role", "type", "other-user", "command-timeout"],
        Shape::Command(0),
    ),
    row(&["pkexec"], "", &["user"], Shape::Command(0)),
    row(&["unshare"], "SGRwl", &["root", "wd", "setuid", "setgid", "map-user", "map-group"], Shape::Command(0)),
    row(&["nsenter"], "tSGw", &["target", "setuid", "setgid"], Shape::Command(0)),
    row(&["strace", "ltrace"], "abeEIoOpPsSuUX", &["trace", "output"], Shape::Command(0)),
    row(&["caffeinate"], "tw", &[], Shape::Command(0)),
    row(&["faketime"], "f", &[], Shape::Command(1)),
    row(&["proxychains", "proxychains4"], "f", &[], Shape::Command(0)),
    row(&["firejail"], "", &[], Shape::Command(0)),
    row(
        &["systemd-run"],
        "pEHMu",
        &["property", "unit", "slice", "uid", "gid", "setenv", "working-directory"],
        Shape::Command(0),
    ),
    row(&["xvfb-run"], "efnps", &["server-num", "server-args", "error-file"], Shape::Command(0)),
    row(&["entr"], "", &[], Shape::Command(0)),
    row(&["watch"], "n", &["interval"], Shape::Text(0)),
    row(&["ssh"], "BbcDEeFIiJLlmOopQRSWw", &[], Shape::Text(1)),
    row(&["sshpass"], "pfdP", &[], Shape::Command(0)),
    row(&["flock"], "wEc", &["timeout", "wait", "conflict-exit-code", "command"], Shape::Either(1, "c command")),
    row(
        &["su"],
        "cCgGsw",
        &["command", "group", "shell", "session-command"],
        Shape::OnlyOption("c command session-command"),
    ),
    row(&["sg", "newgrp"], "c", &["command"], Shape::OnlyOption("c command")),
    row(&["runuser"], "cugGsw", &["command", "user", "group", "shell"], Shape::Either(0, "c command")),
    row(
        &["script"],
        "cEIOBTmt",
        &["command", "log-in", "log-out", "log-io", "log-timing"],
        Shape::Either(1, "c command"),
    ),
    row(
        &["npx"],
        "pcw",
        &["cache", "call", "loglevel", "package", "prefix", "registry", "userconfig", "workspace"],
        Shape::Before("c call"),
    ),
    row(&["bunx", "pnpx"], "p", &["package"], Shape::Command(0)),
    row(&["uvx"], "pw", &["from", "with", "python", "index-url"], Shape::Command(0)),
    row(&["direnv"], "", &[], Shape::Command(2)),
    row(&["rlwrap"], "abcCDefFgHlmMnNoOPqrRsSvwz", &[], Shape::Command(0)),
    row(&["arch"], "e", &[], Shape::Command(0)),
    row(&["catchsegv", "fakeroot", "eatmydata", "winpty", "linux64", "linux32"], "", &[], Shape::Command(0)),
    row(&["setarch"], "", &[], Shape::Command(1)),
    row(&["prlimit", "setpriv", "gosu", "valgrind"], "p", &[], Shape::Command(0)),
    row(&["shx", "esno", "heaptrack", "numactl"], "CNm", &[], Shape::Command(0)),
];

/// The row of a program.
pub(super) fn row_of(program: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.names.contains(&program))
}

/// The options by which a runner works in another directory.
pub(super) fn directory(program: &str) -> &'static str {
    match program {
        "sudo" => "D chdir",
        "systemd-run" => "working-directory",
        "unshare" | "nsenter" => "w wd",
        _ => "none",
    }
}

/// Programs that are made to run others, besides those in the table, shells and containers.
pub(super) const RUNNERS: [&str; 68] = [
    "zellij", "lerna", "nx", "turbo", "pipenv", "devbox", "pixi", "volta", "fnm", "foreman", "yarnpkg", "hyperfine",
    "env-cmd", "cross-env-shell", "bfs", "tmux", "screen", "cross-env", "dotenv", "concurrently", "rustup", "pyenv",
    "conda", "mamba", "opam", "stack", "nvm", "tox", "rbenv", "asdf", "perf", "bundler", "hatch", ".", "alias", "bun",
    "bundle", "command", "docker", "docker-compose", "env", "eval", "fd", "fdfind", "find", "gfind", "gxargs",
    "kubectl", "mise", "nerdctl", "npm", "oc", "parallel", "pdm", "pipx", "pnpm", "podman", "poetry", "rune", "rye",
    "source", "trap", "uv", "xargs", "yarn", "watch", "time", "npx",
];
