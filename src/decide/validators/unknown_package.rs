//! Packages whose name is neither in a manifest of the project nor typed by the user. What the session has read may have
//! given the name.

use super::{Context, command, suspicious_if};
use crate::decide::packages::packages;
use crate::decide::subject::Subject;
use crate::rules::Match;

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let facts = &context.event.facts;
    let has_typed = |name: &str| facts.memory.has_typed(name) || facts.memory.has_typed(&name.replace('-', "_"));
    let is_known = |name: &String| facts.known_packages.contains(name) || !facts.taint.is_hot() && has_typed(name);
    let names = packages(command(subject)?);
    let is_unknown = names.iter().any(|name| name.as_ref().is_none_or(|name| !is_known(name)));
    suspicious_if(is_unknown, "")
}
