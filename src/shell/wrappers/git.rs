//! `git`: aliases, and settings whose value is a program (`-c core.pager=x`, `config alias.x '!y'`), which have a syntax of
//! their own. The options and verbs that run something are in the catalogue.

use super::super::options::Options;
use super::super::{Arg, Command};
use super::{Inner, by_entry, quoted};
use crate::programs::code::lists;
use crate::programs::roles;
use crate::shell::effects::Target;
use crate::verdict::limits::Meter;
use std::rc::Rc;

const GLOBAL: Options = Options {
    short: "Cc",
    long: &["git-dir", "work-tree", "namespace", "exec-path", "super-prefix", "config-env", "attr-source", "list-cmds"],
};

/// The words of a `git` command behind its global options.
pub(in super::super) fn behind_global(args: &[Arg]) -> &[Arg] {
    GLOBAL.behind(args)
}

/// The directory that a `git` command works in, each `-C` from the one before, and the work tree where it is told one.
pub(in super::super) fn works_in(command: &Command) -> (Option<Rc<str>>, Option<Arg>) {
    let args = command.args.as_slice();
    let global = args.get(..GLOBAL.end(args)).unwrap_or_default();
    let cwd = GLOBAL.values(global, "C").iter().fold(command.cwd.clone(), |cwd, directory| {
        let target = Target::of(directory, cwd.as_deref());
        target.path.filter(|_| !target.open).map(|path| Rc::from(path.to_string()))
    });
    let set = command.env.iter().rev().find(|(name, _)| name == "GIT_WORK_TREE").map(|(_, value)| match value {
        Some(value) => Arg::literal(value.clone()),
        None => super::later("$GIT_WORK_TREE"),
    });
    (cwd, GLOBAL.values(global, "work-tree").pop().or(set))
}

pub(super) fn git(command: &Command, meter: &Meter) -> Vec<Inner> {
    let args = command.args.as_slice();
    let start = GLOBAL.end(args);
    let (global, rest) = args.split_at_checked(start).unwrap_or((args, &[]));
    let mut found = Vec::new();
    let mut alias = None;
    for (key, value) in settings(global) {
        let key = key.to_ascii_lowercase();
        let verb = rest.first().map_or("", |arg| arg.text.as_str());
        match key.strip_prefix("alias.") {
            Some(name) => match value.strip_prefix('!') {
                // What follows the alias is added to its text.
                Some(text) if name.eq_ignore_ascii_case(verb) => {
                    let more = rest.iter().skip(1).map(|arg| quoted(&arg.text)).collect::<Vec<_>>().join(" ");
                    found.push(Inner::text(format!("{text} {more}")));
                }
                Some(text) => found.push(Inner::text(text)),
                None if name.eq_ignore_ascii_case(verb) => alias = Some(value.to_owned()),
                None => {}
            },
            None if is_program(&key) => found.extend(program(value)),
            None => {}
        }
    }
    if let Some(expansion) = alias {
        // An alias of git words: the settings stay, since it may name another alias.
        let settings = global.iter().map(|arg| quoted(&arg.text));
        let more = rest.iter().skip(1).map(|arg| quoted(&arg.text));
        let words = settings.chain([expansion]).chain(more).collect::<Vec<_>>().join(" ");
        found.push(Inner::text(format!("git {words}")));
    }
    // `git clone -c core.sshCommand=…` sets it for the new repository, and uses it.
    found.extend(
        settings(rest)
            .into_iter()
            .filter(|(key, _)| is_program(&key.to_ascii_lowercase()))
            .filter_map(|(_, value)| program(value)),
    );
    found.extend(verb(rest));
    found.extend(by_entry::inner(command, meter).into_iter().filter(|inner| !is_usual(inner)));
    found
}

/// Whether what is run is what the other side of a transfer is expected to run.
fn is_usual(inner: &Inner) -> bool {
    let usual = ["git-upload-pack", "git-receive-pack", "git upload-pack", "git receive-pack"];
    matches!(inner, Inner::Text { text, .. } if usual.contains(&text.as_str()))
}

