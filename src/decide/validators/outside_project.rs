//! Files outside of the project that are written.

use super::{Context, block, suspicious};
use crate::decide::subject::{Subject, SubjectKind};
use crate::path::AbsPath;
use crate::path::Place;
use crate::path::zones::Area;
use crate::rules::Match;
use crate::shell::{Act, MKTEMP_PATH};

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let access = subject.touched().filter(|access| !access.astray)?;
    let by_tool = matches!(subject.subject, SubjectKind::File(_));
    let Some(path) = &access.target.path else {
        return match access.act {
            _ if by_tool => block("the file's name does not tell which file it is"),
            Act::Redirect => suspicious("the file that this writes is only known when it runs"),
            Act::Read
            | Act::Match
            | Act::List
            | Act::Write
            | Act::Remove
            | Act::Move
            | Act::Change
            | Act::Restore
            | Act::Link => None,
        };
    };
    let area = context.zones.area(path);
    match (access.act, area) {
        (_, Area::Inside | Area::Sink) => None,
        // A directory that is known, and a name in it that is not.
        (Act::Write | Act::Redirect, Area::Project) => None,
        (Act::Write, _) if by_tool => block("the file is outside of the project"),
        (Act::Write, Area::Scratch | Area::Temp) => None,
        (Act::Write | Act::Redirect, _) if is_scratch(path) => None,
        (Act::Write | Act::Redirect, _) => suspicious("it writes outside of the project"),
        (Act::Read | Act::Match | Act::List | Act::Remove | Act::Move | Act::Change | Act::Restore | Act::Link, _) => {
            None
        }
    }
}

/// Whether a path is one that `mktemp` has just made, or lies in it.
fn is_scratch(path: &AbsPath) -> bool {
    let made = AbsPath::resolve(MKTEMP_PATH, &Place::default());
    *path == made || path.is_below(&made)
}
