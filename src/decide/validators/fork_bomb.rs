//! Fork bombs, by their shape: a function that starts itself more than once and does not wait.

use super::{Scene, block};
use crate::decide::subject::{Subject, Unit};
use crate::rules::Found;

pub(super) fn find(unit: &Unit<'_>, scene: &Scene<'_>) -> Option<Found> {
    let line = matches!(unit.subject, Subject::Line);
    let bomb = line && scene.reading().is_some_and(|reading| reading.bomb);
    bomb.then(|| block("a function here starts itself without end")).flatten()
}
