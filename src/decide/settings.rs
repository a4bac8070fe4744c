//! Staying on: what the client's settings take away from the guard.

use crate::encoding::label::Label;
use crate::event::Event;
use crate::mcp::PinPolicy;
use crate::policy::Config;
use crate::verdict::Phase;
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
    tell_of_loosenings(event, config, verdict);
    tell_of_servers(event, config, verdict);
}

/// Loosenings that are named; the others are counted.
const MAX_SHOWN_LOOSENINGS: usize = 5;

/// Tells of what loosened the guard since the last session, in one line: verbs and times alone.
fn tell_of_loosenings(event: &Event<'_>, config: &Config, verdict: &mut Verdict) {
    let all = &event.facts.loosenings;
    if all.is_empty() || config.block == Effect::Pass {
        return;
    }
    let hidden = all.len().saturating_sub(MAX_SHOWN_LOOSENINGS);
    let mut shown: Vec<String> =
        all.iter().skip(hidden).map(|one| format!("`rune {}` at {} UTC", one.verb, one.time)).collect();
    if hidden > 0 {
        shown.insert(0, format!("{hidden} earlier ones"));
    }
    let advice = "If that was not you, run `rune receipts show rune:operator` in a terminal";
    let reason = format!("the guard was loosened since the last session: {}. {advice}", shown.join(", "));
    verdict.add(Finding::new(RULE, Effect::Advise, reason));
}

const PINS: RuleId = RuleId::known("mcp-pins");

/// Names that are told; a configuration may hold many.
const MOST: usize = 8;

/// Tells of servers that nobody has approved as they are now, in one line and by labels alone.
fn tell_of_servers(event: &Event<'_>, config: &Config, verdict: &mut Verdict) {
    let news = &event.facts.servers;
    let told = |names: &[Label], what: &str| {
        let first: Vec<&str> = names.iter().take(MOST).map(Label::as_str).collect();
        let more = if names.len() > MOST { format!(" and {} more", names.len() - MOST) } else { String::new() };
        (!names.is_empty()).then(|| format!("{what}: {}{more}", first.join(", ")))
    };
    let parts = [
        told(&news.unpinned, "MCP servers that nobody has approved"),
        told(&news.changed, "MCP servers that are not configured as the user approved them"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() || config.pins == PinPolicy::Off {
        return;
    }
    let reason = format!("{}. The user can run `rune mcp status` to see what to do", parts.join("; "));
    verdict.add(Finding::new(PINS, Effect::Advise, reason));
}
