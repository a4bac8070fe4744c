//! What a command runs, by the catalogue's entry of its program.

use super::super::{Arg, Command, Input};
use super::Inner;
use super::cwd::moved;
use crate::programs::{self, Does, Use};
use crate::shell::inline::Language;

/// Programs that a wrapper which is not known as one may run with serious consequences.
const DANGEROUS: [&str; 14] =
    ["rm", "dd", "shred", "sudo", "doas", "bash", "sh", "zsh", "dash", "chmod", "chown", "mkfs", "wipefs", "truncate"];

/// Shell text in options, code in any language, and the command behind the options.
pub(super) fn inner(command: &Command) -> Vec<Inner> {
    let Some(entry) = programs::embedded(&command.program) else { return dangerous_tail(command) };
    let tells_nothing = entry.operands.is_none() && entry.verbs.is_empty() && entry.language.is_none();
    if entry.does == Some(Does::Run) && tells_nothing {
        return dangerous_tail(command);
    }
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let line = programs::parse(entry, &words);
    let value = |used: &programs::WordUse| {
        let arg = command.args.get(used.word)?;
        arg.behind(arg.text.get(..used.start)?)
    };
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
    let names_program =
        |arg: &Arg| arg.is_known() && DANGEROUS.contains(&arg.text.rsplit('/').next().unwrap_or_default());
    let start = command.args.iter().position(names_program);
    let tail = start.and_then(|start| command.args.get(start..)).filter(|tail| tail.len() > 1);
    tail.map(|tail| Inner::command(tail.to_vec())).into_iter().collect()
}

/// The script of an interpreter that is a program of the catalogue, with its arguments: `python3 manage.py flush`.
pub(super) fn script_program(command: &Command) -> Option<Vec<Arg>> {
    let entry = programs::embedded(&command.program).filter(|entry| entry.language.is_some())?;
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let line = programs::parse(entry, &words);
    let script = line.uses.iter().find(|used| used.takes == Some(Use::Execute) && !used.by_option)?;
    let arg = command.args.get(script.word)?;
    let name = arg.text.rsplit('/').next().unwrap_or_default();
    let is_program = |name: &str| programs::embedded(name).is_some_and(|entry| !entry.verbs.is_empty());
    let is_path = arg.text.contains(['/', '.']);
    (arg.is_known() && is_path && is_program(name)).then(|| {
        let rest = command.args.iter().skip(script.word + 1).cloned();
        [Arg::literal(name)].into_iter().chain(rest).collect()
    })
}

/// Words of an interpreter's command line that look like code: `python3 -m timeit 'code'`.
pub(super) fn loose_code(command: &Command) -> Vec<Inner> {
    let Some(entry) = programs::embedded(&command.program) else { return Vec::new() };
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let line = programs::parse(entry, &words);
    let Some(language) = line.language().map(Language::from_name) else { return Vec::new() };
    let loose = line.uses.iter().filter(|used| used.takes.is_none()).filter_map(|used| words.get(used.word));
    let code = loose.filter(|word| word.contains('(') && word.contains(')'));
    code.map(|word| Inner::Code { language, text: (*word).to_owned() }).collect()
}
