//! Edits of a manifest that change what runs when the project is installed.

use super::dependency_mutation::{SCRIPTS_INSTALL, apply};
use super::{Context, suspicious_if};
use crate::decide::subject::{Subject, SubjectKind};
use crate::event::{Action, Change};
use crate::rules::Match;
use std::collections::BTreeSet;

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let SubjectKind::ToolAccess(access) = &subject.kind else { return None };
    let Action::Edit { changes, .. } = &context.event.action else { return None };
    let path = access.target.path.as_ref()?;
    if !matches!(path.components().last()?.as_str(), "package.json" | "composer.json") {
        return None;
    }
    let current = context.event.facts.contents.iter().find(|(name, _)| *name == path.to_string());
    let adds = match current {
        Some((_, before)) => apply(before, changes).is_some_and(|after| adds_script(before, &after)),
        None => changes.iter().any(|change| match change {
            Change::Whole(content) => adds_script("", content.inspect("which scripts it names")),
            Change::Replace { old, new, .. } => {
                adds_script(old.inspect("what is replaced"), new.inspect("what it becomes"))
            }
        }),
    };
    suspicious_if(adds, "it changes what runs when the project is installed")
}

fn adds_script(before: &str, after: &str) -> bool {
    let known = scripts(before);
    scripts(after).iter().any(|script| !known.contains(script))
}

/// The scripts in a text, or in a part of it: `"postinstall": "node x.js"`.
fn scripts(text: &str) -> BTreeSet<(&str, &str)> {
    let named = text.match_indices('"').filter_map(|(at, _)| {
        let (name, rest) = text.get(at + 1..)?.split_once('"')?;
        let value = rest.trim_start().strip_prefix(':').filter(|_| SCRIPTS_INSTALL.contains(&name))?;
        let value = value.trim_start().trim_start_matches('"');
        let end = value.match_indices('"').find(|(end, _)| !value.get(..*end).is_some_and(|part| part.ends_with('\\')));
        Some((name, end.map_or(value, |(end, _)| value.get(..end).unwrap_or_default())))
    });
    named.collect()
}
