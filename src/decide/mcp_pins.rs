//! Judges a call of an MCP tool by its pin.

use crate::event::Event;
use crate::mcp::{PinCheck, RefusalCode};
use crate::policy::Config;
use crate::verdict::{Effect, Finding, Remedy, Verdict};

/// Adds a finding if the tool or its server differs from what the user approved.
pub(crate) fn judge(event: &Event<'_>, config: &Config, verdict: &mut Verdict) {
    let PinCheck::Refused(code, what) = event.check_pins(config.pins) else { return };
    let reason = format!("`{}` is refused: {what} ({})", event.header.tool, code.as_str());
    let finding = Finding::new(code.rule(), effect(code, config), reason);
    let command = match code {
        RefusalCode::ArgsOffSchema => {
            return verdict.add(finding.with_nudge("call it with the arguments that its approved description names"));
        }
        RefusalCode::LockInvalid => "rune doctor",
        RefusalCode::NameCollision => "rune mcp status, and give one of the servers another name",
        RefusalCode::ServerBlocked | RefusalCode::ToolBlocked => "rune mcp unblock",
        RefusalCode::ServerUnknown | RefusalCode::PinStale => "rune mcp probe, and then rune mcp approve",
        RefusalCode::ServerConfigChanged | RefusalCode::ToolChanged | RefusalCode::ToolUnpinned => {
            "rune mcp diff, and then rune mcp approve"
        }
    };
    verdict.add(finding.with_remedy(Remedy::Command(command)));
}

/// The effect of a code. A contradiction of an approval is denied in every preset. A missing approval, or arguments that
/// may be a mistake of the model, have the effect of a rule of tier `block`, and at least `ask`.
fn effect(code: RefusalCode, config: &Config) -> Effect {
    match code {
        RefusalCode::LockInvalid
        | RefusalCode::NameCollision
        | RefusalCode::ServerBlocked
        | RefusalCode::ServerConfigChanged
        | RefusalCode::ToolBlocked
        | RefusalCode::ToolChanged => Effect::Deny,
        RefusalCode::ServerUnknown | RefusalCode::ToolUnpinned | RefusalCode::ArgsOffSchema | RefusalCode::PinStale => {
            config.block.max(Effect::Ask)
        }
    }
}
