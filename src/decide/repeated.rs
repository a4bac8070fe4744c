//! Asks that were answered by a person or, in mode `auto`, perhaps by the client's classifier. The same call is not asked
//! about twice in the same mode, until another untrusted source comes in.

use crate::encoding::label::Label;
use crate::event::destinations::Destinations;
use crate::event::memory::HashOf;
use crate::event::{Action, Answers, Event};
use crate::verdict::{Note, SaltedHash, Surface, Verdict};

/// The hash of an ask about a write: the tool, its destinations, and the sources that the session has read. `None` if the
/// write is asked about each time.
pub(super) fn write_ask(event: &Event<'_>) -> Option<SaltedHash> {
    ask(event, write_target(event)?, None)
}

/// The hash of an ask about the many results of a source.
pub(super) fn escalation_ask(event: &Event<'_>, source: &Label) -> Option<SaltedHash> {
    ask(event, escalation_target(source), None)
}

/// Notes the answers that the result of a call shows: it was let run.
pub(super) fn note_answers(event: &Event<'_>, surface: &Surface, verdict: &mut Verdict) {
    // The result of the call itself is not another source.
    let own = Some(&surface.source).filter(|_| surface.taints);
    for target in write_target(event).into_iter().chain([escalation_target(&surface.source)]) {
        let asked = ask(event, target.clone(), None).filter(|asked| event.facts.memory.is_pending(asked));
        if let Some(answered) = asked.and_then(|_| ask(event, target, own))
            && !event.facts.memory.is_answered(&answered)
        {
            verdict.note(Note::Answered(answered));
        }
    }
}

fn write_target(event: &Event<'_>) -> Option<String> {
    let Action::Mcp { input, .. } = &event.action else { return None };
    let destinations = Destinations::of(input.inspect("where does it send something"));
    let all: Vec<&str> = destinations.all().collect();
    (!all.is_empty()).then(|| format!("{}\n{}", event.tool.inspect("which tool was asked about"), all.join("\n")))
}

fn escalation_target(source: &Label) -> String {
    format!("escalation\n{source}")
}

/// The hash of an ask; `None` in bypass and headless mode, or where every call is to be looked at.
fn ask(event: &Event<'_>, target: String, own: Option<&Label>) -> Option<SaltedHash> {
    let taint = &event.facts.taint;
    let mode = match event.facts.answers {
        Answers::Person => "",
        Answers::Classifier => "\nauto",
        Answers::Other => return None,
    };
    let is_asked_once = !taint.is_hot() && !taint.has_unread_sources();
    let sources = taint.sources_with(own).filter(|_| is_asked_once)?;
    event.facts.memory.hash(HashOf::Ask, &format!("{target}\n\n{sources}{mode}"))
}
