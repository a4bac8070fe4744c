//! Prompts: their words are remembered, so that destinations that the person typed are known.

use crate::event::{Action, Event};
use crate::verdict::{Effect, Finding, Note, Verdict};

/// Has the words of a prompt remembered. The person is told if they are not.
pub(super) fn judge(event: &Event<'_>, verdict: &mut Verdict) {
    let Action::Prompt { text: Some(text) } = &event.action else { return };
    match event.facts.memory.words_of(text.inspect("which destinations were typed")) {
        Ok(words) if words.is_empty() => {}
        Ok(words) => verdict.note(Note::Typed(words)),
        Err(limit) => {
            let reason = format!(
                "names and addresses in this prompt do not count as typed by you, because it has more than {}",
                limit.what
            );
            verdict.add(Finding::new(limit.failure().rule(), Effect::Advise, reason));
        }
    }
}
