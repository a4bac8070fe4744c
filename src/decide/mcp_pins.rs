//! Judges a call of an MCP tool by its pin.

use crate::event::Event;
use crate::mcp::{Code, Standing};
use crate::policy::Config;
use crate::verdict::{Effect, Finding, Verdict};

/// Adds a finding if the tool or its server differs from what the user approved.
pub(crate) fn judge(event: &Event<'_>, config: &Config, verdict: &mut Verdict) {
    let Standing::Stopped(code, what) = event.standing(config.pins) else { return };
    let help = match code {
        Code::LockInvalid => "The user can run `rune doctor` to see which file it is",
        Code::NameCollision => "The user has to give one of the servers another name",
        Code::ArgsOffSchema => "Call the tool with what its description, as the user approved it, asks for",
        Code::ServerBlocked | Code::ToolBlocked => "The user can take that back with `rune mcp unblock`",
        Code::ServerUnknown | Code::PinStale => "The user can run `rune mcp probe`, and then `rune mcp approve`",
        Code::ServerConfigChanged | Code::ToolChanged | Code::ToolUnpinned => {
            "The user can look at it with `rune mcp diff` and approve it with `rune mcp approve`"
        }
    };
    let reason = format!("{} ({what}). {help}", code.word());
    verdict.add(Finding::new(code.rule(), effect(code, config), reason).with_nudge(help));
}

/// The effect of a code. A contradiction of an approval is denied in every preset. A missing approval, or arguments that
/// may be a mistake of the model, have the effect of a rule of tier `block`, and at least `ask`.
fn effect(code: Code, config: &Config) -> Effect {
    match code {
        Code::LockInvalid
        | Code::NameCollision
        | Code::ServerBlocked
        | Code::ServerConfigChanged
        | Code::ToolBlocked
        | Code::ToolChanged => Effect::Deny,
        Code::ServerUnknown | Code::ToolUnpinned | Code::ArgsOffSchema | Code::PinStale => {
            config.block.max(Effect::Ask)
        }
    }
}
