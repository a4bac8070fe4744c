//! Fork bombs: a function that starts itself more than once, in the background.

use super::{Context, block_if};
use crate::decide::subject::{Subject, SubjectKind};
use crate::rules::Match;

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let line = matches!(subject.kind, SubjectKind::Line);
    let bomb = line && context.reading().is_some_and(|reading| reading.fork_bomb);
    block_if(bomb, "")
}
