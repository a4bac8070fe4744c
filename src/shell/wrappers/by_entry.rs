//! What a command runs, by the catalogue's entry of its program.

use super::super::{Arg, Command, Input};
use super::Inner;
use super::cwd::moved;
use crate::programs::{Does, Use, WordUse};
use crate::shell::inline::Language;

/// Programs that a wrapper which is not known as one may run with serious consequences.
const DANGEROUS: [&str; 14] =
    ["rm", "dd", "shred", "sudo", "doas", "bash", "sh", "zsh", "dash", "chmod", "chown", "mkfs", "wipefs", "truncate"];

/// Shell text in options, code in any language, and the command behind the options.
pub(super) fn inner(command: &Command) -> Vec<Inner> {
    let Some(line) = command.parsed.as_deref() else { return dangerous_tail(command) };
    let Some(entry) = line.program() else { return Vec::new() };
    let tells_nothing = entry.operands.is_none() && entry.verbs.is_empty() && entry.language.is_none();
    if entry.does == Some(Does::Run) && tells_nothing {
        return dangerous_tail(command);
    }
    let value = |used: &WordUse| command.value(used);
    let language = line.language().map(Language::from_name);
    let mut inner = Vec::new();
    let mut has_program = false;
    for (takes, arg) in line.uses.iter().filter_map(|used| Some((used.takes?, value(used)?))) {
        has_program |= matches!(takes, Use::Code | Use::Execute);
        match (takes, language) {
            (Use::Run, _) => inner.push(Inner::text(arg.text)),
            (Use::Code, Some(language)) => inner.push(Inner::Code { language, text: arg.text.into() }),
            _ => {}
        }
    }
    if let (Input::Text(text), Some(language), false) = (&command.input, language, has_program) {
        inner.push(Inner::Code { language, text: text.clone() });
    }
    if let Some(args) = line.command.and_then(|start| command.args.get(start..)) {
        let directory = line.uses.iter().rev().find(|used| used.takes == Some(Use::Directory)).and_then(value);
        inner.push(Inner::Command { args: args.to_vec(), cwd: moved(directory, command), env: Vec::new() });
    }
    inner
}

/// The arguments from the first one that names a dangerous program. A program of which it is not known how it runs others
/// may run it: `tini -- rm -rf ~`.
fn dangerous_tail(command: &Command) -> Vec<Inner> {
    let names_program = |arg: &Arg| {
        let name = if arg.text.starts_with('/') { arg.text.rsplit('/').next() } else { Some(arg.text.as_str()) };
        arg.is_known() && name.is_some_and(|name| DANGEROUS.contains(&name))
    };
    // `--shell bash --status 0` names a shell, and runs nothing.
    let names_shell = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| command.args.get(before));
        let next = command.args.get(at + 1).map_or("", |next| next.text.as_str());
        before.is_some_and(|before| before.text.len() > 2 && before.text.starts_with("--")) && next.starts_with("--")
    };
    let start = command.args.iter().position(names_program).filter(|at| !names_shell(*at));
    let tail = start.and_then(|start| command.args.get(start..)).filter(|tail| tail.len() > 1);
    tail.map(|tail| Inner::command(tail.to_vec())).into_iter().collect()
}

/// Words of an interpreter's command line that look like code: `python3 -m timeit 'code'`.
pub(super) fn loose_code(command: &Command) -> Vec<Inner> {
    let Some(line) = command.parsed.as_deref() else { return Vec::new() };
    let Some(language) = line.language().map(Language::from_name) else { return Vec::new() };
    let loose = line.uses.iter().filter(|used| used.takes.is_none()).filter_map(|used| command.args.get(used.word));
    let code = loose.filter(|arg| arg.text.contains('(') && arg.text.contains(')'));
    code.map(|arg| Inner::Code { language, text: arg.text.to_string() }).collect()
}
