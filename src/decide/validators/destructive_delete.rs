//! Deletions are judged by what they delete: the verb carries no risk, the operand does.

use super::{Context, block, command_of, suspicious};
use crate::decide::subject::Subject;
use crate::path::zones::Area;
use crate::path::{AbsPath, names_overlap};
use crate::rules::Match;
use crate::shell::{Access, Act, Command};
use std::borrow::Cow;

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let access = subject.touched()?;
    let program = command_of(access, context);
    // It takes only what is empty.
    if program.is_some_and(|command| command.program == "rmdir") {
        let area = access.target.path.as_ref().map(|path| context.zones.area(path));
        let outside = matches!(area, Some(Area::Vital | Area::System | Area::Other));
        return outside.then(|| suspicious("it deletes outside of the project")).flatten();
    }
    match access.act {
        Act::Remove => removed(access, program, context),
        Act::Move => moved(access, context),
        Act::Read | Act::Match | Act::List | Act::Write | Act::Redirect | Act::Change | Act::Restore | Act::Link => {
            None
        }
    }
}

fn removed(access: &Access, program: Option<&Command>, context: &Context<'_>) -> Option<Match> {
    let Some(path) = &access.target.path else {
        return suspicious("what this deletes is only known when it runs");
    };
    // A file of that name is one typing error away from home.
    if path.components().last().is_some_and(|name| name == "~") {
        return suspicious("it deletes a file whose name means home elsewhere");
    }
    let (base, sweeping) = known_part(path, access.target.open);
    if !sweeping && *base != *path {
        // A pattern such as `/home/us*` may name what must stay.
        if vital(context).iter().any(|root| is_like(path, root)) {
            return block("it would delete a directory that the system or you cannot do without");
        }
    }
    let whole = *base == *path && !access.target.open;
    match context.zones.area(&base) {
        Area::Vital | Area::System if whole || sweeping => {
            block("it would delete a directory that the system or you cannot do without")
        }
        // Whoever writes `cd build; rm -rf *` means what is in `build`.
        Area::Vital | Area::System | Area::ProjectRoot | Area::TempRoot | Area::Other if access.astray => None,
        Area::Vital | Area::System => suspicious("it deletes outside of the project"),
        Area::ProjectRoot if whole || (sweeping && !access.target.open) => suspicious("it deletes the project itself"),
        Area::InProject if is_history(&base, context) => suspicious("it deletes the history of the project"),
        Area::ProjectRoot | Area::InProject | Area::InTemp | Area::Device => None,
        Area::TempRoot if !whole && !sweeping => None,
        Area::TempRoot => suspicious("it deletes the temporary files of every program"),
        // Elsewhere there are other files.
        Area::Other if program.is_some_and(|command| command.is_contained(path)) => None,
        Area::Other => suspicious("it deletes outside of the project"),
    }
}

fn moved(access: &Access, context: &Context<'_>) -> Option<Match> {
    let path = access.target.path.as_ref()?;
    let (base, sweeping) = known_part(path, access.target.open);
    match context.zones.area(&base) {
        Area::Vital if *base == *path || sweeping => {
            block("it would move away a directory that the system or you cannot do without")
        }
        Area::System => suspicious("it moves files of the system"),
        Area::Vital
        | Area::ProjectRoot
        | Area::InProject
        | Area::TempRoot
        | Area::InTemp
        | Area::Device
        | Area::Other => None,
    }
}

/// The directory before the first wildcard, and whether everything in it is meant.
fn known_part(path: &AbsPath, open: bool) -> (Cow<'_, AbsPath>, bool) {
    let parts = path.components();
    match parts.iter().position(|part| part.contains(['*', '?', '['])) {
        Some(at) => {
            let sweeping = parts
                .get(at)
                .is_some_and(|part| part.chars().all(|c| matches!(c, '*' | '?' | '.' | '[' | ']' | '!' | '^')));
            (Cow::Owned(path.head(at)), sweeping && (at == 0 || parts.len() == at + 1))
        }
        None => (Cow::Borrowed(path), open),
    }
}

/// The directories that must stay, whatever the spelling.
fn vital(context: &Context<'_>) -> Vec<AbsPath> {
    let home = context.zones.home.iter().cloned();
    let above = |path: &AbsPath| (1..path.components().len()).map(|at| path.head(at)).collect::<Vec<_>>();
    home.clone().chain(home.flat_map(|home| above(&home))).chain(above(&context.zones.project)).collect()
}

fn is_like(path: &AbsPath, root: &AbsPath) -> bool {
    let (path, root) = (path.components(), root.components());
    path.len() == root.len() && path.iter().zip(root).all(|(a, b)| names_overlap(a.as_bytes(), b.as_bytes()))
}

fn is_history(path: &AbsPath, context: &Context<'_>) -> bool {
    path.components()
        .strip_prefix(context.zones.project.components())
        .is_some_and(|rest| matches!(rest, [git] if git == ".git"))
}
