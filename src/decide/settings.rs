//! Judges changes of the client's settings, and the settings at the start of a session.

use crate::encoding::label::Label;
use crate::event::Event;
use crate::mcp::PinPolicy;
use crate::policy::Config;
use crate::verdict::{Effect, Finding, Phase, RuleId, Verdict};

const SELF_PROTECTION: RuleId = RuleId::known("self-protection");

/// Adds the findings about the settings.
///
/// A change that disables the guard is denied, not asked about: the settings would be in force during the question.
/// At the start of a session nothing can be denied, so the user is advised. A policy with effect `pass` silences both,
/// unless the guard is only paused.
pub(crate) fn judge(event: &Event<'_>, config: &Config, verdict: &mut Verdict) {
    for loss in &event.facts.losses {
        let (effect, reason) = if event.phase == Phase::Start {
            let advice = "`rune doctor` in a terminal says what to do";
            (Effect::Advise, format!("the guard is not fully on: {loss}. {advice}"))
        } else {
            let advice = "A person changes it with `rune hooks install`, outside of this session";
            (Effect::Deny, format!("this change of the settings would take the guard away: {loss}. {advice}"))
        };
        let effect = if config.guards_itself() { effect } else { Effect::Pass };
        verdict.add(Finding::new(SELF_PROTECTION, effect, reason));
    }
    if let Some(pause) = config.pause.filter(|_| event.phase == Phase::Start) {
        let reason = format!("the guard is paused {pause}. `rune resume` ends the pause");
        verdict.add(Finding::new(SELF_PROTECTION, Effect::Advise, reason));
    }
    add_loosenings(event, config, verdict);
    add_unapproved_servers(event, config, verdict);
}

/// Loosenings that are shown; earlier ones are counted.
const MAX_SHOWN_LOOSENINGS: usize = 5;

/// Adds a finding with the commands that loosened the guard since the last session.
fn add_loosenings(event: &Event<'_>, config: &Config, verdict: &mut Verdict) {
    let loosenings = &event.facts.loosenings;
    if loosenings.is_empty() || !config.guards_itself() {
        return;
    }
    let hidden = loosenings.len().saturating_sub(MAX_SHOWN_LOOSENINGS);
    let shown = loosenings.iter().skip(hidden).map(|one| format!("`rune {}` at {} UTC", one.verb, one.time));
    let mut shown: Vec<String> = shown.collect();
    if hidden > 0 {
        shown.insert(0, format!("{hidden} earlier ones"));
    }
    let advice = "If that was not you, run `rune receipts show rune:operator` in a terminal";
    let reason = format!("the guard was loosened since the last session: {}. {advice}", shown.join(", "));
    verdict.add(Finding::new(SELF_PROTECTION, Effect::Advise, reason));
}

const MCP_PINS: RuleId = RuleId::known("mcp-pins");

/// Servers that are shown; the others are counted.
const MAX_SHOWN_SERVERS: usize = 8;

/// Adds a finding with the labels of the configured MCP servers that are not approved.
fn add_unapproved_servers(event: &Event<'_>, config: &Config, verdict: &mut Verdict) {
    let servers = &event.facts.unapproved_servers;
    let list = |names: &[Label], what: &str| {
        let shown: Vec<&str> = names.iter().take(MAX_SHOWN_SERVERS).map(Label::as_str).collect();
        let hidden = names.len().saturating_sub(MAX_SHOWN_SERVERS);
        let more = if hidden > 0 { format!(" and {hidden} more") } else { String::new() };
        (!names.is_empty()).then(|| format!("{what}: {}{more}", shown.join(", ")))
    };
    let parts = [
        list(&servers.unpinned, "MCP servers that are not approved"),
        list(&servers.changed, "MCP servers that are not configured as the user approved them"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() || config.pins == PinPolicy::Off {
        return;
    }
    let reason = format!("{}. `rune mcp status` in a terminal says what to do", parts.join("; "));
    verdict.add(Finding::new(MCP_PINS, Effect::Advise, reason));
}
