//! Files that a command reads, writes and removes, by the catalogue's entry of its program.

use super::super::Arg;
use super::{Act, Noted};
use crate::programs::{Use, WordUse};

/// Notes what the entry tells; returns whether there is one.
pub(super) fn note(noted: &mut Noted<'_>) -> bool {
    let command = noted.command;
    let Some(line) = command.parsed.as_deref() else { return false };
    let value = |used: &WordUse| command.value(used);
    let directories = line.uses.iter().filter(|used| used.takes == Some(Use::Directory));
    let directory = directories.filter_map(value).next_back();
    let cwd = match &directory {
        Some(directory) => super::Target::of(directory, command.cwd.as_deref()).path.map(|path| path.to_string()),
        None => command.cwd.as_deref().map(str::to_owned),
    };
    for (used, arg) in line.uses.iter().filter_map(|used| Some((used, value(used)?))) {
        let (act, deep) = match used.takes {
            Some(Use::Match) => (Act::Match, false),
            Some(Use::Read | Use::Send | Use::Execute) => (Act::Read, false),
            Some(Use::Write | Use::Replace) => (Act::Write, false),
            Some(Use::Redirect) => (Act::Redirect, false),
            Some(Use::Rights) => (Act::Change, false),
            Some(Use::Into) => (Act::Write, true),
            Some(Use::Remove | Use::Empty) => (Act::Remove, true),
            Some(
                Use::Text
                | Use::List
                | Use::Load
                | Use::Run
                | Use::Code
                | Use::To
                | Use::From
                | Use::Variable
                | Use::Directory
                | Use::Unknown,
            )
            | None => continue,
        };
        if !is_stream(&arg) {
            noted.take_down_in(cwd.as_deref(), act, &arg, deep);
        }
    }
    true
}

/// `-`: standard input or output.
fn is_stream(arg: &Arg) -> bool {
    arg.text == "-"
}
