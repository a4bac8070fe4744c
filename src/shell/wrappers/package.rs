//! Package managers: the verbs that run a program, and the programs that they run by name.

use super::super::options::Options;
use super::super::{Arg, Command};
use super::cwd::moved;
use super::{Inner, one};

/// What a manager takes on its command line.
struct Manager {
    names: &'static [&'static str],
    options: Options,
    /// Options that name the directory that it works in.
    directory: &'static str,
    /// What `run` runs.
    run: Run,
}

/// What the word behind `run` names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    /// A script of the project.
    Script,
    /// A script of the project, else a program that a package has installed; also without `run`.
    Installed,
    /// The same, else any program.
    Any,
    /// A program.
    Program,
    /// A program, unless it stands alone.
    Either,
}

const fn manager(
    names: &'static [&'static str],
    short: &'static str,
    long: &'static [&'static str],
    directory: &'static str,
    run: Run,
) -> Manager {
    Manager { names, options: Options { short, long }, directory, run }
}

static MANAGERS: [Manager; 9] = [
    manager(
        &["npm"],
        "wpcC",
        &[
            "cache", "call", "globalconfig", "include", "location", "loglevel", "node-options", "omit", "otp",
            "package", "prefix", "registry", "scope", "script-shell", "tag", "userconfig", "workspace",
        ],
        "",
        Run::Script,
    ),
    manager(
        &["pnpm"],
        "CFp",
        &[
            "dir", "filter", "filter-prod", "loglevel", "package", "prefix", "registry", "reporter", "store-dir",
            "workspace-concurrency",
        ],
        "C dir prefix",
        Run::Installed,
    ),
    manager(
        &["yarn", "yarnpkg"],
        "pj",
        &[
            "cache-folder", "cwd", "exclude", "from", "include", "jobs", "modules-folder", "mutex", "network-timeout",
            "package", "registry",
        ],
        "cwd",
        Run::Installed,
    ),
    manager(&["bun"], "crFd", &["config", "cwd", "env-file", "filter", "preload"], "cwd", Run::Any),
    manager(&["bundle", "mise"], "C", &["cd", "gemfile"], "C cd", Run::Script),
    manager(
        &["uv"],
        "pwP",
        &[
            "cache-dir", "color", "config-file", "default-index", "directory", "env-file", "extra", "extra-index-url",
            "find-links", "from", "group", "index", "index-url", "no-group", "only-group", "package", "project",
            "python", "with", "with-editable", "with-requirements",
        ],
        "directory",
        Run::Program,
    ),
    manager(&["poetry"], "CP", &["directory", "project"], "C directory", Run::Program),
    manager(&["hatch"], "ep", &["cache-dir", "config", "data-dir", "env", "project"], "", Run::Either),
    manager(
        &["devbox", "pdm", "pipenv", "pipx", "pixi", "rye"],
        "pcL",
        &["config", "environment", "index-url", "lockfile", "manifest-path", "pip-args", "project", "python", "spec"],
        "",
        Run::Either,
    ),
];

/// Programs of packages that delete, or run others.
const INSTALLED: [&str; 22] = [
    "concurrently", "cross-env", "cross-env-shell", "del", "del-cli", "dotenv", "dotenv-cli", "env-cmd", "esno",
    "lerna", "node", "nodemon", "npx", "nx", "rimraf", "shx", "trash", "trash-cli", "ts-node", "tsx", "turbo",
    "wireit",
];

/// Programs of the system that do the same.
const SYSTEM: [&str; 20] = [
    "bash", "chmod", "chown", "cp", "curl", "dd", "env", "find", "git", "mv", "perl", "python", "python3", "rm",
    "rmdir", "ruby", "sh", "sudo", "xargs", "zsh",
];

/// `npm exec x`, `pnpm dlx x`, `uv run x`: the verb, its options, then a command.
pub(super) fn package_runner(command: &Command) -> Vec<Inner> {
    let Some(manager) = MANAGERS.iter().find(|manager| manager.names.contains(&command.program.as_str())) else {
        return Vec::new();
    };
    let args = command.args.as_slice();
    let verbs = [
        "exec", "x", "dlx", "run", "run-script", "rum", "urn", "tool", "explore", "workspace", "workspaces", "foreach",
        "recursive", "multi", "env", "script",
    ];
    let by_name = matches!(manager.run, Run::Installed | Run::Any);
    let is_verb = |word: &str| verbs.contains(&word) || (by_name && INSTALLED.contains(&word));
    let Some(at) = manager.options.verb(args, is_verb) else { return Vec::new() };
    let verb = args.get(at).map_or("", |arg| arg.text.as_str());
    let rest = args.get(at + 1..).unwrap_or_default();
    let within = args.get(..at + 1 + manager.options.end(rest)).unwrap_or_default();
    let directory = manager.options.values(within, manager.directory).pop();
    let mut inner = behind(manager, verb, rest, command);
    if let (Some(directory), false) = (directory, manager.directory.is_empty()) {
        inner.iter_mut().for_each(|inner| move_to(inner, &directory, command));
    }
    inner
}