/// Whether git runs something that is not what its verb is for.
pub(super) fn hides(args: &[Arg]) -> bool {
    let verb = behind_global(args).first().map_or("", |arg| arg.text.as_str());
    // An alias for a verb of git runs nothing else.
    let plain = verb == "config" && !args.iter().any(|arg| arg.text.starts_with('!'));
    let asked = plain || matches!(verb, "submodule" | "bisect" | "rebase" | "filter-branch" | "difftool" | "mergetool");
    !asked || sets_program(args)
}

/// Whether git sets this key for itself or for a repository by one of its options: `-c`, `--config-env`, `clone -c`.
pub(super) fn sets_key(args: &[Arg], key: &str) -> bool {
    let (global, rest) = args.split_at_checked(GLOBAL.end(args)).unwrap_or((args, &[]));
    let from_env = GLOBAL.values(global, "config-env");
    let cloned = rest.first().filter(|verb| matches!(verb.text.as_str(), "clone" | "init"));
    let cloned = cloned.map(|_| Options { short: "cbou", long: &["config"] }.values(rest, "c config"));
    let mut given = GLOBAL.values(global, "c").into_iter().chain(from_env).chain(cloned.into_iter().flatten());
    given.any(|setting| setting.text.split('=').next().is_some_and(|name| name.eq_ignore_ascii_case(key)))
}

/// Whether the options set a program for git to run.
pub(super) fn sets_program(args: &[Arg]) -> bool {
    settings(args).into_iter().any(|(key, value)| {
        let key = key.to_ascii_lowercase();
        (is_program(&key) && program(value).is_some()) || (key.starts_with("alias.") && value.starts_with('!'))
    })
}

/// The `-c key=value` pairs among the global options.
fn settings(global: &[Arg]) -> Vec<(&str, &str)> {
    let pairs = global.iter().zip(global.iter().skip(1));
    let separate = pairs.filter(|(option, _)| option.text == "-c").map(|(_, value)| value.text.as_str());
    let attached = global.iter().filter_map(|arg| arg.text.strip_prefix("-c").filter(|value| !value.is_empty()));
    separate.chain(attached).filter_map(|setting| setting.split_once('=')).collect()
}

fn is_program(key: &str) -> bool {
    let tool = roles::GIT_TOOLS.iter().any(|start| key.starts_with(start))
        && roles::GIT_TOOL_ENDS.iter().any(|end| key.ends_with(end));
    tool || lists(&roles::GIT_PROGRAMS, key)
}

/// A program in the configuration is shell text, except where it only switches something on or off.
fn program(value: &str) -> Option<Inner> {
    let text = value.strip_prefix('!').unwrap_or(value);
    (!lists(&roles::GIT_ORDINARY_PROGRAMS, text)).then(|| Inner::text(text))
}

/// What a verb runs by something other than its options: an alias that is set, and helpers of remotes.
fn verb(rest: &[Arg]) -> Vec<Inner> {
    let Some((verb, args)) = rest.split_first() else { return Vec::new() };
    let mut operands = args.iter().filter(|arg| !arg.text.starts_with('-'));
    match verb.text.as_str() {
        // An alias is a command that waits.
        "config" => {
            let name = operands.position(|arg| arg.text.to_ascii_lowercase().starts_with("alias."));
            let expansion = name.and_then(|_| operands.next()).map(|arg| arg.text.clone());
            let text = expansion.map(|text| text.strip_prefix('!').map_or(format!("git {text}"), str::to_owned));
            text.map(Inner::text).into_iter().collect()
        }
        "remote-ext" | "shell" => operands.skip(1).map(|arg| Inner::text(arg.text.clone())).collect(),
        _ => operands.filter_map(|arg| arg.text.strip_prefix("ext::")).map(Inner::text).collect(),
    }
}
