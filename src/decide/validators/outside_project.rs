//! Writes to files outside of the project.

use super::{Context, block, block_if, suspicious, suspicious_if};
use crate::decide::subject::{Subject, SubjectKind};
use crate::path::zones::Area;
use crate::path::{AbsPath, Place};
use crate::rules::Match;
use crate::shell::{Act, MKTEMP_PATH};

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let access = subject.file_access().filter(|access| !access.astray)?;
    let by_tool = matches!(subject.kind, SubjectKind::ToolAccess(_));
    let Some(path) = &access.target.path else {
        let unclear_name = block_if(by_tool, "the file's name does not tell which file it is");
        let reason = "the file that this writes is only known when it runs";
        return unclear_name.or_else(|| suspicious_if(access.act == Act::Redirect, reason));
    };
    match (access.act, context.zones.area(path)) {
        (_, Area::InProject | Area::Device) => None,
        // The path is the project itself if only the directory of the file is known.
        (Act::Write | Act::Redirect, Area::ProjectRoot) => None,
        (Act::Write, _) if by_tool => block("the file is outside of the project"),
        (Act::Write, Area::InTemp | Area::TempRoot) => None,
        (Act::Write | Act::Redirect, _) if is_made_by_mktemp(path) => None,
        (Act::Write | Act::Redirect, _) => suspicious("it writes outside of the project"),
        (Act::Read | Act::Match | Act::List | Act::Remove | Act::Move | Act::Change | Act::Restore | Act::Link, _) => {
            None
        }
    }
}

/// Whether a path is a file or directory that `mktemp` made in the same shell text, or is below it.
fn is_made_by_mktemp(path: &AbsPath) -> bool {
    let made = AbsPath::resolve(MKTEMP_PATH, &Place::default());
    *path == made || path.is_below(&made)
}
