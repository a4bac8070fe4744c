//! Writes to files outside of the project.

use super::{Context, block, block_if, command_of, is_below_unknown_temp, suspicious, suspicious_if};
use crate::decide::subject::{Subject, SubjectKind};
use crate::path::protected::is_ordinary;
use crate::path::zones::Area;
use crate::path::{AbsPath, Place};
use crate::rules::Match;
use crate::shell::{Access, Act, MKTEMP_PATH};

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let access = subject.file_access().filter(|access| !access.astray)?;
    let by_tool = matches!(subject.kind, SubjectKind::ToolAccess(_));
    let Some(path) = &access.target.path else {
        let unclear_name = block_if(by_tool, "is a name that does not tell which file it is");
        let reason = "is only known when the command runs, and would be written";
        let is_unclear = access.act == Act::Redirect && !is_below_unknown_temp(access, context);
        return unclear_name.or_else(|| suspicious_if(is_unclear, reason));
    };
    match (access.act, context.zones.area(path)) {
        (_, Area::InProject | Area::Device) => None,
        // The path is the project itself if only the directory of the file is known.
        (Act::Write | Act::Redirect, Area::ProjectRoot) => None,
        (Act::Write | Act::Redirect, Area::InTemp) => None,
        (Act::Write | Act::Redirect, _) if is_ordinary(path, context.zones.home.as_ref()) => None,
        (Act::Write | Act::Redirect, Area::TempRoot) if !by_tool => None,
        // An empty directory changes nothing.
        (Act::Write, Area::Other | Area::Vital) if makes_directory(access, context) => None,
        (Act::Write, Area::Other) if is_new_worktree(path, access, context) => None,
        (Act::Write, Area::Other | Area::Vital) if is_new_project(path, access, context) => None,
        (Act::Write, _) if by_tool => block(""),
        (Act::Write | Act::Redirect, _) if is_made_by_mktemp(path) => None,
        (Act::Write | Act::Redirect, _) => suspicious("is outside of the project, and would be written"),
        (Act::Read | Act::Match | Act::List | Act::Remove | Act::Move | Act::Change | Act::Restore | Act::Link, _) => {
            None
        }
    }
}

/// Whether `mkdir` makes a directory, or finds it there.
fn makes_directory(access: &Access, context: &Context<'_>) -> bool {
    command_of(access, context).is_some_and(|command| command.program == "mkdir")
}

/// Whether `git worktree` makes or removes a worktree beside the project.
fn is_new_worktree(path: &AbsPath, access: &Access, context: &Context<'_>) -> bool {
    let by_git = command_of(access, context).is_some_and(|command| {
        command.program == "git" && command.behind_global().first().is_some_and(|verb| verb.text == "worktree")
    });
    let beside = context
        .zones
        .project
        .components()
        .split_last()
        .is_some_and(|(_, above)| path.components().starts_with(above) && above.len() > 1);
    by_git && beside
}

/// Whether a command makes a project in a directory of its own in the home directory. Such commands refuse a directory with
/// files.
fn is_new_project(path: &AbsPath, access: &Access, context: &Context<'_>) -> bool {
    let makes = command_of(access, context).is_some_and(|command| {
        let verbs: Vec<&str> = command.behind_global().iter().map(|verb| verb.text.as_str()).collect();
        match (command.program.as_str(), verbs.as_slice()) {
            ("git", ["clone", rest @ ..]) => !rest.iter().any(|word| word.starts_with("--separate-git-dir")),
            ("gh" | "glab", ["repo", "clone", ..]) | ("cargo", ["new", ..]) => true,
            _ => false,
        }
    });
    let home = context.zones.home.as_ref();
    let below = home.and_then(|home| path.components().strip_prefix(home.components()));
    // `~/src/x`, not `~/.config/x`
    makes
        && below.is_some_and(|names| {
            names.len() > 1 && !names.iter().any(|name| name.starts_with('.') || name == "Library")
        })
}

/// Whether a path is a file or directory that `mktemp` made in the same shell text, or is below it.
fn is_made_by_mktemp(path: &AbsPath) -> bool {
    let made = AbsPath::resolve(MKTEMP_PATH, &Place::default());
    *path == made || path.is_below(&made)
}
