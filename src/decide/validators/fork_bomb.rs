//! Fork bombs, by their shape: a function that starts itself more than once and does not wait.

use super::{Context, block};
use crate::decide::subject::{Subject, SubjectKind};
use crate::rules::Match;

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let line = matches!(subject.subject, SubjectKind::Line);
    let bomb = line && context.reading().is_some_and(|reading| reading.fork_bomb);
    bomb.then(|| block("a function here starts itself without end")).flatten()
}
