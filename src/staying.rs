//! Staying on: what the client's settings take away from the guard.

use crate::config::Config;
use crate::event::{Event, Phase};
use crate::verdict::{Effect, Finding, RuleId, Verdict};

const RULE: RuleId = RuleId::known("self-protection");

/// Judges a change of the settings, and the settings that a session begins with.
///
/// A change is refused and never asked about: while somebody thinks about it, the guard would be gone. What a session
/// begins with cannot be refused, so the one who works in it is told.
pub(crate) fn judge(event: &Event<'_>, config: &Config, verdict: &mut Verdict) {
    for loss in &event.facts.losses {
        let (effect, reason) = if event.phase == Phase::Start {
            let advice = "The user can run `rune doctor` to see what to do";
            (Effect::Advise, format!("the guard is not fully on: {loss}. {advice}"))
        } else {
            let advice = "To change the guard, the user leaves this session and runs `rune hooks install`";
            (Effect::Deny, format!("this change of the settings would take the guard away: {loss}. {advice}"))
        };
        // Who has chosen to be told nothing is told nothing.
        let effect = if config.block == Effect::Pass { Effect::Pass } else { effect };
        verdict.add(Finding::new(RULE, effect, reason));
    }
}
