//! `tmux`: a line of commands with `;` between them, whose names may be abbreviated. The catalogue says what each of them
//! runs; keys that are typed, and the two branches of `if-shell`, are read here.

use super::super::{Arg, Command};
use super::{Inner, by_entry, with_args};
use crate::programs::{self, Verb};
use crate::verdict::limits::Meter;

/// Each command of a `tmux` line.
pub(super) fn tmux(command: &Command, meter: &Meter) -> Vec<Inner> {
    let commands = command.args.split(|arg| arg.text == ";");
    commands.flat_map(|words| one(&with_args(command, completed(words)), meter)).collect()
}

fn one(command: &Command, meter: &Meter) -> Vec<Inner> {
    let has = |name: &str| command.args.iter().any(|arg| arg.text == name);
    let of_tmux = |inner: Inner| match inner {
        Inner::Text { text, .. } => Inner::text(format!("tmux {text}")),
        other @ (Inner::Command { .. } | Inner::PowerShell { .. } | Inner::Code { .. }) => other,
    };
    let inner = by_entry::inner(command, meter);
    match verb(&command.args) {
        // `run-shell -C` runs a command of tmux.
        Some("run-shell" | "run") if has("-C") => inner.into_iter().map(of_tmux).collect(),
        // One word is a line of tmux.
        Some("set-hook" | "bind-key" | "bind" | "confirm-before" | "confirm" | "command-prompt") => {
            let lines = inner.into_iter().map(|inner| match inner {
                Inner::Command { args, .. } if args.len() == 2 => {
                    Inner::text(args.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" "))
                }
                other
                @ (Inner::Command { .. } | Inner::Text { .. } | Inner::PowerShell { .. } | Inner::Code { .. }) => other,
            });
            lines.collect()
        }
        Some("if-shell" | "if") => {
            let branches = command.args.iter().skip_while(|arg| !arg.text.starts_with("if")).skip(1);
            let branches = branches.filter(|arg| arg.text.contains(' ') && !arg.text.starts_with('-'));
            let branches = branches.map(|arg| Inner::text(format!("tmux {}", arg.text)));
            let condition = inner.into_iter().filter(|_| !has("-F"));
            condition.chain(branches).collect()
        }
        // What is in the buffer is typed by `paste-buffer`.
        Some("set-buffer" | "setb") => {
            let text = command.args.last().filter(|text| !text.text.starts_with('-'));
            inner.into_iter().chain(text.map(|text| Inner::text(text.text.clone()))).collect()
        }
        Some("send-keys" | "send") => {
            let at = command.args.iter().position(|arg| matches!(arg.text.as_str(), "send-keys" | "send"));
            let typed: Vec<Arg> =
                command.args.iter().skip(at.unwrap_or_default()).filter(|arg| !is_key(&arg.text)).cloned().collect();
            by_entry::inner(&with_args(command, typed), meter)
        }
        _ => inner,
    }
}

/// The words, with the whole name of the command where it is abbreviated.
fn completed(words: &[Arg]) -> Vec<Arg> {
    let mut words = words.to_vec();
    let verbs = programs::embedded("tmux").map_or(&[][..], |entry| &entry.verbs);
    let names = || verbs.iter().flat_map(Verb::names);
    if let Some(word) =
        words.iter_mut().find(|word| names().any(|name| word.text.len() > 2 && name.starts_with(word.text.as_str())))
        && !names().any(|name| name == word.text)
        && let Some(name) = names().find(|name| name.starts_with(word.text.as_str()))
    {
        *word = Arg::literal(name);
    }
    words
}

/// The name of the command.
fn verb(words: &[Arg]) -> Option<&str> {
    let verbs = programs::embedded("tmux").map_or(&[][..], |entry| &entry.verbs);
    let mut names = words.iter().map(|arg| arg.text.as_str());
    names.find(|word| verbs.iter().any(|verb| verb.names().any(|name| name == *word)))
}

/// Whether a word names a key: `Enter`, `C-c`, `M-x`, `F5`.
fn is_key(word: &str) -> bool {
    const KEYS: [&str; 18] = [
        "Enter", "KPEnter", "Escape", "Tab", "BTab", "Space", "BSpace", "Up", "Down", "Left", "Right", "Home", "End",
        "PageUp", "PageDown", "NPage", "PPage", "DC",
    ];
    let modified = word.strip_prefix("C-").or_else(|| word.strip_prefix("M-")).or_else(|| word.strip_prefix("S-"));
    let function =
        word.strip_prefix('F').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit()));
    KEYS.contains(&word) || modified.is_some_and(|key| !key.contains(' ')) || function
}
