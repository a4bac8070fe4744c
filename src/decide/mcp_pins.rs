//! Judges a call of an MCP tool by its pin.

use crate::event::Event;
use crate::mcp::{PinCheck, RefusalCode};
use crate::policy::Config;
use crate::verdict::{Effect, Finding, Verdict};

/// Adds a finding if the tool or its server differs from what the user approved.
pub(crate) fn judge(event: &Event<'_>, config: &Config, verdict: &mut Verdict) {
    let PinCheck::Refused(code, what) = event.check_pins(config.pins) else { return };
    let help = match code {
        RefusalCode::LockInvalid => "The user can run `rune doctor` to see which file it is",
        RefusalCode::NameCollision => "The user has to give one of the servers another name",
        RefusalCode::ArgsOffSchema => "Call the tool with what its description, as the user approved it, asks for",
        RefusalCode::ServerBlocked | RefusalCode::ToolBlocked => "The user can take that back with `rune mcp unblock`",
        RefusalCode::ServerUnknown | RefusalCode::PinStale => {
            "The user can run `rune mcp probe`, and then `rune mcp approve`"
        }
        RefusalCode::ServerConfigChanged | RefusalCode::ToolChanged | RefusalCode::ToolUnpinned => {
            "The user can look at it with `rune mcp diff` and approve it with `rune mcp approve`"
        }
    };
    let reason = format!("{} ({what}). {help}", code.as_str());
    verdict.add(Finding::new(code.rule(), effect(code, config), reason).with_nudge(help));
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
