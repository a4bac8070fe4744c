//! Deletions, judged by the paths that they delete.

use super::environment_poisoning::INHERITED_PARTS;
use super::{Context, block, command_of, is_below_unknown_temp, suspicious, suspicious_if};
use crate::decide::subject::Subject;
use crate::path::protected::{is_ordinary, is_protected};
use crate::path::zones::Area;
use crate::path::{AbsPath, names_overlap};
use crate::programs::code::lists;
use crate::programs::roles;
use crate::rules::Match;
use crate::shell::{Access, Act, Command};
use compact_str::CompactString;
use std::borrow::Cow;

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let access = subject.file_access()?;
    let command = command_of(access, context);
    // `rmdir` deletes only empty directories.
    if command.is_some_and(|command| command.program == "rmdir") {
        let area = access.target.path.as_ref().map(|path| context.zones.area(path));
        let outside = matches!(area, Some(Area::Vital | Area::System | Area::Other));
        return suspicious_if(outside, "is outside of the project, and would be deleted");
    }
    match access.act {
        Act::Remove => judge_removal(access, command, context),
        Act::Move => judge_move(access, context),
        Act::Read | Act::Match | Act::List | Act::Write | Act::Redirect | Act::Change | Act::Restore | Act::Link => {
            None
        }
    }
}

fn judge_removal(access: &Access, command: Option<&Command>, context: &Context<'_>) -> Option<Match> {
    let Some(path) = &access.target.path else {
        // `git rm` removes files of the repository, and refuses those that are not committed.
        let is_restorable = command.is_some_and(|command| {
            command.program == "git" && !command.args.iter().any(|arg| matches!(arg.text.as_str(), "-f" | "--force"))
        });
        if is_restorable || is_below_unknown_temp(access, context) || has_default(&access.target.text) {
            return None;
        }
        return suspicious("is only known when the command runs, and would be deleted");
    };
    // A file named `~` is easily confused with the home directory.
    if path.components().last().is_some_and(|name| name == "~") {
        return suspicious("has a name that means home elsewhere, and would be deleted");
    }
    if command.is_some_and(|command| command.is_in_new_container(path)) {
        return None;
    }
    let is_contained = || command.is_some_and(|command| command.is_contained(path));
    let (base, sweeping) = split_wildcard(path, access.target.open);
    if !sweeping && *base != *path {
        // A pattern such as `/home/us*` may match a directory that must stay.
        if vital_directories(context).iter().any(|root| may_match(path, root)) {
            return block("is a directory that the system or you cannot do without, and would be deleted");
        }
    }
    let whole = *base == *path && !access.target.open;
    let home = context.zones.home.as_ref();
    match context.zones.area(&base) {
        Area::Vital | Area::System if whole || sweeping => {
            block("is a directory that the system or you cannot do without, and would be deleted")
        }
        // `cd build; rm -rf *` is meant for `build`, even if the `cd` may fail.
        Area::Vital | Area::System | Area::ProjectRoot | Area::TempRoot | Area::Other if access.astray => None,
        Area::Vital | Area::System => suspicious("is outside of the project, and would be deleted"),
        Area::ProjectRoot if whole || (sweeping && !access.target.open) => {
            suspicious("is the project itself, and would be deleted")
        }
        Area::InProject if is_git_directory(&base, context) || is_part_of_history(&base, context) => {
            suspicious("holds the history of the project, and would be deleted")
        }
        Area::ProjectRoot | Area::InProject | Area::InTemp | Area::Device => None,
        Area::TempRoot if !whole && !sweeping => None,
        // A container has files of its own.
        Area::TempRoot | Area::Other if is_contained() => None,
        Area::TempRoot => suspicious("holds the temporary files of every program, and would be deleted"),
        Area::Other if is_ordinary(path, home) || *base != *path && is_ordinary(&base, home) => None,
        Area::Other if !sweeping && are_ordinary_matches(path, &base, home) => None,
        Area::Other => suspicious("is outside of the project, and would be deleted"),
    }
}

