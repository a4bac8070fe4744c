//! File accesses: the files that a call names, and the targets of symlinks among them.

use super::context::Context;
use super::matching::apply_rules;
use super::subject::Subject;
use crate::encoding::patch;
use crate::event::{Action, Event};
use crate::path::AbsPath;
use crate::shell::{Access, Act, Target};
use crate::verdict::Verdict;
use std::borrow::Cow;

/// Builds the target for a path that is known.
pub(super) fn known_target(path: AbsPath) -> Target {
    Target { text: path.to_string(), path: Some(path), open: false }
}

/// Resolves a file name from a tool's input: to the path itself and, if it leads through a symlink, to the real path.
///
/// The target has no path if the name cannot be resolved.
pub(super) fn resolve_tool_path(name: &str, act: Act, event: &Event<'_>) -> Vec<Access> {
    let place = &event.place;
    let access = |target| Access { act, target, deep: false, astray: false, row: None };
    // Tools take names literally, but a model that writes `$HOME` means it, and a client may expand it.
    let home = place.home.as_deref().unwrap_or("~");
    let name = name.replace("${HOME}", home).replace("$HOME", home);
    // `/proc/self/cwd` is the working directory of the process that opens it.
    let name = name.strip_prefix("/proc/self/cwd").map_or(name.clone(), |rest| format!("{}{rest}", place.cwd));
    // `~user` is the home of another user, and control characters may hide where a name ends.
    let other_home = name.starts_with('~') && !name.starts_with("~/") && name != "~";
    if name.trim().is_empty() || name.chars().any(char::is_control) || other_home {
        return vec![access(Target { text: String::new(), path: None, open: true })];
    }
    let path = AbsPath::resolve(&name, place);
    let real = real_path(&path, event);
    [path].into_iter().chain(real).map(|path| access(known_target(path))).collect()
}

/// The path that a path leads to, if that is another one.
fn real_path(path: &AbsPath, event: &Event<'_>) -> Option<AbsPath> {
    if event.facts.real_paths.is_empty() {
        return None;
    }
    event.facts.real(&path.to_string()).map(|real| AbsPath::resolve(real, &event.place))
}

/// Judges what a command does to one file, by each path that the file may have.
pub(super) fn judge_command_access(access: &Access, context: &Context<'_>, verdict: &mut Verdict) {
    let known = access.target.path.as_ref().filter(|_| !access.target.open);
    let real = known.and_then(|path| real_path(path, context.event));
    let real = real.map(|path| Access { target: known_target(path), ..access.clone() });
    let at_home = assume_home(access, context);
    for access in [Some(access), real.as_ref(), at_home.as_ref()].into_iter().flatten() {
        if matches!(access.act, Act::Remove | Act::Move) {
            apply_rules(&Subject::deletion(access), context, verdict);
        }
        apply_rules(&Subject::command_access(access, &context.zones), context, verdict);
    }
}

/// Resolves a path of which only the end is known, such as `$X/.ssh/config`, as if it were below the home directory.
fn assume_home(access: &Access, context: &Context<'_>) -> Option<Access> {
    let home = context.zones.home.as_ref().filter(|_| access.target.path.is_none())?;
    let text = &access.target.text;
    let is_dot_name = |at: &usize| !text.get(at + 2..).unwrap_or_default().starts_with(['.', '/']);
    let start = text.match_indices("/.").map(|(at, _)| at).find(is_dot_name)?;
    let tail = text.get(start..).filter(|tail| !tail.contains(['$', '*']))?;
    let path = AbsPath::resolve(&format!("{home}{tail}"), &context.event.place);
    Some(Access { target: known_target(path), astray: true, ..access.clone() })
}

/// The absolute paths that a call names. The runtime looks up where their symlinks lead.
pub fn touched_paths<'a>(event: &'a Event<'_>) -> Vec<Cow<'a, str>> {
    let resolve = |name: &str| {
        let accesses = resolve_tool_path(name, Act::Read, event).into_iter();
        accesses.filter_map(|access| access.target.path.map(|path| Cow::Owned(path.to_string())))
    };
    match &event.action {
        Action::Edit { path: Some(path), .. } => resolve(path.inspect("where it leads")).collect(),
        Action::Read { paths } | Action::Files { paths, .. } => {
            paths.iter().flat_map(|path| resolve(path.inspect("where it leads"))).collect()
        }
        Action::Patch { text: Some(text) } => {
            patch::paths(text.inspect("where they lead")).iter().flat_map(|path| resolve(path)).collect()
        }
        Action::Shell { .. } => {
            let accesses = event.shell().map(|shell| shell.effects.accesses.as_slice()).unwrap_or_default();
            // The text of a known target is its path.
            let known = accesses.iter().filter(|access| access.target.path.is_some() && !access.target.open);
            let mut paths: Vec<Cow<'_, str>> = known.map(|access| access.target.text.as_str().into()).collect();
            paths.sort_unstable();
            paths.dedup();
            paths
        }
        Action::Edit { path: None, .. }
        | Action::Patch { text: None }
        | Action::Fetch { .. }
        | Action::Search { .. }
        | Action::Mcp { .. }
        | Action::Resource { .. }
        | Action::Agent { .. }
        | Action::Settings { .. }
        | Action::Prompt { .. }
        | Action::Other => Vec::new(),
    }
}
