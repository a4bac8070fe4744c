//! The decision: findings of the rules, the validators and the failures, and the verdict that is their maximum.

mod after;
mod applicable;
mod before;
mod content;
pub(crate) mod file_search;
mod matching;
mod mcp_pins;
pub(crate) mod settings;
pub(crate) mod shell_text;
pub mod subject;
pub mod validators;

pub use after::is_looked_at;
pub use before::paths;

use crate::event::Event;
use crate::policy::{Allow, Config};
use crate::verdict::{Phase, Verdict};

/// Judges one event by one policy.
///
/// What could not be read of either takes part as a finding of its own, so no failure can make an answer looser.
pub fn decide(event: &Event<'_>, config: &Config) -> Verdict {
    let mut verdict = by(event, config);
    // A project's own policy is asked apart, and the stricter word counts: it can only tighten.
    if let Some(stricter) = &config.project {
        verdict.merge(by(event, stricter));
    }
    if event.phase == Phase::Before && config.allow == Allow::Explicit {
        verdict.allow_explicitly();
    }
    verdict
}

fn by(event: &Event<'_>, config: &Config) -> Verdict {
    let mut verdict = Verdict::default();
    for failure in config.flaws.iter().chain(&event.failure) {
        verdict.add(failure.finding(Some(event.phase), config.failure));
    }
    match event.phase {
        Phase::Before => before::judge(event, config, &mut verdict),
        Phase::After | Phase::Failed => after::judge(event, config, &mut verdict),
        Phase::Settings | Phase::Start => settings::judge(event, config, &mut verdict),
        Phase::End | Phase::Other => {}
    }
    verdict
}
