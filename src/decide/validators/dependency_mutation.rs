//! Edits of a manifest that add, remove or change dependencies.

mod manifest;

use super::{Context, suspicious_if};
use crate::decide::subject::{Subject, SubjectKind};
use crate::event::{Action, Change};
use crate::rules::Match;
use crate::verdict::limits::EDITED_BYTES;
use manifest::Manifest;
pub(super) use manifest::{SCRIPTS_COMPOSER, SCRIPTS_NPM};

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let SubjectKind::ToolAccess(access) = &subject.kind else { return None };
    let Action::Edit { changes, .. } = &context.event.action else { return None };
    let path = access.target.path.as_ref()?;
    // `requirements/dev.txt`
    let is_requirements =
        matches!(path.components(), [.., folder, name] if folder == "requirements" && name.ends_with(".txt"));
    let manifest = if is_requirements { Manifest::Lines } else { Manifest::of(path.components().last()?)? };
    let current = context.event.facts.contents.iter().find(|(name, _)| *name == path.to_string());
    let changed = match current {
        Some((_, before)) => apply(before, changes, context).is_none_or(|after| manifest.has_changed(before, &after)),
        None => changes.iter().any(|change| shows_dependencies(change, manifest)),
    };
    suspicious_if(changed, "")
}

/// Applies all changes to a text. Returns `None` if the text to be replaced is missing, or if a limit is exceeded.
pub(super) fn apply(before: &str, changes: &[Change], context: &Context<'_>) -> Option<String> {
    let mut text = before.to_owned();
    let mut searched = 0;
    for change in changes {
        text = match change {
            Change::Whole(content) => content.inspect("what the dependencies become").clone(),
            Change::Replace { old, new, all } => {
                let (old, new) = (old.inspect("what is replaced"), new.inspect("what it becomes"));
                let found = if *all { text.matches(old.as_str()).count() } else { text.contains(old.as_str()).into() };
                searched += text.len() + found.saturating_mul(new.len());
                if searched > EDITED_BYTES.most {
                    context.exceeded.set(Some(&EDITED_BYTES));
                    return None;
                }
                if found == 0 {
                    return None;
                }
                text.replacen(old.as_str(), new, found)
            }
        };
    }
    Some(text)
}

/// Whether a change is about dependencies, judged without the current content of the file.
fn shows_dependencies(change: &Change, manifest: Manifest) -> bool {
    match change {
        Change::Whole(content) => manifest.has_changed("", content.inspect("which dependencies it names")),
        Change::Replace { old, new, .. } => {
            manifest.shows_change(old.inspect("what is replaced"), new.inspect("what it becomes"))
        }
    }
}
