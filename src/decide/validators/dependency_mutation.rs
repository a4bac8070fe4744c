//! Dependencies that an edit adds, removes or changes, in the manifests of nine ecosystems.

mod manifest;

use super::{Context, suspicious};
use crate::decide::subject::{Subject, SubjectKind};
use crate::event::{Action, Change};
use crate::rules::Match;
use manifest::Manifest;

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let SubjectKind::ToolAccess(access) = &subject.kind else { return None };
    let Action::Edit { changes, .. } = &context.event.action else { return None };
    let path = access.target.path.as_ref()?;
    // `requirements/dev.txt`
    let listed = matches!(path.components(), [.., folder, name] if folder == "requirements" && name.ends_with(".txt"));
    let manifest = if listed { Manifest::Lines } else { Manifest::of(path.components().last()?)? };
    let held = context.event.facts.contents.iter().find(|(name, _)| *name == path.to_string());
    let changed = match held {
        Some((_, before)) => apply(before, changes).is_none_or(|after| manifest.differ(before, &after)),
        None => changes.iter().any(|change| seen_in(change, manifest)),
    };
    changed.then(|| suspicious("it changes the dependencies of the project")).flatten()
}

/// The text after all changes; `None` where one of them does not fit.
fn apply(before: &str, changes: &[Change]) -> Option<String> {
    let mut text = before.to_owned();
    for change in changes {
        text = match change {
            Change::Whole(content) => content.inspect("what the dependencies become").clone(),
            Change::Replace { old, new, all } => {
                let (old, new) = (old.inspect("what is replaced"), new.inspect("what it becomes"));
                if !text.contains(old.as_str()) {
                    return None;
                }
                if *all { text.replace(old.as_str(), new) } else { text.replacen(old.as_str(), new, 1) }
            }
        };
    }
    Some(text)
}

/// Without the file, only what the change itself shows.
fn seen_in(change: &Change, manifest: Manifest) -> bool {
    match change {
        Change::Whole(content) => manifest.differ("", content.inspect("which dependencies it names")),
        Change::Replace { old, new, .. } => {
            manifest.shows(old.inspect("what is replaced"), new.inspect("what it becomes"))
        }
    }
}