fn behind(manager: &Manager, verb: &str, rest: &[Arg], command: &Command) -> Vec<Inner> {
    let inner = manager.options.behind(rest);
    let name = inner.first().map_or("", |arg| arg.text.as_str());
    let again = |args: &[Arg]| package_runner(&Command { args: args.into(), ..command.clone() });
    match verb {
        "exec" | "x" | "dlx" | "script" if manager.run != Run::Program => {
            match manager.options.value(rest, "c call").filter(|_| command.program != "bun") {
                Some(text) => vec![Inner::text(text.text)],
                // `mise x node@20 -- cmd`
                None if command.program == "mise" && rest.iter().any(|arg| arg.text == "--") => {
                    one(rest.iter().skip_while(|arg| arg.text != "--").skip(1).cloned().collect())
                }
                None => line_or_command(inner),
            }
        }
        "tool" => again(rest),
        // `npm explore package -- command`
        "explore" => {
            let package =
                inner.first().map(|arg| Arg { text: format!("node_modules/{}", arg.text).into(), ..arg.clone() });
            let mut run = line_or_command(rest.get(rest.len().min(1)..).map(behind_dashes).unwrap_or_default());
            package.iter().for_each(|package| run.iter_mut().for_each(|inner| move_to(inner, package, command)));
            run
        }
        // `yarn workspace name verb …`, `yarn workspaces foreach -A verb …`
        "workspace" => again(inner.get(1..).unwrap_or_default()),
        "workspaces" | "foreach" | "recursive" | "multi" | "env" => again(inner),
        _ if INSTALLED.contains(&verb) => one([&[Arg::literal(verb)], rest].concat()),
        _ => match manager.run {
            Run::Script => Vec::new(),
            Run::Installed | Run::Any => {
                let runs = INSTALLED.contains(&name) || (manager.run == Run::Any && SYSTEM.contains(&name));
                if runs { one(inner.to_vec()) } else { Vec::new() }
            }
            Run::Either => {
                let inner: Vec<Arg> = inner.iter().skip_while(|arg| arg.text.starts_with('+')).cloned().collect();
                let alone = inner.len() == 1 && !name.contains(['/', ' ', '.']);
                let inner =
                    inner.iter().enumerate().map(|(at, arg)| if at == 0 { unprefixed(arg) } else { arg.clone() });
                if alone { Vec::new() } else { line_or_command(&inner.collect::<Vec<_>>()) }
            }
            // `uv run file.py`
            Run::Program if name.ends_with(".py") => one([&[Arg::literal("python3")], inner].concat()),
            Run::Program => line_or_command(inner),
        },
    }
}

/// `hatch run env:command`
fn unprefixed(arg: &Arg) -> Arg {
    let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte));
    let named = arg.text.split_once(':').filter(|(name, rest)| plain(name) && !rest.starts_with("//"));
    named.and_then(|(name, _)| arg.behind(&format!("{name}:"))).unwrap_or_else(|| arg.clone())
}

fn behind_dashes(args: &[Arg]) -> &[Arg] {
    match args.first() {
        Some(arg) if arg.text == "--" => args.get(1..).unwrap_or_default(),
        _ => args,
    }
}

/// One word with blanks is a line.
pub(super) fn line_or_command(args: &[Arg]) -> Vec<Inner> {
    match args {
        [only] if only.text.contains(' ') => vec![Inner::text(only.text.clone())],
        [name, rest @ ..] => one([&[unversioned(name)], rest].concat()),
        [] => Vec::new(),
    }
}

/// `rimraf@5` is `rimraf`, of some version.
pub(super) fn unversioned(name: &Arg) -> Arg {
    let at = name.text.find('@').filter(|at| *at > 0 && name.is_known() && !name.text.contains(['/', ':']));
    at.and_then(|at| name.text.get(..at)).map_or_else(|| name.clone(), Arg::literal)
}

/// `deno run npm:rimraf x`
pub(super) fn of_registry(args: &[Arg]) -> Vec<Inner> {
    let named = |arg: &Arg| arg.behind("npm:").or_else(|| arg.behind("jsr:"));
    let Some((at, name)) = args.iter().enumerate().find_map(|(at, arg)| Some((at, named(arg)?))) else {
        return Vec::new();
    };
    one([&[unversioned(&name)], args.get(at + 1..).unwrap_or_default()].concat())
}

fn move_to(inner: &mut Inner, directory: &Arg, command: &Command) {
    match inner {
        Inner::Command { cwd, .. } => *cwd = moved(Some(directory.clone()), command),
        Inner::Text { text, .. } => *text = super::cwd::text_in(Some(directory), std::mem::take(text)),
        Inner::PowerShell { .. } | Inner::Code { .. } => {}
    }
}
