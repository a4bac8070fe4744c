//! Containers of what a trusted MCP server returns and changes: a repository, a project, a team, an issue. What was read
//! from one may be written back to it.

use crate::event::destinations::Destinations;
use crate::event::memory::HashOf;
use crate::event::{Action, Event};
use crate::verdict::{SaltedHash, Surface};
use std::collections::BTreeSet;

/// The containers that a call has read text of others from. A call that names none has read from an unknown one.
pub(super) fn read(event: &Event<'_>, surface: &Surface) -> BTreeSet<SaltedHash> {
    let Action::Mcp { input, .. } = &event.action else { return BTreeSet::new() };
    if !surface.trusted || !surface.taints {
        return BTreeSet::new();
    }
    let found = Destinations::of(input.inspect("what was read"));
    let containers: BTreeSet<SaltedHash> = hashes(event, surface, &found);
    if containers.is_empty() { hash(event, surface, "unknown").into_iter().collect() } else { containers }
}

/// Whether a write goes back to the only container that the session has read, and nowhere else.
pub(super) fn goes_back(event: &Event<'_>, surface: &Surface, destinations: &Destinations) -> bool {
    let memory = &event.facts.memory;
    surface.trusted
        && !event.facts.taint.has_other_source(&surface.source)
        && memory.has_read_only(&hashes(event, surface, destinations))
        && destinations.besides_containers().all(|destination| memory.has_typed(destination))
}

fn hashes(event: &Event<'_>, surface: &Surface, found: &Destinations) -> BTreeSet<SaltedHash> {
    found.containers().filter_map(|container| hash(event, surface, container)).collect()
}

fn hash(event: &Event<'_>, surface: &Surface, container: &str) -> Option<SaltedHash> {
    event.facts.memory.hash(HashOf::Container, &format!("{}\n{container}", surface.source))
}
