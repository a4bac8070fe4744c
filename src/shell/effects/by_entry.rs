//! Files that a command reads, writes and removes, by the catalogue's entry of its program.

use super::{Act, Recorder, Target, mode};
use crate::programs::{CommandLine, Use, WordUse};

/// Notes what the entry tells; returns whether there is one.
pub(super) fn note(recorder: &mut Recorder<'_>) -> bool {
    let command = recorder.command;
    let Some(line) = command.parsed.as_deref() else { return false };
    let directories = line.uses.iter().filter(|used| used.takes == Some(Use::Directory));
    let directory = directories.filter_map(|used| command.value(used)).next_back();
    let cwd = match &directory {
        Some(directory) => Target::of(directory, command.cwd.as_deref()).path.map(|path| path.to_string()),
        None => command.cwd.as_deref().map(str::to_owned),
    };
    note_uses(recorder, line, cwd.as_deref());
    true
}

/// Notes the uses of the words, which are looked for in `cwd`.
pub(super) fn note_uses(recorder: &mut Recorder<'_>, line: &CommandLine, cwd: Option<&str>) {
    let command = recorder.command;
    let below = line.recursive == Some(true);
    let is_operand = |used: &WordUse| !used.by_option;
    let mut changed = Vec::new();
    for (used, arg) in line.uses.iter().filter_map(|used| Some((used, command.value(used)?))) {
        let deep = below && is_operand(used);
        let (act, deep) = match used.takes {
            Some(Use::Match) => (Act::Match, deep),
            Some(Use::Read | Use::Send | Use::Execute) => (Act::Read, deep),
            Some(Use::Write) => (Act::Write, false),
            Some(Use::Redirect) => (Act::Redirect, false),
            Some(Use::Replace) => {
                recorder.record_in(cwd, Act::Read, &arg, deep);
                (Act::Write, false)
            }
            Some(Use::Into) => (Act::Write, true),
            Some(Use::Remove) => (Act::Remove, line.recursive.is_none() || deep),
            Some(Use::Empty) => (Act::Remove, true),
            Some(Use::Rights) => {
                changed.extend(command.args.get(used.word));
                continue;
            }
            Some(Use::To | Use::From) => {
                recorder.effects.network.push(arg.text.into());
                continue;
            }
            Some(
                Use::Text
                | Use::List
                | Use::Load
                | Use::Run
                | Use::Code
                | Use::Variable
                | Use::Directory
                | Use::Unknown,
            )
            | None => continue,
        };
        // `-` is standard input or output.
        if arg.text != "-" {
            recorder.record_in(cwd, act, &arg, deep);
        }
    }
    if !changed.is_empty() {
        mode::change(recorder, &changed);
    }
}
