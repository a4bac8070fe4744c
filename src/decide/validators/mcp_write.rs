//! MCP tools that write, in a session that has read untrusted content, unless the person named where to, the write goes
//! back to where the content came from, or the person has let the same call run before.

use super::{Context, suspicious};
use crate::decide::subject::Subject;
use crate::decide::{mcp_containers, mcp_use, repeated};
use crate::event::Action;
use crate::event::destinations::Destinations;
use crate::quarantine::surface;
use crate::rules::Match;

pub(super) fn find(_subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let Context { event, config, .. } = context;
    let Action::Mcp { input, .. } = &event.action else { return None };
    if !mcp_use::is_write(event, config) {
        return None;
    }
    let destinations = Destinations::of(input.inspect("where does it send something"));
    let facts = &event.facts;
    let is_typed = || is_typed(&destinations, context);
    let goes_back =
        || surface(event, config).is_some_and(|surface| mcp_containers::goes_back(event, &surface, &destinations));
    let is_answered = || repeated::write_ask(event).is_some_and(|ask| facts.memory.is_answered(&ask));
    if !facts.taint.is_hot() && (is_typed() || goes_back() || is_answered()) {
        return None;
    }
    suspicious(if mcp_use::carries(input.inspect("does it carry data")) {
        "carries data in an argument"
    } else if destinations.is_empty() {
        ""
    } else {
        "sends or changes something, at a place that no prompt of this session names"
    })
}

/// Fewer characters may be among the typed words by chance: `13`.
const MIN_VALUE_CHARS: usize = 4;

/// Whether the user typed all destinations. Of a call without any, the user must have typed the name of what it creates,
/// or everything that it says.
fn is_typed(destinations: &Destinations, context: &Context<'_>) -> bool {
    let has_typed = |text: &str| context.event.facts.memory.has_typed(text);
    let are_typed = |texts: Vec<&str>| !texts.is_empty() && texts.into_iter().all(has_typed);
    if !destinations.is_empty() {
        return are_typed(destinations.all().collect());
    }
    let names = are_typed(destinations.created().collect());
    let long_enough = |text: &str| text.chars().count() >= MIN_VALUE_CHARS;
    names && mcp_use::creates_privately(context.event, context.config)
        || are_typed(destinations.values().collect()) && destinations.values().all(long_enough)
}
