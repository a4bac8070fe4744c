//! Quarantine: which results come from an untrusted surface, and the notice that marks them.

mod fetched;
mod namespace;
mod notice;
mod spill;
mod surface;

pub use namespace::Namespace;
pub use notice::notice;
pub use surface::Surface;

use crate::config::{Config, Results};
use crate::event::Event;
use crate::verdict::{Effect, Finding, Verdict};

/// Judges a result: names the surface it came from, and marks it unless the operator trusts or silenced it.
pub(crate) fn judge(event: &Event<'_>, config: &Config, verdict: &mut Verdict) {
    let Some(surface) = Surface::of(event, config) else { return };
    let marked = !surface.trusted && !event.facts.silenced && config.results == Results::Notice;
    if marked {
        let text = notice(&event.header.tool, &surface.source);
        verdict.add(Finding::new(surface.rule.clone(), Effect::Advise, text));
    }
    verdict.touch(surface);
}