/// Whether all matches of a pattern in the last name of a path are ordinary: `~/.cache/x-*`.
fn are_ordinary_matches(path: &AbsPath, base: &AbsPath, home: Option<&AbsPath>) -> bool {
    let example = AbsPath::resolve_in("x", &base.to_string(), None);
    path.components().len() == base.components().len() + 1 && is_ordinary(&example, home) && !is_protected(path, home)
}

/// Whether a word is `${NAME:-default}`, with a variable of the line's own and a default that is judged itself.
fn has_default(word: &str) -> bool {
    let inner = word.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let Some((name, default)) = inner.and_then(|inner| inner.split_once(":-")) else { return false };
    // Systems and tools set variables of such names.
    !INHERITED_PARTS.iter().any(|part| name.contains(part)) && !default.contains('}')
}

fn judge_move(access: &Access, context: &Context<'_>) -> Option<Match> {
    let path = access.target.path.as_ref()?;
    let (base, sweeping) = split_wildcard(path, access.target.open);
    match context.zones.area(&base) {
        Area::Vital if *base == *path || sweeping => {
            block("is a directory that the system or you cannot do without, and would be moved away")
        }
        Area::System => suspicious("belongs to the system, and would be moved away"),
        Area::Vital
        | Area::ProjectRoot
        | Area::InProject
        | Area::TempRoot
        | Area::InTemp
        | Area::Device
        | Area::Other => None,
    }
}

/// The directory before the first wildcard, and whether the pattern matches everything in it.
fn split_wildcard(path: &AbsPath, open: bool) -> (Cow<'_, AbsPath>, bool) {
    let parts = path.components();
    match parts.iter().position(|part| part.contains(['*', '?', '['])) {
        Some(at) => {
            let only_wildcards = |part: &CompactString| part.chars().all(|c| "*?.[]!^".contains(c));
            let rest = parts.get(at..).unwrap_or_default();
            let all_below = rest.first().is_some_and(|first| first == "**") && rest.iter().all(only_wildcards);
            let sweeping = rest.first().is_some_and(only_wildcards) && (at == 0 || rest.len() == 1 || all_below);
            (Cow::Owned(path.head(at)), sweeping)
        }
        None => (Cow::Borrowed(path), open),
    }
}

/// The home directory and the directories above it and above the project.
fn vital_directories(context: &Context<'_>) -> Vec<AbsPath> {
    let home = context.zones.home.iter().cloned();
    let above = |path: &AbsPath| (1..path.components().len()).map(|at| path.head(at)).collect::<Vec<_>>();
    home.clone().chain(home.flat_map(|home| above(&home))).chain(above(&context.zones.project)).collect()
}

/// Whether a pattern may match a directory.
fn may_match(path: &AbsPath, root: &AbsPath) -> bool {
    let (path, root) = (path.components(), root.components());
    path.len() == root.len() && path.iter().zip(root).all(|(a, b)| names_overlap(a.as_bytes(), b.as_bytes()))
}

/// Whether a path is the `.git` directory of the project.
fn is_git_directory(path: &AbsPath, context: &Context<'_>) -> bool {
    path.components()
        .strip_prefix(context.zones.project.components())
        .is_some_and(|rest| matches!(rest, [git] if git == ".git"))
}

/// Whether a path is one of the parts of the project's `.git` directory that hold its history or state. Locks and what
/// was not completed may be deleted.
pub(super) fn is_part_of_history(path: &AbsPath, context: &Context<'_>) -> bool {
    let Some([git, part, rest @ ..]) = path.components().strip_prefix(context.zones.project.components()) else {
        return false;
    };
    let last = rest.last().unwrap_or(part);
    git == ".git" && lists(&roles::GIT_HISTORY, part) && !last.ends_with(".lock") && !last.starts_with("tmp_")
}
