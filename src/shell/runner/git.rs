//! `git`: aliases, hooks into other programs by configuration, and verbs that run commands.

use super::super::Arg;
use super::super::options::Options;
use super::{Inner, joined, one, quoted};

const GLOBAL: Options = Options {
    short: "Cc",
    long: &["git-dir", "work-tree", "namespace", "exec-path", "super-prefix", "config-env", "attr-source", "list-cmds"],
};

/// Configuration whose value is a program.
const PROGRAMS: [&str; 20] = [
    "core.askpass",
    "core.editor",
    "core.fsmonitor",
    "core.gitproxy",
    "core.pager",
    "core.sshcommand",
    "credential.helper",
    "diff.external",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.x509.program",
    "interactive.difffilter",
    "merge.tool",
    "pager.branch",
    "pager.diff",
    "pager.log",
    "pager.show",
    "sequence.editor",
    "sendemail.smtpserver",
    "uploadpack.packobjectshook",
];

pub(super) fn behind_global(args: &[Arg]) -> &[Arg] {
    args.get(GLOBAL.end(args)..).unwrap_or_default()
}

pub(super) fn git(args: &[Arg]) -> Vec<Inner> {
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
    found
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
    let tool = [
        "difftool.",
        "mergetool.",
        "browser.",
        "man.",
        "filter.",
        "diff.",
        "remote.",
        "pager.",
        "credential.",
        "trailer.",
        "merge.",
        "tar.",
    ]
    .iter()
    .any(|start| key.starts_with(start))
        && [
            ".cmd",
            ".path",
            ".clean",
            ".smudge",
            ".process",
            ".textconv",
            ".command",
            ".uploadpack",
            ".receivepack",
            ".helper",
            ".driver",
        ]
        .iter()
        .any(|end| key.ends_with(end));
    tool || PROGRAMS.contains(&key)
}

/// A program in the configuration is shell text, except where it only switches something on or off.
fn program(value: &str) -> Option<Inner> {
    let text = value.strip_prefix('!').unwrap_or(value);
    let harmless = [
        "",
        "true",
        "false",
        "cat",
        "less",
        "more",
        "vi",
        "vim",
        "nano",
        "emacs",
        "code --wait",
        "delta",
        "store",
        "cache",
        "osxkeychain",
        "manager",
    ];
    (!harmless.contains(&text)).then(|| Inner::text(text))
}

fn verb(rest: &[Arg]) -> Vec<Inner> {
    let Some((verb, args)) = rest.split_first() else { return Vec::new() };
    let value = |names: &[&str]| {
        let pairs = args.iter().zip(args.iter().skip(1));
        let separate =
            pairs.filter(|(option, _)| names.contains(&option.text.as_str())).map(|(_, value)| value.text.clone());
        // Any beginning of a name will do that is no other's.
        let attached = args.iter().filter_map(|arg| {
            let (name, value) = arg.text.split_once('=')?;
            let begins = |known: &&str| known.starts_with(name) && name.len() > 5;
            (names.contains(&name) || names.iter().any(begins)).then(|| value.to_owned())
        });
        separate.chain(attached).map(Inner::text).collect::<Vec<_>>()
    };
    let operands = || args.iter().filter(|arg| !arg.text.starts_with('-')).cloned().collect::<Vec<_>>();
    match verb.text.as_str() {
        "submodule" if operands().first().is_some_and(|arg| arg.text == "foreach") => {
            let text =
                args.iter().skip_while(|arg| arg.text != "foreach").skip(1).skip_while(|arg| arg.text.starts_with('-'));
            joined(&text.cloned().collect::<Vec<_>>())
        }
        "bisect" if args.first().is_some_and(|arg| arg.text == "run") => one(args.iter().skip(1).cloned().collect()),
        // An alias is a command that waits.
        "config" => {
            let words = operands();
            let at = words.iter().position(|arg| arg.text.to_ascii_lowercase().starts_with("alias."));
            let expansion = at.and_then(|at| words.get(at + 1)).map(|arg| arg.text.clone());
            let text = expansion.map(|text| text.strip_prefix('!').map_or(format!("git {text}"), str::to_owned));
            text.map(Inner::text).into_iter().collect()
        }
        "rebase" => value(&["-x", "--exec"]),
        "difftool" | "mergetool" => value(&["-x", "--extcmd"]),
        "filter-branch" => {
            value(&["--tree-filter", "--index-filter", "--env-filter", "--msg-filter", "--commit-filter", "--setup"])
        }
        "grep" => {
            let attached = args.iter().filter_map(|arg| arg.text.strip_prefix("-O").filter(|text| !text.is_empty()));
            attached.map(Inner::text).chain(value(&["--open-files-in-pager"])).collect()
        }
        "clone" | "fetch" | "pull" | "ls-remote" | "push" | "archive" | "remote" => {
            let external = operands();
            let external = external.iter().filter_map(|arg| arg.text.strip_prefix("ext::")).map(Inner::text);
            let short: &[&str] = if verb.text == "clone" { &["-u"] } else { &[] };
            let packs = value(&["--upload-pack", "--receive-pack", "--exec"]).into_iter().chain(value(short));
            packs.chain(external).collect()
        }
        _ => Vec::new(),
    }
}
